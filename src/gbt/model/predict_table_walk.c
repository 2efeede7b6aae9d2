/* Walking tables (predict_table.h) by look-ups of bytes (base/look_up.h); where there are none there is nothing here.
 */
#include "predict_answers.h"

#include <string.h>

#if defined(GBT_LOOKS_UP)
#define TARGET GBT_LOOK_UP_TARGET
#define TARGET_FN GBT_LOOK_UP_FN

enum { ROWS = GBTI_TABLE_ROWS, TOGETHER = GBT_WALK_TOGETHER };

/* The bytes of a set by code / 8. */
TARGET_FN __m512i set_bytes(const uint8_t *bits, uint32_t width, __m512i eighth) {
  return gbt_look_up(bits, width, _mm512_min_epu8(eighth, _mm512_set1_epi8((char)(width - 1))));
}

/* Which of the rows at a long set's place go right. */
static uint64_t ask_words(const gbti_table_set *set, const uint32_t *words, const uint8_t *codes, uint64_t at) {
  uint64_t right = 0;
  words += set->beg;
  for (; at != 0; at &= at - 1) {
    int r = __builtin_ctzll(at);
    uint16_t code;
    memcpy(&code, codes + 2 * r, sizeof code);
    uint32_t word = code >> 5;
    right |= (uint64_t)(words[word < set->last ? word : set->last] >> (code & 31u) & 1u) << r;
  }
  return right;
}

/* Takes those rows out of left that the sets of a layer send right. A function of its own, and called with copies, so
 * that the way of trees without sets keeps its registers. */
TARGET __attribute__((noinline)) static void ask_sets(const gbti_pack *pack, const gbti_table *table,
                                                      const gbti_table_set *set, uint32_t n_sets,
                                                      const gbti_table_rows *rows, int32_t group, int n,
                                                      const __m512i place[TOGETHER], __mmask64 left[TOGETHER]) {
  size_t stride = (size_t)pack->tables.n_cols * ROWS;
  const uint8_t *codes = rows->codes + (size_t)group * stride;
  for (; n_sets > 0; n_sets--, set++) {
    if (set->width == GBTI_TABLE_ANSWERED) {
      const uint64_t *masks = rows->masks + (size_t)set->beg * (size_t)rows->n_groups + group;
      for (int g = 0; g < n; g++)
        left[g] &= ~(_mm512_cmpeq_epi8_mask(place[g], _mm512_set1_epi8((char)set->place)) & masks[g]);
      continue;
    }
    const uint8_t *bits = pack->tables.bytes + table->beg + set->beg;
    for (int g = 0; g < n; g++) {
      const uint8_t *col = codes + set->col + (size_t)g * stride;
      __mmask64 at = _mm512_cmpeq_epi8_mask(place[g], _mm512_set1_epi8((char)set->place));
      if (set->width > 0)
        left[g] &= ~_mm512_mask_test_epi8_mask(at, set_bytes(bits, set->width, _mm512_loadu_si512(col)),
                                               _mm512_loadu_si512(col + ROWS));
      else
        left[g] &= ~ask_words(set, pack->words, col + 2 * ROWS, at);
    }
  }
}

/* The columns of a layer, for n groups, group after group stride bytes apart. */
TARGET_FN void ask_columns(size_t width, uint32_t n_cols, const uint8_t *tables, const uint32_t *cols,
                           const uint8_t *codes, size_t stride, int n, const __m512i *place, __mmask64 *left) {
  if (n_cols > 1)
    gbt_walk_pick(tables, width, cols, n_cols, codes, stride, n, place, left);
  else if (n_cols > 0)
    gbt_walk_ask(tables, width, codes + cols[0], stride, GBT_WALK_NO_MISSING, n, place, left);
}

