/* Which combinations of columns are made: those that say more of the response than their columns do. */
#include "encode_impl.h"
#include "worth.h"

enum { MOST_COMBINATIONS = 256 }; /* that are tried */

static int same_columns(const gbti_planned *a, const gbti_planned *b) {
  int same = a->n_cols == b->n_cols;
  for (int32_t i = 0; same && i < a->n_cols; i++) same = a->col[i] == b->col[i];
  return same;
}

/* The projection of these columns, with statistics of the target; NULL where there is none. */
static const gbti_made *find_projection(const gbti_encoding *e, const gbti_planned *plan) {
  for (int32_t i = 0; i < e->n_proj; i++)
    if (e->proj[i].plan.target && same_columns(&e->proj[i].plan, plan)) return &e->proj[i];
  return NULL;
}

/* The columns without the one at place k, and that one. */
static gbti_planned without(const gbti_planned *plan, int32_t k, gbti_planned *one) {
  gbti_planned rest = {.n_cols = 0, .target = 1};
  *one = (gbti_planned){.n_cols = 1, .col = {plan->col[k]}, .target = 1};
  for (int32_t i = 0; i < plan->n_cols; i++)
    if (i != k) rest.col[rest.n_cols++] = plan->col[i];
  return rest;
}

static gbti_forecast forecast_of(const gbti_made *p, int32_t part) {
  return (gbti_forecast){p->feat[part].train[0], p->feat[part].n_bins};
}

/* Whether a combination says more of a part of the target than each of its columns and the others taken together, as
 * far as these have been found to be worth it. */
static gbt_status says_more(gbt_ctx *ctx, const gbti_encoding *e, const gbti_made *p, int32_t part, int *more,
                            gbt_error *err) {
  *more = 1;
  for (int32_t k = 0; k < p->plan.n_cols && *more; k++) {
    gbti_planned one;
    const gbti_planned rest = without(&p->plan, k, &one);
    const gbti_made *a = find_projection(e, &rest), *b = find_projection(e, &one);
    if (a == NULL || b == NULL) continue;
    GBT_TRY(
        gbti_worth(ctx, &e->target, part, forecast_of(p, part), forecast_of(a, part), forecast_of(b, part), more, err));
  }
  return GBT_OK;
}

/* The last projection stays when it says more of some part than its columns do. */
static gbt_status judge_last(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) {
  gbti_made *p = &e->proj[e->n_proj - 1];
  int more = 0;
  gbt_status status = GBT_OK;
  e->n_proj--; /* it is not one of those that it is compared with */
  for (int32_t part = 0; part < p->n_feats && !more && status == GBT_OK; part++)
    status = says_more(ctx, e, p, part, &more, err);
  if (status == GBT_OK && more)
    e->n_proj++;
  else
    gbti_drop_projection(e, p);
  return status;
}

/* base and one column more, ascending. 0 where it is in base, or where there could be 2^63 keys or more. */
static int extend_plan(const gbt_schema *schema, const gbti_planned *base, int32_t col, gbti_planned *out) {
  uint64_t keys = (uint64_t)schema->col[col].n_levels + 1;
  int32_t at = 0;
  while (at < base->n_cols && base->col[at] < col) at++;
  if (at < base->n_cols && base->col[at] == col) return 0;
  *out = *base;
  for (int32_t i = base->n_cols; i > at; i--) out->col[i] = base->col[i - 1];
  out->col[at] = col;
  out->n_cols++;
  out->quartiles = out->count = 0;
  for (int32_t i = 0; i < base->n_cols; i++) {
    const uint64_t more = (uint64_t)schema->col[base->col[i]].n_levels + 1;
    if (keys > (uint64_t)INT64_MAX / more) return 0;
    keys *= more;
  }
  return 1;
}

gbt_status gbti_combine(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) {
  const gbt_schema *schema = e->data[0]->cuts->schema;
  const int32_t n_single = e->n_proj;
  gbti_planned tried[MOST_COMBINATIONS];
  int32_t n_tried = 0, beg = 0;
  for (int64_t k = 2; k <= e->params->max_cat_combine && e->target.n_parts > 0; k++) {
    const int32_t end = e->n_proj;
    for (int32_t i = beg; i < end; i++) {
      const gbti_planned base = e->proj[i].plan;
      for (int32_t c = 0; base.target && c < n_single && n_tried < MOST_COMBINATIONS; c++) {
        gbti_planned plan;
        int known = 0;
        if (!e->proj[c].plan.target || !extend_plan(schema, &base, e->proj[c].plan.col[0], &plan)) continue;
        for (int32_t t = 0; t < n_tried && !known; t++) known = same_columns(&tried[t], &plan);
        if (known) continue;
        tried[n_tried++] = plan;
        GBT_TRY(gbti_make_projection(ctx, e, &plan, err));
        GBT_TRY(judge_last(ctx, e, err));
      }
    }
    beg = end;
  }
  return GBT_OK;
}
