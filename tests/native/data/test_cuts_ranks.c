/* Cuts of columns whose rows are shared out among ranks: those of the definition, and what finding them costs. */
#include "naive_cuts.h"
#include "ranks.h"
#include "sweep.h"

enum { MOST_COLS = N_DRAWS + 1 };

/* A table shared out, and what the ranks made of it. */
typedef struct world {
  int64_t n_rows, beg[RANKS_MOST + 1];
  int n_cols, sparse, absent_missing;
  double *x[MOST_COLS], *weight; /* weight: NULL for none */
  int32_t max_bin;
  gbt_status status[RANKS_MOST];
  gbt_cuts *cuts[RANKS_MOST];
  ranks_traffic traffic[RANKS_MOST];
} world;

static world *world_new(int64_t n_rows, int n_cols, int32_t max_bin) {
  world *w = test_alloc(sizeof *w);
  memset(w, 0, sizeof *w);
  w->n_rows = n_rows;
  w->n_cols = n_cols;
  w->max_bin = max_bin;
  for (int c = 0; c < n_cols; c++) w->x[c] = test_alloc(((size_t)n_rows + 1) * sizeof **w->x);
  return w;
}

static void world_free(world *w) {
  for (int c = 0; c < w->n_cols; c++) free(w->x[c]);
  free(w->weight);
  free(w);
}

static void rank_cuts(void *arg, const gbt_comm *comm) {
  world *w = arg;
  const int r = comm->rank;
  const int64_t beg = w->beg[r], n = w->beg[r + 1] - beg;
  gbt_ctx ctx = test_ctx(NULL, 1 + r % 3);
  gbt_error err;
  tables *t = tables_new(n);
  t->table.absent_missing = w->absent_missing;
  ctx.comm = comm;
  for (int c = 0; c < w->n_cols; c++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", c);
    if (w->sparse && (c + r) % 2)
      tables_sparse(t, name, w->x[c] + beg, GBT_F64, 3);
    else
      tables_f64(t, name, w->x[c] + beg);
  }
  const double *weight = w->weight != NULL ? w->weight + beg : NULL;
  w->status[r] = gbt_cuts_build(&ctx, &t->table, weight, w->max_bin, &w->cuts[r], &err);
  w->traffic[r] = ranks_traffic_of(comm);
  tables_free(t);
  gbt_ctx_close(&ctx);
}

/* The cuts of all ranks against the twin's, of all rows. */
static void check_world(world *w, int size) {
  ranks_run(size, rank_cuts, w);
  for (int r = 0; r < size; r++) {
    if (!CHECK_EQ_I64(w->status[r], GBT_OK)) continue;
    for (int c = 0; c < w->n_cols && r == 0; c++)
      same_as_naive(&w->cuts[0]->feat[c], w->x[c], w->weight, w->n_rows, w->max_bin, w->absent_missing);
    if (r > 0) same_all_cuts(w->cuts[r], w->cuts[0]);
  }
  for (int r = 0; r < size; r++) gbt_cuts_unref(w->cuts[r]), w->cuts[r] = NULL;
}

/* Shares: 0 equal ones, 1 any, 2 one row on the first ranks, 3 all on the last rank, 4 all but some on the first. */
static void share_out(test_rng *rng, world *w, int size, int how) {
  const int64_t n = w->n_rows;
  w->beg[0] = 0;
  w->beg[size] = n;
  for (int r = 1; r < size; r++) {
    const int64_t rest = n - w->beg[r - 1];
    const int64_t next[] = {n / size, test_below(rng, rest + 1), rest > 0, 0, r == 1 ? n - n / 8 : rest / 2};
    w->beg[r] = w->beg[r - 1] + (next[how] < rest ? next[how] : rest);
  }
}

static void weigh(test_rng *rng, world *w, int kind) {
  free(w->weight);
  w->weight = NULL;
  if (kind == 0) return;
  w->weight = test_alloc(((size_t)w->n_rows + 1) * sizeof *w->weight);
  for (int64_t i = 0; i < w->n_rows; i++)
    w->weight[i] = kind == 1   ? (double)test_below(rng, 4)
                   : kind == 2 ? test_unit(rng)
                               : test_below(rng, 30) == 0 ? 1e300 : 0.0;
}

static void draw(test_rng *rng, world *w) {
  for (int c = 0; c < w->n_cols; c++) {
    const int64_t missing = test_below(rng, 3) * 5, kind = c < N_DRAWS ? c : N_DRAWS;
    for (int64_t i = 0; i < w->n_rows; i++) {
      const double x = kind < N_DRAWS ? tables_draw(rng, (int)kind) : ldexp(1.0, (int)test_below(rng, 2000) - 1000);
      w->x[c][i] = missing > 0 && test_below(rng, missing) == 0 ? (double)NAN : x;
    }
  }
}

