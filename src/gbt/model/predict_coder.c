/* See predict_coder.h. */
#include "predict_coder.h"

#include <math.h>
#include <string.h>

enum { CUTS = 256 };

static uint32_t cell_of(const gbti_coder *coder, double x) {
  uint64_t u = gbt_bits(x + 0.0), size = u & INT64_MAX; /* -0 + 0 = +0 */
  uint32_t t = gbt_grid_step(&coder->grid, size);
  if (t == 0) t = size > 0;
  return u >> 63 ? GBTI_CODER_HALF - 1 - t : GBTI_CODER_HALF + t;
}

/* Steps over the bulk of the cuts' magnitudes. */
static void place_grid(gbti_coder *coder, uint32_t n) {
  uint64_t size[CUTS];
  uint32_t up = 0; /* from the smallest magnitudes on, upwards and downwards, whichever is next */
  GBT_ASSERT(n > 0 && n <= CUTS);
  while (up < n && coder->cuts[up] < 0.0) up++;
  for (uint32_t i = 0, down = up; i < n; i++) {
    uint64_t above = up < n ? gbt_bits(coder->cuts[up]) & INT64_MAX : UINT64_MAX;
    uint64_t below = down > 0 ? gbt_bits(coder->cuts[down - 1]) & INT64_MAX : UINT64_MAX;
    size[i] = above < below ? above : below;
    if (above < below)
      up++;
    else
      down--;
  }
  gbt_grid_lay(&coder->grid, GBTI_CODER_HALF - 1, size[n / GBT_GRID_TRIM], size[n - 1 - n / GBT_GRID_TRIM]);
}

/* For every step the cuts in the order of ways, whose first turn is the lowest bit. */
static void fill_tree(gbti_coder *coder, const double *sorted, uint32_t n) {
  memset(coder->cuts, 0, gbti_coder_cuts(n) * sizeof *coder->cuts);
  const uint32_t n_steps = gbti_coder_steps(n);
  for (uint32_t step = 0; step < n_steps; step++) {
    uint32_t width = (uint32_t)1 << step;
    for (uint32_t way = 0, i = 0; way < width; way++) {
      uint32_t order = gbti_cut_order(n_steps, step, i), bit = width >> 1;
      coder->cuts[width + way] = order < n ? sorted[order] : (double)INFINITY;
      while (i & bit) i ^= bit, bit >>= 1; /* i counts with its bits the other way round */
      i |= bit;
    }
  }
}

/* The table of cells. */
static void fill_cells(gbti_coder *coder, uint32_t n) {
  const uint32_t n_cells = (uint32_t)gbti_coder_firsts(n);
  double x[GBTI_TABLE_CUTS];
  coder->cuts[n] = (double)INFINITY;
  memcpy(x, coder->cuts, n * sizeof *x);
  gbt_grid_place(&coder->grid, gbti_coder_bits(n), x, (int32_t)n);
  coder->n_compares = 1;
  for (uint32_t cell = 0, i = 0; cell < n_cells; cell++) {
    const uint32_t first = i;
    coder->first[cell] = (uint8_t)first;
    while (i < n && gbt_grid_cell(&coder->grid, coder->cuts[i]) == cell) i++;
    if (i - first > coder->n_compares) coder->n_compares = i - first;
  }
  if (coder->n_compares > GBTI_CODER_COMPARES) coder->n_compares = 0;
}

void gbti_coder_fill(gbti_coder *coder, const gbti_pack *pack, const gbti_pack_feature *feature) {
  const double *tree = pack->cuts + feature->cut_beg;
  uint32_t n = feature->n_cuts;
  double few[GBTI_CODER_FEW], *sorted = coder->cell == NULL && coder->first == NULL ? few : coder->cuts;
  for (uint32_t step = 0; step < feature->n_steps; step++) {
    for (uint32_t i = 0; i < (uint32_t)1 << step; i++) {
      uint32_t order = gbti_cut_order(feature->n_steps, step, i);
      if (order < n) sorted[order] = tree[((uint32_t)1 << step) + i];
    }
  }
  if (coder->first != NULL) {
    fill_cells(coder, n);
    return;
  }
  if (coder->cell == NULL) {
    fill_tree(coder, few, n);
    return;
  }
  place_grid(coder, n);
  for (uint32_t i = 0; i < CUTS; i++)
    coder->cell[i % GBTI_CODER_PARTS * GBTI_CODER_PART + i / GBTI_CODER_PARTS] =
        i < n ? (uint16_t)cell_of(coder, coder->cuts[i]) : UINT16_MAX;
}

