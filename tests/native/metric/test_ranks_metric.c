/* Metrics of rows that ranks have: one value on all of them, or one failure. */
#include "fault.h"
#include "made.h"
#include "ranks.h"
#include "sweep.h"

#include "../../src/gbt/boost/metric.h"

/* A metric of rows that ranks have: rank 0 with weights, rank 1 without, rank 2 has no rows. */
typedef struct rank_metric {
  gbt_metric metric;
  int64_t beg[4]; /* rows of rank r: beg[r] .. beg[r + 1] */
  const double *score, *label, *weight;
  gbt_objective objective;
  fault memory[3];
  gbt_status status[3];
  gbt_error err[3];
  double value[3];
} rank_metric;

static void metric_of_rank(void *arg, const gbt_comm *comm) {
  rank_metric *m = arg;
  const int r = comm->rank;
  const int64_t beg = m->beg[r], n = m->beg[r + 1] - beg;
  gbt_error *err = &m->err[r];
  gbt_ctx ctx;
  m->status[r] = gbt_ctx_open(&ctx, fault_mem(&m->memory[r]), 1, GBT_SIMD_AUTO, NULL, NULL, err);
  ctx.comm = comm;
  gbt_rows rows = test_rows(n, m->label + beg, r == 0 ? m->weight + beg : NULL, NULL);
  rows.table_before = beg;
  m->status[r] = gbt_metric_eval(&ctx, &m->metric, &m->objective, &rows, NULL, m->score + beg, &m->value[r], err);
  m->status[r] = gbt_comm_agree(&ctx, m->status[r], err);
  gbt_ctx_close(&ctx);
}

static void check_rank_metric(rank_metric *m) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  double want = 0.0;
  const gbt_rows rows = test_rows(m->beg[3], m->label, m->weight, NULL);
  CHECK_OK(gbt_metric_eval(&ctx, &m->metric, &m->objective, &rows, NULL, m->score, &want, test_err));
  gbt_ctx_close(&ctx);
  for (int bad = 0; bad < 3; bad++)
    for (int64_t n = 1, failed = 1; failed; n++) {
      for (int r = 0; r < 3; r++) fault_start(&m->memory[r], r == bad ? n : 0, 0);
      ranks_run(3, metric_of_rank, m);
      failed = m->memory[bad].n_failed > 0;
      for (int r = 0; r < 3; r++) {
        CHECK_EQ_I64(m->memory[r].n_live, 0);
        CHECK_EQ_I64(m->status[r], failed ? GBT_E_MEM : GBT_OK);
        if (failed)
          CHECK_EQ_TEXT(m->err[r].msg, m->err[bad].msg);
        else
          CHECK_EQ_BITS(m->value[r], want);
      }
    }
}

static void metrics_of_ranks_fail_together(void) {
  enum { N = 90, WEIGHTED = 50 };
  static const gbt_metric_kind kinds[] = {GBT_METRIC_LOGLOSS, GBT_METRIC_AUC, GBT_METRIC_GINI, GBT_METRIC_MCC,
                                          GBT_METRIC_R2};
  test_rng rng = {8};
  double score[N], label[N], weight[N];
  for (int i = 0; i < N; i++) {
    score[i] = test_bell(&rng);
    label[i] = (double)test_below(&rng, 2);
    weight[i] = i < WEIGHTED ? (double)test_below(&rng, 5) : 1.0;
  }
  rank_metric m = {.beg = {0, WEIGHTED, N, N}, .score = score, .label = label, .weight = weight};
  m.objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    m.metric = gbt_metric_plain(kinds[k]);
    check_rank_metric(&m);
  }
}

