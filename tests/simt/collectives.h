/* Barriers of a block and collectives of a warp. A collective takes the lanes of its mask that have not ended; all of
 * them must come to the same function with the same mask. What a shuffle reads from a lane outside of the mask, or from
 * one that has ended, is junk. */
#pragma once

/* ---- blocks ---- */

static inline void __syncthreads(SIMT_AT) { simt::wait_block(false, at_file, at_line); }
static inline int __syncthreads_count(int p, SIMT_AT) { return simt::wait_block(p != 0, at_file, at_line); }
static inline int __syncthreads_or(int p, SIMT_AT) { return simt::wait_block(p != 0, at_file, at_line) != 0; }
static inline int __syncthreads_and(int p, SIMT_AT) { return simt::wait_block(p == 0, at_file, at_line) == 0; }

/* ---- warps: votes ---- */

static inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_AT) {
  simt::wait_warp(simt::SYNC, mask, 0, 0, at_file, at_line);
}
static inline unsigned __ballot_sync(unsigned mask, int p, SIMT_AT) {
  return (unsigned)simt::wait_warp(simt::BALLOT, mask, p != 0, 0, at_file, at_line);
}
static inline int __any_sync(unsigned mask, int p, SIMT_AT) {
  return simt::wait_warp(simt::BALLOT, mask, p != 0, 0, at_file, at_line) != 0;
}
static inline int __all_sync(unsigned mask, int p, SIMT_AT) {
  return simt::wait_warp(simt::ALL, mask, p != 0, 0, at_file, at_line) != 0;
}

/* The lanes that run together: on this machine, the one that asks. */
static inline unsigned __activemask() { return 1u << simt::now->lane; }

/* ---- warps: values of 32 and 64 bits ---- */

namespace simt {
template <class T> static inline uint64_t bits_of(T value) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "cast to a type of 32 or 64 bits");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T> static inline T of_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T> static inline T shuffle(unsigned mask, T value, int source, const char *file, int line) {
  return of_bits<T>(wait_warp(SHUFFLE, mask, bits_of(value), source, file, line));
}
/* The first lane of the section of `width` lanes that this one is in. */
static inline int section(int width) { return (int)now->lane & ~(width - 1); }
} // namespace simt

template <class T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIMT_AT) {
  return simt::shuffle(mask, value, simt::section(width) | (source & (width - 1)), at_file, at_line);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, SIMT_AT) {
  int lane = (int)simt::now->lane, source = lane - (int)by;
  return simt::shuffle(mask, value, source < simt::section(width) ? lane : source, at_file, at_line);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, SIMT_AT) {
  int lane = (int)simt::now->lane, source = lane + (int)by;
  return simt::shuffle(mask, value, source >= simt::section(width) + width ? lane : source, at_file, at_line);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, SIMT_AT) {
  int lane = (int)simt::now->lane, source = lane ^ with;
  return simt::shuffle(mask, value, source >= simt::section(width) + width ? lane : source, at_file, at_line);
}

template <class T> static inline unsigned __match_any_sync(unsigned mask, T value, SIMT_AT) {
  return (unsigned)simt::wait_warp(simt::MATCH, mask, simt::bits_of(value), 0, at_file, at_line);
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T value, int *all, SIMT_AT) {
  unsigned who = (unsigned)simt::wait_warp(simt::MATCH_ALL, mask, simt::bits_of(value), 0, at_file, at_line);
  *all = who != 0;
  return who;
}

/* ---- warps: reductions of 32 bits ---- */

#define SIMT_REDUCE(name, T, what)                                                               \
  static inline T name(unsigned mask, T value, SIMT_AT) {                                        \
    return (T)(unsigned)simt::wait_warp(simt::what, mask, (unsigned)value, 0, at_file, at_line); \
  }
SIMT_REDUCE(__reduce_add_sync, unsigned, ADD)
SIMT_REDUCE(__reduce_add_sync, int, ADD)
SIMT_REDUCE(__reduce_min_sync, unsigned, MIN)
SIMT_REDUCE(__reduce_min_sync, int, MIN_SIGNED)
SIMT_REDUCE(__reduce_max_sync, unsigned, MAX)
SIMT_REDUCE(__reduce_max_sync, int, MAX_SIGNED)
SIMT_REDUCE(__reduce_and_sync, unsigned, AND)
SIMT_REDUCE(__reduce_or_sync, unsigned, OR)
SIMT_REDUCE(__reduce_xor_sync, unsigned, XOR)
#undef SIMT_REDUCE