/* Compiled for the instructions that tops need anyway. On Windows gcc takes such vectors on the stack for aligned where
 * the stack is not (base/shuffle.h). */
#if defined(__x86_64__) && defined(__GNUC__) && !(defined(_WIN32) && !defined(__clang__))
#define CELLS_TARGET __attribute__((target("avx2,bmi2")))
#else
#define CELLS_TARGET
#endif

/* Cells, and then codes, so that compilers make vectors of the first loop. */
GBT_FN void code_cells(const gbti_coder *coder, uint32_t n_compares, const double *x, uint32_t *code) {
  const gbt_grid grid = coder->grid;
  uint64_t cell[GBTI_TABLE_ROWS];
  for (int r = 0; r < GBTI_TABLE_ROWS; r++) {
    const uint64_t u = gbt_bits(x[r] + 0.0);
    const int64_t over = (int64_t)(u & INT64_MAX) - (int64_t)grid.base;
    uint64_t step = (uint64_t)(over > 0 ? over : 0) >> grid.shift;
    step = (int64_t)step < (int64_t)grid.half ? step : grid.half - 1;
    cell[r] = grid.half + (step ^ (u >> 63 ? UINT64_MAX : 0));
  }
  for (int r = 0; r < GBTI_TABLE_ROWS; r++) {
    uint32_t k = coder->first[cell[r]];
    for (uint32_t i = 0; i < n_compares; i++) k += coder->cuts[k] < x[r]; /* cuts of higher cells are not below */
    code[r] = k;
  }
}

static void code_tree(const double *tree, uint32_t n_steps, const double *x, uint32_t *code) {
  for (int r = 0; r < GBTI_TABLE_ROWS; r++) code[r] = 1;
  for (uint32_t step = 0; step < n_steps; step++)
    for (int r = 0; r < GBTI_TABLE_ROWS; r++) code[r] = gbti_cut_step(tree, code[r], x[r]);
  for (int r = 0; r < GBTI_TABLE_ROWS; r++) code[r] -= (uint32_t)1 << n_steps;
}

/* missing: the code of missing numbers. Without a branch, as compilers would make one. */
GBT_FN void put_code(const uint32_t *code, const double *x, uint32_t missing, uint8_t *out) {
  for (int r = 0; r < GBTI_TABLE_ROWS; r++) {
    const uint32_t gone = 0u - (uint32_t)(x[r] != x[r]);
    out[r] = (uint8_t)((code[r] & ~gone) | (missing & gone));
  }
}

