#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace imtorque {
namespace {
std::atomic<int> threads{1};
}

int num_threads() { return threads.load(); }
void set_num_threads(int n) { threads.store(n); }

// Threads are started per call: a kernel runs for milliseconds, a thread starts in microseconds, and a process that
// forks has no pool to lose.
void parallel_for(int count, const std::function<void(int)>& task) {
    const int workers = std::min(num_threads(), count);
    if (workers <= 1) {
        for (int i = 0; i < count; ++i) task(i);
        return;
    }
    std::atomic<int> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto work = [&] {
        try {
            for (int i = next++; i < count; i = next++) task(i);
        } catch (...) {
            std::lock_guard<std::mutex> guard(failure_lock);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    };
    std::vector<std::thread> team;
    try {
        for (int i = 1; i < workers; ++i) team.emplace_back(work);
    } catch (...) {
        // The system gives no more threads: those that started, and this one, do the work.
    }
    work();
    for (auto& thread : team) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace imtorque
