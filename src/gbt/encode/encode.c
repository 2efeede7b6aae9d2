#include "encode.h"

#include <string.h>

#include "../base/parallel.h"
#include "../base/schema_impl.h"
#include "../data/extend.h"
#include "../data/level_ids.h"
#include "gather.h"
#include "keys.h"
#include "ordered.h"
#include "plan.h"

enum { ORDERS = 2, TASK_ROWS = 65536, MIN_KEY_ROWS = 2 };

/* One derived feature. */
typedef struct derived {
  gbt_feature_kind kind;
  int32_t part;        /* of the target; KEY_COUNT: -1 */
  double prior_weight; /* in rows */
  int32_t n_bins;      /* 1: it says nothing, and is left out */
  uint8_t unknown;
  uint8_t *table;         /* by key */
  double *shown;          /* n_bins - 1 */
  uint8_t *train[ORDERS]; /* by variant: n bins in base order */
  uint8_t **valid;        /* n_data - 1: bins by row */
} derived;

/* A projection and its features. */
typedef struct projection {
  const gbti_planned *plan;
  gbti_keys keys; /* its ids are gone when the bins are there */
  derived *feat;
  int32_t n_feats;
} projection;

typedef struct encoding {
  gbt_mem mem;
  const gbt_params *params;
  gbt_dataset **data;
  int32_t n_data;
  gbti_plan plan;
  gbti_gathered all; /* training rows of all ranks: statistics are made of them, on every rank */
  gbti_visit visit;
  gbti_target target;
  projection *proj; /* plan.n */
  gbt_schema *schema;
  gbt_cuts *cuts;
} encoding;

/* ---- levels of rows ---- */

typedef struct pick_job {
  const uint32_t *from;
  const uint32_t *table_row, *row; /* by row: its place in `from`; by place of `to`: the row. NULL: the same number */
  uint32_t *to;
  int64_t n;
} pick_job;

static void pick_task(void *arg, int64_t task, int thread) {
  const pick_job *job = arg;
  const int64_t beg = task * TASK_ROWS, end = job->n - beg < TASK_ROWS ? job->n : beg + TASK_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const uint32_t row = job->row != NULL ? job->row[i] : (uint32_t)i;
    job->to[i] = job->from[job->table_row != NULL ? job->table_row[row] : row];
  }
}

static int64_t n_tasks(int64_t n) { return (n + TASK_ROWS - 1) / TASK_ROWS; }

/* Levels of a column in the rows of a data set; order: which row comes at each place, or NULL. *out: owned. */
static gbt_status levels_of(gbt_ctx *ctx, const gbt_dataset *ds, int32_t col, const uint32_t *order, uint32_t **out,
                            gbt_error *err) {
  gbt_status status = GBT_OK;
  uint32_t *all = NULL, *to = NULL;
  const size_t n_table = (size_t)gbt_pages_n_rows(ds->pages);
  *out = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_table, sizeof *all, &all, err), done);
  GBT_TRY_GOTO(gbti_level_ids(ctx, ds, col, all, err), done);
  if (order == NULL && ds->rows.table_row == NULL) {
    *out = all;
    return GBT_OK;
  }
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)ds->rows.n, sizeof *to, &to, err), done);
  pick_job job = {all, ds->rows.table_row, order, to, ds->rows.n};
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks(job.n), pick_task, &job, err), done);
done:
  gbt_mem_free(&ctx->mem, all);
  if (status == GBT_OK)
    *out = to;
  else
    gbt_mem_free(&ctx->mem, to);
  return status;
}

/* The columns of a projection in the rows of a data set. */
typedef struct key_columns {
  gbti_key_column col[GBTI_MOST_COMBINED];
  uint32_t *level[GBTI_MOST_COMBINED]; /* owned */
} key_columns;

static void drop_columns(const gbt_mem *mem, key_columns *cols) {
  for (int32_t i = 0; i < GBTI_MOST_COMBINED; i++) gbt_mem_free(mem, cols->level[i]);
}

