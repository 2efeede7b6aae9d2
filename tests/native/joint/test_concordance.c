/* Concordance: reference numbers of R's survival, and a plain twin. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/joint/concordance.h"

enum { A_ROWS = 8, MOST = 60 };
static const double a_time[] = {2, 3, 3, 3, 5, 6, 6, 8}, a_event[] = {1, 1, 1, 0, 1, 1, 0, 1};
static const double a_score[] = {.5, -.2, .3, 0, 1, -.7, .1, -1.2}, a_weight[] = {1, 2, 1, .5, 1, 3, 1, 1};
static const double a_other[] = {.5, .3, .3, 0, 1, -.7, .1, .3};
static const double a_entry[] = {0, 0, 1, 0, 2.5, 3, 0, 5}, a_stratum[] = {1, 1, 1, 1, 2, 2, 2, 2};

static const gbt_concordance_of harrell = {0, 0, 0.0};

static double value_of(gbt_concordance_of of, gbt_rows rows, const double *score) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_timeline timeline;
  double out = 99.0;
  CHECK_OK(gbt_timeline_make(&ctx, &rows, 0, &timeline, test_err));
  CHECK_OK(gbt_concordance(&ctx, &of, &rows, &timeline, score, &out, test_err));
  gbt_timeline_free(&timeline);
  gbt_ctx_close(&ctx);
  return out;
}

static double value(gbt_rows rows, const double *score) { return value_of(harrell, rows, score); }

/* ../shared/reference/survival.md, section 9, A. */
static void concordance_has_the_reference_numbers(void) {
  gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_EVENT] = a_event}};
  CHECK_NEAR(value(rows, a_score), .727272727273, 1e-12);
  CHECK_NEAR(value(rows, a_other), .727272727273, 1e-12);
  rows.field[GBT_WEIGHT] = a_weight;
  CHECK_NEAR(value(rows, a_score), .75, 1e-12);
  rows.field[GBT_WEIGHT] = NULL;
  rows.field[GBT_ENTRY] = a_entry;
  CHECK_NEAR(value(rows, a_score), 9.0 / 14.0, 1e-12); /* as concordance() of survival 3.5-3 */
  CHECK_NEAR(value(rows, a_other), .714285714286, 1e-12);
  rows.field[GBT_ENTRY] = NULL;
  rows.field[GBT_STRATUM] = a_stratum;
  CHECK_NEAR(value(rows, a_score), .8, 1e-12);
}

/* As concordance(timewt = "n/G2") of survival 3.5-3, except for the horizon: its ymax takes the times up to it. */
static void uno_has_the_reference_numbers(void) {
  static const double life[] = {-.5, -.3, -.3, 0, -1, .7, -.1, -.3};
  static const double upper[] = {2, 3, 3, INFINITY, 5, 6, INFINITY, 8};
  const gbt_concordance_of all = {0, 1, 0.0}, early = {0, 1, 5.5}, of_times = {1, 1, 0.0};
  gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_EVENT] = a_event}};
  CHECK_NEAR(value_of(all, rows, a_other), .712846347607, 1e-12);
  CHECK_NEAR(value_of(early, rows, a_other), .815561959654, 1e-12);
  CHECK_NEAR(value_of(all, rows, a_score), .735516372796, 1e-12);
  rows.field[GBT_WEIGHT] = a_weight;
  CHECK_NEAR(value_of(all, rows, a_score), .748964374482, 1e-12);
  rows = (gbt_rows){.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_UPPER] = upper}};
  CHECK_NEAR(value_of(of_times, rows, life), .712846347607, 1e-12);
}

