/* Which combinations of columns are made: those that say more of the response than their columns do. */
#include <string.h>

#include "encode_impl.h"
#include "worth.h"

enum {
  MOST_TRIED = 256, /* combinations of each number of columns */
  MOST_KEPT = 64,   /* combinations of a model */
  /* Columns that are combined, those with the largest gains: the pair of the first and the j-th of them is ranked after
   * j - 1 other pairs, so where all columns may be combined, these contain the best 256 pairs. */
  MOST_SINGLE = MOST_TRIED + 1
};

/* A column, a combination that is kept, or one that may be tried. */
typedef struct option {
  gbti_planned plan;
  int64_t gain; /* a column: what it says; kept: its gain over its columns; to be tried: the sum over its parts */
} option;

typedef struct search {
  gbt_ctx *ctx;
  gbti_encoding *e;
  option *single; /* n_single, the one that says the most first */
  size_t n_single;
  option kept[MOST_KEPT + 1]; /* n_kept, in the order of their projections, which are the last of e->proj */
  int32_t n_kept;
  option *list; /* n_list: to be tried */
  size_t n_list, cap_list;
} search;

/* Moves the `most` options of the largest gain to the beginning of the list, the first of equals first. Returns how
 * many these are. */
static size_t take_best(option *list, size_t n, size_t most) {
  const size_t end = n < most ? n : most;
  for (size_t k = 0; k < end; k++) {
    size_t best = k;
    for (size_t i = k + 1; i < n; i++)
      if (list[i].gain > list[best].gain) best = i;
    const option taken = list[best];
    memmove(&list[k + 1], &list[k], (best - k) * sizeof *list);
    list[k] = taken;
  }
  return end;
}

/* ---- columns ---- */

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

static int has_column(const gbti_planned *plan, int32_t col) {
  for (int32_t i = 0; i < plan->n_cols; i++)
    if (plan->col[i] == col) return 1;
  return 0;
}