/* A label that is no class is named by its row among those of all ranks. */
static void metrics_of_ranks_name_the_row(void) {
  enum { N = 60, FIRST = 25, ROW = 40 };
  static const gbt_metric_kind kinds[] = {GBT_METRIC_MLOGLOSS, GBT_METRIC_F1};
  double score[2 * N] = {0.0}, label[N] = {0.0}, weight[N];
  char want[64];
  for (int i = 0; i < N; i++) weight[i] = 1.0;
  label[ROW] = 2.0;
  rank_metric m = {.beg = {0, FIRST, N, N}, .score = score, .label = label, .weight = weight};
  m.objective = gbt_objective_make(GBT_OBJ_SOFTMAX, 2);
  snprintf(want, sizeof want, "rank 1 of 3: row %d: the label 2 is not a class", ROW + 1);
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    m.metric = gbt_metric_plain(kinds[k]);
    for (int r = 0; r < 3; r++) fault_start(&m.memory[r], 0, 0);
    ranks_run(3, metric_of_rank, &m);
    for (int r = 0; r < 3; r++) {
      *test_err = m.err[r];
      CHECK_FAILS(m.status[r], GBT_E_DATA, want);
    }
  }
}

/* ---- metrics of times ---- */

enum { N_TIMES = 120 };

typedef struct times {
  int64_t beg[4];
  double score[N_TIMES], field[GBT_N_FIELDS][N_TIMES];
  int given[GBT_N_FIELDS]; /* a bit for each rank */
  gbt_metric metric;
  gbt_objective objective;
  gbt_status status[3];
  gbt_error err[3];
  double value[3];
} times;

static gbt_rows rows_of_times(const times *t, int64_t beg, int64_t n, int ranks) {
  gbt_rows rows = test_rows(n, t->field[GBT_LABEL] + beg, NULL, NULL);
  rows.table_before = beg;
  for (int f = 0; f < GBT_N_FIELDS; f++)
    if (f != GBT_LABEL && (t->given[f] & ranks)) rows.field[f] = t->field[f] + beg;
  return rows;
}

static void times_of_rank(void *arg, const gbt_comm *comm) {
  times *t = arg;
  const int r = comm->rank;
  gbt_ctx ctx = test_ctx(NULL, 1);
  ctx.comm = comm;
  const gbt_rows rows = rows_of_times(t, t->beg[r], t->beg[r + 1] - t->beg[r], 1 << r);
  t->status[r] = gbt_metric_eval(&ctx, &t->metric, &t->objective, &rows, NULL, t->score + t->beg[r], &t->value[r],
                                 &t->err[r]);
  t->status[r] = gbt_comm_agree(&ctx, t->status[r], &t->err[r]);
  gbt_ctx_close(&ctx);
}

/* The third rank has no rows, so it lacks nothing. */
static void fields_that_a_rank_lacks_are_ones_or_refused(void) {
  static const gbt_metric_kind kinds[] = {GBT_METRIC_CONCORDANCE, GBT_METRIC_UNO_C, GBT_METRIC_COX_NLOGLIK};
  static const int fields[] = {GBT_WEIGHT, GBT_ENTRY, GBT_STRATUM, GBT_UPPER};
  test_rng rng = {11};
  times *t = test_alloc(sizeof *t);
  memset(t, 0, sizeof *t);
  t->objective = gbt_objective_make(GBT_OBJ_COX, 1);
  t->beg[1] = 50;
  t->beg[2] = t->beg[3] = N_TIMES;
  for (int i = 0; i < N_TIMES; i++) {
    t->score[i] = test_bell(&rng);
    t->field[GBT_LABEL][i] = t->field[GBT_UPPER][i] = 1.0 + (double)test_below(&rng, 30);
    t->field[GBT_EVENT][i] = (double)test_below(&rng, 2);
    t->field[GBT_WEIGHT][i] = 1.0 + (double)(i < 50);
    t->field[GBT_STRATUM][i] = (double)test_below(&rng, 3);
  }
  for (int k = 0; k < 3; k++)
    for (int f = 0; f < 4; f++)
      for (int ranks = 1; ranks < 4; ranks++) {
        double want = 0.0;
        gbt_ctx ctx = test_ctx(NULL, 1);
        if (kinds[k] == GBT_METRIC_UNO_C && fields[f] == GBT_ENTRY) continue; /* refused */
        memset(t->given, 0, sizeof t->given);
        t->given[GBT_EVENT] = 3;
        t->given[fields[f]] = ranks;
        t->metric = gbt_metric_plain(kinds[k]);
        for (int i = 50; i < N_TIMES && fields[f] == GBT_WEIGHT; i++)
          t->field[GBT_WEIGHT][i] = ranks == 1 ? 1.0 : 3.0;
        for (int i = 0; i < 50; i++) t->field[GBT_WEIGHT][i] = ranks == 2 ? 1.0 : 2.0;
        const gbt_rows all = rows_of_times(t, 0, N_TIMES, 3);
        ranks_run(3, times_of_rank, t);
        CHECK_OK(gbt_metric_eval(&ctx, &t->metric, &t->objective, &all, NULL, t->score, &want, test_err));
        gbt_ctx_close(&ctx);
        for (int r = 0; r < 3; r++) {
          if (ranks == 3 || fields[f] == GBT_WEIGHT) {
            if (CHECK_EQ_I64(t->status[r], GBT_OK)) CHECK_EQ_BITS(t->value[r], want);
            continue;
          }
          *test_err = t->err[r];
          CHECK_FAILS(t->status[r], GBT_E_ARG, "only some ranks have it; give it on all ranks");
        }
      }
  free(t);
}

