// A pool of threads that are kept between calls. The calling thread works too and waits only for threads that have
// taken a task: one that the system has not woken by then is not missed. So a call never waits for a thread to start.
//
// The pool is never destroyed: its threads are idle when a process ends, and nothing they use may go before them. A
// child made by fork() has none of its parent's threads and cannot know in which state their locks are, so it forgets
// the pool, and makes its own when it needs one.
#include "core/parallel.hpp"

#ifndef _WIN32
#include <pthread.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace imtorque {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLeastShare = 1e5;  // nanoseconds of work for each thread: several times what waking it takes
constexpr auto kBetweenChecks = std::chrono::milliseconds(50);

struct Stopped : std::exception {};  // ends a task whose call has failed; never leaves this file

// One call of parallel_for. `wanted` and `inside` belong to the pool's lock.
struct Call {
    const int count;
    const std::function<void(int)>& task;
    const CancelFlag cancelled;  // of the thread that began it
    int wanted;                  // threads that may still join
    int inside = 0;              // threads of the pool that have joined and not left
    std::condition_variable left;
    std::atomic<int> next{0};
    std::atomic<bool> stopped{false};
    std::exception_ptr failure;
    std::mutex failure_lock;

    Call(int tasks, const std::function<void(int)>& f, CancelFlag flag, int helpers)
        : count(tasks), task(f), cancelled(std::move(flag)), wanted(helpers) {}

    void stop(std::exception_ptr why) {
        std::lock_guard<std::mutex> guard(failure_lock);
        if (!failure) failure = why;
        stopped = true;
    }
    void work();
};

std::atomic<int> threads{1};
std::atomic<bool> all_threads{false};
std::atomic<void (*)()> interrupt_check{nullptr};
thread_local Call* current = nullptr;  // the call whose tasks this thread runs
thread_local CancelFlag watched;
thread_local bool in_pool = false;

void Call::work() {
    current = this;
    try {
        for (int i = next++; i < count && !stopped; i = next++) {
            check_interrupt();
            task(i);
        }
    } catch (const Stopped&) {
        // Whoever stopped the call has said why.
    } catch (...) {
        stop(std::current_exception());
    }
    current = nullptr;
}

class Pool {
  public:
    void run(Call& call) {
        open(call);
        call.work();
        close(call);
    }

  private:
    void open(Call& call) {
        std::lock_guard<std::mutex> guard(lock_);
        calls_.push_back(&call);
        // Calls at the same time share the threads there are: each has its own besides.
        try {
            for (; size_ < call.wanted; ++size_) std::thread(&Pool::serve, this).detach();
        } catch (...) {
            // The system gives no more threads: those there are, and the calling one, do the work.
        }
        for (int i = 0; i < std::min(call.wanted, size_); ++i) wake_.notify_one();
    }

    void close(Call& call) {
        std::unique_lock<std::mutex> guard(lock_);
        calls_.erase(std::remove(calls_.begin(), calls_.end(), &call), calls_.end());
        while (!call.left.wait_for(guard, kBetweenChecks, [&] { return call.inside == 0; })) {
            guard.unlock();
            try {
                if (!call.stopped) check_interrupt();
            } catch (...) {
                call.stop(std::current_exception());
            }
            guard.lock();
        }
    }

    void serve() {
        in_pool = true;
        std::unique_lock<std::mutex> guard(lock_);
        for (;;) {
            wake_.wait(guard, [&] { return !calls_.empty(); });
            Call& call = *calls_.front();
            ++call.inside;
            if (--call.wanted == 0) calls_.pop_front();
            guard.unlock();
            call.work();
            guard.lock();
            if (--call.inside == 0) call.left.notify_one();  // with the lock held: the call is gone once it is free
        }
    }

    std::mutex lock_;
    std::condition_variable wake_;
    std::deque<Call*> calls_;  // those that want threads
    int size_ = 0;
};

// No lock guards this pointer, so that a child can take it whatever the parent's threads were doing.
std::atomic<Pool*> shared_pool{nullptr};

#ifndef _WIN32  // which has no fork
[[maybe_unused]] const int forgets_on_fork = pthread_atfork(nullptr, nullptr, [] { shared_pool.store(nullptr); });
#endif

Pool& pool() {
    Pool* there = shared_pool.load();
    if (there) return *there;
    Pool* fresh = new Pool;
    if (shared_pool.compare_exchange_strong(there, fresh)) return *fresh;
    delete fresh;  // another thread was faster
    return *there;
}

int cores() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int num_threads() { return threads.load(); }
void set_num_threads(int n) { threads.store(n); }
void use_all_threads(bool yes) { all_threads.store(yes); }
void watch(CancelFlag flag) { watched = std::move(flag); }
void set_interrupt_check(void (*check)()) { interrupt_check.store(check); }

int usable_threads() {
    const int most = num_threads();
    return most <= 1 || all_threads ? most : std::min(most, cores());
}

int useful_threads(double nanoseconds) {
    if (current) return 1;
    if (all_threads) return num_threads();
    const int busy = static_cast<int>(std::min<double>(num_threads(), nanoseconds / kLeastShare));
    return busy <= 1 ? 1 : std::min(busy, usable_threads());
}

void check_interrupt() {
    if (current && current->stopped) throw Stopped();
    const CancelFlag& flag = current ? current->cancelled : watched;
    if (flag && *flag) throw Cancelled();
    const auto check = interrupt_check.load();
    if (in_pool || !check) return;
    static thread_local Clock::time_point due;
    const Clock::time_point now = Clock::now();
    if (now < due) return;
    due = now + kBetweenChecks;
    check();
}

void parallel_for(int count, double nanoseconds, const std::function<void(int)>& task) {
    const int workers = std::min(useful_threads(count * nanoseconds), count);
    if (workers <= 1) {
        for (int i = 0; i < count; ++i) {
            check_interrupt();
            task(i);
        }
        return;
    }
    Call call(count, task, watched, workers - 1);
    pool().run(call);
    if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace imtorque
