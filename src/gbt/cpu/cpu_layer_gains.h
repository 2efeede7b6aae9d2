/* The gains of all cuts of a numeric feature in one node of a layer: the inner loop of symmetric growth. Compiled once
 * per instruction set, see cpu_kernels.h.
 *
 * Most codes of a node of few rows hold nothing. A block of such codes has the gain of the code before it. The others
 * of a chunk are put side by side. The sums of a whole chunk are written before any is read, as a vector load directly
 * after the stores of its parts would wait for them:
 *
 *   codes   | . . 3 . | . . . . | 1 . . 2 | . . . . |      chunk of four blocks
 *   run     | 0 0 3 3 |         | 4 4 4 6 |                sums so far, of two
 *   gains   | a a b b | b b b b | c c c d | d d d d |
 *
 * Sums are whole numbers, so the gains do not depend on blocks and chunks. */
#ifndef GBT_CPU_CPU_LAYER_GAINS_H
#define GBT_CPU_CPU_LAYER_GAINS_H

#include "../base/hd.h"
#include "../math/fixed.h"
#include "../math/gain.h"
#include "../tree/split.h"

/* The two sums of a packed slot: h never goes below 0, so the arithmetic shift leaves g. */
GBT_FN gbt_sum cpu_unpack(int64_t both) { return (gbt_sum){both >> 32, (int64_t)(uint32_t)both}; }

/* A feature's codes in a node. */
typedef struct cpu_layer_codes {
  const gbt_sum *sum;  /* by code */
  const int64_t *both; /* packed, instead of sum; or NULL */
  gbt_units unit;
  gbt_units more; /* real sums that go left with every cut: those of missing values */
} cpu_layer_codes;

enum { CPU_LAYER_BLOCK = 8, CPU_LAYER_BLOCKS = 16, CPU_LAYER_CHUNK = CPU_LAYER_BLOCK * CPU_LAYER_BLOCKS };

GBT_FN int cpu_layer_empty(const cpu_layer_codes *c, int32_t beg, int32_t n, int packed) {
  int64_t any = 0;
  for (int32_t i = 0; i < n; i++) any |= packed ? c->both[beg + i] : c->sum[beg + i].g | c->sum[beg + i].h;
  return any == 0;
}

/* Prefix sums of n codes from `beg` on, to g and h; packed ones only to g. */
GBT_FN void cpu_layer_run(const cpu_layer_codes *c, int32_t beg, int32_t n, gbt_sum *run, int64_t *g, int64_t *h,
                          int packed) {
  for (int32_t i = 0; i < n; i++) {
    if (packed) {
      g[i] = run->g += c->both[beg + i];
    } else {
      g[i] = run->g += c->sum[beg + i].g;
      h[i] = run->h += c->sum[beg + i].h;
    }
  }
}

/* The gain that is counted for the cut after the code with these prefix sums; packed: g has both. */
GBT_FN double cpu_layer_rate(const cpu_layer_codes *c, int packed, int64_t g, int64_t h, const gbt_rated *node,
                             gbt_reg reg, double floor) {
  const double gl = (double)(packed ? g >> 32 : g) * c->unit.g + c->more.g;
  const double hl = (double)(packed ? g & 0xffffffff : h) * c->unit.h + c->more.h;
  const double gain = gbt_rate_free(node, gl, hl, reg);
  return gain > floor ? gain : 0.0;
}

/* The same of the cut before the first code that holds something; without missing values nothing is left of it. */
GBT_FN double cpu_layer_first(const cpu_layer_codes *c, const gbt_rated *node, gbt_reg reg, double floor) {
  if (!(c->more.h > 0.0)) return 0.0; /* not allowed, see gbt_rate_free */
  const double gain = gbt_rate_free(node, c->more.g, c->more.h, reg);
  return gain > floor ? gain : 0.0;
}

GBT_FN void cpu_layer_add(int32_t n, const double *gain, double last, double *to) {
  for (int32_t i = 0; i < n; i++) to[i] += gain ? gain[i] : last;
}

/* gbt_rate_free of the cuts after each of n codes, added to right[n] and, where it is not NULL, left[n]; what is not
 * above floor >= 0 counts as 0. */
GBT_FN void cpu_layer_gains(int32_t n, const cpu_layer_codes *c, const gbt_rated *node, gbt_reg reg, double floor,
                            double *right, double *left, int packed) {
  gbt_sum run = {0, 0};
  int64_t g[CPU_LAYER_CHUNK], h[CPU_LAYER_CHUNK];
  double gain[CPU_LAYER_CHUNK], last = cpu_layer_first(c, node, reg, floor);
  for (int32_t beg = 0; beg < n; beg += CPU_LAYER_CHUNK) {
    const int32_t end = n - beg < CPU_LAYER_CHUNK ? n : beg + CPU_LAYER_CHUNK;
    int32_t m = 0, at = 0;
    uint32_t filled = 0; /* by block */
    for (int32_t b = beg, bit = 0; b < end; b += CPU_LAYER_BLOCK, bit++) {
      const int32_t size = end - b < CPU_LAYER_BLOCK ? end - b : CPU_LAYER_BLOCK;
      if (size == CPU_LAYER_BLOCK) { /* a length that the compiler knows */
        if (cpu_layer_empty(c, b, CPU_LAYER_BLOCK, packed)) continue;
        cpu_layer_run(c, b, CPU_LAYER_BLOCK, &run, g + m, h + m, packed);
      } else {
        if (cpu_layer_empty(c, b, size, packed)) continue;
        cpu_layer_run(c, b, size, &run, g + m, h + m, packed);
      }
      filled |= 1u << bit;
      m += size;
    }
    for (int32_t i = 0; i < m; i++) gain[i] = cpu_layer_rate(c, packed, g[i], h[i], node, reg, floor);
    for (int32_t b = beg, bit = 0; b < end; b += CPU_LAYER_BLOCK, bit++) {
      const int32_t size = end - b < CPU_LAYER_BLOCK ? end - b : CPU_LAYER_BLOCK;
      if (filled >> bit & 1) {
        cpu_layer_add(size, gain + at, 0.0, right + b);
        if (left) cpu_layer_add(size, gain + at, 0.0, left + b);
        at += size;
        last = gain[at - 1];
      } else if (last > 0.0) {
        cpu_layer_add(size, NULL, last, right + b);
        if (left) cpu_layer_add(size, NULL, last, left + b);
      }
    }
  }
}

#endif