/* Levels of a column in the training rows of all ranks, in base order. *out: owned. */
static gbt_status levels_of_all(gbt_ctx *ctx, const encoding *e, int32_t col, uint32_t **out, gbt_error *err) {
  const size_t n = (size_t)e->visit.n;
  gbt_status status = GBT_OK;
  uint32_t *own = NULL, *all = NULL;
  *out = NULL;
  if (gbt_comm_alone(ctx)) return levels_of(ctx, e->data[0], col, e->visit.row, out, err);
  GBT_TRY_GOTO(levels_of(ctx, e->data[0], col, NULL, &own, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *all, &all, err), done);
  GBT_TRY_GOTO(gbti_gather_u32(ctx, &e->all, own, all, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof **out, out, err), done);
  pick_job job = {all, NULL, e->visit.row, *out, e->visit.n};
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks(job.n), pick_task, &job, err), done);
done:
  gbt_mem_free(&ctx->mem, own);
  gbt_mem_free(&ctx->mem, all);
  if (status == GBT_OK) return status;
  gbt_mem_free(&ctx->mem, *out);
  *out = NULL;
  return status;
}

/* Of data set s: the training rows in base order, those of validation sets as they stand. Free with drop_columns, also
 * after a failure. */
static gbt_status take_columns(gbt_ctx *ctx, const encoding *e, int32_t s, const gbti_planned *plan, key_columns *out,
                               gbt_error *err) {
  const gbt_dataset *ds = e->data[s];
  *out = (key_columns){.level = {NULL}};
  for (int32_t i = 0; i < plan->n_cols; i++) {
    if (s == 0)
      GBT_TRY(levels_of_all(ctx, e, plan->col[i], &out->level[i], err));
    else
      GBT_TRY(levels_of(ctx, ds, plan->col[i], NULL, &out->level[i], err));
    out->col[i] = (gbti_key_column){out->level[i], ds->cuts->schema->col[plan->col[i]].n_levels};
  }
  return GBT_OK;
}

/* ---- statistics of one projection ---- */

static int32_t n_targets(const encoding *e, const projection *p) { return p->plan->target ? e->target.n_parts : 0; }