/* Whether one group of columns that may meet has all of them. */
static int may_meet(const gbti_wish *wish, const gbti_planned *plan) {
  for (int32_t g = 0; g < wish->n_interact; g++) {
    int32_t n = 0;
    for (int32_t i = wish->interact_beg[g]; i < wish->interact_beg[g + 1]; i++)
      n += has_column(plan, wish->interact_col[i]);
    if (n == plan->n_cols) return 1;
  }
  return wish->n_interact == 0;
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

/* ---- what they say ---- */

static gbti_forecast forecast_of(const gbti_made *p, int32_t part) {
  return (gbti_forecast){p->feat[part].train[0], p->feat[part].n_bins};
}

/* By how much a combination says more of a part of the target than each of its columns and the others, as far as these
 * are still kept; 0 where it does not, or none of them is there. */
static gbt_status gain_of(const search *s, const gbti_made *p, int32_t part, int64_t *gain, gbt_error *err) {
  int64_t least = INT64_MAX;
  for (int32_t k = 0; k < p->plan.n_cols && least > 0; k++) {
    gbti_planned one;
    const gbti_planned rest = without(&p->plan, k, &one);
    const gbti_made *a = find_projection(s->e, &rest), *b = find_projection(s->e, &one);
    int64_t more;
    if (a == NULL || b == NULL) continue;
    GBT_TRY(gbti_worth(s->ctx, &s->e->target, part, forecast_of(p, part), forecast_of(a, part), forecast_of(b, part),
                       &more, err));
    if (more < least) least = more;
  }
  *gain = least < INT64_MAX ? least : 0;
  return GBT_OK;
}

/* The columns that may be combined, by what they say of the part that they say the most of. */
static gbt_status list_singles(search *s, gbt_error *err) {
  const gbti_encoding *e = s->e;
  GBT_TRY(gbt_mem_array(&s->ctx->mem, (size_t)e->n_proj, sizeof *s->single, &s->single, err));
  for (int32_t i = 0; i < e->n_proj; i++) {
    const gbti_made *p = &e->proj[i];
    option one = {p->plan, 0};
    if (!p->plan.target) continue;
    one.plan.quartiles = one.plan.count = 0;
    for (int32_t k = 0; k < p->n_feats - p->plan.count; k++) {
      int64_t explained;
      if (e->target.part[p->feat[k].part].kind == GBTI_PART_ABOVE) continue;
      GBT_TRY(gbti_explained(s->ctx, &e->target, p->feat[k].part, forecast_of(p, k), &explained, err));
      if (explained > one.gain) one.gain = explained;
    }
    s->single[s->n_single++] = one;
  }
  s->n_single = take_best(s->single, s->n_single, MOST_SINGLE);
  return GBT_OK;
}

/* ---- which are tried ---- */

static int is_listed(const search *s, const gbti_planned *plan) {
  for (size_t i = 0; i < s->n_list; i++)
    if (same_columns(&s->list[i].plan, plan)) return 1;
  return 0;
}

/* The combinations of base with the columns from `beg` on. */
static gbt_status add_options(search *s, const option *base, size_t beg, gbt_error *err) {
  for (size_t c = beg; c < s->n_single; c++) {
    option one = {.gain = base->gain + s->single[c].gain};
    if (!extend_plan(s->e->data[0]->cuts->schema, &base->plan, s->single[c].plan.col[0], &one.plan)) continue;
    if (!may_meet(s->e->wish, &one.plan) || (one.plan.n_cols > 2 && is_listed(s, &one.plan))) continue;
    GBT_TRY(gbt_mem_grow(&s->ctx->mem, &s->list, &s->cap_list, s->n_list + 1, sizeof *s->list, err));
    s->list[s->n_list++] = one;
  }
  return GBT_OK;
}

/* Combinations of n_cols columns, each once, the ones whose parts say the most first. */
static gbt_status list_options(search *s, int32_t n_cols, gbt_error *err) {
  s->n_list = 0;
  for (size_t i = 0; i < s->n_single && n_cols == 2; i++) GBT_TRY(add_options(s, &s->single[i], i + 1, err));
  for (int32_t i = 0; i < s->n_kept; i++)
    if (s->kept[i].plan.n_cols == n_cols - 1) GBT_TRY(add_options(s, &s->kept[i], 0, err));
  s->n_list = take_best(s->list, s->n_list, MOST_TRIED);
  return GBT_OK;
}

/* ---- which are kept ---- */

/* Takes one of the kept out, with its projection. */
static void drop_kept(search *s, int32_t at) {
  gbti_encoding *e = s->e;
  const int32_t proj = e->n_proj - s->n_kept + at;
  gbti_drop_projection(e, &e->proj[proj]);
  memmove(&e->proj[proj], &e->proj[proj + 1], (size_t)(e->n_proj - proj - 1) * sizeof *e->proj);
  e->n_proj--;
  memmove(&s->kept[at], &s->kept[at + 1], (size_t)(s->n_kept - at - 1) * sizeof *s->kept);
  s->n_kept--;
}

/* The one that says the least more; the last of equals. */
static int32_t least_kept(const search *s) {
  int32_t least = 0;
  for (int32_t i = 1; i < s->n_kept; i++)
    if (s->kept[i].gain <= s->kept[least].gain) least = i;
  return least;
}

static int64_t n_keys_kept(const search *s) {
  int64_t n = 0;
  for (int32_t i = 1; i <= s->n_kept; i++) n += s->e->proj[s->e->n_proj - i].keys.n_keys;
  return n;
}

/* The last projection stays when it says more of some part than its columns do, and there is room for it. */
static gbt_status rate_last_projection(search *s, gbt_error *err) {
  gbti_encoding *e = s->e;
  gbti_made *p = &e->proj[e->n_proj - 1];
  int64_t most = 0;
  gbt_status status = GBT_OK;
  e->n_proj--; /* it is not one of those that it is compared with */
  for (int32_t part = 0; part < p->n_feats && status == GBT_OK; part++) {
    int64_t gain = 0;
    status = gain_of(s, p, part, &gain, err);
    if (gain > most) most = gain;
  }
  if (status != GBT_OK || most == 0) {
    gbti_drop_projection(e, p);
    return status;
  }
  s->kept[s->n_kept++] = (option){p->plan, most};
  e->n_proj++;
  while (s->n_kept > MOST_KEPT || n_keys_kept(s) > e->params->max_cat_keys) drop_kept(s, least_kept(s));
  return GBT_OK;
}

static gbt_status combine(search *s, gbt_error *err) {
  GBT_TRY(list_singles(s, err));
  for (int32_t n_cols = 2; n_cols <= s->e->params->max_cat_combine; n_cols++) {
    GBT_TRY(list_options(s, n_cols, err));
    for (size_t i = 0; i < s->n_list; i++) {
      GBT_TRY(gbti_make_projection(s->ctx, s->e, &s->list[i].plan, err));
      GBT_TRY(rate_last_projection(s, err));
    }
  }
  return GBT_OK;
}

gbt_status gbti_combine(gbt_ctx *ctx, gbti_encoding *e, gbt_error *err) {
  search s = {.ctx = ctx, .e = e};
  if (e->params->max_cat_combine < 2 || e->target.n_parts == 0 || e->n_proj == 0) return GBT_OK;
  const gbt_status status = combine(&s, err);
  gbt_mem_free(&ctx->mem, s.single);
  gbt_mem_free(&ctx->mem, s.list);
  return status;
}
