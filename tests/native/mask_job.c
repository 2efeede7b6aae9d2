#include "mask_job.h"

#include <string.h>

/* ---- masks ---- */

int *mask_make(mask_kind kind, int64_t n, uint64_t seed) {
  test_rng rng = {gbt_mix64(seed ^ 0x3a5c)};
  int *mask = test_alloc((size_t)n * sizeof *mask);
  const int64_t one = test_below(&rng, n), beg = test_below(&rng, n), end = beg + 1 + test_below(&rng, n - beg);
  for (int64_t i = 0; i < n; i++) {
    switch (kind) {
    case MASK_ALL:
    case MASK_KINDS:
      mask[i] = 1;
      break;
    case MASK_ONE:
      mask[i] = i == one;
      break;
    case MASK_ALL_BUT_ONE:
      mask[i] = n == 1 || i != one;
      break;
    case MASK_HALF:
      mask[i] = i == one || test_below(&rng, 2) == 0 ? -7 : 0; /* any number but 0 */
      break;
    case MASK_FEW:
      mask[i] = i == one || test_below(&rng, 10) == 0;
      break;
    case MASK_FOLD:
      mask[i] = i == one || i % 5 != 3;
      break;
    case MASK_RUN:
      mask[i] = i >= beg && i < end;
      break;
    }
  }
  return mask;
}

/* ---- jobs ---- */

static made *rows_where(const made *m, const int *mask, int taken) {
  int64_t *rows = test_alloc((size_t)m->table.n_rows * sizeof *rows), n = 0;
  for (int64_t i = 0; i < m->table.n_rows; i++)
    if ((mask[i] != 0) == taken) rows[n++] = i;
  made *out = n > 0 ? made_rows(m, rows, n) : NULL;
  free(rows);
  return out;
}

static void add_metrics(gbt_trainer_spec *spec) {
  gbt_error err;
  spec->n_metrics = 0;
  spec->eval_train = 1;
  for (int kind = 0; kind < GBT_N_METRICS && spec->n_metrics < GBT_MAX_METRICS; kind++) {
    const gbt_metric metric = gbt_metric_plain((gbt_metric_kind)kind);
    const gbt_metric_labels labels = gbt_metric_about(kind)->labels;
    if (labels != GBT_METRIC_LABELS_ANY && labels != GBT_METRIC_LABELS_CLASS) continue;
    if (gbt_metric_check(&metric, &spec->objective, &err) == GBT_OK) spec->metric[spec->n_metrics++] = metric;
  }
}

masked_job masked_job_make(const train_job *job, const int *mask) {
  masked_job j = {.job = job, .mask = mask, .sub = *job};
  int32_t n = 0;
  j.in = rows_where(job->data, mask, 1);
  j.out = rows_where(job->data, mask, 0);
  j.sub.data = j.in;
  if (j.out != NULL) j.sub.valid[n++] = j.out;
  if (job->spec.n_valid > 0) j.sub.valid[n++] = job->valid[0];
  j.sub.spec.n_valid = n;
  add_metrics(&j.sub.spec);
  return j;
}

void masked_job_free(masked_job *j) {
  made_free(j->in);
  made_free(j->out);
}

/* ---- training ---- */

static int set_fields(gbt_ctx *ctx, gbt_dataset *ds, const made *m) {
  const int64_t n = m->table.n_rows;
  return CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, n, test_err)) &&
         CHECK_OK(gbt_dataset_set(ctx, ds, GBT_WEIGHT, m->weight, m->weight ? n : 0, test_err)) &&
         CHECK_OK(gbt_dataset_set(ctx, ds, GBT_OFFSET, m->offset, n * m->n_offset, test_err));
}

static gbt_dataset *masked_set(gbt_ctx *ctx, const gbt_dataset *all, const masked_job *j, int taken) {
  const made *m = taken ? j->in : j->out;
  gbt_dataset *ds = NULL;
  if (!CHECK_OK(gbt_dataset_mask(ctx, all, j->mask, taken, &ds, test_err))) return NULL;
  if (CHECK_EQ_I64(ds->rows.n, m->table.n_rows) && set_fields(ctx, ds, m)) return ds;
  gbt_dataset_unref(ds);
  return NULL;
}

int masked_job_open(gbt_ctx *ctx, const masked_job *j, const gbt_dataset *all, int masked, int32_t page_rows,
                    gbt_trainer_spec *spec) {
  const int32_t max_bin = j->job->max_bin;
  int ok = 1;
  *spec = j->sub.spec;
  spec->train = masked ? masked_set(ctx, all, j, 1) : made_dataset(ctx, j->in, all->cuts, max_bin, page_rows);
  for (int32_t i = 0; i < spec->n_valid; i++) {
    const made *m = j->sub.valid[i];
    spec->valid[i] =
        masked && m == j->out ? masked_set(ctx, all, j, 0) : made_dataset(ctx, m, all->cuts, max_bin, page_rows);
    ok &= spec->valid[i] != NULL;
  }
  return ok && spec->train != NULL;
}

static trained *train_either(const masked_job *j, const train_how *how, int masked) {
  gbt_ctx ctx;
  gbt_trainer_spec spec = {.n_valid = 0};
  gbt_trainer *tr = NULL;
  trained *t = NULL;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), how->threads, how->simd, NULL, NULL, test_err))) return NULL;
  gbt_dataset *all = made_dataset(&ctx, j->job->data, NULL, j->job->max_bin, how->page_rows);
  int opened = all != NULL && masked_job_open(&ctx, j, all, masked, how->page_rows, &spec);
  spec.device = how->device;
  gbt_dataset_unref(all); /* views keep what they need */
  if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    gbt_stop_reason why = GBT_RUN_DONE;
    if (train_rounds(&ctx, &j->sub, tr, &why)) t = trained_of(&ctx, &j->sub, &spec, tr);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return t;
}

trained *train_masked(const masked_job *j, const train_how *how) { return train_either(j, how, 1); }
trained *train_gathered(const masked_job *j, const train_how *how) { return train_either(j, how, 0); }