/* The layers of a deep tree from 8 on. p: where the tree goes on. Rows that have come to their leaf stay. */
TARGET_FN void walk_deep(const gbti_pack *pack, const gbti_table *table, const uint8_t *p, const gbti_table_rows *rows,
                         int32_t group, int n, uint8_t *out) {
  const size_t stride = (size_t)pack->tables.n_cols * ROWS;
  const uint8_t *codes = rows->codes + (size_t)group * stride;
  const uint32_t *cols = pack->tables.cols + table->col_beg;
  const gbti_table_set *sets = pack->tables.sets + table->set_beg;
  __m512i place[TOGETHER];
  __mmask64 left[TOGETHER], moving[TOGETHER];
  for (uint32_t d = 0; d < GBTI_TABLE_DEPTH; d++) {
    cols += table->n_cols[d];
    sets += table->n_sets[d];
  }
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) place[g] = gbt_look_up(p, 256, _mm512_loadu_si512(out + (size_t)g * ROWS));
  p += 256;
  for (uint32_t d = GBTI_TABLE_DEPTH; d < table->depth; d++) {
    size_t width = gbti_table_width(table, d);
    __mmask64 any = 0;
    GBT_WALK_UNROLL
    for (int g = 0; g < n; g++) {
      moving[g] = _mm512_cmplt_epu8_mask(place[g], _mm512_set1_epi8((char)table->n_split[d]));
      any |= moving[g];
      left[g] = ~(__mmask64)0;
    }
    if (any == 0) break;
    GBT_WALK_BY_WIDTH(ask_columns, width, table->n_cols[d], p + 2 * width, cols, codes, stride, n, place, left);
    if (table->n_sets[d] > 0)
      GBT_WALK_APART(ask_sets, n, place, left, pack, table, sets, table->n_sets[d], rows, group);
    GBT_WALK_UNROLL
    for (int g = 0; g < n; g++) {
      __m512i to =
          _mm512_mask_blend_epi8(left[g], gbt_look_up(p + width, width, place[g]), gbt_look_up(p, width, place[g]));
      place[g] = _mm512_mask_mov_epi8(place[g], moving[g], to);
    }
    p += 4 * width;
    cols += table->n_cols[d];
    sets += table->n_sets[d];
  }
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) _mm512_storeu_si512(out + (size_t)g * ROWS, place[g]);
}

/* Functions of their own, so that neither takes registers from the other. */
TARGET __attribute__((noinline)) static void walk_deep_many(const gbti_pack *pack, const gbti_table *table,
                                                            const uint8_t *p, const gbti_table_rows *rows,
                                                            int32_t n_groups, uint8_t *out) {
  int32_t g = 0;
  for (; g + TOGETHER <= n_groups; g += TOGETHER) walk_deep(pack, table, p, rows, g, TOGETHER, out + (size_t)g * ROWS);
  for (; g < n_groups; g++) walk_deep(pack, table, p, rows, g, 1, out + (size_t)g * ROWS);
}

TARGET_FN void walk_groups(const gbti_pack *pack, const gbti_table *table, const uint8_t *const *tables,
                           const gbti_table_rows *rows, int32_t group, int n, uint8_t *out) {
  const size_t stride = (size_t)pack->tables.n_cols * ROWS;
  const uint8_t *codes = rows->codes + (size_t)group * stride;
  const uint32_t *cols = pack->tables.cols + table->col_beg, top = gbti_table_top(table);
  const gbti_table_set *sets = pack->tables.sets + table->set_beg;
  __m512i place[TOGETHER];
  __mmask64 left[TOGETHER];
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) place[g] = _mm512_setzero_si512();
  for (uint32_t d = 0; d < top; d++) {
    GBT_WALK_UNROLL
    for (int g = 0; g < n; g++) left[g] = ~(__mmask64)0;
    GBT_WALK_BY_WIDTH(ask_columns, gbti_table_width(table, d), table->n_cols[d], tables[d], cols, codes, stride, n,
                      place, left);
    if (table->n_sets[d] > 0)
      GBT_WALK_APART(ask_sets, n, place, left, pack, table, sets, table->n_sets[d], rows, group);
    gbt_walk_step(n, place, left);
    cols += table->n_cols[d];
    sets += table->n_sets[d];
  }
  GBT_WALK_UNROLL
  for (int g = 0; g < n; g++) _mm512_storeu_si512(out + (size_t)g * ROWS, place[g]);
}

