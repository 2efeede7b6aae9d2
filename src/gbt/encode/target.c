/* The objective decides which number a row has (number_of), and its weight (weight_of). Both are brought into base
 * order once; what is found out about all rows (sums, extremes, quantiles) is found by tasks of consecutive places,
 * each thread with sums of its own, which are integers or exact. */
#include "target.h"

#include <float.h>
#include <string.h>

#include "../base/bits.h"
#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../math/elementary.h"
#include "../math/whole.h"

enum {
  TASK_ROWS = 1 << 15,
  DIGIT_BITS = 16, /* of keys, for quantiles */
  N_DIGITS = 1 << DIGIT_BITS,
  ALL_IN_BITS = 41, /* the sum of weights is below 2^41 before each is rounded, at most 2^42 after that */
  PRIOR_PARTS = 256 /* priors are counted in 1 / 256 of a row */
};

static const uint32_t one_y = GBTI_N_VALUES - 1;

typedef enum rule { NO_LABELS, SHARES, CLASSES, RATES, RESIDUALS, LOG_TIMES, NUMBERS } rule;

/* A thread's own. */
typedef struct own {
  gbt_exact_sum weight;
  double max_weight;
  int64_t positive; /* rows that weigh something */
  int64_t sum;      /* of weights as integers, or of weight * code */
  int64_t *count;   /* by digit or class */
  uint32_t fractions;
} own;

typedef struct job {
  gbt_ctx *ctx;
  gbti_target *target;
  const gbt_rows *rows;
  const gbti_visit *visit;
  rule rule;
  int32_t n_classes;
  gbt_whole_scale scale;
  int weighted;
  double prior; /* rows of the heaviest prior */
  int64_t all;    /* weights together */
  double *number; /* n, base order; NULL for classes */
  const gbti_part *part;
  uint64_t prefix, above; /* keys that begin with it, larger than `above`, are counted by the next digit */
  int digit;
  own *own;
} job;

/* Of an objective on the scale of its labels: whether offsets are taken off them. */
static rule number_rule(const gbt_objective_info *info, const gbt_rows *rows) {
  if (rows->field[GBT_OFFSET] == NULL) return NUMBERS;
  switch (info->base) {
  case GBT_BASE_RESIDUAL_MEAN:
  case GBT_BASE_RESIDUAL_QUANTILE:
  case GBT_BASE_RESIDUAL_ROOT:
    return RESIDUALS;
  case GBT_BASE_ZERO:
  case GBT_BASE_MEAN:
  case GBT_BASE_CLASS_SHARES:
  case GBT_BASE_INTERVALS:
  case GBT_BASE_SCALE:
  case GBT_BASE_DISTRIBUTION:
    break;
  }
  return NUMBERS;
}

static rule rule_of(const gbt_objective *objective, const gbt_rows *rows) {
  const gbt_objective_info *info = gbt_objective_info_of(objective->kind);
  if (rows->field[GBT_LABEL] == NULL) return NO_LABELS;
  switch (info->labels) {
  case GBT_LABELS_CLASS:
    return CLASSES;
  case GBT_LABELS_BINARY:
  case GBT_LABELS_SHARE:
    return SHARES;
  case GBT_LABELS_NUMBER:
  case GBT_LABELS_NOT_NEGATIVE:
  case GBT_LABELS_POSITIVE:
  case GBT_LABELS_COUNT:
  case GBT_LABELS_ABOVE_MINUS_ONE:
    break;
  }
  switch (info->response) {
  case GBT_RESPONSE_MEAN:
    return RATES;
  case GBT_RESPONSE_TIME:
    return LOG_TIMES;
  case GBT_RESPONSE_NUMBER:
  case GBT_RESPONSE_PROBABILITY:
  case GBT_RESPONSE_CLASSES:
  case GBT_RESPONSE_HAZARD:
  case GBT_RESPONSE_INTERVALS:
  case GBT_RESPONSE_DISTRIBUTION:
  case GBT_RESPONSE_OWN:
    break;
  }
  return number_rule(info, rows);
}