/* What is made of the projection: a feature for each part of the target, then the count. */
static gbt_status list_features(const encoding *e, projection *p, gbt_error *err) {
  const int32_t n_parts = n_targets(e, p), n = n_parts + p->plan->count;
  GBT_TRY(gbt_mem_zeros(&e->mem, (size_t)n, sizeof *p->feat, &p->feat, err));
  p->n_feats = n;
  for (int32_t i = 0; i < n; i++) {
    derived *feat = &p->feat[i];
    feat->part = i < n_parts ? i : -1;
    feat->kind = i == n_parts                                 ? GBT_FEATURE_KEY_COUNT
                 : e->target.part[i].kind == GBTI_PART_NUMBER ? GBT_FEATURE_TARGET_MEAN
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
  uint32_t *count[GBTI_MOST_PARTS]; /* of each value; then of each key the full value */
  uint8_t *bin_of[GBTI_MOST_PARTS];
} workspace;

static void drop_workspace(const gbt_mem *mem, workspace *w) {
  for (int32_t i = 0; i < GBTI_MOST_PARTS; i++) {
    gbt_mem_free(mem, w->count[i]);
    gbt_mem_free(mem, w->bin_of[i]);
  }
}

/* Bins of the values of each statistic, from how often each value occurs among the rows. */
static gbt_status cut_values(gbt_ctx *ctx, const encoding *e, projection *p, const gbti_ordered *ask, workspace *w,
                             gbt_error *err) {
  uint32_t upper[GBTI_MOST_BINS];
  for (int32_t i = 0; i < ask->n_stats; i++) {
    GBT_TRY(gbt_mem_array(&e->mem, GBTI_N_VALUES, sizeof *w->count[i], &w->count[i], err));
    GBT_TRY(gbt_mem_array(&e->mem, GBTI_N_VALUES, 1, &w->bin_of[i], err));
  }
  GBT_TRY(gbti_ordered_count(ctx, ask, 0, w->count, err));
  for (int32_t i = 0; i < ask->n_stats; i++) {
    derived *feat = &p->feat[i];
    feat->n_bins = gbti_value_cuts(w->count[i], (int32_t)e->params->cat_bins, w->bin_of[i], upper);
    for (int32_t b = 0; b < feat->n_bins - 1; b++)
      feat->shown[b] = gbti_part_shown(&e->target.part[feat->part], upper[b]);
    gbt_mem_free(&e->mem, w->count[i]);
    w->count[i] = NULL;
  }
  return GBT_OK;
}

/* Tables: bins of the values over all rows. */
static gbt_status fill_tables(gbt_ctx *ctx, const encoding *e, projection *p, const gbti_ordered *ask, workspace *w,
                              gbt_error *err) {
  for (int32_t i = 0; i < ask->n_stats; i++)
    GBT_TRY(gbt_mem_array(&e->mem, (size_t)ask->n_ids, sizeof *w->count[i], &w->count[i], err));
  GBT_TRY(gbti_full_values(ctx, ask, w->count, err));
  for (int32_t i = 0; i < ask->n_stats; i++) {
    derived *feat = &p->feat[i];
    for (int64_t k = 0; k < p->keys.n_keys; k++) feat->table[k] = w->bin_of[i][w->count[i][k]];
    feat->unknown = w->bin_of[i][w->count[i][p->keys.n_keys]];
  }
  return GBT_OK;
}

static gbt_status make_targets(gbt_ctx *ctx, const encoding *e, projection *p, gbt_error *err) {
  workspace w = {.count = {NULL}, .bin_of = {NULL}};
  uint8_t *bin[ORDERS * GBTI_MOST_PARTS];
  const int32_t n = n_targets(e, p);
  const gbti_ordered ask = {.visit = &e->visit,
                            .target = &e->target,
                            .id = p->keys.id,
                            .n_ids = p->keys.n_keys + 1,
                            .stat = w.stat,
                            .n_stats = n};
  gbt_status status = GBT_OK;
  for (int32_t i = 0; i < n; i++)
    w.stat[i] = (gbti_statistic){i, e->target.part[i].prior, gbti_prior_weight(&e->target, p->feat[i].prior_weight)};
  for (int v = 0; v < e->visit.n_variants; v++)
    for (int32_t i = 0; i < n; i++) bin[v * n + i] = p->feat[i].train[v];
  GBT_TRY_GOTO(cut_values(ctx, e, p, &ask, &w, err), done);
  GBT_TRY_GOTO(gbti_ordered_bins(ctx, &ask, e->visit.n_variants, (const uint8_t *const *)w.bin_of, bin, err), done);
  GBT_TRY_GOTO(fill_tables(ctx, e, p, &ask, &w, err), done);
done:
  drop_workspace(&e->mem, &w);
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
  const int64_t beg = task * TASK_ROWS, end = job->n - beg < TASK_ROWS ? job->n : beg + TASK_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) job->to[i] = job->table[job->id[i]];
}

/* to[i] = the feature's bin of the key of row i; that of unknown keys stands behind the table's. */
static gbt_status look_up_bins(gbt_ctx *ctx, const projection *p, derived *feat, const uint32_t *id, int64_t n,
                               uint8_t *to, gbt_error *err) {
  feat->table[p->keys.n_keys] = feat->unknown;
  look_up job = {id, feat->table, to, n};
  return gbt_parallel(ctx, n_tasks(n), look_up_task, &job, err);
}

