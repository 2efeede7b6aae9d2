/* Ordered boosting from its definition in boost/supporting.h: a naive training for every model, one that grows trees,
 * and one whose values are kept. */
#include "../../src/gbt/encode/visit.h"
#include "naive_impl.h"

enum { MOST_MODELS = 40 };

typedef struct ordered_model {
  gbt_trainer_spec spec; /* train: rows that it is fitted to; valid[0]: rows that it scores */
  naive nv;
  double *score[2];
  int64_t *row[2], n[2]; /* which rows these are */
  gbt_forest *trees;
} ordered_model;

typedef struct ordered {
  gbt_ctx ctx;
  gbt_trainer_spec spec; /* of the training that grows */
  naive grower;
  double *start, *score;
  int64_t n, *row; /* rows in order 0 */
  int32_t n_outputs, n_models;
  ordered_model model[MOST_MODELS];
} ordered;

static void put_in_order(ordered *o) {
  gbti_visit visit;
  int64_t at = 0;
  o->row = test_alloc((size_t)o->n * sizeof *o->row);
  CHECK_OK(gbti_visit_make(&o->ctx, &o->spec.train->rows, (uint64_t)o->spec.params.seed, 1, &visit, test_err));
  for (int b = 0; b < GBTI_VISIT_BLOCKS; b++)
    for (int64_t i = visit.block[visit.order[0][b]]; i < visit.block[visit.order[0][b] + 1]; i++)
      o->row[at++] = visit.row[i];
  gbti_visit_free(&visit);
}

/* Whether a row must not be parted from the one before it in the order. */
static int stays_together(const ordered *o, int64_t place) {
  const double *time = o->spec.train->rows.field[GBT_TIME], *group = o->spec.train->rows.field[GBT_GROUP];
  const int64_t a = o->row[place - 1], b = o->row[place];
  return (time != NULL && time[a] == time[b]) || (group != NULL && group[a] == group[b]);
}

static int64_t end_from(const ordered *o, int64_t end) {
  while (end < o->n && stays_together(o, end)) end++;
  return end < o->n ? end : o->n;
}

/* Rows at places [beg, end). */
static void take(ordered *o, ordered_model *m, int s, int64_t beg, int64_t end) {
  gbt_dataset **out = s == 0 ? &m->spec.train : &m->spec.valid[0];
  int *mask = test_alloc((size_t)o->n * sizeof *mask);
  memset(mask, 0, (size_t)o->n * sizeof *mask);
  for (int64_t i = beg; i < end; i++) mask[o->row[i]] = 1;
  m->row[s] = test_alloc((size_t)(end - beg) * sizeof **m->row);
  m->score[s] = test_alloc((size_t)((end - beg) * o->n_outputs) * sizeof **m->score);
  for (int64_t i = 0; i < o->n; i++)
    if (mask[i]) m->row[s][m->n[s]++] = i;
  CHECK_OK(gbti_dataset_part(&o->ctx, o->spec.train, mask, out, test_err));
  for (int32_t k = 0; k < o->n_outputs; k++)
    for (int64_t i = 0; i < m->n[s]; i++) m->score[s][k * m->n[s] + i] = o->start[k * o->n + m->row[s][i]];
  free(mask);
}

static gbt_forest *empty_forest(const ordered *o) {
  gbt_forest *out = NULL;
  CHECK_OK(gbt_forest_new(&o->ctx.mem, o->spec.train->cuts->n_features, o->n_outputs,
                          (int32_t)o->spec.params.num_parallel_tree, &out, test_err));
  return out;
}

static void make_models(ordered *o) {
  for (int64_t end = end_from(o, 1), next; end < o->n; end = next) {
    ordered_model *m = &o->model[o->n_models++];
    next = end_from(o, 2 * end);
    memset(m, 0, sizeof *m);
    m->spec = o->spec;
    m->spec.n_valid = 1;
    take(o, m, 0, 0, end);
    take(o, m, 1, end, next);
    m->nv = naive_open(&m->spec, m->score);
    m->trees = empty_forest(o);
  }
}

static void drop(ordered *o) {
  for (int32_t j = 0; j < o->n_models; j++) {
    ordered_model *m = &o->model[j];
    naive_close(&m->nv);
    gbt_forest_free(m->trees);
    gbt_dataset_unref(m->spec.train);
    gbt_dataset_unref(m->spec.valid[0]);
    for (int s = 0; s < 2; s++) free(m->score[s]), free(m->row[s]);
  }
  naive_close(&o->grower);
  free(o->start), free(o->score), free(o->row);
  gbt_ctx_close(&o->ctx);
}

/* Gradients of all, those that trees grow by at the scores of models that did not see the rows. */
static void make_gradients(ordered *o, uint64_t round) {
  memcpy(o->score, o->start, (size_t)(o->n * o->n_outputs) * sizeof *o->score);
  for (int32_t j = 0; j < o->n_models; j++) {
    ordered_model *m = &o->model[j];
    for (int32_t k = 0; k < o->n_outputs; k++)
      for (int64_t i = 0; i < m->n[1]; i++) o->score[k * o->n + m->row[1][i]] = m->score[1][k * m->n[1] + i];
    naive_gradients(&m->nv, round, NULL);
  }
  naive_gradients(&o->grower, round, NULL);
}

void naive_train_ordered(const gbt_trainer_spec *spec, int64_t n_rounds, gbt_forest *forest, double *const *scores) {
  static ordered o;
  memset(&o, 0, sizeof o);
  naive kept = naive_open(spec, scores);
  const uint64_t per_round = (uint64_t)(spec->objective.n_outputs * spec->params.num_parallel_tree);
  naive_base_scores(spec, forest->base);
  for (int32_t s = 0; s <= spec->n_valid; s++) naive_start_scores(&kept, s, forest->base);
  o.ctx = test_ctx(NULL, 1);
  o.spec = *spec;
  o.spec.n_valid = 0;
  o.n = spec->train->rows.n;
  o.n_outputs = spec->objective.n_outputs;
  const size_t cells = (size_t)(o.n * o.n_outputs);
  o.start = test_alloc(cells * sizeof *o.start);
  o.score = test_alloc(cells * sizeof *o.score);
  memcpy(o.start, scores[0], cells * sizeof *o.start);
  o.grower = naive_open(&o.spec, &o.score);
  naive_shared *shared = naive_shared_new(&o.spec);
  put_in_order(&o);
  make_models(&o);
  for (int64_t i = 0; i < n_rounds; i++) {
    const uint64_t round = forest->n_trees / per_round, first = forest->n_trees;
    naive_handicaps(&o.grower, forest);
    make_gradients(&o, round);
    naive_gradients(&kept, round, NULL);
    if (shared != NULL) naive_shared_grow(shared, &o.grower, round, first);
    for (int32_t k = 0; k < o.n_outputs; k++)
      for (int64_t t = 0; t < spec->params.num_parallel_tree; t++) {
        if (shared != NULL)
          naive_shared_plant(shared, &o.grower, k, first);
        else
          naive_grow(&o.grower, k, forest->n_trees);
        for (int32_t j = 0; j < o.n_models; j++) naive_refit(&o.model[j].nv, &o.grower, o.model[j].trees);
        naive_refit(&kept, &o.grower, forest);
        naive_free_nodes(&o.grower);
      }
    if (shared != NULL) naive_shared_done(shared);
  }
  naive_shared_free(shared);
  drop(&o);
  naive_close(&kept);
}
