/* One projection: its keys, statistics and bins. */
#include <string.h>

#include "../base/parallel.h"
#include "encode_impl.h"

enum { MIN_KEY_ROWS = 2 }; /* combinations that occur in fewer rows are unknown ones */

static int is_asked(const gbti_planned *plan, const gbti_part *part) {
  return part->kind == GBTI_PART_ABOVE ? plan->quartiles : plan->target;
}

static int32_t n_targets(const gbti_encoding *e, const gbti_made *p) {
  int32_t n = 0;
  for (int32_t i = 0; i < e->target.n_parts; i++) n += is_asked(&p->plan, &e->target.part[i]);
  return n;
}

/* The features of the projection: one for each requested part of the target, then the count. */
static gbt_status list_features(const gbti_encoding *e, gbti_made *p, gbt_error *err) {
  const int32_t n_parts = n_targets(e, p), n = n_parts + p->plan.count;
  int32_t part = 0;
  GBT_TRY(gbt_mem_zeros(&e->mem, (size_t)n, sizeof *p->feat, &p->feat, err));
  p->n_feats = n;
  for (int32_t i = 0; i < n; i++) {
    gbti_derived *feat = &p->feat[i];
    while (i < n_parts && !is_asked(&p->plan, &e->target.part[part])) part++;
    feat->part = i < n_parts ? part++ : -1;
    feat->kind = i == n_parts                                          ? GBT_FEATURE_KEY_COUNT
                 : e->target.part[feat->part].kind == GBTI_PART_NUMBER ? GBT_FEATURE_TARGET_MEAN
                                                                       : GBT_FEATURE_TARGET_CLASS;
    feat->prior_weight = i < n_parts ? e->params->cat_prior : 0.0;
    GBT_TRY(gbt_mem_zeros(&e->mem, (size_t)e->n_data, sizeof *feat->valid, &feat->valid, err));
    GBT_TRY(gbt_mem_array(&e->mem, (size_t)p->keys.n_keys + 1, 1, &feat->table, err));
    GBT_TRY(gbt_mem_array(&e->mem, GBTI_MOST_BINS, sizeof *feat->shown, &feat->shown, err));
    for (int v = 0; v < e->visit.n_variants; v++)
      GBT_TRY(gbt_mem_array(&e->mem, (size_t)e->visit.n, 1, &feat->train[v], err));
  }
  return GBT_OK;
}

/* Working memory of the statistics of a projection. */
typedef struct workspace {
  gbti_statistic stat[GBTI_MOST_PARTS];
  uint32_t *count[GBTI_MOST_PARTS]; /* of each value; then of each key the value over all rows */
  uint8_t *bin_of[GBTI_MOST_PARTS]; /* by value */
} workspace;

static void drop_workspace(const gbt_mem *mem, workspace *w) {
  for (int32_t i = 0; i < GBTI_MOST_PARTS; i++) {
    gbt_mem_free(mem, w->count[i]);
    gbt_mem_free(mem, w->bin_of[i]);
  }
}

/* ---- here or on a device: help may be NULL ---- */

static gbt_status count_values(gbt_ctx *ctx, gbti_statistics_help *help, const gbti_ordered *ask,
                               uint32_t *const *count, gbt_error *err) {
  if (help == NULL) return gbti_ordered_count(ctx, ask, 0, count, err);
  GBT_TRY(help->keys(help, ctx, ask->id, ask->n_ids, err));
  for (int32_t i = 0; i < ask->n_stats; i++) GBT_TRY(help->count(help, ctx, &ask->stat[i], 0, count[i], err));
  return GBT_OK;
}

static gbt_status bin_values(gbt_ctx *ctx, gbti_statistics_help *help, const gbti_ordered *ask,
                             const uint8_t *const *bin_of, uint8_t *const *bin, gbt_error *err) {
  const int32_t n_variants = ask->visit->n_variants, n = ask->n_stats;
  if (help == NULL) return gbti_ordered_bins(ctx, ask, n_variants, bin_of, bin, err);
  for (int32_t v = 0; v < n_variants; v++)
    for (int32_t i = 0; i < n; i++) GBT_TRY(help->bins(help, ctx, &ask->stat[i], v, bin_of[i], bin[v * n + i], err));
  return GBT_OK;
}

static gbt_status full_values(gbt_ctx *ctx, gbti_statistics_help *help, const gbti_ordered *ask, uint32_t *const *value,
                              gbt_error *err) {
  if (help == NULL) return gbti_full_values(ctx, ask, value, err);
  for (int32_t i = 0; i < ask->n_stats; i++) GBT_TRY(help->full(help, ctx, &ask->stat[i], value[i], err));
  return GBT_OK;
}

