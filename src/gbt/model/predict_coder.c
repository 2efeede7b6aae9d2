/* See predict_coder.h. */
#include "predict_coder.h"

#include <math.h>
#include <string.h>

#include "../math/bits.h"

enum { CUTS = 256, MAGNITUDE_TRIM = 128 };

static uint32_t cell_of(const gbti_coder *coder, double x) {
  uint64_t u = gbt_bits(x + 0.0), size = u & INT64_MAX; /* -0 + 0 = +0 */
  int64_t over = (int64_t)size - (int64_t)coder->base;
  uint64_t step = over > 0 ? (uint64_t)over >> coder->shift : 0;
  uint32_t t = step < GBTI_CODER_HALF - 2 ? (uint32_t)step : GBTI_CODER_HALF - 2;
  if (t == 0) t = size > 0;
  return u >> 63 ? GBTI_CODER_HALF - 1 - t : GBTI_CODER_HALF + t;
}

/* Steps over the bulk of the cuts' magnitudes. */
static void place_grid(gbti_coder *coder, uint32_t n) {
  uint64_t size[CUTS];
  uint32_t up = 0; /* from the smallest magnitudes on, upwards and downwards, whichever is next */
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
  uint64_t low = size[n / MAGNITUDE_TRIM], high = size[n - 1 - n / MAGNITUDE_TRIM];
  coder->base = low;
  coder->shift = 0;
  while ((high - low) >> coder->shift >= GBTI_CODER_HALF - 2) coder->shift++;
}

void gbti_coder_fill(gbti_coder *coder, const gbti_pack *pack, const gbti_pack_feature *feature) {
  const double *tree = pack->cuts + feature->cut_beg;
  uint32_t n = feature->n_cuts;
  for (uint32_t i = n; i <= GBTI_CODER_FEW; i++) coder->cuts[i] = (double)INFINITY;
  for (uint32_t level = 0; level < feature->n_levels; level++) {
    for (uint32_t i = 0; i < (uint32_t)1 << level; i++) {
      uint32_t rank = ((2 * i + 1) << (feature->n_levels - 1 - level)) - 1;
      if (rank < n) coder->cuts[rank] = tree[((uint32_t)1 << level) + i];
    }
  }
  if (coder->cell == NULL) return;
  place_grid(coder, n);
  for (uint32_t i = 0; i < CUTS; i++)
    coder->cell[i % GBTI_CODER_PARTS * GBTI_CODER_PART + i / GBTI_CODER_PARTS] =
        i < n ? (uint16_t)cell_of(coder, coder->cuts[i]) : UINT16_MAX;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define NOINLINE __attribute__((noinline))
#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi")))
#define TARGET_FN TARGET __attribute__((always_inline)) static inline

TARGET_FN void code_few(const gbti_coder *coder, uint32_t n_cuts, const double *x, uint8_t missing, uint8_t *code) {
  __m512d low = _mm512_loadu_pd(coder->cuts), high = _mm512_loadu_pd(coder->cuts + 8);
  int32_t first = n_cuts > 7 ? 8 : n_cuts > 3 ? 4 : n_cuts > 1 ? 2 : 1;
  for (int r = 0; r < GBTI_TABLE_ROWS; r += 8) {
    __m512d v = _mm512_loadu_pd(x + r);
    __m512i at = _mm512_setzero_si512();
    for (int64_t step = first; step > 0; step /= 2) {
      __m512d cut = _mm512_permutex2var_pd(low, _mm512_add_epi64(at, _mm512_set1_epi64(step - 1)), high);
      at = _mm512_mask_add_epi64(at, _mm512_cmp_pd_mask(cut, v, _CMP_LT_OQ), at, _mm512_set1_epi64(step));
    }
    at = _mm512_mask_mov_epi64(at, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), _mm512_set1_epi64(missing));
    _mm_storel_epi64((__m128i *)(void *)(code + r), _mm512_cvtepi64_epi8(at));
  }
}