/* Differences of two such stay finite. */
static double bounded(double x) {
  const double most = DBL_MAX / 4.0;
  return x > most ? most : x < -most ? -most : x;
}

/* The logarithm of the label; of the upper bound, where the label is 0 and the row left-censored. */
static double log_time(const gbt_rows *rows, int64_t row) {
  const double label = gbt_label_of(rows, row);
  return gbt_log(label > 0.0 ? label : gbt_upper_of(rows, row));
}

static double number_of(const job *j, int64_t row) {
  const double label = gbt_label_of(j->rows, row);
  if (j->rule == RATES) return bounded(label * gbt_exp(-gbt_offset_of(j->rows, row)));
  if (j->rule == LOG_TIMES) return bounded(log_time(j->rows, row) - gbt_offset_of(j->rows, row));
  if (j->rule == RESIDUALS) return bounded(label - gbt_offset_of(j->rows, row));
  return bounded(label);
}

static double weight_of(const job *j, int64_t row) {
  const double weight = gbt_weight_of(j->rows, row);
  return bounded(j->rule == RATES ? weight * gbt_exp(gbt_offset_of(j->rows, row)) : weight);
}

/* ---- tasks ---- */

static int64_t task_end(int64_t beg, int64_t n) { return n - beg < TASK_ROWS ? n : beg + TASK_ROWS; }

static int64_t whole_weight(const job *j, int64_t place) {
  return j->target->weight != NULL ? (int64_t)j->target->weight[place] : j->target->one;
}

static void survey_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  own *o = &j->own[thread];
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  for (int64_t row = beg; row < end; row++) {
    const double w = weight_of(j, row);
    gbt_exact_add(&o->weight, w);
    if (w > o->max_weight) o->max_weight = w;
    o->positive += w > 0.0;
  }
}

static void weigh_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  int64_t sum = 0;
  for (int64_t i = beg; i < end; i++) {
    const uint64_t w = gbt_whole_weight(weight_of(j, j->visit->row[i]), j->scale);
    j->target->weight[i] = (uint32_t)w;
    sum += (int64_t)w;
  }
  j->own[thread].sum += sum;
}

static void number_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  for (int64_t i = beg; i < end; i++) {
    const double x = number_of(j, j->visit->row[i]);
    j->number[i] = x;
    j->own[thread].fractions |= x != 0.0 && x != 1.0;
  }
}

static void digit_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  const int shift = 64 - DIGIT_BITS * (j->digit + 1);
  int64_t *count = j->own[thread].count;
  for (int64_t i = beg; i < end; i++) {
    const uint64_t key = gbt_order_key(j->number[i]), upto = key >> shift;
    if (upto >> DIGIT_BITS == j->prefix && key > j->above) count[upto & (N_DIGITS - 1)] += whole_weight(j, i);
  }
}

static void class_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  for (int64_t i = beg; i < end; i++) {
    const uint32_t c = (uint32_t)gbt_label_of(j->rows, j->visit->row[i]);
    j->target->label[i] = c;
    j->own[thread].count[c] += whole_weight(j, i);
  }
}

/* The number as y of the first part: the nearest. */
static uint32_t y_of(const gbti_part *part, double x) {
  if (!(x > part->low) || !(part->unit > 0.0)) return 0;
  const double y = (x - part->low) / part->unit;
  return y < (double)one_y ? (uint32_t)(y + 0.5) : one_y;
}

static void label_task(void *arg, int64_t task, int thread) {
  (void)thread;
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  const gbti_part *part = &j->target->part[0];
  if (part->most == 1)
    for (int64_t i = beg; i < end; i++) j->target->label[i] = j->number[i] > 0.0;
  else
    for (int64_t i = beg; i < end; i++) j->target->label[i] = y_of(part, j->number[i]);
}

static void sum_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = task_end(beg, j->rows->n);
  int64_t sum = 0;
  for (int64_t i = beg; i < end; i++) sum += whole_weight(j, i) * gbti_part_code(j->part, j->target->label[i]);
  j->own[thread].sum += sum;
}

/* ---- what all rows say ---- */