/* ---- metrics that order rows ---- */

/* Rows shared out, and what the ranks made of them. */
typedef struct world {
  int64_t n, beg[RANKS_MOST + 1];
  double *score, *label, *weight;
  int weighted; /* a bit for each rank that has weights; the others' are 1 */
  gbt_metric metric;
  gbt_objective objective;
  gbt_status status[RANKS_MOST];
  double value[RANKS_MOST];
  ranks_traffic traffic[RANKS_MOST];
} world;

static world *world_new(int64_t n) {
  world *w = test_alloc(sizeof *w);
  memset(w, 0, sizeof *w);
  w->n = n;
  w->score = test_alloc(((size_t)n + 1) * sizeof *w->score);
  w->label = test_alloc(((size_t)n + 1) * sizeof *w->label);
  w->weight = test_alloc(((size_t)n + 1) * sizeof *w->weight);
  return w;
}

static void world_free(world *w) {
  free(w->score);
  free(w->label);
  free(w->weight);
  free(w);
}

static void order_of_rank(void *arg, const gbt_comm *comm) {
  world *w = arg;
  const int r = comm->rank;
  const int64_t beg = w->beg[r];
  gbt_error err;
  gbt_ctx ctx = test_ctx(NULL, 1 + r % 3);
  ctx.comm = comm;
  gbt_rows rows = test_rows(w->beg[r + 1] - beg, w->label + beg, w->weighted >> r & 1 ? w->weight + beg : NULL, NULL);
  w->status[r] = gbt_metric_eval(&ctx, &w->metric, &w->objective, &rows, NULL, w->score + beg, &w->value[r], &err);
  w->status[r] = gbt_comm_agree(&ctx, w->status[r], &err);
  w->traffic[r] = ranks_traffic_of(comm);
  gbt_ctx_close(&ctx);
}

static void check_world(world *w, int size, gbt_metric_kind kind) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  double want = 0.0;
  int64_t weighted = 0;
  w->metric = gbt_metric_plain(kind);
  w->objective = gbt_objective_make(kind == GBT_METRIC_GINI ? GBT_OBJ_SQUARED_ERROR : GBT_OBJ_LOGISTIC, 1);
  for (int r = 0; r < size; r++)
    for (int64_t i = w->beg[r]; i < w->beg[r + 1]; i++) {
      if (!(w->weighted >> r & 1)) w->weight[i] = 1.0;
      weighted |= w->weighted >> r & 1;
    }
  const gbt_rows rows = test_rows(w->n, w->label, weighted ? w->weight : NULL, NULL);
  CHECK_OK(gbt_metric_eval(&ctx, &w->metric, &w->objective, &rows, NULL, w->score, &want, test_err));
  gbt_ctx_close(&ctx);
  ranks_run(size, order_of_rank, w);
  for (int r = 0; r < size; r++)
    if (CHECK_EQ_I64(w->status[r], GBT_OK)) CHECK_EQ_BITS(w->value[r], want);
}

static void share_out(test_rng *rng, world *w, int size, int any) {
  w->beg[0] = 0;
  w->beg[size] = w->n;
  for (int r = 1; r < size; r++) {
    const int64_t rest = w->n - w->beg[r - 1];
    const int64_t some = test_below(rng, 4) == 0 ? rest > 0 : test_below(rng, 2) * test_below(rng, rest + 1);
    w->beg[r] = w->beg[r - 1] + (any ? some : w->n / size);
  }
}