CELLS_TARGET void gbti_coder_run_cells(const gbti_coder *coder, const gbti_pack_feature *feature, const double *tree,
                                       const double *x, int32_t n_groups, uint8_t *low, uint8_t *high, size_t stride) {
  uint32_t code[GBTI_TABLE_ROWS];
  for (int32_t g = 0; g < n_groups; g++, x += GBTI_TABLE_ROWS) {
    switch (coder->n_compares) {
    case 0:
      code_tree(tree, feature->n_steps, x, code);
      break;
    case 1:
      code_cells(coder, 1, x, code);
      break;
    case 2:
      code_cells(coder, 2, x, code);
      break;
    default:
      code_cells(coder, coder->n_compares, x, code);
    }
    if (low != NULL) {
      put_code(code, x, 0, low);
      low += stride;
    }
    if (high != NULL) {
      put_code(code, x, feature->n_cuts, high);
      high += stride;
    }
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define NOINLINE __attribute__((noinline))
#if defined(__clang__) /* else -O2 leaves vectors of arrays in memory */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi")))
#define TARGET_FN TARGET __attribute__((always_inline)) static inline

/* Asks memory for 64 numbers. */
TARGET_FN void fetch_group(const double *x) {
  UNROLL
  for (int i = 0; i < GBTI_TABLE_ROWS; i += 8) _mm_prefetch((const char *)(const void *)(x + i), _MM_HINT_T0);
}

typedef struct codes {
  uint8_t *low, *high;
  size_t stride;
} codes;

/* A tree of cuts in registers. */
typedef struct few {
  __m512d root, left, right, two, three, four[2], five[4];
} few;

TARGET_FN few load_few(const double *tree, uint32_t n_steps) {
  few t = {_mm512_set1_pd(tree[1]), _mm512_set1_pd(tree[2]), .right = _mm512_set1_pd(tree[3])};
  if (n_steps > 2) t.two = _mm512_loadu_pd(tree + 4); /* the lower half */
  if (n_steps > 3) t.three = _mm512_loadu_pd(tree + 8);
  if (n_steps > 4) t.four[0] = _mm512_loadu_pd(tree + 16), t.four[1] = _mm512_loadu_pd(tree + 24);
  if (n_steps > 5) {
    t.five[0] = _mm512_loadu_pd(tree + 32), t.five[1] = _mm512_loadu_pd(tree + 40);
    t.five[2] = _mm512_loadu_pd(tree + 48), t.five[3] = _mm512_loadu_pd(tree + 56);
  }
  return t;
}

/* Those that go right: numbers above their cut, and missing ones. */
TARGET_FN __mmask8 goes_right(__m512d cut, __m512d v) { return _mm512_cmp_pd_mask(cut, v, _CMP_NGE_UQ); }

/* Ways of 8 numbers: bit l is set where the number went right in step l. */
TARGET_FN __m512i find_way(few t, uint32_t n_steps, __m512d v) {
  __mmask8 right = goes_right(t.root, v);
  __m512i way = _mm512_maskz_set1_epi64(right, 1);
  right = goes_right(_mm512_mask_blend_pd(right, t.left, t.right), v);
  way = _mm512_mask_or_epi64(way, right, way, _mm512_set1_epi64(2));
  if (n_steps > 2) {
    right = goes_right(_mm512_permutexvar_pd(way, t.two), v);
    way = _mm512_mask_or_epi64(way, right, way, _mm512_set1_epi64(4));
  }
  if (n_steps > 3) {
    right = goes_right(_mm512_permutexvar_pd(way, t.three), v);
    way = _mm512_mask_or_epi64(way, right, way, _mm512_set1_epi64(8));
  }
  if (n_steps > 4) {
    right = goes_right(_mm512_permutex2var_pd(t.four[0], way, t.four[1]), v);
    way = _mm512_mask_or_epi64(way, right, way, _mm512_set1_epi64(16));
  }
  if (n_steps > 5) {
    __m512d low = _mm512_permutex2var_pd(t.five[0], way, t.five[1]);
    __m512d upper = _mm512_permutex2var_pd(t.five[2], way, t.five[3]);
    right = goes_right(_mm512_mask_blend_pd(right, low, upper), v);
    way = _mm512_mask_or_epi64(way, right, way, _mm512_set1_epi64(32));
  }
  return way;
}

/* Both codes of a group, where they are asked for. gone: missing numbers. */
TARGET_FN void put_codes(const codes *to, size_t at, __m512i k, __mmask64 gone, uint32_t n_cuts) {
  if (to->low != NULL) _mm512_storeu_si512(to->low + at, _mm512_mask_mov_epi8(k, gone, _mm512_setzero_si512()));
  if (to->high != NULL)
    _mm512_storeu_si512(to->high + at, _mm512_mask_mov_epi8(k, gone, _mm512_set1_epi8((char)n_cuts)));
}

/* The path of number 8 i + k is byte i of word k; then bytes are put in the order of rows, and the bit-reversed paths
 * are the codes. Only missing numbers go right at every step: the tree's last place has no cut. */
TARGET_FN void code_few(const gbti_coder *coder, uint32_t n_steps, uint32_t n_cuts, const double *x, const double *next,
                        int32_t n_groups, const codes *to) {
  static const uint8_t across[64] = {0, 8,  16, 24, 32, 40, 48, 56, 1, 9,  17, 25, 33, 41, 49, 57,
                                     2, 10, 18, 26, 34, 42, 50, 58, 3, 11, 19, 27, 35, 43, 51, 59,
                                     4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29, 37, 45, 53, 61,
                                     6, 14, 22, 30, 38, 46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63};
  static const uint8_t reversed[64] = {0, 32, 16, 48, 8,  40, 24, 56, 4, 36, 20, 52, 12, 44, 28, 60,
                                       2, 34, 18, 50, 10, 42, 26, 58, 6, 38, 22, 54, 14, 46, 30, 62,
                                       1, 33, 17, 49, 9,  41, 25, 57, 5, 37, 21, 53, 13, 45, 29, 61,
                                       3, 35, 19, 51, 11, 43, 27, 59, 7, 39, 23, 55, 15, 47, 31, 63};
  const few tree = load_few(coder->cuts, n_steps);
  const __m512i rows = _mm512_loadu_si512(across), bits = _mm512_loadu_si512(reversed);
  const __m512i most = _mm512_set1_epi8((char)n_cuts);
  const __m128i to_top = _mm_cvtsi32_si128(6 - (int)n_steps);
  for (int32_t g = 0; g < n_groups; g++, x += GBTI_TABLE_ROWS) {
    __m512i ways = _mm512_setzero_si512();
    fetch_group(next + (size_t)g * GBTI_TABLE_ROWS);
    UNROLL
    for (int i = 7; i >= 0; i--) {
      __m512i way = find_way(tree, n_steps, _mm512_loadu_pd(x + 8 * i));
      ways = _mm512_or_si512(_mm512_slli_epi64(ways, 8), way);
    }
    ways = _mm512_sll_epi64(ways, to_top);
    __m512i k = _mm512_permutexvar_epi8(_mm512_permutexvar_epi8(rows, ways), bits);
    put_codes(to, (size_t)g * to->stride, k, _mm512_cmpgt_epu8_mask(k, most), n_cuts);
  }
}

/* Cells of 32 numbers. That of -0, the one before zero's, is no cut's, so its code is the same. */
TARGET_FN __m512i find_cells(const gbti_coder *coder, const double *x) {
  const __m512i base = _mm512_set1_epi64((int64_t)coder->grid.base), most = _mm512_set1_epi64(GBTI_CODER_HALF - 2);
  const __m512i size_bits = _mm512_set1_epi64(INT64_MAX), missing = _mm512_set1_epi64(GBTI_CODER_HALF - 1);
  const __m128i shift = _mm_cvtsi32_si128(coder->grid.shift);
  __m128i part[4];
  UNROLL
  for (int i = 0; i < 4; i++) {
    __m512d v = _mm512_loadu_pd(x + 8 * i);
    __m512i u = _mm512_castpd_si512(v), size = _mm512_and_si512(u, size_bits);
    __m512i over = _mm512_max_epi64(_mm512_sub_epi64(size, base), _mm512_setzero_si512());
    __m512i step = _mm512_min_epi64(_mm512_srl_epi64(over, shift), most);
    step = _mm512_max_epi64(step, _mm512_min_epi64(size, _mm512_set1_epi64(1)));
    step = _mm512_xor_si512(step, _mm512_srai_epi64(u, 63));
    step = _mm512_mask_mov_epi64(step, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), missing);
    part[i] = _mm512_cvtepi64_epi16(step);
  }
  __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(part[0]), part[1], 1);
  __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(part[2]), part[3], 1);
  __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  return _mm512_xor_si512(all, _mm512_set1_epi16((short)0x8000u)); /* the upper half is that of numbers above zero */
}

