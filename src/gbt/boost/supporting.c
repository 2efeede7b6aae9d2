#include "supporting.h"

#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../cpu/cpu_open.h"
#include "../encode/visit.h"

enum {
  FIRST_ROWS = 1,     /* of the first model */
  MOST_MODELS = 40,   /* rows have 31 bits, and every model has at least twice as many as the one before */
  POLL_ROWS = 1 << 16 /* between two polls */
};

typedef struct model {
  gbt_backend *be; /* data set 0: rows that it is fitted to; 1: rows that it scores */
  uint32_t *row;   /* n_scored: which rows it scores, ascending */
  int64_t n_scored, n_fitted;
} model;

struct gbt_supporting {
  gbt_mem mem;
  int64_t n_rows;
  int32_t n_outputs;
  int32_t n_models;
  model model[MOST_MODELS];
  double *score;     /* n_rows x n_outputs */
  gbt_forest *trees; /* the one that was fitted last; its values are in the scores */
};

gbt_status gbt_supporting_check(const gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *train,
                                gbt_error *err) {
  if (gbt_gradients_by_host(objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "boosting",
                       "`boosting = \"ordered\"` cannot be combined with a custom objective; "
                       "use `boosting = \"plain\"`");
  if (gbt_gradients_are_joint(objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "boosting",
                       "`boosting = \"ordered\"` needs gradients that depend on one score; those of the objective "
                       "\"%s\" depend on %s; use `boosting = \"plain\"`",
                       gbt_objective_info_of(objective->kind)->name,
                       gbt_is_distribution(objective) ? "both scores of a row" : "many rows");
  if (gbt_has_columns(objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "boosting",
                       "`boosting = \"ordered\"` needs a response of one column; use `boosting = \"plain\"`");
  if (!gbt_comm_is_single(ctx))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "boosting",
                       "`boosting = \"ordered\"` cannot be combined with ranks; use `boosting = \"plain\"`");
  if (train->field[GBT_TIME] != NULL && train->field[GBT_GROUP] != NULL)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "group",
                       "`group` and `time` are both given; `boosting = \"ordered\"` can use only one of them: leave "
                       "one out");
  return GBT_OK;
}

/* ---- the order ---- */

typedef struct order {
  gbti_visit visit;
  uint32_t *at; /* n: by row, its place in the order */
  uint8_t *cut; /* n: by place, whether a model may end before it */
} order;

static void drop_order(order *o) {
  gbt_mem_free(&o->visit.mem, o->at);
  gbt_mem_free(&o->visit.mem, o->cut);
  gbti_visit_free(&o->visit);
}

/* Variant 0 takes the rows of its blocks forward. */
static gbt_status make_order(gbt_ctx *ctx, const gbt_rows *rows, uint64_t seed, order *o, gbt_error *err) {
  const gbti_visit *visit = &o->visit;
  const size_t n = (size_t)rows->n;
  GBT_TRY(gbti_visit_make(ctx, rows, seed, 1, &o->visit, err));
  GBT_TRY(gbt_mem_array(&visit->mem, n, sizeof *o->at, &o->at, err));
  GBT_TRY(gbt_mem_array(&visit->mem, n, sizeof *o->cut, &o->cut, err));
  uint32_t place = 0;
  for (int32_t b = 0; b < GBTI_VISIT_BLOCKS; b++) {
    const int64_t *block = &visit->block[visit->order[0][b]];
    GBT_TRY(gbt_ctx_poll(ctx, err));
    for (int64_t i = block[0]; i < block[1]; i++) o->at[visit->row[i]] = place++;
  }
  GBT_ASSERT(place == n);
  memset(o->cut, visit->step == NULL, n);
  for (int64_t i = 0; visit->step != NULL && i < visit->n_steps; i++) o->cut[o->at[visit->row[visit->step[i]]]] = 1;
  return GBT_OK;
}

/* The first place from `least` on where a model may end; n where none is. */
static int64_t end_from(const order *o, int64_t least) {
  int64_t end = least;
  while (end < o->visit.n && !o->cut[end]) end++;
  return end;
}

/* ---- models ---- */

/* Numbers of some of n rows, n_outputs a row, column by column. */
static void gather(const double *from, int64_t n, int32_t n_outputs, const uint32_t *row, int64_t n_taken, double *to) {
  for (int32_t k = 0; k < n_outputs; k++)
    for (int64_t i = 0; i < n_taken; i++) to[k * n_taken + i] = from[k * n + row[i]];
}

/* The input of models when they are opened. */
typedef struct source {
  const gbt_backend_spec *spec;
  const order *order;
  const double *start;
  int *mask; /* n */
} source;

/* Rows at places [beg, end) of the order. */
typedef struct part {
  gbt_dataset *data;
  uint32_t *row; /* the rows, ascending */
  double *start; /* their scores before the first tree */
} part;

static void drop_part(const gbt_mem *mem, part *p) {
  gbt_dataset_unref(p->data);
  gbt_mem_free(mem, p->row);
  gbt_mem_free(mem, p->start);
}

static gbt_status make_part(gbt_ctx *ctx, const source *from, int64_t beg, int64_t end, part *p, gbt_error *err) {
  const gbt_dataset *ds = from->spec->data[0];
  const int32_t n_outputs = from->spec->objective.n_outputs;
  const uint32_t *at = from->order->at;
  const size_t n = (size_t)(end - beg);
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *p->row, &p->row, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n * (size_t)n_outputs, sizeof *p->start, &p->start, err));
  size_t taken = 0;
  for (int64_t i = 0; i < ds->rows.n; i++) {
    if (i % POLL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    from->mask[i] = at[i] >= beg && at[i] < end;
    if (from->mask[i]) p->row[taken++] = (uint32_t)i;
  }
  GBT_ASSERT(taken == n);
  gather(from->start, ds->rows.n, n_outputs, p->row, (int64_t)n, p->start);
  return gbti_dataset_part(ctx, ds, from->mask, &p->data, err);
}

