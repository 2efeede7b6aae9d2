/* Trees as tables of bytes, for prediction (model/predict_table.h) and training (cpu/cpu_walk_tables.h): 64 rows go
 * down side by side, a byte each.
 *
 *   place   where a row is in a layer: 0 at the root, then 2 place + 1 for those that go left, 2 place for those that
 *           go right. A leaf above the last layer goes left
 *   table   one for each column that a layer splits by: by place, the highest code that goes left, or GBT_WALK_ALL
 *           where the node splits by another column. So one comparison decides for 64 rows, whatever the number of
 *           nodes */
#ifndef GBT_BASE_BYTE_WALK_H
#define GBT_BASE_BYTE_WALK_H

#include "hd.h"
#include "look_up.h"

enum {
  GBT_WALK_ROWS = 64,
  GBT_WALK_LAYERS = 8, /* places on the last one are a byte */
  GBT_WALK_ALL = 255,
  GBT_WALK_NO_MISSING = 256, /* no code */
  GBT_WALK_TOGETHER = 4      /* groups of rows that walk interleaved: a single one would stall on each layer's result */
};

/* Bytes of a table of n places: 16, 32, 64 or 128. */
GBT_FN uint32_t gbt_walk_width(uint32_t n) {
  GBT_ASSERT(n <= 128);
  return n <= 16 ? 16 : n <= 32 ? 32 : n <= 64 ? 64 : 128;
}

/* Where a leaf that lies so many layers above is on a layer. */
GBT_FN uint32_t gbt_walk_below(uint32_t place, uint32_t n_layers) {
  GBT_ASSERT(n_layers <= GBT_WALK_LAYERS);
  return ((place + 1) << n_layers) - 1;
}

#if defined(GBT_LOOKS_UP)

/* Before loops over groups; else -O2 may leave vectors of arrays in memory. */
#if defined(__CUDACC__) /* knows neither, and has no use for these loops */
#define GBT_WALK_UNROLL
#elif defined(__clang__)
#define GBT_WALK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GBT_WALK_UNROLL _Pragma("GCC unroll 8")
#endif

/* Takes the rows out of left that a column sends right; its codes begin `stride` apart from group to group. missing:
 * the code that goes left wherever it is asked. Constant numbers leave one way. */
GBT_LOOK_UP_FN void gbt_walk_ask(const uint8_t *table, size_t width, const uint8_t *codes, size_t stride,
                                 uint32_t missing, int n, const __m512i *place, __mmask64 *left) {
  const __m512i gone = _mm512_set1_epi8((char)missing);
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) {
    __m512i code = _mm512_loadu_si512(codes + (size_t)g * stride);
    if (missing != GBT_WALK_NO_MISSING)
      code = _mm512_mask_mov_epi8(code, _mm512_cmpeq_epi8_mask(code, gone), _mm512_setzero_si512());
    left[g] = _mm512_mask_cmple_epu8_mask(left[g], code, gbt_look_up(table, width, place[g]));
  }
}

/* Tables of a layer of many columns are two: by place, the highest code that goes left, and which of the columns the
 * node splits by, 0 .. n_cols - 1; any other number where that does not matter. The columns are gone through one by
 * one, and each gives its codes to those rows whose node asks it: a comparison and a move in place of a look-up and a
 * comparison. codes[cols[j]]: column j of the first group. Takes the rows out of left that go right. */
GBT_LOOK_UP_FN void gbt_walk_pick(const uint8_t *tables, size_t width, const uint32_t *cols, uint32_t n_cols,
                                  const uint8_t *codes, size_t stride, int n, const __m512i *place, __mmask64 *left) {
  __m512i which[GBT_WALK_TOGETHER], code[GBT_WALK_TOGETHER], its = _mm512_setzero_si512();
  const __m512i one = _mm512_set1_epi8(1);
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) {
    which[g] = gbt_look_up(tables + width, width, place[g]);
    code[g] = _mm512_loadu_si512(codes + cols[0] + (size_t)g * stride);
  }
  for (uint32_t j = 1; j < n_cols; j++) {
    const uint8_t *from = codes + cols[j];
    its = _mm512_add_epi8(its, one);
    GBT_WALK_UNROLL
    for (int g = 0; g < n; g++)
      code[g] = _mm512_mask_loadu_epi8(code[g], _mm512_cmpeq_epi8_mask(which[g], its), from + (size_t)g * stride);
  }
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++)
    left[g] = _mm512_mask_cmple_epu8_mask(left[g], code[g], gbt_look_up(tables, width, place[g]));
}

/* ask(width, ...) with the width a constant. */
#define GBT_WALK_BY_WIDTH(ask, width, ...) \
  do {                                     \
    if ((width) == 16)                     \
      ask(16, __VA_ARGS__);                \
    else if ((width) == 32)                \
      ask(32, __VA_ARGS__);                \
    else if ((width) == 64)                \
      ask(64, __VA_ARGS__);                \
    else                                   \
      ask(128, __VA_ARGS__);               \
  } while (0)

/* ask(..., n, place, left), a function of its own, with copies, so that the others stay in registers. */
#define GBT_WALK_APART(ask, n, place, left, ...)        \
  do {                                                  \
    __m512i places[GBT_WALK_TOGETHER];                  \
    __mmask64 lefts[GBT_WALK_TOGETHER];                 \
    for (int i = 0; i < (n); i++) {                     \
      places[i] = (place)[i];                           \
      lefts[i] = (left)[i];                             \
    }                                                   \
    ask(__VA_ARGS__, n, places, lefts);                 \
    for (int i = 0; i < (n); i++) (left)[i] = lefts[i]; \
  } while (0)

/* To the next layer. */
GBT_LOOK_UP_FN void gbt_walk_step(int n, __m512i *place, const __mmask64 *left) {
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) {
    place[g] = _mm512_add_epi8(place[g], place[g]);
    place[g] = _mm512_mask_add_epi8(place[g], left[g], place[g], _mm512_set1_epi8(1));
  }
}

#endif

#endif