/* The same in all orders: it is no statistic of labels. A key that is not in the table had no rows to speak of. */
static gbt_status make_count(gbt_ctx *ctx, const encoding *e, projection *p, derived *feat, gbt_error *err) {
  uint32_t upper[GBTI_MOST_BINS];
  feat->n_bins = gbti_count_bins(p->keys.count, p->keys.n_keys, (int32_t)e->params->cat_bins, feat->table, upper);
  feat->unknown = 0;
  for (int32_t b = 0; b < feat->n_bins - 1; b++) feat->shown[b] = upper[b];
  for (int v = 0; v < e->visit.n_variants; v++)
    GBT_TRY(look_up_bins(ctx, p, feat, p->keys.id, e->visit.n, feat->train[v], err));
  return GBT_OK;
}

/* Bins of the validation sets by the tables. */
static gbt_status make_valid(gbt_ctx *ctx, const encoding *e, projection *p, int32_t s, gbt_error *err) {
  gbt_status status = GBT_OK;
  const gbt_dataset *ds = e->data[s];
  key_columns cols;
  uint32_t *id = NULL;
  GBT_TRY_GOTO(take_columns(ctx, e, s, p->plan, &cols, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&e->mem, (size_t)ds->rows.n, sizeof *id, &id, err), done);
  GBT_TRY_GOTO(gbti_keys_find(ctx, &p->keys, cols.col, p->plan->n_cols, ds->rows.n, id, err), done);
  for (int32_t i = 0; i < p->n_feats; i++) {
    derived *feat = &p->feat[i];
    GBT_TRY_GOTO(gbt_mem_array(&e->mem, (size_t)ds->rows.n, 1, &feat->valid[s - 1], err), done);
    GBT_TRY_GOTO(look_up_bins(ctx, p, feat, id, ds->rows.n, feat->valid[s - 1], err), done);
  }
done:
  gbt_mem_free(&e->mem, id);
  drop_columns(&e->mem, &cols);
  return status;
}

static gbt_status make_projection(gbt_ctx *ctx, const encoding *e, projection *p, gbt_error *err) {
  key_columns cols;
  gbt_status status = take_columns(ctx, e, 0, p->plan, &cols, err);
  if (status == GBT_OK)
    status = gbti_keys_make(ctx, cols.col, p->plan->n_cols, e->visit.n, INT32_MAX - 1, MIN_KEY_ROWS, &p->keys, err);
  drop_columns(&e->mem, &cols);
  if (status != GBT_OK) return status;
  GBT_TRY(list_features(e, p, err));
  if (n_targets(e, p) > 0) GBT_TRY(make_targets(ctx, e, p, err));
  if (p->plan->count) GBT_TRY(make_count(ctx, e, p, &p->feat[p->n_feats - 1], err));
  for (int32_t s = 1; s < e->n_data; s++) GBT_TRY(make_valid(ctx, e, p, s, err));
  gbt_mem_free(&e->mem, p->keys.id);
  p->keys.id = NULL;
  return GBT_OK;
}

/* ---- data sets ---- */

/* Projections and features that say something, to proj and feat; n_bins: by feature. */
static void list_map(const encoding *e, gbt_projection *proj, int32_t *n_proj, gbt_feature *feat, int32_t *n_bins,
                     int32_t *n_feats) {
  *n_proj = *n_feats = 0;
  for (int32_t i = 0; i < e->plan.n; i++) {
    const projection *p = &e->proj[i];
    const int32_t before = *n_feats;
    for (int32_t k = 0; k < p->n_feats; k++) {
      const derived *from = &p->feat[k];
      if (from->n_bins < 2) continue;
      n_bins[*n_feats] = from->n_bins;
      feat[(*n_feats)++] =
          (gbt_feature){.kind = from->kind,
                        .type = GBT_NUMERIC,
                        .projection = *n_proj,
                        .part = from->kind == GBT_FEATURE_TARGET_CLASS ? e->target.part[from->part].number : 0,
                        .prior_weight = from->prior_weight,
                        .n_bins = from->n_bins,
                        .unknown = from->unknown,
                        .bin = from->table,
                        .shown = from->shown};
    }
    if (*n_feats == before) continue;
    proj[(*n_proj)++] =
        (gbt_projection){.n_cols = p->plan->n_cols, .col = p->plan->col, .n_keys = p->keys.n_keys, .key = p->keys.key};
  }
}