static void columns_of_every_kind(void) {
  static const int32_t bins[] = {2, 3, 4, 5, 8, 17, 64, 255, 4000, 65535};
  test_rng rng = {1};
  for (uint64_t rep = 0; rep < test_cases(150); rep++) {
    const int64_t n = rep % 15 == 14 ? 20000 : rep % 5 == 4 ? 3000 : 60;
    const int size = 1 + (int)(rep % RANKS_MOST);
    world *w = world_new(test_below(&rng, n), MOST_COLS, bins[test_below(&rng, n == 20000 ? 9 : 10)]);
    w->sparse = rep % 3 == 0;
    w->absent_missing = rep % 7 == 0;
    draw(&rng, w);
    weigh(&rng, w, (int)test_below(&rng, 4));
    share_out(&rng, w, size, (int)test_below(&rng, 5));
    check_world(w, size);
    world_free(w);
    if (test_n_bad() > 0) {
      test_note("case %d, %d ranks", (int)rep, size);
      return;
    }
  }
}

/* A column has nothing but missing values on a rank, or everywhere, or weighs nothing. */
static void columns_without_values(void) {
  enum { N = 700 };
  test_rng rng = {2};
  for (int gone = 0; gone <= 4; gone++)
    for (int weighted = 0; weighted < 2; weighted++) {
      world *w = world_new(N, MOST_COLS, 32);
      draw(&rng, w);
      weigh(&rng, w, weighted);
      share_out(&rng, w, 3, 0);
      for (int c = 0; c < MOST_COLS && gone < 4; c++)
        for (int64_t i = 0; i < N; i++)
          if (gone == 3 || (i >= w->beg[gone] && i < w->beg[gone + 1])) w->x[c][i] = (double)NAN;
      for (int64_t i = 0; i < N && gone == 4 && weighted; i++) w->weight[i] = 0.0;
      check_world(w, 3);
      world_free(w);
    }
}

/* Values that only one rank has, at all distances: each rank's range is its own, or all are interleaved. */
static void values_of_one_rank(void) {
  enum { N = 4000, SIZE = 4 };
  test_rng rng = {3};
  for (int how = 0; how < 3; how++)
    for (int32_t max_bin = 2; max_bin <= 2000; max_bin = 3 * max_bin + 1) {
      world *w = world_new(N, 2, max_bin);
      share_out(&rng, w, SIZE, 0);
      for (int64_t i = 0; i < N; i++) {
        const int64_t rank = i / (N / SIZE), k = i % (N / SIZE);
        w->x[0][i] = how == 0 ? (double)i : how == 1 ? (double)(SIZE * k + rank) : (double)(k / 40 * SIZE + rank);
        w->x[1][i] = gbt_order_value(gbt_order_key(1.0) + (uint64_t)w->x[0][i]);
      }
      check_world(w, SIZE);
      world_free(w);
    }
}

/* Every number of distinct values around those at which the search changes its ways. */
static void n_values(int64_t n) {
  test_rng rng = {(uint64_t)n};
  const int size = 2 + (int)(n % 3);
  world *w = world_new(2 * n, 3, n % 2 ? 255 : 16);
  for (int64_t i = 0; i < 2 * n; i++) {
    w->x[0][i] = (double)(i % n);
    w->x[1][i] = exp((double)(i % n) / 50.0);
    w->x[2][i] = i < n ? (double)i : (double)(n / 2); /* half of all rows are one value */
  }
  share_out(&rng, w, size, (int)(n % 5));
  check_world(w, size);
  world_free(w);
}

static void every_number_of_values(void) {
  const sweep_range range = {.low = 1, .high = 20000, .dense = 70};
  sweep(n_values, &range);
}

static void n_bins(int64_t max_bin) {
  test_rng rng = {(uint64_t)max_bin};
  world *w = world_new(3000, 3, (int32_t)max_bin);
  for (int64_t i = 0; i < w->n_rows; i++) {
    w->x[0][i] = test_unit(&rng);
    w->x[1][i] = (double)test_below(&rng, max_bin + 1);
    w->x[2][i] = test_below(&rng, 2) ? test_bell(&rng) : (double)test_below(&rng, 1 + max_bin / 3);
  }
  share_out(&rng, w, 3, 1);
  check_world(w, 3);
  world_free(w);
}