/* Bins of the values of each statistic, from how often each value occurs among the rows in the first order. (Cuts of
 * the values over all rows would be those that predictions see; measured, they lose on sets with few levels.) */
static gbt_status cut_values(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, const gbti_ordered *ask,
                             gbti_statistics_help *help, workspace *w, gbt_error *err) {
  uint32_t upper[GBTI_MOST_BINS];
  for (int32_t i = 0; i < ask->n_stats; i++) {
    GBT_TRY(gbt_mem_array(&e->mem, GBTI_N_VALUES, sizeof *w->count[i], &w->count[i], err));
    GBT_TRY(gbt_mem_array(&e->mem, GBTI_N_VALUES, 1, &w->bin_of[i], err));
  }
  GBT_TRY(count_values(ctx, help, ask, w->count, err));
  for (int32_t i = 0; i < ask->n_stats; i++) {
    gbti_derived *feat = &p->feat[i];
    feat->n_bins = gbti_value_cuts(w->count[i], (int32_t)e->params->cat_bins, w->bin_of[i], upper);
    for (int32_t b = 0; b < feat->n_bins - 1; b++)
      feat->shown[b] = gbti_part_threshold(&e->target.part[feat->part], upper[b]);
    gbt_mem_free(&e->mem, w->count[i]);
    w->count[i] = NULL;
  }
  return GBT_OK;
}

/* Tables: bins of the values over all rows. */
static gbt_status fill_tables(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, const gbti_ordered *ask,
                              gbti_statistics_help *help, workspace *w, gbt_error *err) {
  for (int32_t i = 0; i < ask->n_stats; i++)
    GBT_TRY(gbt_mem_array(&e->mem, (size_t)ask->n_ids, sizeof *w->count[i], &w->count[i], err));
  GBT_TRY(full_values(ctx, help, ask, w->count, err));
  for (int32_t i = 0; i < ask->n_stats; i++) {
    gbti_derived *feat = &p->feat[i];
    for (int64_t k = 0; k < p->keys.n_keys; k++) {
      if (k % GBTI_ENCODE_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
      feat->table[k] = w->bin_of[i][w->count[i][k]];
    }
    feat->unknown = w->bin_of[i][w->count[i][p->keys.n_keys]];
  }
  return GBT_OK;
}

static gbt_status targets_with(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, gbti_statistics_help *help,
                               gbt_error *err) {
  workspace w = {.count = {NULL}};
  uint8_t *bin[GBTI_ORDERS * GBTI_MOST_PARTS];
  const int32_t n = n_targets(e, p);
  const gbti_ordered ask = {.visit = &e->visit,
                            .target = &e->target,
                            .id = p->keys.id,
                            .n_ids = p->keys.n_keys + 1,
                            .stat = w.stat,
                            .n_stats = n};
  gbt_status status = GBT_OK;
  for (int32_t i = 0; i < n; i++) {
    const int32_t part = p->feat[i].part;
    w.stat[i] =
        (gbti_statistic){part, e->target.part[part].prior, gbti_prior_weight(&e->target, p->feat[i].prior_weight)};
  }
  for (int v = 0; v < e->visit.n_variants; v++)
    for (int32_t i = 0; i < n; i++) bin[v * n + i] = p->feat[i].train[v];
  GBT_TRY_GOTO(cut_values(ctx, e, p, &ask, help, &w, err), done);
  GBT_TRY_GOTO(bin_values(ctx, help, &ask, (const uint8_t *const *)w.bin_of, bin, err), done);
  GBT_TRY_GOTO(fill_tables(ctx, e, p, &ask, help, &w, err), done);
done:
  drop_workspace(&e->mem, &w);
  return status;
}

/* Where the device has no room for the keys, here. */
static gbt_status make_targets(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, gbt_error *err) {
  gbt_error why = {0};
  const gbt_status status = e->help != NULL ? targets_with(ctx, e, p, e->help, &why) : GBT_E_MEM;
  if (status == GBT_E_MEM) return targets_with(ctx, e, p, NULL, err);
  if (status != GBT_OK && err != NULL) *err = why;
  return status;
}

typedef struct look_up {
  const uint32_t *id;
  const uint8_t *table;
  uint8_t *to;
  int64_t n;
} look_up;

static void look_up_task(void *arg, int64_t task, int thread) {
  const look_up *job = arg;
  const int64_t beg = task * GBTI_ENCODE_ROWS, end = job->n - beg < GBTI_ENCODE_ROWS ? job->n : beg + GBTI_ENCODE_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) job->to[i] = job->table[job->id[i]];
}

