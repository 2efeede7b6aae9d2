#include <string.h>

#include "../base/parallel.h"
#include "../data/extend.h"
#include "../schema/schema_impl.h"
#include "encode_impl.h"

/* ---- data sets ---- */

/* Projections and features that say something, to proj and feat; n_bins: by feature. */
static void list_map(const gbti_encoding *e, gbt_projection *proj, int32_t *n_proj, gbt_feature *feat, int32_t *n_bins,
                     int32_t *n_feats) {
  *n_proj = *n_feats = 0;
  for (int32_t i = 0; i < e->n_proj; i++) {
    const gbti_made *p = &e->proj[i];
    const int32_t before = *n_feats;
    for (int32_t k = 0; k < p->n_feats; k++) {
      const gbti_derived *from = &p->feat[k];
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
        (gbt_projection){.n_cols = p->plan.n_cols, .col = p->plan.col, .n_keys = p->keys.n_keys, .key = p->keys.key};
  }
}

/* Fills schema and cuts. */
static gbt_status make_cuts(gbti_encoding *e, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_projection *proj = NULL;
  gbt_feature *feat = NULL;
  int32_t *n_bins = NULL, n_proj, n_feats;
  size_t most = 0;
  for (int32_t i = 0; i < e->n_proj; i++) most += (size_t)e->proj[i].n_feats;
  GBT_TRY_GOTO(gbt_mem_array(&e->mem, (size_t)e->n_proj, sizeof *proj, &proj, err), done);
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
  const int64_t n = job->ds->rows.n, beg = task * GBTI_ENCODE_ROWS,
                end = n - beg < GBTI_ENCODE_ROWS ? n : beg + GBTI_ENCODE_ROWS;
  (void)thread;
  gbti_extended_put(job->ds, job->variant, job->feature, beg, end, job->bin, job->at);
}

static gbt_status put(gbt_ctx *ctx, put_job job, gbt_error *err) {
  return gbt_parallel(ctx, gbti_row_tasks(job.ds->rows.n), put_task, &job, err);
}

/* The bins of all derived features to data set s; they are freed on the way. */
static gbt_status put_bins(gbt_ctx *ctx, const gbti_encoding *e, int32_t s, gbt_dataset *ext, gbt_error *err) {
  int32_t f = e->data[0]->cuts->n_features;
  for (int32_t i = 0; i < e->n_proj; i++) {
    for (int32_t k = 0; k < e->proj[i].n_feats; k++) {
      gbti_derived *feat = &e->proj[i].feat[k];
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

static gbt_status extend_all(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) {
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

static void drop(gbti_encoding *e) {
  for (int32_t i = 0; i < e->n_proj; i++) gbti_drop_projection(e, &e->proj[i]);
  gbt_mem_free(&e->mem, e->proj);
  gbti_target_free(&e->target);
  gbti_visit_free(&e->visit);
  gbti_gathered_free(&e->all);
  gbti_plan_free(&e->plan);
  gbt_cuts_unref(e->cuts);
  gbt_schema_unref(e->schema);
}

/* How many orders: leaf values come from gradients that are computed here, not from those of the host. */
static int32_t n_orders(const gbti_encoding *e, const gbt_objective *objective) {
  if (!e->plan.orders || gbt_gradients_by_host(objective)) return 1;
  return (int32_t)e->params->cat_permutations;
}

/* The first column with statistics of quartiles, which classes do not have. */
static gbt_status refuse_quartiles(const gbti_encoding *e, gbt_error *err) {
  const gbt_schema *schema = e->data[0]->cuts->schema;
  int32_t i = 0;
  while (!e->plan.planned[i].quartiles) i++;
  const char *name = schema->col[e->plan.planned[i].col[0]].name;
  return gbt_fail_on(err, GBT_E_ARG, name,
                     "`cat_method` \"quartiles\" of column `%s` needs a response of numbers; give \"target\" for "
                     "classes and shares",
                     name);
}

/* Whether all rows have the same key. */
static int is_constant(const gbti_keys *keys) {
  int64_t k = 0;
  while (k < keys->n_keys && keys->count[k] == 0) k++;
  return keys->count[k] == keys->n;
}

/* Statistics of the columns of the plan. A column that is constant in the training rows has none: ordered ones would
 * differ from row to row only because of earlier rows' labels, and trees would split by that noise, which new rows do
 * not have. */
static gbt_status make_planned(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) {
  for (int32_t i = 0; i < e->plan.n; i++) {
    GBT_TRY(gbti_make_projection(ctx, e, &e->plan.planned[i], err));
    gbti_made *last = &e->proj[e->n_proj - 1];
    if (!is_constant(&last->keys)) continue;
    gbti_drop_projection(e, last);
    e->n_proj--;
  }
  return GBT_OK;
}

/* A device that has no room for the rows is no help. */
static gbt_status begin_help(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) {
  gbti_statistics_help *help = e->wish->help;
  gbt_error why = {0};
  if (help == NULL || e->target.n_parts == 0 || !e->plan.orders || e->visit.n < help->least_rows) return GBT_OK;
  const gbt_status status = help->begin(help, ctx, &e->visit, &e->target, &why);
  if (status == GBT_OK) e->help = help;
  if (status == GBT_OK || status == GBT_E_MEM) return GBT_OK;
  if (err != NULL) *err = why;
  return status;
}

/* Responses of several columns have no statistics: which column would they be of? */
static gbt_status refuse_statistics(const gbti_encoding *e, gbt_error *err) {
  const gbt_schema *schema = e->data[0]->cuts->schema;
  for (int32_t c = 0; c < schema->n_columns; c++)
    if ((e->plan.method[c] & (GBT_CAT_TARGET | GBT_CAT_QUARTILES)) != 0)
      return gbt_fail_on(err, GBT_E_UNSUPPORTED, schema->col[c].name,
                         "`cat_method` of column `%s` needs a response of one column; use \"sets\", \"onehot\" or "
                         "\"count\"",
                         schema->col[c].name);
  return GBT_OK;
}

static gbt_status encode(gbt_ctx *ctx, gbti_encoding *e, const gbt_objective *objective, gbt_error *err) {
  gbt_rows own = e->data[0]->rows;
  if (gbt_has_columns(objective)) own.field[GBT_LABEL] = own.field[GBT_WEIGHT] = own.field[GBT_OFFSET] = NULL;
  GBT_TRY(gbti_gather_rows(ctx, &own, &e->all, err));
  if (e->plan.quartiles && !gbti_target_has_quartiles(objective, &e->all.rows)) return refuse_quartiles(e, err);
  GBT_TRY(gbti_visit_make(ctx, &e->all.rows, (uint64_t)e->params->seed, n_orders(e, objective), &e->visit, err));
  GBT_TRY(gbti_target_make(ctx, objective, &e->all.rows, &e->visit, e->plan.quartiles, e->params->cat_prior, &e->target,
                           err));
  gbti_gathered_drop_fields(&e->all);
  GBT_TRY(begin_help(ctx, e, err));
  GBT_TRY(make_planned(ctx, e, err));
  GBT_TRY(gbti_combine(ctx, e, err));
  for (int32_t s = 1; s < e->n_data; s++)
    for (int32_t i = 0; i < e->n_proj; i++) GBT_TRY(gbti_make_valid(ctx, e, &e->proj[i], s, err));
  return extend_all(ctx, e, err);
}

gbt_status gbti_encode(gbt_ctx *ctx, const gbt_params *params, const gbt_objective *objective, const gbti_wish *wish,
                       gbt_dataset **data, int32_t n_data, uint8_t *chosen, gbt_error *err) {
  gbti_encoding e = {.mem = ctx->mem, .params = params, .wish = wish, .data = data, .n_data = n_data};
  const gbt_cuts *cuts = data[0]->cuts;
  const int labelled = !gbt_gradients_by_host(objective) && !gbt_has_columns(objective);
  int64_t n_rows = data[0]->rows.n;
  e.visit.mem = e.target.mem = e.all.mem = e.plan.mem = ctx->mem;
  gbt_status status = gbt_comm_sum_i64(ctx, &n_rows, 1, err);
  if (status == GBT_OK)
    status =
        gbti_plan_make(&ctx->mem, cuts, wish->cat_method, n_rows, labelled, &e.plan, err);
  if (status == GBT_OK && gbt_has_columns(objective)) status = refuse_statistics(&e, err);
  if (status == GBT_OK) memcpy(chosen, e.plan.method, (size_t)cuts->schema->n_columns);
  if (status == GBT_OK && (e.plan.n > 0 || e.plan.unused != NULL || e.plan.onehot != NULL))
    status = encode(ctx, &e, objective, err);
  drop(&e);
  return status;
}