/* The model that is fitted to the first `end` rows and scores those up to `next`. */
static gbt_status open_model(gbt_ctx *ctx, const source *from, int64_t end, int64_t next, model *m, gbt_error *err) {
  gbt_status status = GBT_OK;
  part fitted = {0}, scored = {0};
  gbt_backend_spec spec = *from->spec;
  GBT_TRY_GOTO(make_part(ctx, from, 0, end, &fitted, err), done);
  GBT_TRY_GOTO(make_part(ctx, from, end, next, &scored, err), done);
  gbt_dataset *data[2] = {fitted.data, scored.data};
  const double *init[2] = {fitted.start, scored.start};
  spec.data = data;
  spec.n_valid = 1;
  spec.init = init;
  GBT_TRY_GOTO(gbt_cpu_open(ctx, &spec, &m->be, err), done);
  m->n_scored = next - end;
  m->n_fitted = end;
  m->row = scored.row;
  scored.row = NULL;
done:
  drop_part(&ctx->mem, &fitted);
  drop_part(&ctx->mem, &scored);
  return status;
}

static gbt_status open_models(gbt_ctx *ctx, const source *from, gbt_supporting *s, gbt_error *err) {
  const order *o = from->order;
  for (int64_t end = end_from(o, FIRST_ROWS), next; end < s->n_rows; end = next) {
    next = end_from(o, 2 * end < s->n_rows ? 2 * end : s->n_rows);
    GBT_ASSERT(s->n_models < MOST_MODELS);
    s->n_models++;
    GBT_TRY(open_model(ctx, from, end, next, &s->model[s->n_models - 1], err));
  }
  return GBT_OK;
}