/* G(t-) of the row's stratum by the definition. */
static double uncensored(const gbt_rows *r, int64_t row) {
  const double *t = r->field[GBT_LABEL], *e = r->field[GBT_EVENT], *s = r->field[GBT_STRATUM];
  double g = 1.0, at = -1e300;
  for (;;) {
    double next = 1e300, risk = 0, censored = 0;
    for (int64_t k = 0; k < r->n; k++)
      if ((s == NULL || s[k] == s[row]) && e[k] == 0.0 && t[k] > at && t[k] < next) next = t[k];
    if (next >= t[row]) return g;
    for (int64_t k = 0; k < r->n; k++) {
      if ((s != NULL && s[k] != s[row]) || t[k] < next || (t[k] == next && e[k] > 0.0)) continue;
      risk += gbt_weight_of(r, k);
      if (t[k] == next) censored += gbt_weight_of(r, k);
    }
    if (censored > 0) g *= (risk - censored) / risk;
    at = next;
  }
}

static double twin(const gbt_rows *r, const gbt_concordance_of *of, const double *score) {
  double right = 0, pairs = 0;
  for (int64_t i = 0; i < r->n; i++)
    for (int64_t j = 0; j < r->n; j++) {
      const double *t = r->field[GBT_LABEL], *e = r->field[GBT_EVENT], *entry = r->field[GBT_ENTRY];
      if (i == j || e[i] == 0.0) continue;
      if (!(t[i] < t[j] || (t[i] == t[j] && e[j] == 0.0))) continue;
      if (r->field[GBT_STRATUM] != NULL && r->field[GBT_STRATUM][i] != r->field[GBT_STRATUM][j]) continue;
      if (entry != NULL && !(entry[j] < t[i])) continue;
      double w = gbt_weight_of(r, i) * gbt_weight_of(r, j);
      if (of->censoring && w > 0.0) w *= of->horizon > 0.0 && t[i] >= of->horizon ? 0.0 : pow(uncensored(r, i), -2.0);
      pairs += w;
      right += w * (score[i] > score[j] ? 1.0 : score[i] == score[j] ? 0.5 : 0.0);
    }
  return right / pairs;
}

static void concordance_equals_the_twin(void) {
  test_rng rng = {31};
  for (uint64_t c = 0; c < test_cases(800); c++) {
    double time[MOST], event[MOST], weight[MOST], entry[MOST], stratum[MOST], score[MOST];
    const int n = 1 + (int)test_below(&rng, MOST);
    for (int i = 0; i < n; i++) {
      time[i] = 1.0 + (double)test_below(&rng, c % 2 ? 6 : 1000);
      event[i] = (double)test_below(&rng, 2);
      weight[i] = (double)test_below(&rng, 3);
      entry[i] = floor(time[i] * test_unit(&rng)) - 1.0;
      stratum[i] = (double)test_below(&rng, 3);
      score[i] = c % 3 ? (double)test_below(&rng, 4) : test_bell(&rng);
    }
    gbt_rows rows = {.n = n, .field = {[GBT_LABEL] = time, [GBT_EVENT] = event}};
    if (c & 4) rows.field[GBT_WEIGHT] = weight;
    const gbt_concordance_of of = {0, c % 5 == 0, c % 10 == 0 ? 4.0 : 0.0};
    if (c & 8 && !of.censoring) rows.field[GBT_ENTRY] = entry;
    if (c & 16) rows.field[GBT_STRATUM] = stratum;
    const double want = twin(&rows, &of, score), got = value_of(of, rows, score);
    if (want == want)
      CHECK_NEAR(got, want, 1e-12);
    else
      CHECK(got != got);
  }
}

static gbt_status concordance_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_EVENT] = a_event, [GBT_ENTRY] = a_entry}};
  gbt_timeline timeline = {.mem = *mem};
  gbt_ctx ctx;
  double out;
  (void)arg;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = gbt_timeline_make(&ctx, &rows, 0, &timeline, err);
  if (status == GBT_OK) status = gbt_concordance(&ctx, &harrell, &rows, &timeline, a_score, &out, err);
  gbt_timeline_free(&timeline);
  gbt_ctx_close(&ctx);
  return status;
}

static void failures_are_clean(void) { CHECK(fault_sweep(concordance_op, NULL) > 8); }

void suite_concordance(void) {
  RUN(concordance_has_the_reference_numbers);
  RUN(uno_has_the_reference_numbers);
  RUN(concordance_equals_the_twin);
  RUN(failures_are_clean);
}