TARGET void gbti_table_walk(const gbti_pack *pack, const gbti_table *table, const gbti_table_rows *rows,
                            int32_t n_groups, uint8_t *place) {
  const uint8_t *tables[GBTI_TABLE_DEPTH], *at = pack->tables.bytes + table->beg;
  at += (size_t)pack->n_values * gbti_table_planes(table);
  int32_t g = 0;
  for (uint32_t d = gbti_table_top(table); d-- > 0; at += 2 * gbti_table_width(table, d)) tables[d] = at;
  for (; g + TOGETHER <= n_groups; g += TOGETHER)
    walk_groups(pack, table, tables, rows, g, TOGETHER, place + (size_t)g * ROWS);
  for (; g < n_groups; g++) walk_groups(pack, table, tables, rows, g, 1, place + (size_t)g * ROWS);
  if (table->depth > GBTI_TABLE_DEPTH) walk_deep_many(pack, table, at, rows, n_groups, place);
}

TARGET void gbti_turn_bits(const uint64_t from[64], uint64_t *to, size_t stride) {
  enum { ODD = 1, FIRST = 0x44, SECOND = 0xee, EVEN_LANES = 0x88, ODD_LANES = 0xdd };
  uint8_t by_byte[64];
  __m512i rows[8], pairs[8];
  for (int i = 0; i < 64; i++) by_byte[i] = (uint8_t)(i % 8 * 8 + i / 8);
  /* rows[k]: word i holds byte i of 8 rows. pairs[2 j + p]: lane l holds that word 2 l + p of rows[2 j], rows[2 j + 1]
   */
  for (int k = 0; k < 8; k++)
    rows[k] = _mm512_permutexvar_epi8(_mm512_loadu_si512(by_byte), _mm512_loadu_si512(from + 8 * k));
  for (int j = 0; j < 8; j += 2) {
    pairs[j] = _mm512_unpacklo_epi64(rows[j], rows[j + 1]);
    pairs[j + ODD] = _mm512_unpackhi_epi64(rows[j], rows[j + 1]);
  }
  for (int p = 0; p < 2; p++) {
    __m512i a = _mm512_shuffle_i64x2(pairs[p], pairs[2 + p], FIRST);
    __m512i b = _mm512_shuffle_i64x2(pairs[p], pairs[2 + p], SECOND);
    __m512i c = _mm512_shuffle_i64x2(pairs[4 + p], pairs[6 + p], FIRST);
    __m512i d = _mm512_shuffle_i64x2(pairs[4 + p], pairs[6 + p], SECOND);
    rows[p] = _mm512_shuffle_i64x2(a, c, EVEN_LANES);
    rows[2 + p] = _mm512_shuffle_i64x2(a, c, ODD_LANES);
    rows[4 + p] = _mm512_shuffle_i64x2(b, d, EVEN_LANES);
    rows[6 + p] = _mm512_shuffle_i64x2(b, d, ODD_LANES);
  }
  for (size_t i = 0; i < 8; i++)
    for (size_t b = 0; b < 8; b++)
      to[(8 * i + b) * stride] = _mm512_test_epi8_mask(rows[i], _mm512_set1_epi8((char)(1 << b)));
}

