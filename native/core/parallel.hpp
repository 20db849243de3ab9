// Threads for the kernels: a number shared by all of them, one loop over independent tasks, and a way out of long work.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>

namespace imtorque {

int num_threads();
void set_num_threads(int n);

// How many threads can run at once: num_threads(), but no more than the cores this process may run on.
int usable_threads();

// How many of these a call should use whose work takes about `nanoseconds` on one of them: no more than it keeps busy
// for long enough to repay waking them; and only one inside a task of parallel_for.
int useful_threads(double nanoseconds);

// Use num_threads() threads for any work on any number of cores; for tests.
void use_all_threads(bool yes);

// Run task(0) ... task(count - 1), each once, on useful_threads(count * nanoseconds) threads, where `nanoseconds` is
// roughly what one task takes. Tasks must write to disjoint memory; the first exception one of them throws is thrown
// again here, after all threads have left the loop. A loop inside a task of another runs on the task's own thread.
void parallel_for(int count, double nanoseconds, const std::function<void(int)>& task);

// Throw if the call should end early. Cheap, but it reads the clock: for loops whose steps take a microsecond or more.
// Loops over tasks do this between tasks; what may take a tenth of a second in one piece does it inside.
void check_interrupt();

// check_interrupt() at one step of many.
class Poll {
  public:
    explicit Poll(unsigned every) : every_(every) {}
    void operator()() {
        if (++steps_ < every_) return;
        steps_ = 0;
        check_interrupt();
    }

  private:
    unsigned every_, steps_ = 0;
};

// Calls that this thread begins end with Cancelled soon after the flag is set, on whichever threads they run, as often
// as they poll; nullptr: they end no more.
using CancelFlag = std::shared_ptr<const std::atomic<bool>>;
struct Cancelled : std::exception {
    const char* what() const noexcept override { return "nobody wants the result any more"; }
};
void watch(CancelFlag flag);

// `check` is called about twenty times a second by a thread inside a kernel, never by threads of the pool. It throws to
// end the call.
void set_interrupt_check(void (*check)());

}  // namespace imtorque