/* The numbers of mask share a cell with a cut: from their codes on, cuts are compared one by one. */
NOINLINE static void settle_ties(const gbti_coder *coder, uint32_t n_cuts, const double *x, uint64_t mask,
                                 const codes *to, size_t at) {
  const uint8_t *code = (to->low != NULL ? to->low : to->high) + at;
  for (; mask != 0; mask &= mask - 1) {
    int r = __builtin_ctzll(mask);
    uint32_t k = code[r], end = k + 4 < n_cuts ? k + 4 : n_cuts;
    while (k < end && coder->cuts[k] < x[r]) k++;
    if (k == end && k < n_cuts) { /* many cuts in a cell */
      for (end = n_cuts; k < end;) {
        uint32_t middle = (k + end) / 2;
        if (coder->cuts[middle] < x[r])
          k = middle + 1;
        else
          end = middle;
      }
    }
    if (to->low != NULL) to->low[at + (size_t)r] = (uint8_t)k;
    if (to->high != NULL) to->high[at + (size_t)r] = (uint8_t)k;
  }
}

/* Two interleaved vectors: a single one would stall on each step's result. */
TARGET_FN void code_many(const gbti_coder *coder, uint32_t n_cuts, const double *x, const codes *to, size_t at_code) {
  __m512i part[GBTI_CODER_PARTS][2], cell[2], at[2], k[2];
  __mmask32 tie[2], gone[2];
  UNROLL
  for (int i = 0; i < GBTI_CODER_PARTS; i++) {
    part[i][0] = _mm512_loadu_si512(coder->cell + GBTI_CODER_PART * i);
    part[i][1] = _mm512_loadu_si512(coder->cell + GBTI_CODER_PART * i + 32);
  }
  UNROLL
  for (int v = 0; v < 2; v++) {
    cell[v] = find_cells(coder, x + 32 * v);
    at[v] = _mm512_setzero_si512();
  }
  UNROLL
  for (int step = 32; step > 0; step /= 2) {
    UNROLL
    for (int v = 0; v < 2; v++) {
      __m512i ask = _mm512_add_epi16(at[v], _mm512_set1_epi16((short)(step - 1)));
      __m512i cut = _mm512_permutex2var_epi16(part[3][0], ask, part[3][1]);
      at[v] =
          _mm512_mask_add_epi16(at[v], _mm512_cmplt_epu16_mask(cut, cell[v]), at[v], _mm512_set1_epi16((short)step));
    }
  }
  UNROLL
  for (int v = 0; v < 2; v++) {
    k[v] = _mm512_slli_epi16(at[v], 2);
    tie[v] = 0;
    UNROLL
    for (int i = 0; i < GBTI_CODER_PARTS; i++) {
      __m512i cut = _mm512_permutex2var_epi16(part[i][0], at[v], part[i][1]);
      if (i < 3) k[v] = _mm512_mask_add_epi16(k[v], _mm512_cmplt_epu16_mask(cut, cell[v]), k[v], _mm512_set1_epi16(1));
      tie[v] |= _mm512_cmpeq_epi16_mask(cut, cell[v]);
    }
    gone[v] = _mm512_cmpeq_epi16_mask(cell[v], _mm512_set1_epi16(-1));
    tie[v] &= ~(gone[v] | _mm512_cmpeq_epi16_mask(cell[v], _mm512_set1_epi16((short)0x8000u)));
  }
  __m512i bytes = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(k[0])), _mm512_cvtepi16_epi8(k[1]), 1);
  put_codes(to, at_code, bytes, (uint64_t)gone[0] | (uint64_t)gone[1] << 32, n_cuts);
  uint64_t ties = (uint64_t)tie[0] | (uint64_t)tie[1] << 32;
  if (ties != 0) settle_ties(coder, n_cuts, x, ties, to, at_code);
}

#define FEW(steps)                                                   \
  case steps:                                                        \
    code_few(coder, steps, feature->n_cuts, x, next, n_groups, &to); \
    return

TARGET void gbti_coder_run(const gbti_coder *coder, const gbti_pack_feature *feature, const double *x,
                           const double *next, int32_t n_groups, uint8_t *low, uint8_t *high, size_t stride) {
  const codes to = {low, high, stride};
  switch (gbti_coder_steps(feature->n_cuts)) {
    FEW(2);
    FEW(3);
    FEW(4);
    FEW(5);
    FEW(6);
  default:
    for (int32_t g = 0; g < n_groups; g++, x += GBTI_TABLE_ROWS) {
      fetch_group(next + (size_t)g * GBTI_TABLE_ROWS);
      code_many(coder, feature->n_cuts, x, &to, (size_t)g * stride);
    }
  }
}

#else

void gbti_coder_run(const gbti_coder *coder, const gbti_pack_feature *feature, const double *x, const double *next,
                    int32_t n_groups, uint8_t *low, uint8_t *high, size_t stride) {
  (void)coder, (void)feature, (void)x, (void)next, (void)n_groups, (void)low, (void)high, (void)stride;
}

#endif
