/* What tests may do to the emulated machine, and what it can tell them. C and C++.
 *
 * The environment says the same from outside, and is looked at again by every call to the runtime, so that R code can
 * set it; what a function here has set holds until the environment changes.
 *
 *   SIMT_SCHED    natural | reverse | random   which thread and which block goes first
 *   SIMT_SEED     of random
 *   SIMT_PREEMPT  k: a thread gives way before one in k atomics
 *   SIMT_RESIDENT k: so many blocks of a launch run side by side (1), as far as the device has room for them
 *   SIMT_COOPERATIVE 1: the device says that it has cooperative launches, so that small data have a way of their own
 *   SIMT_ASYNC    1: a stream's work is done when a thread waits for it, not before
 *   SIMT_DEVICES  how many there are (1); 0: none           SIMT_UNITS   multiprocessors of each (4)
 *   SIMT_DRIVER   old | none                                SIMT_SHARED  bytes a block may have (227 KB)
 *   SIMT_MEMORY   bytes of each device (8 GB)               SIMT_PITCH   most from row to row of a copy (2 GB)
 *   SIMT_CACHE    bytes that the counting of sectors assumes of the second-level cache (1 MB)
 *   SIMT_FAIL     n: the n-th call from now fails; n+: from then on the device is lost
 *   SIMT_JUNK     the byte that new memory is full of (165)
 *   SIMT_TRACE    1: says every kernel before it runs */
#ifndef SIMT_CONTROL_H
#define SIMT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIMT_NATURAL = 0, SIMT_REVERSE, SIMT_RANDOM };

/* preempt: 0 for never. The random numbers begin again from the seed. */
void simt_schedule(int order, uint64_t seed, unsigned preempt);
void simt_resident(unsigned n);
void simt_async(int on);
void simt_memory(size_t bytes); /* 0: as the environment says */

/* The n-th call from now that can fail (frees cannot) does so, once; and_later: it and all after it, until the next
 * simt_fail_at(). n = 0: none. simt_failed(): how often that has happened since. */
void simt_fail_at(int64_t n, int and_later);
int64_t simt_failed(void);

/* What the host has asked for since simt_count_again(). A graph's launches count once, when they are captured. */
typedef struct simt_counts {
  int64_t launches, graph_launches, copies, sets;
  int64_t up_bytes, down_bytes; /* of copies between host and device that ran */
  int64_t waits;           /* the host waited: synchronised, copied or freed */
  int64_t allocs, frees;   /* of device or page-locked memory */
  int64_t kernels, blocks; /* that ran */
} simt_counts;
simt_counts simt_counted(void);
void simt_count_again(void);

/* What a kernel has done since simt_count_again(), all its launches together. Bytes and additions of all threads; from
 * `read` on, 0 unless it was compiled to be counted: see traffic.cc. */
typedef struct simt_traffic {
  const char *kernel; /* until the next launch or simt_count_again() */
  int64_t launches, blocks;
  int64_t read, written;                 /* bytes of device memory */
  int64_t sectors_read, sectors_written; /* of 32 bytes, between device memory and a cache of SIMT_CACHE bytes */
  int64_t global_adds, shared_adds;      /* atomics */
  int64_t shared_bytes;
  int64_t watched_read, watched_written; /* of those sectors, what lies in the ranges of simt_watch() */
} simt_traffic;
/* Kernels in the order of their names, from 0; 0 when there are not so many. */
int simt_traffic_of(int which, simt_traffic *out);
/* Sectors of this range of device memory, and of those of earlier calls, are counted apart as well. at = NULL: none are
 * any more. */
void simt_watch(const void *at, size_t bytes);

/* Things not given back: memory, streams, events, graphs. */
int64_t simt_live(void);

/* In a forked process CUDA cannot be used any more, here as there. After this call it is, for tests that fork. */
void simt_adopt(void);

#ifdef __cplusplus
}
#endif
#endif
