/* Codes of bytes: however they are made, they are counts of cuts. Those that no machine without look-ups of bytes can
 * make are skipped there. */
#include "../../src/gbt/model/predict_coder.h"

#include "numbers.h"

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Distinct cuts in order; both zeros are one. */
static uint32_t draw_cuts(test_rng *rng, spread kind, int32_t most, double *cuts) {
  uint32_t n = 0;
  for (int32_t i = 0; i < most; i++) cuts[i] = near(rng, draw(rng, kind)) + 0.0;
  qsort(cuts, (size_t)most, sizeof *cuts, by_value);
  for (int32_t i = 0; i < most; i++)
    if (n == 0 || cuts[n - 1] < cuts[i]) cuts[n++] = cuts[i];
  return n;
}

enum { CODED_GROUPS = 9, CODED = CODED_GROUPS * GBTI_TABLE_ROWS, CODED_STRIDE = GBTI_TABLE_ROWS + 7 };

/* How codes are made: by look-ups of tables, or by the cells of tops. */
typedef enum coder_kind { BY_LOOK_UP, BY_CELLS, N_CODERS } coder_kind;

static int64_t n_compared[GBTI_CODER_COMPARES + 1]; /* coders of cells by their comparisons */

/* Codes of the first n_groups groups of x are counts of the n cuts below; what lies after them is not touched.
 * asked: 1 low, 2 high, 3 both. */
static int check_codes_by(coder_kind kind, const double *cuts, uint32_t n, const double *x, int32_t n_groups,
                          int asked) {
  enum { ROOM = 256, UNTOUCHED = 0xee, FIRSTS = 2048 };
  static uint8_t firsts[FIRSTS];
  double tree[ROOM], room[ROOM];
  uint16_t cells[GBTI_CODER_PARTS * GBTI_CODER_PART];
  uint8_t code[2][CODED_GROUPS * CODED_STRIDE];
  gbti_pack pack = {.cuts = tree};
  gbti_pack_feature f = {.n_cuts = n};
  while (((uint32_t)1 << f.n_steps) <= n) f.n_steps++;
  for (uint32_t step = 0; step < f.n_steps; step++)
    for (uint32_t j = 0; j < (uint32_t)1 << step; j++) {
      uint32_t order = ((2 * j + 1) << (f.n_steps - 1 - step)) - 1;
      tree[((uint32_t)1 << step) + j] = order < n ? cuts[order] : (double)INFINITY;
    }
  gbti_coder coder = {.cuts = room};
  if (kind == BY_CELLS)
    coder.first = firsts;
  else
    coder.cell = n > GBTI_CODER_FEW ? cells : NULL;
  CHECK(gbti_coder_firsts(n) <= FIRSTS);
  for (int i = 0; i < ROOM; i++) room[i] = (double)NAN;
  gbti_coder_fill(&coder, &pack, &f);
  const size_t used = kind == BY_CELLS ? gbti_coder_sorted(n) : gbti_coder_cuts(n);
  for (size_t i = used; i < ROOM; i++)
    if (!CHECK(room[i] != room[i])) return 0;
  memset(code, UNTOUCHED, sizeof code);
  uint8_t *low = asked & 1 ? code[0] : NULL, *upper = asked & 2 ? code[1] : NULL;
  if (kind == BY_CELLS) {
    n_compared[coder.n_compares]++;
    gbti_coder_run_cells(&coder, &f, tree, x, n_groups, low, upper, CODED_STRIDE);
  } else {
    gbti_coder_run(&coder, &f, x, x, n_groups, low, upper, CODED_STRIDE);
  }
  for (int32_t r = 0; r < CODED_GROUPS * CODED_STRIDE; r++) {
    int32_t group = r / CODED_STRIDE, k = r % CODED_STRIDE;
    int none = group >= n_groups || k >= GBTI_TABLE_ROWS;
    double v = none ? 0.0 : x[group * GBTI_TABLE_ROWS + k];
    uint32_t below = 0;
    for (uint32_t i = 0; i < n; i++) below += cuts[i] < v;
    for (int high = 0; high < 2; high++) {
      uint32_t want = v != v ? (high ? n : 0) : below;
      if (!CHECK_EQ_I64(code[high][r], none || !(asked >> high & 1) ? UNTOUCHED : want)) return 0;
    }
  }
  return 1;
}

