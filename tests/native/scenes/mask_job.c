#include "mask_job.h"

#include "datasets.h"

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
    if (gbt_metric_about(kind)->form == GBT_FORM_QUERY) continue;
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

static gbt_dataset *masked_set(gbt_ctx *ctx, const gbt_dataset *all, const masked_job *j, int taken, int copied) {
  const made *m = taken ? j->in : j->out;
  gbt_dataset *ds = NULL, *mask = NULL;
  if (!CHECK_OK(gbt_dataset_mask(ctx, all, j->mask, taken, &ds, test_err))) return NULL;
  if (copied) {
    mask = ds;
    const int ok = CHECK_OK(gbt_dataset_gather(ctx, mask, &ds, test_err));
    gbt_dataset_unref(mask);
    if (!ok) return NULL;
  }
  if (CHECK_EQ_I64(ds->rows.n, m->table.n_rows) && set_fields(ctx, ds, m)) return ds;
  gbt_dataset_unref(ds);
  return NULL;
}

int masked_job_open(gbt_ctx *ctx, const masked_job *j, const gbt_dataset *all, int masked, int32_t page_rows,
                    gbt_trainer_spec *spec) {
  const int32_t max_bin = j->job->max_bin;
  int ok = 1;
  *spec = j->sub.spec;
  const int copied = masked == 2;
  spec->train =
      masked ? masked_set(ctx, all, j, 1, copied) : made_dataset(ctx, j->in, all->cuts, max_bin, page_rows);
  for (int32_t i = 0; i < spec->n_valid; i++) {
    const made *m = j->sub.valid[i];
    spec->valid[i] =
        masked && m == j->out ? masked_set(ctx, all, j, 0, copied)
                               : made_dataset(ctx, m, all->cuts, max_bin, page_rows);
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
trained *train_copied(const masked_job *j, const train_how *how) { return train_either(j, how, 2); }

/* ---- validation data ---- */

static gbt_dataset *with_label(gbt_ctx *ctx, gbt_dataset *ds, const made *m) {
  if (ds != NULL) CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, m->table.n_rows, test_err));
  return ds;
}

int masked_valid_as_gathered(const train_how *how) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_FEW, MADE_LEVELS, MADE_HOLED};
  made *train_table = made_new(3, 60, 4, kinds), *valid = made_new(4, 500, 4, kinds);
  made_response(train_table, GBT_OBJ_SQUARED_ERROR, 1, 5);
  made_response(valid, GBT_OBJ_SQUARED_ERROR, 1, 6);
  int *mask = mask_make(MASK_HALF, 500, 7);
  made *part = rows_where(valid, mask, 1);
  train_job job = job_make(train_table, GBT_OBJ_SQUARED_ERROR, 1, 5);
  job.spec.params.max_cat_onehot = 2;
  job.spec.params.min_data_per_group = 1;
  job.spec.params.cat_noise = 0.0;
  gbt_trainer_spec spec = job.spec;
  gbt_trainer *tr = NULL;
  gbt_dataset *all = NULL, *view = NULL, *own = NULL;
  const uint32_t *unseen;
  gbt_ctx ctx = test_ctx(NULL, how->threads);
  spec.device = how->device;
  spec.train = made_dataset(&ctx, train_table, NULL, 64, 0);
  gbt_cuts *cuts = spec.train->cuts;
  int ok = CHECK_OK(dataset_from(&ctx, &valid->table, cuts, NULL, 64, 50, GBT_UNSEEN_PRIOR, &all, test_err)) &&
           CHECK(gbt_pages_unseen(all->pages, &unseen) != NULL) &&
           CHECK_OK(gbt_dataset_mask(&ctx, all, mask, 1, &view, test_err)) &&
           CHECK_OK(dataset_from(&ctx, &part->table, cuts, NULL, 64, 50, GBT_UNSEEN_PRIOR, &own, test_err));
  spec.valid[0] = with_label(&ctx, view, part);
  spec.valid[1] = with_label(&ctx, own, part);
  spec.n_valid = 2;
  if (ok && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    const size_t bytes = (size_t)part->table.n_rows * sizeof(double);
    double *first = test_alloc(bytes);
    const double *scores = NULL;
    ok = train_rounds(&ctx, &job, tr, &(gbt_stop_reason){GBT_RUN_DONE});
    ok = ok && CHECK_OK(gbt_trainer_scores(&ctx, tr, 1, &scores, test_err));
    if (ok) memcpy(first, scores, bytes);
    ok = ok && CHECK_OK(gbt_trainer_scores(&ctx, tr, 2, &scores, test_err)) && CHECK_EQ_BYTES(first, scores, bytes);
    free(first);
  }
  gbt_trainer_free(tr);
  gbt_dataset_unref(all);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  made *tables[] = {train_table, valid, part};
  for (int i = 0; i < 3; i++) made_free(tables[i]);
  free(mask);
  return ok;
}
