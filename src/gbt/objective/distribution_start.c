/* The scores before the first tree: steps of Fisher's scoring for both parameters, from moments of the response. Each
 * takes a pass over the rows, whose sums are exact. */
#include "distribution.h"
#include "row_sums.h"

enum { BLOCK = 64, MOST_STEPS = 100 };
enum { N_SUMS = 5 };

/* Sums of a pass, weights in. */
typedef enum pass_kind {
  PASS_MEAN,   /* label, or label less offset; exp(offset) or 1; rows; zeros */
  PASS_SPREAD, /* rows; (label - offset - at[0])^2; offset of the second score */
  PASS_STEPS   /* rows; g and h of both scores at `at` */
} pass_kind;

typedef struct start_job {
  const gbt_objective *objective;
  const gbt_rows *rows;
  pass_kind kind;
  int by_location; /* the first score is a location; else a logarithm of a mean */
  double at[2], unit;
  gbt_distribution_range range;
} start_job;

static double offset_of(const gbt_rows *rows, int64_t i, int k) {
  return rows->field[GBT_OFFSET] ? rows->field[GBT_OFFSET][(int64_t)k * rows->n + i] : 0.0;
}

static void moments(const start_job *j, int64_t i, double term[N_SUMS]) {
  const double y = gbt_label_of(j->rows, i), by = offset_of(j->rows, i, 0);
  term[0] = 1.0;
  if (j->kind == PASS_MEAN) {
    term[1] = j->by_location ? y - by : y;
    term[2] = j->by_location ? 1.0 : gbt_exp(by);
    term[3] = y == 0.0 ? 1.0 : 0.0;
    term[4] = offset_of(j->rows, i, 1);
  } else {
    const double from = j->by_location ? y - by - j->at[0] : y - gbt_exp(by + j->at[0]);
    term[1] = from * from;
    term[2] = term[3] = term[4] = 0.0;
  }
}

static void add_block(const start_job *j, int64_t beg, int n, gbt_exact_sum *sum) {
  const gbt_rows *rows = j->rows;
  gbt_gh gh[BLOCK][2];
  double a[BLOCK], b[BLOCK];
  if (j->kind == PASS_STEPS) {
    for (int i = 0; i < n; i++) {
      a[i] = j->at[0] + offset_of(rows, beg + i, 0);
      b[i] = j->at[1] + offset_of(rows, beg + i, 1);
    }
    const double *second = rows->field[GBT_OFFSET] ? rows->field[GBT_OFFSET] + rows->n + beg : NULL;
    gbt_distribution_gradients(j->objective, j->range, j->unit, a, b, rows->field[GBT_LABEL] + beg, second, n, gh);
  }
  for (int i = 0; i < n; i++) {
    const double w = gbt_weight_of(rows, beg + i);
    double term[N_SUMS] = {1.0, gh[i][0].g, gh[i][0].h, gh[i][1].g, gh[i][1].h};
    if (w == 0.0) continue;
    if (j->kind != PASS_STEPS) moments(j, beg + i, term);
    for (int k = 0; k < N_SUMS; k++) gbt_exact_add(&sum[k], w * term[k]);
  }
}

static void add_rows(const void *job, int64_t beg, int64_t end, gbt_exact_sum *sum) {
  for (int64_t i = beg; i < end; i += BLOCK) add_block(job, i, end - i < BLOCK ? (int)(end - i) : BLOCK, sum);
}

static gbt_status sums_of(gbt_ctx *ctx, start_job *j, pass_kind kind, double out[N_SUMS], gbt_error *err) {
  j->kind = kind;
  return gbt_row_sums(ctx, j->rows->n, N_SUMS, add_rows, j, out, err);
}

static int has_location(const gbt_objective *o) { return gbt_objective_info_of(o->kind)->labels == GBT_LABELS_NUMBER; }

static double limited(double x, double most) { return x > most ? most : x < -most ? -most : x; }
static double size_of(double x) { return x < 0.0 ? -x : x; }

/* The logarithm of the root of a mean square; for numbers that are all alike, of what rounding leaves of them. */
static double log_deviation(double square, double mean) {
  const double least = size_of(mean) * 0x1p-50;
  const double sd = gbt_sqrt(square);
  return gbt_log(sd > least ? sd : least > 0.0 ? least : 0x1p-26);
}

/* The second score to begin with. sum: of PASS_MEAN; square: the mean of PASS_SPREAD. */
static double first_width(const gbt_objective *o, const double sum[N_SUMS], double mean, double square) {
  const double zeros = 0.5 * sum[3] / sum[0], more = square - mean;
  if (has_location(o)) return log_deviation(square, mean) - sum[4] / sum[0];
  if (o->kind == GBT_OBJ_DIST_ZIP) return gbt_log((zeros + 1e-3) / (1.0 - zeros));
  if (o->kind != GBT_OBJ_DIST_NEGATIVE_BINOMIAL) return 0.0;
  return more > 1e-6 * mean ? gbt_log(mean) + gbt_log(mean / more) : 10.0; /* the variance is mean + mean^2 / size */
}

gbt_status gbt_distribution_start(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, double *out,
                                  gbt_error *err) {
  start_job j = {.objective = o, .rows = rows};
  double sum[N_SUMS], spread[N_SUMS];
  out[0] = out[1] = 0.0;
  j.by_location = has_location(o);
  GBT_TRY(sums_of(ctx, &j, PASS_MEAN, sum, err));
  if (!(sum[0] > 0.0)) return GBT_OK;
  const double mean = sum[2] > 0.0 ? sum[1] / sum[2] : 0.0;
  j.at[0] = j.by_location ? mean : gbt_log(mean > 1e-9 ? mean : 1e-9);
  GBT_TRY(sums_of(ctx, &j, PASS_SPREAD, spread, err));
  if (!(spread[1] / spread[0] <= 1e300))
    return gbt_fail_on(err, GBT_E_DATA, "label",
                       "labels are up to about %g, and the objective \"%s\" needs their squares; divide them by a "
                       "number", size_of(mean), gbt_objective_info_of(o->kind)->name);
  j.at[1] = first_width(o, sum, mean, spread[1] / spread[0]);
  j.range = gbt_distribution_range_of(o, j.at);
  j.unit = gbt_distribution_unit(o, j.at);
  for (int i = 0; i < MOST_STEPS; i++) {
    GBT_TRY(sums_of(ctx, &j, PASS_STEPS, sum, err));
    const double scale = j.by_location ? gbt_exp(j.at[1]) : 1.0;
    const double by_a = sum[2] > 0.0 ? limited(-sum[1] / sum[2], 2.0 * scale) : 0.0;
    const double by_b = sum[4] > 0.0 ? limited(-sum[3] / sum[4], 1.0) : 0.0;
    j.at[0] += by_a;
    j.at[1] += by_b;
    if (size_of(by_a) < 1e-9 * scale && size_of(by_b) < 1e-9) break;
  }
  out[0] = j.at[0];
  out[1] = j.at[1] < j.range.low ? j.range.low : j.at[1] > j.range.high ? j.range.high : j.at[1];
  return GBT_OK;
}