static int tables_run_here(void) {
  gbt_ctx ctx;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  int run = gbti_tables_run(&ctx);
  gbt_ctx_close(&ctx);
  return run;
}

static int check_codes(const double *cuts, uint32_t n, const double *x, int32_t n_groups, int asked, int kinds) {
  for (int kind = 0; kind < N_CODERS; kind++)
    if ((kinds >> kind & 1) && !check_codes_by((coder_kind)kind, cuts, n, x, n_groups, asked)) return 0;
  return 1;
}

/* Cells need AVX2 where they are compiled for it. */
static int coders_here(void) {
  return (gbt_simd_best() >= GBT_SIMD_AVX2 ? 1 << BY_CELLS : 0) | (tables_run_here() ? 1 << BY_LOOK_UP : 0);
}

static void codes_count_cuts(void) {
  test_rng rng = {34};
  const int kinds = coders_here();
  memset(n_compared, 0, sizeof n_compared);
  for (int i = 0; i < 600; i++) {
    static const int32_t sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 63, 64, 100, 253, 254};
    double cuts[GBTI_TABLE_CUTS], x[CODED];
    spread kind = (spread)(i % N_SPREADS);
    uint32_t n = draw_cuts(&rng, kind, sizes[test_below(&rng, 14)], cuts);
    for (int r = 0; r < CODED; r++) {
      int64_t what = test_below(&rng, 8);
      x[r] = what == 0 ? (double)NAN : what < 4 ? near(&rng, cuts[test_below(&rng, n)]) : draw(&rng, kind);
      if (what == 0 && r % 2) x[r] = -x[r];
    }
    if (!check_codes(cuts, n, x, 5, 1 + i % 3, kinds)) return;
  }
  for (int i = 0; kinds >> BY_CELLS & 1 && i <= GBTI_CODER_COMPARES; i++) CHECK(n_compared[i] > 0);
}

/* Every number of cuts around those whose search lies in registers. Of every cut its neighbours too, and all special
 * numbers, by turns in every lane. */
static void every_few_cuts(void) {
  static const double special[] = {NAN,      -NAN,   -0.0,    0.0,     INFINITY, -INFINITY, DBL_MAX,
                                   -DBL_MAX, 5e-324, -5e-324, DBL_MIN, -DBL_MIN, 1.0,       -1.0};
  enum { N_SPECIAL = sizeof special / sizeof *special };
  test_rng rng = {37};
  const int kinds = coders_here();
  for (uint32_t n = 1; n <= 70; n++)
    for (int turn = 0; turn < 8; turn++) {
      double cuts[70], x[CODED];
      for (uint32_t i = 0; i < n; i++) /* around zero, or with zero and the smallest numbers among them, or far apart */
        cuts[i] = turn % 3 == 0   ? (double)i - (double)(n / 2)
                  : turn % 3 == 1 ? ((double)i - (double)(n / 2)) * 5e-324
                                  : ldexp(i < n / 2 ? -1.0 : 1.0, i < n / 2 ? 1000 - 15 * (int)i : 15 * (int)i - 500);
      if (turn >= 6) cuts[n - 1] = turn == 6 ? (double)INFINITY : DBL_MAX;
      if (turn == 7 && n > 1) cuts[0] = -DBL_MAX;
      for (int r = 0; r < CODED; r++) {
        int place = r + 3 * turn;
        x[r] = place % 4 == 0 ? special[place / 4 % N_SPECIAL] : near(&rng, cuts[(uint32_t)(place / 4 + place) % n]);
      }
      for (int32_t n_groups = 0; n_groups <= CODED_GROUPS; n_groups += 1 + 3 * (n_groups > 1))
        if (!check_codes(cuts, n, x, n_groups, 1 + (turn + n_groups) % 3, kinds)) return;
    }
}

void suite_predict_coder(void) {
  RUN(codes_count_cuts);
  RUN(every_few_cuts);
}
