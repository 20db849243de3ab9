// The pool of kernel threads by itself, without Python: test_parallel.py builds and runs this as it is, `make sanitize`
// under the thread sanitizer (which knows no threads after fork(), so with NO_FORK).
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/parallel.hpp"

using namespace imtorque;

namespace {

constexpr int kTasks = 500;
constexpr double kLong = 1e6;
long expected = 0;

void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("failed: %s\n", what);
    std::exit(1);
}

long sum_of_tasks() {
    std::vector<long> sums(kTasks);
    parallel_for(kTasks, kLong, [&](int i) {
        for (int k = 0; k < 2000; ++k) sums[i] += (i * 31 + k) % 7;
    });
    long total = 0;
    for (const long sum : sums) total += sum;
    return total;
}

void any_number_of_threads() {
    for (const int n : {2, 8, 3, 16, 1, 5}) {
        set_num_threads(n);
        for (int round = 0; round < 20; ++round) require(sum_of_tasks() == expected, "any number of threads");
    }
}

void calls_at_the_same_time() {
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 6; ++c)
        callers.emplace_back([&] {
            for (int round = 0; round < 50; ++round) wrong += sum_of_tasks() != expected;
        });
    for (int round = 0; round < 200; ++round) {
        set_num_threads(1 + round % 9);
        std::this_thread::yield();
    }
    for (std::thread& caller : callers) caller.join();
    require(wrong == 0, "calls at the same time, while the number of threads changes");
}

void calls_inside_tasks() {
    std::atomic<int> count{0};
    parallel_for(20, kLong, [&](int) { parallel_for(10, kLong, [&](int) { ++count; }); });
    require(count == 200, "calls inside tasks");
}

void exceptions() {
    for (int round = 0; round < 30; ++round) {
        bool caught = false;
        try {
            parallel_for(100, kLong, [](int i) {
                if (i % 40 == 37) throw std::runtime_error("a task failed");
            });
        } catch (const std::runtime_error&) {
            caught = true;
        }
        require(caught && sum_of_tasks() == expected, "exceptions");
    }
}

std::atomic<bool> ask_to_end{false};
struct End {};

void interrupts() {
    set_interrupt_check([] {
        if (ask_to_end) throw End();
    });
    for (int round = 0; round < 3; ++round) {
        ask_to_end = false;
        std::thread user([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            ask_to_end = true;
        });
        bool caught = false;
        try {
            parallel_for(6, kLong, [](int) {
                for (;;) check_interrupt();
            });
        } catch (const End&) {
            caught = true;
        }
        user.join();
        require(caught, "an interrupt ends tasks that never end");
    }
    ask_to_end = false;
    require(sum_of_tasks() == expected, "a call after an interrupt");
}

#ifndef NO_FORK
void forks_while_others_are_inside() {
    std::atomic<bool> stop{false};
    std::vector<std::thread> callers;
    for (int c = 0; c < 3; ++c)
        callers.emplace_back([&] {
            while (!stop) sum_of_tasks();
        });
    for (int round = 0; round < 50; ++round) {
        const pid_t child = fork();
        if (child == 0) _exit(sum_of_tasks() == expected && sum_of_tasks() == expected ? 0 : 1);
        int status = 0;
        waitpid(child, &status, 0);
        require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child's own threads");
    }
    stop = true;
    for (std::thread& caller : callers) caller.join();
}
#endif

}  // namespace

int main() {
    expected = sum_of_tasks();
    use_all_threads(true);
    any_number_of_threads();
    calls_at_the_same_time();
    set_num_threads(6);
    calls_inside_tasks();
    exceptions();
    interrupts();
#ifndef NO_FORK
    forks_while_others_are_inside();
#endif
    std::printf("all hold\n");
}
