/* Metrics of rows that ranks have: one value on all of them, or one failure. */
#include "fault.h"
#include "made.h"
#include "ranks.h"

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
  m->status[r] = gbt_metric_eval(&ctx, &m->metric, &m->objective, &rows, m->score + beg, &m->value[r], err);
  m->status[r] = gbt_comm_agree(&ctx, m->status[r], err);
  gbt_ctx_close(&ctx);
}

static void check_rank_metric(rank_metric *m) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  double want = 0.0;
  const gbt_rows rows = test_rows(m->beg[3], m->label, m->weight, NULL);
  CHECK_OK(gbt_metric_eval(&ctx, &m->metric, &m->objective, &rows, m->score, &want, test_err));
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
  snprintf(want, sizeof want, "rank 1 of 3: row %d: the label 2 is no class", ROW + 1);
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

void suite_ranks_metric(void) {
  RUN(metrics_of_ranks_fail_together);
  RUN(metrics_of_ranks_name_the_row);
}
