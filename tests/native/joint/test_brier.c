/* Metrics of survival curves: reference numbers, a plain twin, and whole weights as repeated rows in another order. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/boost/metric.h"
#include "../../src/gbt/joint/cox.h"

enum { A_ROWS = 8, MOST = 80 };
static const double a_time[] = {2, 3, 3, 3, 5, 6, 6, 8}, a_event[] = {1, 1, 1, 0, 1, 1, 0, 1};
static const double a_score[] = {.5, -.2, .3, 0, 1, -.7, .1, -1.2};

static double value(gbt_metric_kind kind, double param, const gbt_objective *o, const gbt_rows *rows,
                    const gbt_hazards *hazards, const double *score) {
  const gbt_metric metric = {(int32_t)kind, param, 0};
  const gbt_metric_aids aids = {.hazards = hazards};
  gbt_ctx ctx = test_ctx(NULL, 3);
  double out = 99.0;
  CHECK_OK(gbt_metric_eval(&ctx, &metric, o, rows, &aids, score, &out, test_err));
  gbt_ctx_close(&ctx);
  return out;
}

/* ../shared/reference/survival.md, section 9, A: with Breslow's baseline. */
static void curves_have_the_reference_numbers(void) {
  static const double at[] = {2, 3, 5, 6}, want[] = {.102293573319, .238140832522, .148508637112, .107673224330};
  const gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_EVENT] = a_event}};
  const gbt_objective o = gbt_objective_make(GBT_OBJ_COX, 1);
  gbt_ctx ctx = test_ctx(NULL, 1);
  double hazard[A_ROWS];
  gbt_cox cox;
  CHECK_OK(gbt_cox_make(&ctx, &rows, 0.0, 1, &cox, test_err));
  CHECK_OK(gbt_cox_hazards(&ctx, &cox, a_score, test_err));
  gbt_cox_baseline(&cox, hazard);
  const gbt_hazards h = {1, cox.risk.stratum, cox.risk.start, cox.risk.time, hazard};
  for (int k = 0; k < 4; k++)
    CHECK_NEAR(value(GBT_METRIC_BRIER_SURVIVAL, at[k], &o, &rows, &h, a_score), want[k], 1e-12);
  CHECK_NEAR(value(GBT_METRIC_IBS, 0.0, &o, &rows, &h, a_score), .171239400819, 1e-12);
  CHECK_NEAR(value(GBT_METRIC_DCAL, 4.0, &o, &rows, &h, a_score), 1.461505443420, 1e-12);
  const gbt_metric ibs = {GBT_METRIC_IBS, 0.0, 0};
  double out;
  CHECK_FAILS(gbt_metric_eval(&ctx, &ibs, &o, &rows, NULL, a_score, &out, test_err), GBT_E_UNSUPPORTED, "baseline");
  gbt_cox_free(&cox);
  gbt_ctx_close(&ctx);
}

/* ---- the twin: times of extreme value distribution, S(t) = exp(-(t e^-s)^(1 / scale)) ---- */

static double S_at(double t, double s, double scale) { return exp(-exp((log(t) - s) / scale)); }

/* G(t), or G(t-), by the definition. */
static double uncensored(const gbt_rows *r, double t, int before) {
  const double *time = r->field[GBT_LABEL], *upper = r->field[GBT_UPPER];
  double g = 1.0, at = 0.0;
  for (;;) {
    double next = 1e300, risk = 0, censored = 0;
    for (int64_t k = 0; k < r->n; k++)
      if (upper[k] > time[k] && time[k] > at && time[k] < next) next = time[k];
    if (before ? next >= t : next > t) return g;
    for (int64_t k = 0; k < r->n; k++) {
      if (time[k] < next || (time[k] == next && upper[k] == time[k])) continue;
      risk += gbt_weight_of(r, k);
      if (time[k] == next) censored += gbt_weight_of(r, k);
    }
    if (censored > 0) g *= (risk - censored) / risk;
    at = next;
  }
}

static double twin_brier(const gbt_rows *r, const double *score, double scale, double t) {
  double sum = 0, weight = 0;
  for (int64_t i = 0; i < r->n; i++) {
    const double time = r->field[GBT_LABEL][i], S = S_at(t, score[i], scale), w = gbt_weight_of(r, i);
    if (w == 0.0) continue;
    weight += w;
    if (time > t) sum += w * (1 - S) * (1 - S) / uncensored(r, t, 0);
    if (time <= t && r->field[GBT_UPPER][i] == time) sum += w * S * S / uncensored(r, time, 1);
  }
  return sum / weight;
}

