#include "shapes.h"

#include <string.h>

#include "base/parallel.h"

static const shape shapes[] = {
    {"higgs", 11000000, 28, 2},   {"airline", 115000000, 13, 2}, {"covertype", 581000, 54, 7},
    {"epsilon", 400000, 2000, 2}, {"small", 100000, 28, 2},
};

const shape *shape_find(const char *name) {
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
  return NULL;
}

static double *column(made *d, int32_t j) { return d->x + (size_t)j * (size_t)d->n; }

/* A value of the bell between -1.5 and 1.5 as a whole number below `levels`. */
static double coarse(double x, int32_t levels) {
  int32_t k = (int32_t)((x + 1.5) / 3.0 * levels);
  return k < 0 ? 0 : k >= levels ? levels - 1 : k;
}

static void coarsen(made *d, int32_t j, int32_t levels, int64_t beg, int64_t end) {
  double *x = column(d, j);
  for (int64_t i = beg; i < end; i++) x[i] = coarse(x[i], levels);
}

/* Year, month, days, times, carrier, flight, duration, origin, destination, distance, diverted. */
static void airline_columns(made *d, int64_t beg, int64_t end) {
  static const int32_t levels[13] = {22, 12, 31, 7, 1440, 1440, 29, 7500, 600, 340, 340, 2000, 2};
  for (int32_t j = 0; j < d->m && j < 13; j++) coarsen(d, j, levels[j], beg, end);
}

/* n columns from `first` on of which one is 1: which one tells the first one's number. */
static void indicators(made *d, int32_t first, int32_t n, int64_t beg, int64_t end) {
  for (int64_t i = beg; i < end; i++) {
    int32_t which = (int32_t)coarse(column(d, first)[i], n);
    for (int32_t k = 0; k < n; k++) column(d, first + k)[i] = k == which;
  }
}

static void covertype_columns(made *d, int64_t beg, int64_t end) {
  static const int32_t levels[10] = {1978, 361, 67, 551, 700, 5785, 207, 185, 255, 5827};
  for (int32_t j = 0; j < 10; j++) coarsen(d, j, levels[j], beg, end);
  indicators(d, 10, 4, beg, end);
  indicators(d, 14, 40, beg, end);
}

/* The largest of some effects with noise, by raw values. */
static void covertype_labels(made *d, int64_t beg, int64_t end) {
  gbt_key32 key = gbt_key(3, 1, 0, 0);
  for (int64_t i = beg; i < end; i++) {
    double best = -1e9;
    for (int32_t k = 0; k < 7; k++) {
#define X(j) column(d, (j) % 15)[i]
      double noise = (double)gbt_hash32(key, 7u * (uint64_t)(d->first + i) + (uint64_t)k) / 4294967296.0;
      double score = 1.5 * X(k) * X(k + 1) + (X(3 * k + 1) > 0.1 * k - 0.3) - X(2 * k + 5) * X(2 * k + 5) +
                     0.5 * X(14) * (k - 3) + noise - 0.2 * k;
#undef X
      if (score <= best) continue;
      best = score;
      d->y[i] = k;
    }
  }
}

/* Labels are made from the raw values, then values become what the shape's columns are. */
static void make_rows(const shape *s, made *d, int64_t beg, int64_t end) {
  const int is_covertype = strcmp(s->name, "covertype") == 0;
  made_values(d, beg, end);
  if (is_covertype)
    covertype_labels(d, beg, end);
  else
    made_labels(d, beg, end);
  if (is_covertype) covertype_columns(d, beg, end);
  if (strcmp(s->name, "airline") == 0) airline_columns(d, beg, end);
}

typedef struct job {
  const shape *s;
  made *d;
  const char *name;
  int64_t first, n;
  float *x, *y;
  _Bool failed;
} job;

enum { TASK_ROWS = 4096 };

static void make_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  int64_t beg = task * TASK_ROWS, end = beg + TASK_ROWS;
  (void)thread;
  make_rows(j->s, j->d, beg, end < j->n ? end : j->n);
}

int shape_make(gbt_ctx *ctx, const shape *s, int64_t first, int64_t n, int32_t cols, made *d) {
  gbt_error err = {0};
  job j = {.s = s, .d = d, .n = n};
  if (strcmp(s->name, "covertype") == 0) cols = s->cols;
  if (!made_new(d, first, n, cols)) return 0;
  if (!gbt_parallel(ctx, (n + TASK_ROWS - 1) / TASK_ROWS, make_task, &j, &err)) return 1;
  made_free(d);
  return 0;
}

/* A part, made by columns, then laid out by rows. */
static void floats_task(void *arg, int64_t task, int thread) {
  job *j = arg;
  int64_t beg = task * TASK_ROWS, n = j->n - beg < TASK_ROWS ? j->n - beg : TASK_ROWS;
  int32_t m = j->d->m;
  made part;
  (void)thread;
  if (!made_new(&part, j->first + beg, n, m)) {
    j->failed = 1;
    return;
  }
  make_rows(j->s, &part, 0, n);
  for (int64_t i = 0; i < n; i++) {
    for (int32_t c = 0; c < m; c++) j->x[(size_t)(beg + i) * (size_t)m + (size_t)c] = (float)column(&part, c)[i];
    j->y[beg + i] = (float)part.y[i];
  }
  made_free(&part);
}

int shape_floats(const char *name, int64_t first, int64_t n, int32_t cols, int threads, float *x, float *y) {
  gbt_error err = {0};
  gbt_ctx ctx;
  made d = {.m = cols};
  job j = {.s = shape_find(name), .d = &d, .first = first, .n = n, .x = x, .y = y};
  if (!j.s || gbt_ctx_open(&ctx, gbt_mem_default(), threads, GBT_SIMD_AUTO, NULL, NULL, &err)) return 0;
  if (strcmp(name, "covertype") == 0) d.m = j.s->cols;
  gbt_status status = gbt_parallel(&ctx, (n + TASK_ROWS - 1) / TASK_ROWS, floats_task, &j, &err);
  gbt_ctx_close(&ctx);
  return status == GBT_OK && !j.failed;
}