/* Cells of 32 numbers. That of -0, the one before zero's, is no cut's, so its code is the same. */
TARGET_FN __m512i find_cells(const gbti_coder *coder, const double *x) {
  const __m512i base = _mm512_set1_epi64((int64_t)coder->base), most = _mm512_set1_epi64(GBTI_CODER_HALF - 2);
  const __m512i size_bits = _mm512_set1_epi64(INT64_MAX), missing = _mm512_set1_epi64(GBTI_CODER_HALF - 1);
  const __m128i shift = _mm_cvtsi32_si128(coder->shift);
  __m128i part[4];
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
                                 uint8_t *code) {
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
    code[r] = (uint8_t)k;
  }
}

/* Two vectors side by side: each alone would wait for its own last step. */
TARGET_FN void code_many(const gbti_coder *coder, uint32_t n_cuts, const double *x, uint8_t missing, uint8_t *code) {
  __m512i part[GBTI_CODER_PARTS][2], cell[2], at[2], k[2];
  __mmask32 tie[2];
  for (int i = 0; i < GBTI_CODER_PARTS; i++)
    for (int j = 0; j < 2; j++) part[i][j] = _mm512_loadu_si512(coder->cell + GBTI_CODER_PART * i + 32 * j);
  for (int v = 0; v < 2; v++) {
    cell[v] = find_cells(coder, x + 32 * v);
    at[v] = _mm512_setzero_si512();
  }
  for (int step = 32; step > 0; step /= 2) {
    for (int v = 0; v < 2; v++) {
      __m512i ask = _mm512_add_epi16(at[v], _mm512_set1_epi16((short)(step - 1)));
      __m512i cut = _mm512_permutex2var_epi16(part[3][0], ask, part[3][1]);
      at[v] =
          _mm512_mask_add_epi16(at[v], _mm512_cmplt_epu16_mask(cut, cell[v]), at[v], _mm512_set1_epi16((short)step));
    }
  }
  for (int v = 0; v < 2; v++) {
    k[v] = _mm512_slli_epi16(at[v], 2);
    tie[v] = 0;
    for (int i = 0; i < GBTI_CODER_PARTS; i++) {
      __m512i cut = _mm512_permutex2var_epi16(part[i][0], at[v], part[i][1]);
      if (i < 3) k[v] = _mm512_mask_add_epi16(k[v], _mm512_cmplt_epu16_mask(cut, cell[v]), k[v], _mm512_set1_epi16(1));
      tie[v] |= _mm512_cmpeq_epi16_mask(cut, cell[v]);
    }
    __mmask32 gone = _mm512_cmpeq_epi16_mask(cell[v], _mm512_set1_epi16(-1));
    k[v] = _mm512_mask_mov_epi16(k[v], gone, _mm512_set1_epi16(missing));
    _mm256_storeu_si256((__m256i *)(void *)(code + 32 * v), _mm512_cvtepi16_epi8(k[v]));
    tie[v] &= ~(gone | _mm512_cmpeq_epi16_mask(cell[v], _mm512_set1_epi16((short)0x8000u)));
  }
  uint64_t ties = (uint64_t)tie[0] | (uint64_t)tie[1] << 32;
  if (ties != 0) settle_ties(coder, n_cuts, x, ties, code);
}

TARGET void gbti_coder_run(const gbti_coder *coder, const gbti_pack_feature *feature, const double *x, int32_t n_groups,
                           uint8_t missing, uint8_t *code, size_t stride) {
  if (coder->cell == NULL)
    for (int32_t g = 0; g < n_groups; g++, x += GBTI_TABLE_ROWS, code += stride)
      code_few(coder, feature->n_cuts, x, missing, code);
  else
    for (int32_t g = 0; g < n_groups; g++, x += GBTI_TABLE_ROWS, code += stride)
      code_many(coder, feature->n_cuts, x, missing, code);
}

#else

void gbti_coder_run(const gbti_coder *coder, const gbti_pack_feature *feature, const double *x, int32_t n_groups,
                    uint8_t missing, uint8_t *code, size_t stride) {
  (void)coder, (void)feature, (void)x, (void)n_groups, (void)missing, (void)code, (void)stride;
}

#endif