static double twin_calibration(const gbt_rows *r, const double *score, double scale, int bins) {
  double count[20] = {0}, all = 0, out = 0;
  for (int64_t i = 0; i < r->n; i++) {
    const double time = r->field[GBT_LABEL][i], v = S_at(time, score[i], scale), w = gbt_weight_of(r, i);
    const int bin = v * bins >= bins ? bins - 1 : (int)(v * bins);
    all += w;
    if (r->field[GBT_UPPER][i] == time) {
      count[bin] += w;
      continue;
    }
    count[bin] += bin == 0 ? w : w * (v - (double)bin / bins) / v;
    for (int k = 0; k < bin; k++) count[k] += w / bins / v;
  }
  for (int k = 0; k < bins; k++) out += pow(count[k] - all / bins, 2.0) / (all / bins);
  return out;
}

typedef struct scene {
  int n;
  double time[MOST], upper[MOST], weight[MOST], score[MOST];
} scene;

static gbt_rows rows_of(const scene *s, int weights) {
  gbt_rows rows = {.n = s->n, .field = {[GBT_LABEL] = s->time, [GBT_UPPER] = s->upper}};
  if (weights) rows.field[GBT_WEIGHT] = s->weight;
  return rows;
}

static scene draw(test_rng *rng, uint64_t c) {
  scene s = {.n = 2 + (int)test_below(rng, MOST / 2 - 2)};
  for (int i = 0; i < s.n; i++) {
    s.time[i] = 1.0 + (double)test_below(rng, c % 2 ? 6 : 1000);
    s.upper[i] = test_below(rng, 2) ? s.time[i] : INFINITY;
    s.weight[i] = (double)test_below(rng, 3);
    s.score[i] = log(s.time[i]) + 0.5 * test_bell(rng);
  }
  s.upper[0] = s.time[0]; /* an event at least */
  s.weight[0] = 2.0;
  return s;
}

static void curves_equal_the_twin(void) {
  test_rng rng = {71};
  gbt_objective o = gbt_objective_make(GBT_OBJ_AFT, 1);
  o.param[0] = 2.0;
  o.param[1] = 0.8;
  for (uint64_t c = 0; c < test_cases(400); c++) {
    const scene s = draw(&rng, c);
    const gbt_rows rows = rows_of(&s, c & 4);
    const double t = s.time[test_below(&rng, s.n)] + (c & 8 ? 0.5 : 0.0);
    const double brier = value(GBT_METRIC_BRIER_SURVIVAL, t, &o, &rows, NULL, s.score);
    const double calibration = value(GBT_METRIC_DCAL, 5.0, &o, &rows, NULL, s.score);
    CHECK_NEAR(brier, twin_brier(&rows, s.score, 0.8, t), 1e-11);
    CHECK_NEAR(calibration, twin_calibration(&rows, s.score, 0.8, 5), 1e-9);
  }
}

/* Weights are how often rows are there, and their order does not count. */
static void weights_are_repeated_rows(void) {
  static const struct {
    gbt_metric_kind kind;
    double param;
  } all[] = {{GBT_METRIC_BRIER_SURVIVAL, 3.0}, {GBT_METRIC_IBS, 0.0}, {GBT_METRIC_DCAL, 10.0}};
  test_rng rng = {72};
  gbt_objective o = gbt_objective_make(GBT_OBJ_AFT, 1);
  o.param[1] = 0.5;
  for (uint64_t c = 0; c < test_cases(100); c++) {
    const scene s = draw(&rng, c);
    scene repeated = {.n = 0};
    for (int i = s.n; i-- > 0;)
      for (int k = 0; k < (int)s.weight[i]; k++) {
        repeated.time[repeated.n] = s.time[i];
        repeated.upper[repeated.n] = s.upper[i];
        repeated.score[repeated.n++] = s.score[i];
      }
    const gbt_rows weighted = rows_of(&s, 1), plain = rows_of(&repeated, 0);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      const double a = value(all[k].kind, all[k].param, &o, &weighted, NULL, s.score);
      const double b = value(all[k].kind, all[k].param, &o, &plain, NULL, repeated.score);
      CHECK_NEAR(a, b, 1e-12 * (1.0 + b));
    }
  }
}

static gbt_status curves_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  static const double upper[] = {2, 3, 3, INFINITY, 5, 6, INFINITY, 8};
  const gbt_rows rows = {.n = A_ROWS, .field = {[GBT_LABEL] = a_time, [GBT_UPPER] = upper}};
  gbt_objective o = gbt_objective_make(GBT_OBJ_AFT, 1);
  const gbt_metric metric[] = {{GBT_METRIC_IBS, 0.0, 0}, {GBT_METRIC_DCAL, 10.0, 0}, {GBT_METRIC_UNO_C, 0.0, 0}};
  gbt_ctx ctx;
  double out;
  (void)arg;
  o.param[1] = 1.0;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  for (int k = 0; k < 3 && status == GBT_OK; k++)
    status = gbt_metric_eval(&ctx, &metric[k], &o, &rows, NULL, a_score, &out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void failures_are_clean(void) { CHECK(fault_sweep(curves_op, NULL) > 20); }

void suite_brier(void) {
  RUN(curves_have_the_reference_numbers);
  RUN(curves_equal_the_twin);
  RUN(weights_are_repeated_rows);
  RUN(failures_are_clean);
}