/* Scores: 0 different ones, 1 ties, 2 all equal, 3 ascending through the ranks, 4 nearly all equal, 5 of any magnitude,
 * 6 different ones and a NaN. */
static double score_of(test_rng *rng, int how, int64_t i, int64_t n) {
  const double x[] = {test_bell(rng),
                      (double)test_below(rng, 12) - 6.0,
                      0.25,
                      (double)(i / 3),
                      test_below(rng, 20) ? 1.0 : test_bell(rng),
                      ldexp(test_bell(rng), (int)test_below(rng, 2000) - 1000),
                      i == n / 2 ? (double)NAN : test_bell(rng)};
  return x[how];
}

enum { N_SCORES = 7 };
static const gbt_metric_kind orders[] = {GBT_METRIC_AUC, GBT_METRIC_PR_AUC, GBT_METRIC_GINI};

static void draw(test_rng *rng, world *w, int how, int kind) {
  for (int64_t i = 0; i < w->n; i++) {
    w->score[i] = score_of(rng, how, i, w->n);
    w->label[i] = orders[kind] == GBT_METRIC_GINI ? floor(4.0 * test_bell(rng)) : (double)test_below(rng, 2);
    w->weight[i] = how % 2 ? test_unit(rng) : (double)test_below(rng, 3);
  }
}

static void orders_of_shares_are_those_of_all_rows(void) {
  test_rng rng = {5};
  for (uint64_t rep = 0; rep < test_cases(400); rep++) {
    const int size = 1 + (int)(rep % RANKS_MOST), kind = (int)(rep / 3 % 3), how = (int)(rep % N_SCORES);
    world *w = world_new(test_below(&rng, rep % 20 == 0 ? 40000 : rep % 4 ? 60 : 2000));
    draw(&rng, w, how, kind);
    w->weighted = rep % 2 ? (int)test_below(&rng, 256) : 0;
    share_out(&rng, w, size, rep % 7 > 0);
    check_world(w, size, orders[kind]);
    world_free(w);
  }
}

static void n_rows(int64_t n) {
  test_rng rng = {(uint64_t)n};
  world *w = world_new(n);
  draw(&rng, w, (int)(n % 2), (int)(n % 3));
  w->weighted = n % 4 == 0 ? 3 : 0;
  share_out(&rng, w, 3, (int)(n / 2 % 2));
  check_world(w, 3, orders[n % 3]);
  world_free(w);
}

static void every_number_of_rows(void) {
  const sweep_range range = {.low = 1, .high = 140000, .dense = 60};
  sweep(n_rows, &range);
}

/* A rank sends its groups once, 24 bytes each, and takes a range of those of all ranks, which is no longer than its own
 * rows by much; with ties there is little to send. The rows of all ranks would be 24 bytes each on every rank. */
static void rows_do_not_go_to_every_rank(void) {
  enum { ROWS = 20000, GROUP = 24, OTHERS = 80000 };
  for (int how = 0; how < 4; how++)
    for (int size = 2; size <= RANKS_MOST; size *= 2) {
      test_rng rng = {6};
      world *w = world_new((int64_t)ROWS * size);
      draw(&rng, w, how, 0);
      share_out(&rng, w, size, 0);
      check_world(w, size, GBT_METRIC_AUC);
      const int64_t groups = how == 0 ? ROWS : how == 3 ? ROWS / 3 + 1 : 20;
      for (int r = 0; r < size; r++) {
        CHECK(w->traffic[r].sent < GROUP * groups + OTHERS);
        CHECK(w->traffic[r].taken < GROUP * (groups + groups / 8) + OTHERS);
      }
      world_free(w);
    }
}

void suite_ranks_metric(void) {
  RUN(orders_of_shares_are_those_of_all_rows);
  RUN(every_number_of_rows);
  RUN(rows_do_not_go_to_every_rank);
  RUN(metrics_of_ranks_fail_together);
  RUN(metrics_of_ranks_name_the_row);
  RUN(fields_that_a_rank_lacks_are_ones_or_refused);
}