static gbt_status run(job *j, gbt_task_fn fn, gbt_error *err) {
  return gbt_parallel(j->ctx, (j->rows->n + TASK_ROWS - 1) / TASK_ROWS, fn, j, err);
}

static gbt_status sum_of(job *j, gbt_task_fn fn, int64_t *out, gbt_error *err) {
  *out = 0;
  for (int t = 0; t < j->ctx->n_threads; t++) j->own[t].sum = 0;
  GBT_TRY(run(j, fn, err));
  for (int t = 0; t < j->ctx->n_threads; t++) *out += j->own[t].sum;
  return GBT_OK;
}

/* Counts of all threads in those of the first. */
static gbt_status counts_of(job *j, gbt_task_fn fn, size_t n, gbt_error *err) {
  for (int t = 0; t < j->ctx->n_threads; t++) memset(j->own[t].count, 0, n * sizeof *j->own[t].count);
  GBT_TRY(run(j, fn, err));
  for (int t = 1; t < j->ctx->n_threads; t++)
    for (size_t k = 0; k < n; k++) j->own[0].count[k] += j->own[t].count[k];
  return GBT_OK;
}

/* x < 2^exponent_above(x), for x >= 0. */
static int exponent_above(double x) { return (int)(gbt_bits(x) >> 52) - 1022; }

/* The largest scale with which weights stay below 2^31 and add up to less than 2^ALL_IN_BITS, each rounded down, and
 * `prior` times their mean stays below 2^ALL_IN_BITS as well. positive: how many there are, n with those of 0. */
static gbt_whole_scale scale_of(double max, double all, int64_t positive, int64_t n, double prior) {
  const int one = exponent_above(max);
  const int sum = all <= DBL_MAX ? exponent_above(all) : one + gbt_bit_length((uint64_t)n);
  const int mean = all <= DBL_MAX && positive > 0 ? exponent_above(all / (double)positive) : one;
  const int added = exponent_above(prior) + mean, most = sum > added ? sum : added;
  const int k = 31 - one < ALL_IN_BITS - most ? 31 - one : ALL_IN_BITS - most, half = k / 2;
  gbt_whole_scale scale = {{gbt_pow2(half), gbt_pow2(k - half)}};
  return scale;
}

static gbt_status make_weights(job *j, gbt_error *err) {
  gbti_target *target = j->target;
  target->one = PRIOR_PARTS;
  if (!j->weighted || j->rows->n == 0) return GBT_OK;
  GBT_TRY(run(j, survey_task, err));
  own *first = &j->own[0];
  for (int t = 1; t < j->ctx->n_threads; t++) {
    gbt_exact_merge(&first->weight, &j->own[t].weight);
    first->positive += j->own[t].positive;
    if (j->own[t].max_weight > first->max_weight) first->max_weight = j->own[t].max_weight;
  }
  j->scale = scale_of(first->max_weight, gbt_exact_value(&first->weight), first->positive, j->rows->n, j->prior);
  GBT_TRY(gbt_mem_array(&target->mem, (size_t)target->n, sizeof *target->weight, &target->weight, err));
  GBT_TRY(sum_of(j, weigh_task, &j->all, err));
  GBT_ASSERT(j->all <= (int64_t)1 << 42);
  target->one = first->positive > 0 && j->all > first->positive ? j->all / first->positive : 1;
  return GBT_OK;
}

/* The number above `above` up to which those above it reach num / den of their weight, at least one of them. 0 when
 * there is none. */
static gbt_status quantile(job *j, uint64_t above, int64_t num, int64_t den, double *out, gbt_error *err) {
  int64_t want = 0;
  *out = 0.0;
  j->above = above;
  j->prefix = 0;
  for (j->digit = 0; j->digit < 64 / DIGIT_BITS; j->digit++) {
    const int64_t *count = j->own[0].count;
    int64_t all = 0, d = 0;
    GBT_TRY(counts_of(j, digit_task, N_DIGITS, err));
    if (j->digit == 0) {
      for (int64_t k = 0; k < N_DIGITS; k++) all += count[k];
      if (all == 0) return GBT_OK;
      want = all / den * num + (all % den * num + den - 1) / den; /* rounded up: weights may have any unit */
      want = want < 1 ? 1 : want;
    }
    while (want > count[d]) want -= count[d++];
    j->prefix = j->prefix << DIGIT_BITS | (uint64_t)d;
  }
  *out = gbt_order_value(j->prefix);
  return GBT_OK;
}