static void every_number_of_bins(void) {
  const sweep_range range = {.low = 2, .high = 65535, .dense = 40};
  sweep(n_bins, &range);
}

/* ---- what it costs ---- */

typedef enum shape { CONTINUOUS, FEW_WHOLE, TIES, CONSTANT, ONE_WITHOUT, ONE_EMPTY, N_SHAPES } shape;

static world *shaped(shape s, int64_t rows_of_rank, int size) {
  test_rng rng = {7};
  world *w = world_new(rows_of_rank * size, 1, 255);
  share_out(&rng, w, size, 0);
  for (int64_t i = 0; i < w->n_rows; i++) {
    double x = test_bell(&rng);
    if (s == FEW_WHOLE) x = (double)test_below(&rng, 10);
    if (s == TIES && test_below(&rng, 10) < 8) x = (double)test_below(&rng, 40);
    if (s == CONSTANT) x = 3.25;
    if (s == ONE_WITHOUT && i < rows_of_rank) x = (double)NAN;
    w->x[0][i] = x;
  }
  if (s == ONE_EMPTY) w->beg[1] = 0; /* its rows go to the next rank */
  return w;
}

/* What the first rank sends for one column, without what a column of nothing but missing values takes. */
static ranks_traffic cost_of(shape s, int64_t rows_of_rank, int size) {
  world *w = shaped(s, rows_of_rank, size);
  check_world(w, size);
  ranks_traffic of = w->traffic[0];
  for (int64_t i = 0; i < w->n_rows; i++) w->x[0][i] = (double)NAN;
  check_world(w, size);
  of.operations -= w->traffic[0].operations;
  of.sent -= w->traffic[0].sent;
  of.taken -= w->traffic[0].taken;
  world_free(w);
  return of;
}

/* Operations (a meeting and a sum or maximum each) and bytes for one column. They do not grow with the ranks, as lists
 * of values would: those of 4,000 rows on each of 8 ranks have 512,000 bytes. */
static void a_column_costs(void) {
  static const struct {
    const char *name;
    int64_t operations, bytes;
  } most[N_SHAPES] = {
      [CONTINUOUS] = {"continuous", 30, 96000},        [FEW_WHOLE] = {"10 whole numbers", 8, 1200},
      [TIES] = {"ties", 32, 75000},                    [CONSTANT] = {"constant", 0, 0},
      [ONE_WITHOUT] = {"one rank without", 30, 96000}, [ONE_EMPTY] = {"one rank empty", 30, 96000}};
  for (int s = 0; s < N_SHAPES; s++)
    for (int size = 2; size <= RANKS_MOST; size *= 2) {
      const ranks_traffic of = cost_of((shape)s, 4000, size);
      const int ok = CHECK(of.operations <= most[s].operations) & CHECK(of.sent <= most[s].bytes) &
                     CHECK(of.taken <= most[s].bytes);
      if (!ok)
        test_note("%s, %d ranks: %d operations, %d bytes sent, %d taken", most[s].name, size, (int)of.operations,
                  (int)of.sent, (int)of.taken);
    }
}

/* As many values as there may be, a part of them on each rank; one more is an error of all. */
static void every_value_its_bin(void) {
  enum { N = GBT_MOST_VALUES + 1 };
  test_rng rng = {9};
  for (int size = 2; size <= 3; size++) {
    world *w = world_new(N, 2, GBT_EXACT_BINS);
    for (int i = 0; i < N; i++) w->x[0][i] = (double)((i * 7919LL) % N), w->x[1][i] = (double)(i % 10);
    share_out(&rng, w, size, 1);
    ranks_run(size, rank_cuts, w);
    for (int r = 0; r < size; r++) CHECK_EQ_I64(w->status[r], GBT_E_DATA);
    w->x[0][5] = w->x[0][6];
    ranks_run(size, rank_cuts, w);
    for (int r = 0; r < size; r++) {
      if (!CHECK_EQ_I64(w->status[r], GBT_OK)) continue;
      CHECK_EQ_I64(w->cuts[r]->feat[0].n_bins, GBT_MOST_VALUES);
      CHECK_EQ_I64(w->cuts[r]->feat[1].n_bins, 10);
      gbt_cuts_unref(w->cuts[r]);
    }
    world_free(w);
  }
}

void suite_cuts_ranks(void) {
  RUN(columns_of_every_kind);
  RUN(columns_without_values);
  RUN(values_of_one_rank);
  RUN(every_number_of_values);
  RUN(every_number_of_bins);
  RUN(a_column_costs);
  RUN(every_value_its_bin);
}
