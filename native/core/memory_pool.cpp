#include "core/memory_pool.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <vector>

namespace imtorque {
namespace {

constexpr std::size_t kHead = 64;        // bytes before what is handed out: they hold its size
constexpr std::size_t kMost = 64;        // pieces that are kept at most
constexpr std::size_t kLeast = 1 << 16;  // bytes; smaller pieces are not worth it

std::mutex lock;  // not taken where nothing is kept: a fork at any time does no harm then
std::atomic<int> keepers{0};
std::vector<char*>& kept() {  // from their heads, the latest last; never destroyed, for threads may outlive it
    static auto* const pieces = new std::vector<char*>;
    return *pieces;
}

std::size_t& size_of(char* head) { return *reinterpret_cast<std::size_t*>(head); }

}  // namespace

void* take_memory(std::size_t bytes) {
    if (bytes >= kLeast && keepers > 0) {
        std::lock_guard<std::mutex> guard(lock);
        const auto same = [&](char* head) { return size_of(head) == bytes; };
        const auto found = std::find_if(kept().rbegin(), kept().rend(), same);
        if (found != kept().rend()) {
            char* head = *found;
            kept().erase(std::next(found).base());
            return head + kHead;
        }
    }
    char* head = static_cast<char*>(::operator new(bytes + kHead));
    size_of(head) = bytes;
    return head + kHead;
}

void return_memory(void* memory) noexcept {
    if (!memory) return;
    char* gone = static_cast<char*>(memory) - kHead;
    if (size_of(gone) >= kLeast && keepers > 0) {
        std::lock_guard<std::mutex> guard(lock);
        if (keepers > 0 && kept().size() < kMost) {
            kept().push_back(gone);
            gone = nullptr;
        }
    }
    ::operator delete(gone);
}

void pool_memory(bool yes) {
    std::vector<char*> gone;
    {
        std::lock_guard<std::mutex> guard(lock);
        kept().reserve(kMost);
        keepers += yes ? 1 : -1;
        if (keepers == 0) gone.swap(kept());
    }
    for (char* head : gone) ::operator delete(head);
}

}  // namespace imtorque