/* Fills schema and cuts. */
static gbt_status make_cuts(encoding *e, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_projection *proj = NULL;
  gbt_feature *feat = NULL;
  int32_t *n_bins = NULL, n_proj, n_feats;
  size_t most = 0;
  for (int32_t i = 0; i < e->plan.n; i++) most += (size_t)e->proj[i].n_feats;
  GBT_TRY_GOTO(gbt_mem_array(&e->mem, (size_t)e->plan.n, sizeof *proj, &proj, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&e->mem, most, sizeof *feat, &feat, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&e->mem, most, sizeof *n_bins, &n_bins, err), done);
  list_map(e, proj, &n_proj, feat, n_bins, &n_feats);
  const gbt_cuts *base = e->data[0]->cuts;
  GBT_TRY_GOTO(gbt_schema_extend(&e->mem, base->schema, n_proj, proj, n_feats, feat, &e->schema, err), done);
  status = gbti_cuts_extend(&e->mem, base, e->schema, n_bins, e->plan.onehot, &e->cuts, err);
done:
  gbt_mem_free(&e->mem, proj);
  gbt_mem_free(&e->mem, feat);
  gbt_mem_free(&e->mem, n_bins);
  return status;
}

typedef struct put_job {
  gbt_dataset *ds;
  int32_t variant, feature;
  const uint8_t *bin;
  const uint32_t *at;
} put_job;

static void put_task(void *arg, int64_t task, int thread) {
  const put_job *job = arg;
  const int64_t n = job->ds->rows.n, beg = task * TASK_ROWS, end = n - beg < TASK_ROWS ? n : beg + TASK_ROWS;
  (void)thread;
  gbti_extended_put(job->ds, job->variant, job->feature, beg, end, job->bin, job->at);
}

static gbt_status put(gbt_ctx *ctx, put_job job, gbt_error *err) {
  return gbt_parallel(ctx, n_tasks(job.ds->rows.n), put_task, &job, err);
}

/* The bins of all derived features to data set s; they are freed on the way. */
static gbt_status put_bins(gbt_ctx *ctx, const encoding *e, int32_t s, gbt_dataset *ext, gbt_error *err) {
  int32_t f = e->data[0]->cuts->n_features;
  for (int32_t i = 0; i < e->plan.n; i++) {
    for (int32_t k = 0; k < e->proj[i].n_feats; k++) {
      derived *feat = &e->proj[i].feat[k];
      if (feat->n_bins < 2) continue;
      for (int32_t v = 0; v < (s == 0 ? e->visit.n_variants : 1); v++) {
        uint8_t **bin = s == 0 ? &feat->train[v] : &feat->valid[s - 1];
        GBT_TRY(put(ctx, (put_job){ext, v, f, *bin, s == 0 ? e->visit.at + e->all.before : NULL}, err));
        gbt_mem_free(&e->mem, *bin);
        *bin = NULL;
      }
      f++;
    }
  }
  return GBT_OK;
}

static gbt_status extend_all(gbt_ctx *ctx, encoding *e, gbt_error *err) {
  gbt_dataset **ext;
  gbt_status status = GBT_OK;
  GBT_TRY(make_cuts(e, err));
  GBT_TRY(gbt_mem_zeros(&e->mem, (size_t)e->n_data, sizeof *ext, &ext, err));
  for (int32_t s = 0; s < e->n_data; s++) {
    const int32_t n_variants = s == 0 ? e->visit.n_variants : 1;
    GBT_TRY_GOTO(gbti_dataset_extend(ctx, e->data[s], e->cuts, e->plan.unused, n_variants, &ext[s], err), done);
    GBT_TRY_GOTO(put_bins(ctx, e, s, ext[s], err), done);
  }
done:
  for (int32_t s = 0; s < e->n_data; s++) {
    gbt_dataset *old = status == GBT_OK ? e->data[s] : ext[s];
    if (status == GBT_OK) e->data[s] = ext[s];
    gbt_dataset_unref(old);
  }
  gbt_mem_free(&e->mem, ext);
  return status;
}

