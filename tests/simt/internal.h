/* What the emulator's own files share. Compiled without any sanitizer: fiber.cc tells the sanitizers what happens. */
#pragma once

#include "simt.h"

#include "control.h"

namespace simt {

/* ---- settings: see control.h ---- */

struct Settings {
  int order;
  unsigned preempt;
  bool async, trace, cooperative;
  unsigned char junk;
  int devices, units, driver;
  unsigned resident;
  size_t shared_limit, memory, pitch, cache;
};
extern Settings settings;
extern simt_counts counts;
uint64_t random64();
void random_seed(uint64_t seed);

/* ---- a call to the runtime ---- */

enum CallKind { LOOK, WORK, LAUNCH, ALLOC, WAIT, FREE };

/* Holds the lock while it lives. code: why the call must fail before it has done anything. */
struct Call {
  explicit Call(CallKind kind);
  ~Call();
  cudaError_t code;
};
/* Remembers the error for cudaGetLastError() and gives it back. */
cudaError_t failed(cudaError_t code);
#define SIMT_ENTER(kind)  \
  simt::Call call_(kind); \
  if (call_.code != cudaSuccess) return simt::failed(call_.code)

int current_device();
size_t dynamic_limit_of(const void *kernel);
uint64_t most_resident(const Launch &launch); /* blocks that the device has room for at once */
size_t shared_limit_of(const void *kernel);   /* arrays and what the launch asks for together */

/* ---- shared memory ---- */

enum { MOST_THREADS = 1024, JUNK = 0xA5 };
const size_t MOST_SHARED = 227 * 1024, USUAL_SHARED = 48 * 1024, MOST_PITCH = 0x7fffffff;

struct Memory; /* of a resident block */
Memory *shared_new();
/* A block begins; returns what its launch asked for. */
unsigned char *shared_begin(Memory *memory, size_t dynamic, size_t limit);
void shared_enter(Memory *memory);           /* the next thread that runs is in it */
void shared_end(Memory *memory);             /* dies when a write was outside an array */
void fill(void *at, int byte, size_t bytes); /* memset that no sanitizer sees */
bool in_shared(const void *at);

/* ---- streams ---- */

bool capturing(); /* by the calling thread */
void break_captures();
bool disturbs_capture(cudaStream_t stream); /* the default stream, while one that waits for it is captured: breaks it */
bool captures(cudaStream_t stream);
bool exists(cudaStream_t stream);
int device_of(cudaStream_t stream);
void finish(cudaStream_t stream);
void submit_late(std::function<void()> work); /* to the default stream, which is not gone on with */
void finish_all();
void forget_work();     /* the device was lost */
int64_t live_streams(); /* and events and graphs */

/* ---- memory ---- */

int64_t live_blocks();
/* Dies when words of a kernel's arguments are addresses in another device's memory than the current one's. */
void check_argument(const Place &kernel, const Argument &argument);
void check_guards(const Place &kernel); /* dies when a kernel wrote outside an allocation */
/* Counts the device's allocations: which one the address lies in, and where in it. 0: in none. */
uint64_t device_serial(const void *at, uint64_t *offset);

/* ---- traffic ---- */

void traffic_begin(const Launch &launch);
void traffic_end();
void traffic_again();

} // namespace simt