static gbti_part part_of_code(gbti_part_kind kind, int32_t number, uint32_t from, uint32_t span) {
  gbti_part part = {.kind = kind, .number = number, .from = from, .span = span, .most = 1, .scale = one_y};
  part.unit = 1.0 / (double)one_y;
  return part;
}

/* The part of the labels themselves, from the lowest and highest that differ. */
static gbt_status number_part(job *j, gbti_part *part, gbt_error *err) {
  const uint64_t zero = gbt_order_key(0.0);
  double high = 1.0;
  *part = (gbti_part){.kind = GBTI_PART_NUMBER, .mask = UINT32_MAX, .most = one_y, .scale = 1};
  if (j->rule == RATES) {
    GBT_TRY(quantile(j, zero, 999, 1000, &high, err));
  } else if (j->rule != SHARES) {
    GBT_TRY(quantile(j, 0, 1, 1000, &part->low, err));
    GBT_TRY(quantile(j, 0, 999, 1000, &high, err));
    if (part->low == high) {
      GBT_TRY(quantile(j, 0, 0, 1, &part->low, err));
      GBT_TRY(quantile(j, 0, 1, 1, &high, err));
    }
  }
  part->unit = (high - part->low) / (double)one_y;
  return GBT_OK;
}

static gbt_status add_borders(job *j, gbt_error *err) {
  gbti_target *target = j->target;
  uint32_t last = one_y;
  for (int32_t b = 0; b < GBTI_TARGET_BORDERS; b++) {
    double at = 0.0;
    GBT_TRY(quantile(j, 0, b + 1, GBTI_TARGET_BORDERS + 1, &at, err));
    const uint32_t y = y_of(&target->part[0], at);
    if (y == one_y || (b > 0 && y == last)) continue;
    target->part[target->n_parts++] = part_of_code(GBTI_PART_ABOVE, b, y + 1, GBTI_N_VALUES - y - 1);
    last = y;
  }
  return GBT_OK;
}

static gbt_status make_numbers(job *j, int borders, gbt_error *err) {
  gbti_target *target = j->target;
  uint32_t fractions = 0;
  GBT_TRY(run(j, number_task, err));
  for (int t = 0; t < j->ctx->n_threads; t++) fractions |= j->own[t].fractions;
  GBT_TRY(number_part(j, &target->part[0], err));
  target->n_parts = 1;
  if (j->rule == SHARES && !fractions) {
    target->part[0].most = 1;
    target->part[0].scale = one_y;
  }
  if (borders && j->rule != SHARES) GBT_TRY(add_borders(j, err));
  return run(j, label_task, err);
}

/* Parts of the classes that weigh the most, in the order of their numbers. */
static gbt_status make_classes(job *j, gbt_error *err) {
  gbti_target *target = j->target;
  GBT_TRY(counts_of(j, class_task, (size_t)j->n_classes, err));
  int64_t *count = j->own[0].count;
  const int32_t n = j->n_classes < GBTI_TARGET_CLASSES ? j->n_classes : GBTI_TARGET_CLASSES;
  if (j->n_classes == 2) {
    target->part[target->n_parts++] = part_of_code(GBTI_PART_CLASS, 1, 1, 1);
    return GBT_OK;
  }
  for (int32_t k = 0; k < n; k++) {
    int32_t most = 0, at = target->n_parts++;
    for (int32_t c = 1; c < j->n_classes; c++)
      if (count[c] > count[most]) most = c;
    count[most] = -1;
    for (; at > 0 && target->part[at - 1].number > most; at--) target->part[at] = target->part[at - 1];
    target->part[at] = part_of_code(GBTI_PART_CLASS, most, (uint32_t)most, 1);
  }
  return GBT_OK;
}