/* ---- the call ---- */

static void drop_projection(const encoding *e, projection *p) {
  for (int32_t i = 0; p->feat != NULL && i < p->n_feats; i++) {
    derived *feat = &p->feat[i];
    gbt_mem_free(&e->mem, feat->table);
    gbt_mem_free(&e->mem, feat->shown);
    for (int v = 0; v < ORDERS; v++) gbt_mem_free(&e->mem, feat->train[v]);
    for (int32_t s = 1; feat->valid != NULL && s < e->n_data; s++) gbt_mem_free(&e->mem, feat->valid[s - 1]);
    gbt_mem_free(&e->mem, feat->valid);
  }
  gbt_mem_free(&e->mem, p->feat);
  gbti_keys_free(&p->keys);
}

static void drop(encoding *e) {
  for (int32_t i = 0; e->proj != NULL && i < e->plan.n; i++) drop_projection(e, &e->proj[i]);
  gbt_mem_free(&e->mem, e->proj);
  gbti_target_free(&e->target);
  gbti_visit_free(&e->visit);
  gbti_gathered_free(&e->all);
  gbti_plan_free(&e->plan);
  gbt_cuts_unref(e->cuts);
  gbt_schema_unref(e->schema);
}

/* How many orders: leaf values come from gradients that are computed here, not from those of the host. */
static int32_t n_orders(const encoding *e, const gbt_objective *objective) {
  int any = 0;
  for (int32_t i = 0; i < e->plan.n; i++) any |= e->plan.planned[i].target;
  return any && !gbt_objective_is_given(objective) ? (int32_t)e->params->cat_permutations : 1;
}

static gbt_status encode(gbt_ctx *ctx, encoding *e, const gbt_objective *objective, gbt_error *err) {
  GBT_TRY(gbti_gather_rows(ctx, &e->data[0]->rows, &e->all, err));
  GBT_TRY(gbti_visit_make(ctx, &e->all.rows, (uint64_t)e->params->seed, n_orders(e, objective), &e->visit, err));
  GBT_TRY(gbti_target_make(ctx, objective, &e->all.rows, &e->visit, 0, &e->target, err));
  GBT_TRY(gbt_mem_zeros(&e->mem, (size_t)e->plan.n, sizeof *e->proj, &e->proj, err));
  for (int32_t i = 0; i < e->plan.n; i++) {
    e->proj[i].plan = &e->plan.planned[i];
    e->proj[i].keys.mem = e->mem;
  }
  for (int32_t i = 0; i < e->plan.n; i++) GBT_TRY(make_projection(ctx, e, &e->proj[i], err));
  return extend_all(ctx, e, err);
}

gbt_status gbti_encode(gbt_ctx *ctx, const gbt_params *params, const gbt_objective *objective, const uint8_t *method,
                       gbt_dataset **data, int32_t n_data, gbt_error *err) {
  encoding e = {.mem = ctx->mem, .params = params, .data = data, .n_data = n_data};
  e.visit.mem = e.target.mem = e.all.mem = ctx->mem;
  gbt_status status = gbti_plan_make(&ctx->mem, params, data[0]->cuts, method, &e.plan, err);
  if (status == GBT_OK && (e.plan.n > 0 || e.plan.unused != NULL || e.plan.onehot != NULL))
    status = encode(ctx, &e, objective, err);
  drop(&e);
  return status;
}
