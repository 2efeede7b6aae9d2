#include "odd_job.h"

#include "../../src/gbt/math/sampling.h"

typedef enum odd_kind {
  ODD_NONE = 0,
  ODD_DENORMAL,
  ODD_HUGE,
  ODD_NEIGHBOURS, /* numbers that differ in their last bits */
  ODD_TIES,
  ODD_SIGNED_ZEROS,
  ODD_SORTED,
  ODD_FIRST, /* the first column again, so that all gains tie */
  ODD_ONE,   /* one value, one level */
  ODD_KINDS
} odd_kind;

static int64_t pick(test_rng *rng, const int64_t *values, size_t n) { return values[test_below(rng, (int64_t)n)]; }
#define PICK(rng, ...) \
  pick(rng, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double odd_number(odd_kind kind, double x) {
  if (x != x) return x;
  switch (kind) {
  case ODD_DENORMAL:
    return rint(x > 20.0 ? 20.0 : x < -20.0 ? -20.0 : x * 4.0) * 0x1p-1074;
  case ODD_HUGE:
    return x * 1e308;
  case ODD_NEIGHBOURS:
    return 1.0 + floor(fabs(fmod(x * 4.0, 8.0))) * 0x1p-52;
  case ODD_TIES:
    return rint(x * 2.0) / 2.0;
  case ODD_SIGNED_ZEROS:
    return x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x > 0.0 ? 0.0 : -0.0;
  case ODD_ONE:
    return -1.0;
  default:
    return x;
  }
}

static void make_column_odd(made *m, int32_t c, odd_kind kind) {
  const gbt_column *col = &m->table.cols[c], *first = &m->table.cols[0];
  int64_t n = m->table.n_rows;
  if (col->storage == GBT_F64) {
    double *x = (double *)col->values;
    if (kind == ODD_FIRST && first->storage == GBT_F64 && c > 0) memcpy(x, first->values, (size_t)n * sizeof *x);
    for (int64_t r = 0; r < n; r++) x[r] = odd_number(kind, x[r]);
    if (kind == ODD_SORTED && m->kind[c] == MADE_BELL) qsort(x, (size_t)n, sizeof *x, by_size);
    return;
  }
  int32_t *x = (int32_t *)col->values;
  for (int64_t r = 0; r < n; r++) {
    if (kind == ODD_ONE) x[r] = 1;
    if (kind == ODD_HUGE && col->storage == GBT_I32)
      x[r] = x[r] > 5 ? INT32_MAX : x[r] < -1 ? -INT32_MAX : x[r] == 3 ? INT32_MIN : x[r];
    if (kind == ODD_TIES && col->storage == GBT_CODES && x[r] == 2) x[r] = INT32_MIN;
  }
}

/* The first n rows, and these again when there are not so many. */
static made *of_size(made *m, int64_t n) {
  int64_t *rows = test_alloc((size_t)n * sizeof *rows);
  for (int64_t r = 0; r < n; r++) rows[r] = r % m->table.n_rows;
  made *out = made_rows(m, rows, n);
  free(rows);
  made_free(m);
  return out;
}

static void scale(double *x, int64_t n, double by) {
  for (int64_t i = 0; i < n; i++) x[i] *= by;
}

static void draw_ends(test_rng *rng, gbt_params *p) {
  switch (test_below(rng, 12)) {
  case 0:
    p->eta = 1e-9;
    break;
  case 1:
    p->lambda = 1e300;
    break;
  case 2:
    p->lambda = p->min_child_weight = 0.0;
    break;
  case 3:
    p->subsample = 1e-6;
    if (p->sampling_method != GBT_SAMPLE_MVS) job_sampling(p, GBT_SAMPLE_UNIFORM);
    break;
  case 4:
    p->colsample_bytree = p->colsample_bylevel = 1e-6;
    break;
  case 5:
    p->cat_noise = 1e6;
    break;
  case 6:
    p->max_cat_onehot = p->max_cat_threshold = p->min_data_per_group = 65535;
    break;
  case 7:
    p->max_delta_step = 1e-300;
    break;
  case 8:
    p->seed = 9007199254740991;
    break;
  default:
    break;
  }
}

/* Steps of a gamma leaf are as large as mean / label: where nothing holds them back (lambda does not with large
 * weights) scores leave the doubles, which training refuses (gbt_gradients_overflow()). */
static void hold_gamma_back(const random_job *r, gbt_params *p) {
  const int free = p->lambda == 0.0 || r->data->weight != NULL;
  if (r->job.spec.objective.kind == GBT_OBJ_GAMMA && free && p->max_delta_step == 0.0) p->max_delta_step = 8.0;
}

random_job odd_job_make(uint64_t seed, int64_t rows) {
  test_rng rng = {gbt_mix64(seed ^ 0x0dd)};
  random_job r = random_job_make(seed, rows);
  if (test_below(&rng, 150) == 0) { /* several tasks of rows; the twin is slow, so little is grown */
    int64_t n = PICK(&rng, 16384, 32768, 49152, 65536) + test_below(&rng, 3) - 1;
    r.job.data = r.data = of_size(r.data, n);
    r.job.rounds = 1;
    r.job.spec.params.num_parallel_tree = 1;
    if (r.job.spec.params.max_depth == 0 || r.job.spec.params.max_depth > 3) r.job.spec.params.max_depth = 3;
  } else if (test_below(&rng, 2)) {
    int64_t n = PICK(&rng, 4, 8, 16, 32, 64, 127, 128, 255, 256, 257, 512) + test_below(&rng, 3) - 1;
    r.job.data = r.data = of_size(r.data, n);
  }
  for (int32_t c = 0; c < r.data->table.n_cols; c++) {
    odd_kind kind = test_below(&rng, 2) ? ODD_NONE : (odd_kind)test_below(&rng, ODD_KINDS);
    make_column_odd(r.data, c, kind);
    for (int32_t s = 0; s < r.job.spec.n_valid; s++)
      if (test_below(&rng, 2)) make_column_odd(r.valid[s], c, kind);
  }
  double by = 1.0, weight_by = test_below(&rng, 3) ? 1.0 : ldexp(1.0, (int)PICK(&rng, -30, -3, 5, 30));
  if (r.job.spec.objective.kind == GBT_OBJ_SQUARED_ERROR && test_below(&rng, 2))
    by = ldexp(1.0, (int)PICK(&rng, -300, -40, 40, 300));
  for (int32_t s = 0; s <= r.job.spec.n_valid; s++) {
    made *m = s == 0 ? r.data : r.valid[s - 1];
    scale(m->label, m->table.n_rows, by);
    if (m->weight != NULL) scale(m->weight, m->table.n_rows, weight_by);
  }
  if (r.job.spec.objective.kind == GBT_OBJ_SQUARED_ERROR && test_below(&rng, 4) == 0) r.data->label[0] *= 1e7;
  r.job.max_bin = (int32_t)PICK(&rng, 2, 3, 16, 61, 62, 63, 64, 127, 254, 255, 256, 257, 4095, 65535);
  draw_ends(&rng, &r.job.spec.params);
  hold_gamma_back(&r, &r.job.spec.params);
  if (r.job.spec.params.subsample < 1.0) r.job.spec.class_rate = NULL;
  return r;
}

/* ---- smaller ---- */

static void set_data(random_job *r, made *data) { r->job.data = r->data = data; }

/* Keeps the rows but those from beg to end when it still fails. */
static int leave_out(random_job *r, int64_t beg, int64_t end, int (*fails)(const random_job *r)) {
  made *before = r->data;
  int64_t n = before->table.n_rows, kept = 0;
  int64_t *rows = test_alloc((size_t)n * sizeof *rows);
  for (int64_t i = 0; i < n; i++)
    if (i < beg || i >= end) rows[kept++] = i;
  made *fewer = kept > 0 ? made_rows(before, rows, kept) : NULL;
  free(rows);
  if (fewer == NULL) return 0;
  set_data(r, fewer);
  int ok = fails(r);
  if (!ok) set_data(r, before);
  made_free(ok ? before : fewer);
  return ok;
}

/* Without weights, without offsets. */
static void shrink_extras(random_job *r, int (*fails)(const random_job *r)) {
  double *weight = r->data->weight, *offset = r->data->offset;
  int32_t n_offset = r->data->n_offset;
  r->data->weight = NULL;
  if (fails(r))
    free(weight);
  else
    r->data->weight = weight;
  r->data->offset = NULL;
  r->data->n_offset = 0;
  if (fails(r)) {
    free(offset);
    return;
  }
  r->data->offset = offset;
  r->data->n_offset = n_offset;
}

static void shrink_rows(random_job *r, int (*fails)(const random_job *r)) {
  for (int64_t size = r->data->table.n_rows / 2; size > 0; size /= 2)
    for (int64_t beg = 0; beg < r->data->table.n_rows;)
      if (!leave_out(r, beg, beg + size, fails)) beg += size;
}

static void shrink_params(random_job *r, int (*fails)(const random_job *r)) {
  const gbt_params def = gbt_params_default();
  int n = 0;
  const gbt_param_info *infos = gbt_params_table(&n);
  for (int i = 0; i < n; i++) {
    gbt_params before = r->job.spec.params;
    double value = gbt_params_get(&def, infos[i].name);
    if (value == gbt_params_get(&before, infos[i].name)) continue;
    gbt_error err;
    if (gbt_params_set(&r->job.spec.params, infos[i].name, value, &err) != GBT_OK || !fails(r))
      r->job.spec.params = before;
  }
}

void odd_job_shrink(random_job *r, int (*fails)(const random_job *r)) {
  int32_t n_valid = r->job.spec.n_valid;
  int64_t rounds = r->job.rounds;
  r->job.spec.n_valid = 0;
  if (!fails(r)) r->job.spec.n_valid = n_valid;
  r->job.rounds = 1;
  if (!fails(r)) r->job.rounds = rounds;
  if (r->job.spec.n_valid == 0) shrink_extras(r, fails); /* or the validation sets would have what training has not */
  shrink_rows(r, fails);
  shrink_params(r, fails);
}