/* to[i] = the feature's bin of the key of row i; that of unknown keys comes after the bins of the table. */
static gbt_status look_up_bins(gbt_ctx *ctx, const gbti_made *p, gbti_derived *feat, const uint32_t *id, int64_t n,
                               uint8_t *to, gbt_error *err) {
  feat->table[p->keys.n_keys] = feat->unknown;
  look_up job = {id, feat->table, to, n};
  return gbt_parallel(ctx, gbti_row_tasks(n), look_up_task, &job, err);
}

/* The same in all orders: it is no statistic of labels. A key that is not in the table had no rows to speak of. */
static gbt_status make_count(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, gbti_derived *feat, gbt_error *err) {
  uint32_t upper[GBTI_MOST_BINS];
  feat->n_bins = gbti_count_bins(p->keys.count, p->keys.n_keys, (int32_t)e->params->cat_bins, feat->table, upper);
  feat->unknown = 0;
  for (int32_t b = 0; b < feat->n_bins - 1; b++) feat->shown[b] = upper[b];
  for (int v = 0; v < e->visit.n_variants; v++)
    GBT_TRY(look_up_bins(ctx, p, feat, p->keys.id, e->visit.n, feat->train[v], err));
  return GBT_OK;
}

gbt_status gbti_make_valid(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, int32_t s, gbt_error *err) {
  gbt_status status = GBT_OK;
  const gbt_dataset *ds = e->data[s];
  gbti_key_columns cols;
  uint32_t *id = NULL;
  GBT_TRY_GOTO(gbti_take_columns(ctx, e, s, &p->plan, &cols, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&e->mem, (size_t)ds->rows.n, sizeof *id, &id, err), done);
  GBT_TRY_GOTO(gbti_keys_find(ctx, &p->keys, cols.col, p->plan.n_cols, ds->rows.n, id, err), done);
  for (int32_t i = 0; i < p->n_feats; i++) {
    gbti_derived *feat = &p->feat[i];
    GBT_TRY_GOTO(gbt_mem_array(&e->mem, (size_t)ds->rows.n, 1, &feat->valid[s - 1], err), done);
    GBT_TRY_GOTO(look_up_bins(ctx, p, feat, id, ds->rows.n, feat->valid[s - 1], err), done);
  }
done:
  gbt_mem_free(&e->mem, id);
  gbti_drop_columns(&e->mem, &cols);
  return status;
}

/* Keys and statistics of the training rows. */
static gbt_status make_statistics(gbt_ctx *ctx, const gbti_encoding *e, gbti_made *p, gbt_error *err) {
  gbti_key_columns cols;
  gbt_status status = gbti_take_columns(ctx, e, 0, &p->plan, &cols, err);
  if (status == GBT_OK)
    status =
        gbti_keys_make(ctx, cols.col, p->plan.n_cols, e->visit.n, e->params->max_cat_keys, MIN_KEY_ROWS, &p->keys, err);
  gbti_drop_columns(&e->mem, &cols);
  if (status != GBT_OK) return status;
  GBT_TRY(list_features(e, p, err));
  if (n_targets(e, p) > 0) GBT_TRY(make_targets(ctx, e, p, err));
  if (p->plan.count) GBT_TRY(make_count(ctx, e, p, &p->feat[p->n_feats - 1], err));
  gbt_mem_free(&e->mem, p->keys.id);
  p->keys.id = NULL;
  return GBT_OK;
}

void gbti_drop_projection(const gbti_encoding *e, gbti_made *p) {
  for (int32_t i = 0; p->feat != NULL && i < p->n_feats; i++) {
    gbti_derived *feat = &p->feat[i];
    gbt_mem_free(&e->mem, feat->table);
    gbt_mem_free(&e->mem, feat->shown);
    for (int v = 0; v < GBTI_ORDERS; v++) gbt_mem_free(&e->mem, feat->train[v]);
    for (int32_t s = 1; feat->valid != NULL && s < e->n_data; s++) gbt_mem_free(&e->mem, feat->valid[s - 1]);
    gbt_mem_free(&e->mem, feat->valid);
  }
  gbt_mem_free(&e->mem, p->feat);
  gbti_keys_free(&p->keys);
  *p = (gbti_made){.keys.mem = e->mem};
}

gbt_status gbti_make_projection(gbt_ctx *ctx, gbti_encoding *e, const gbti_planned *plan, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&e->mem, &e->proj, &e->cap_proj, (size_t)e->n_proj + 1, sizeof *e->proj, err));
  gbti_made *p = &e->proj[e->n_proj];
  *p = (gbti_made){.plan = *plan, .keys.mem = e->mem};
  const gbt_status status = make_statistics(ctx, e, p, err);
  if (status == GBT_OK)
    e->n_proj++;
  else
    gbti_drop_projection(e, p);
  return status;
}