/* Parts with equal values in all rows are left out. */
static gbt_status make_priors(job *j, gbt_error *err) {
  gbti_target *target = j->target;
  int32_t kept = 0;
  if (target->weight == NULL) j->all = target->n * target->one;
  for (int32_t p = 0; p < target->n_parts; p++) {
    int64_t sum = 0;
    gbti_part part = target->part[p];
    j->part = &part;
    GBT_TRY(sum_of(j, sum_task, &sum, err));
    part.prior = j->all > 0 ? (uint32_t)(sum * part.scale / j->all) : 0;
    if (part.kind == GBTI_PART_ABOVE && sum == 0) continue;
    target->part[kept++] = part;
  }
  target->n_parts = kept;
  return GBT_OK;
}

static gbt_status make(job *j, int borders, gbt_error *err) {
  gbti_target *target = j->target;
  const size_t n = (size_t)target->n, n_threads = (size_t)j->ctx->n_threads;
  const size_t n_counts = j->rule == CLASSES ? (size_t)j->n_classes : N_DIGITS;
  GBT_TRY(gbt_mem_zeros(&j->ctx->mem, n_threads, sizeof *j->own, &j->own, err));
  for (size_t t = 0; t < n_threads; t++)
    GBT_TRY(gbt_mem_array(&j->ctx->mem, n_counts, sizeof *j->own[t].count, &j->own[t].count, err));
  GBT_TRY(gbt_mem_array(&target->mem, n, sizeof *target->label, &target->label, err));
  GBT_TRY(make_weights(j, err));
  if (j->rule == CLASSES) {
    GBT_TRY(make_classes(j, err));
  } else {
    GBT_TRY(gbt_mem_array(&j->ctx->mem, n, sizeof *j->number, &j->number, err));
    GBT_TRY(make_numbers(j, borders, err));
  }
  return make_priors(j, err);
}

int gbti_target_has_quartiles(const gbt_objective *objective, const gbt_rows *rows) {
  const rule by = rule_of(objective, rows);
  return by == RATES || by == RESIDUALS || by == LOG_TIMES || by == NUMBERS;
}

gbt_status gbti_target_make(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const gbti_visit *visit,
                            int borders, double prior, gbti_target *out, gbt_error *err) {
  job j = {
      .ctx = ctx, .target = out, .rows = rows, .visit = visit, .n_classes = objective->n_outputs, .prior = prior};
  GBT_ASSERT(visit->n == rows->n && prior >= 0.0);
  memset(out, 0, sizeof *out);
  out->mem = ctx->mem;
  out->n = rows->n;
  out->one = 1;
  j.rule = rule_of(objective, rows);
  j.weighted = rows->field[GBT_WEIGHT] != NULL || (j.rule == RATES && rows->field[GBT_OFFSET] != NULL);
  const gbt_status status = j.rule == NO_LABELS ? GBT_OK : make(&j, borders, err);
  for (int t = 0; j.own != NULL && t < ctx->n_threads; t++) gbt_mem_free(&ctx->mem, j.own[t].count);
  gbt_mem_free(&ctx->mem, j.own);
  gbt_mem_free(&ctx->mem, j.number);
  return status;
}

void gbti_target_free(gbti_target *target) {
  gbt_mem_free(&target->mem, target->label);
  gbt_mem_free(&target->mem, target->weight);
  memset(target, 0, sizeof *target);
}

/* ---- what is derived ---- */

int64_t gbti_prior_weight(const gbti_target *target, double rows) {
  const double most = 4398046511104.0, wanted = rows * PRIOR_PARTS + 0.5;
  const int64_t parts = wanted < 1.0 ? 1 : wanted > most ? (int64_t)most : (int64_t)wanted;
  const double a = (double)parts * (double)target->one / PRIOR_PARTS; /* exact below 2^42 */
  return a < 1.0 ? 1 : a > most ? (int64_t)most : (int64_t)a;
}

double gbti_part_threshold(const gbti_part *part, uint32_t upper) {
  return part->low + part->unit * ((double)upper + 1.0);
}
