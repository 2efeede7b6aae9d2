/* What runs kernels. A block's threads are fibers; one runs until it waits (at a barrier, in a warp collective) or
 * ends, then another that is ready. Which one is a matter of the schedule: see control.h.
 *
 *   launch() -> submit_launch(): a closure in the stream -> run_grid(): block by block -> the kernel on each fiber
 *
 * There is one machine in the process. A lock lets one host thread at a time in, for whole kernels. */
#pragma once

#include <functional>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

namespace simt {

/* A name in the source and where it is. */
struct Place {
  const char *name, *file;
  int line;
};

/* The running thread of the running block. */
struct Thread {
  uint3 id;
  unsigned lane;
};
struct Block {
  uint3 id;
  dim3 grid, threads;
  unsigned char *dynamic; /* shared memory that the launch asked for */
  uint64_t serial;        /* counts blocks; never 0 in a kernel */
};
extern Thread *now; /* NULL outside of kernels */
extern Block block;

/* Ends the process with status 86. */
[[noreturn]] void die(const char *what, const char *file, int line);

/* ---- shared arrays ---- */

/* A shared array of fixed size, and where it lies in the block `serial`. */
struct Shared {
  Place place;
  size_t bytes;
  uint64_t serial;
  void *at;
};
void *shared(Shared *array);

/* ---- waiting ---- */

enum Collective { SYNC, BALLOT, ALL, SHUFFLE, MATCH, MATCH_ALL, ADD, MIN, MAX, MIN_SIGNED, MAX_SIGNED, AND, OR, XOR };

/* Waits for all threads of the block that have not ended; the number of those that gave `predicate`. */
int wait_block(bool predicate, const char *file, int line);

/* Waits for the lanes in mask. What comes back depends on the collective; `source`: the lane a shuffle reads. */
uint64_t wait_warp(Collective what, unsigned mask, uint64_t value, int source, const char *file, int line);

/* Gives way to another thread now and then, when SIMT_PREEMPT asks for it. */
extern unsigned preempt;
void give_way();

/* Lets others run; a lane in a loop that waits for another block must call it. */
void sleep(const char *file, int line);
void fence();

/* ---- launches ---- */

struct Launch {
  Place place;
  const void *kernel;
  dim3 grid, threads;
  size_t shared;
  bool cooperative; /* all blocks are resident at once */
};

struct Argument {
  const void *at;
  size_t bytes;
};

/* Checks the launch and its arguments and puts it into the stream. `body(args)` is what every thread calls. */
void submit_launch(const Launch &launch, cudaStream_t stream, std::initializer_list<Argument> args,
                   std::function<void(const Launch &)> run);
void run_grid(const Launch &launch, void (*body)(void *), void *args);

template <class... P, class... A>
void launch(const Place &place, bool cooperative, void (*kernel)(P...), dim3 grid, dim3 threads, size_t shared,
            cudaStream_t stream, A &&...args) {
  static_assert((std::is_trivially_copyable_v<P> && ...), "kernels take what can be copied byte by byte");
  static_assert((sizeof(P) + ... + 0) <= 4096, "kernels take at most 4 KB of arguments");
  struct Call {
    void (*kernel)(P...);
    std::tuple<std::decay_t<P>...> args;
  };
  Call call = {kernel, std::tuple<std::decay_t<P>...>(static_cast<P>(args)...)};
  const Launch what = {place, reinterpret_cast<const void *>(kernel), grid, threads, shared, cooperative};
  auto run = [call](const Launch &it) mutable {
    run_grid(
        it, [](void *p) { std::apply(static_cast<Call *>(p)->kernel, static_cast<Call *>(p)->args); }, &call);
  };
  std::apply([&](const auto &...each) { submit_launch(what, stream, {Argument{&each, sizeof each}...}, run); },
             call.args);
}

/* Puts work for the host into a stream, in its order with kernels and copies. */
void submit(cudaStream_t stream, std::function<void()> work);

} // namespace simt