static gbt_status make(gbt_ctx *ctx, source *from, order *o, uint64_t seed, gbt_supporting *s, gbt_error *err) {
  const size_t n = (size_t)s->n_rows, cells = n * (size_t)s->n_outputs;
  const gbt_backend_spec *spec = from->spec;
  GBT_TRY(gbt_forest_new(&s->mem, spec->data[0]->cuts->n_features, s->n_outputs,
                         (int32_t)spec->params->num_parallel_tree, &s->trees, err));
  GBT_TRY(gbt_mem_array(&s->mem, cells, sizeof *s->score, &s->score, err));
  memcpy(s->score, from->start, cells * sizeof *s->score);
  GBT_TRY(make_order(ctx, &spec->data[0]->rows, seed, o, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *from->mask, &from->mask, err));
  return open_models(ctx, from, s, err);
}

gbt_status gbt_supporting_new(gbt_ctx *ctx, const gbt_backend_spec *spec, const double *start, uint64_t seed,
                              gbt_supporting **out, gbt_error *err) {
  gbt_supporting *s;
  order o = {.visit = {.mem = ctx->mem}};
  source from = {.spec = spec, .order = &o, .start = start};
  *out = NULL;
  GBT_ASSERT(!gbt_gradients_by_host(&spec->objective));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *s, &s, err));
  s->mem = ctx->mem;
  s->n_rows = spec->data[0]->rows.n;
  s->n_outputs = spec->objective.n_outputs;
  const gbt_status status = make(ctx, &from, &o, seed, s, err);
  drop_order(&o);
  gbt_mem_free(&ctx->mem, from.mask);
  if (status == GBT_OK)
    *out = s;
  else
    gbt_supporting_free(s);
  return status;
}

void gbt_supporting_free(gbt_supporting *s) {
  if (s == NULL) return;
  gbt_mem mem = s->mem;
  for (int32_t j = 0; j < s->n_models; j++) {
    model *m = &s->model[j];
    if (m->be != NULL) m->be->ops->destroy(m->be);
    gbt_mem_free(&mem, m->row);
  }
  gbt_forest_free(s->trees);
  gbt_mem_free(&mem, s->score);
  gbt_mem_free(&mem, s);
}

gbt_backend *gbt_supporting_backend(const gbt_supporting *s, int32_t j) {
  return j < s->n_models ? s->model[j].be : NULL;
}

int64_t gbt_supporting_rows(const gbt_supporting *s, int32_t j, int32_t which) {
  return which == 0 ? s->model[j].n_fitted : s->model[j].n_scored;
}

/* ---- rounds ---- */

gbt_status gbt_supporting_begin(gbt_ctx *ctx, gbt_supporting *s, uint64_t round, const double **score, gbt_error *err) {
  for (int32_t j = 0; j < s->n_models; j++) {
    model *m = &s->model[j];
    const double *scored;
    GBT_TRY(m->be->ops->scores(ctx, m->be, 1, &scored, err));
    for (int32_t k = 0; k < s->n_outputs; k++) {
      GBT_TRY(gbt_ctx_poll(ctx, err));
      for (int64_t i = 0; i < m->n_scored; i++) s->score[k * s->n_rows + m->row[i]] = scored[k * m->n_scored + i];
    }
    GBT_TRY(m->be->ops->gradients(ctx, m->be, round, err));
  }
  *score = s->score;
  return GBT_OK;
}

gbt_status gbt_supporting_fit(gbt_ctx *ctx, gbt_supporting *s, const gbt_tree_task *task, int32_t n_trees,
                              const gbt_forest_view *drafts, gbt_error *err) {
  GBT_ASSERT(drafts->n_trees == (uint64_t)n_trees);
  for (int32_t j = 0; j < s->n_models; j++) {
    model *m = &s->model[j];
    for (int32_t i = 0; i < n_trees; i++) {
      gbt_forest_cut(s->trees, 0);
      GBT_TRY(m->be->ops->refit_trees(ctx, m->be, task + i, 1, drafts, (uint64_t)i, s->trees, err));
    }
  }
  return GBT_OK;
}