/* Eight planes of 64 bytes to eight vectors of doubles; within a lane of 16 bytes, rows in order two by two. */
TARGET_FN void add_transposed(const __m512i b[8], __m512d sums[8]) {
  __m512i w[8], d[8];
  for (int i = 0; i < 4; i++) { /* bytes 2 i and 2 i + 1: w[i] rows 0 .. 7 of the lane, w[i + 4] rows 8 .. 15 */
    w[i] = _mm512_unpacklo_epi8(b[2 * i], b[2 * i + 1]);
    w[i + 4] = _mm512_unpackhi_epi8(b[2 * i], b[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) { /* bytes 4 i .. 4 i + 3: d[4 i + k] rows 4 k .. 4 k + 3 */
    d[4 * i] = _mm512_unpacklo_epi16(w[2 * i], w[2 * i + 1]);
    d[4 * i + 1] = _mm512_unpackhi_epi16(w[2 * i], w[2 * i + 1]);
    d[4 * i + 2] = _mm512_unpacklo_epi16(w[2 * i + 4], w[2 * i + 5]);
    d[4 * i + 3] = _mm512_unpackhi_epi16(w[2 * i + 4], w[2 * i + 5]);
  }
  for (int k = 0; k < 4; k++) {
    sums[2 * k] = _mm512_add_pd(sums[2 * k], _mm512_castsi512_pd(_mm512_unpacklo_epi32(d[k], d[k + 4])));
    sums[2 * k + 1] = _mm512_add_pd(sums[2 * k + 1], _mm512_castsi512_pd(_mm512_unpackhi_epi32(d[k], d[k + 4])));
  }
}

/* Adds what 64 rows get in a tree. planes: of its values. */
TARGET_FN void add_values(uint32_t depth, const uint8_t *planes, __m512i at, __m512d sums[8]) {
  __m512i b[8];
  if (depth <= 6) {
    for (int i = 0; i < 8; i++) b[i] = _mm512_permutexvar_epi8(at, _mm512_loadu_si512(planes + 64 * i));
  } else if (depth == 7) {
    for (int i = 0; i < 8; i++)
      b[i] =
          _mm512_permutex2var_epi8(_mm512_loadu_si512(planes + 128 * i), at, _mm512_loadu_si512(planes + 128 * i + 64));
  } else {
    __mmask64 upper = _mm512_movepi8_mask(at);
    for (int i = 0; i < 8; i++) {
      const uint8_t *p = planes + 256 * i;
      __m512i low = _mm512_permutex2var_epi8(_mm512_loadu_si512(p), at, _mm512_loadu_si512(p + 64));
      __m512i high = _mm512_permutex2var_epi8(_mm512_loadu_si512(p + 128), at, _mm512_loadu_si512(p + 192));
      b[i] = _mm512_mask_blend_epi8(upper, low, high);
    }
  }
  add_transposed(b, sums);
}

TARGET void gbti_table_add(const gbti_pack *pack, const gbti_table *const *table, int32_t n_tables, int32_t k,
                           const uint8_t *place, size_t stride, int32_t n_groups, double *sums) {
  for (int32_t g = 0; g < n_groups; g++, place += ROWS, sums += ROWS) {
    __m512d s[8];
    for (int i = 0; i < 8; i++) s[i] = _mm512_loadu_pd(sums + 8 * i);
    for (int32_t t = 0; t < n_tables; t++)
      add_values(table[t]->depth, pack->tables.bytes + table[t]->beg + (size_t)k * gbti_table_planes(table[t]),
                 _mm512_loadu_si512(place + (size_t)t * stride), s);
    for (int i = 0; i < 8; i++) _mm512_storeu_pd(sums + 8 * i, s[i]);
  }
}

#else

void gbti_table_walk(const gbti_pack *pack, const gbti_table *table, const gbti_table_rows *rows, int32_t n_groups,
                     uint8_t *place) {
  (void)pack, (void)table, (void)rows, (void)n_groups, (void)place;
}

void gbti_turn_bits(const uint64_t from[64], uint64_t *to, size_t stride) { (void)from, (void)to, (void)stride; }

void gbti_table_add(const gbti_pack *pack, const gbti_table *const *table, int32_t n_tables, int32_t k,
                    const uint8_t *place, size_t stride, int32_t n_groups, double *sums) {
  (void)pack, (void)table, (void)n_tables, (void)k, (void)place, (void)stride, (void)n_groups, (void)sums;
}

#endif

/* The order of sums within 64 rows: vector j holds rows 2 j and 2 j + 1 of all four lanes of 16. */
enum { GROUP = GBTI_TABLE_ROWS, LANE = 16, N_LANES = GROUP / LANE, PAIR = 2 };

static int32_t place_of_sum(int32_t r) {
  return (r & ~(GROUP - 1)) + (r / PAIR % (LANE / PAIR)) * PAIR * N_LANES + (r / LANE % N_LANES) * PAIR + r % PAIR;
}

void gbti_table_sums_in(const double *x, int32_t n, double *sums) {
  int32_t r = 0;
  for (; r + GROUP <= n; r += GROUP)
    for (int32_t k = 0; k < GROUP; k += PAIR) memcpy(sums + r + place_of_sum(k), x + r + k, PAIR * sizeof *x);
  for (; r < n; r++) sums[place_of_sum(r)] = x[r];
}

void gbti_table_sums_out(const double *sums, int32_t n, double *x) {
  int32_t r = 0;
  for (; r + GROUP <= n; r += GROUP)
    for (int32_t k = 0; k < GROUP; k += PAIR) memcpy(x + r + k, sums + r + place_of_sum(k), PAIR * sizeof *x);
  for (; r < n; r++) x[r] = sums[place_of_sum(r)];
}
