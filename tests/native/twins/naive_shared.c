/* Trees that share their splits. From the definition in boost/shared_splits.h: a naive training of one output grows the
 * structure. From that in boost/together.h: a team of naive trainings, one of each output. */
#include "../../src/gbt/boost/shared_splits.h"
#include "../../src/gbt/base/exact_sum.h"
#include "../../src/gbt/objective/base_score.h"
#include "made.h"
#include "naive_impl.h"

struct naive_shared {
  gbt_trainer_spec spec; /* of the structure */
  naive nv;
  double *score; /* nobody reads it */
  double *g, *h; /* of the round */
  double *size;  /* of the gradients of each column of a response or level; NULL: classes */
  gbt_dataset plain; /* with `size`: the training set without fields */
  naive_team team;   /* where trees grow together; no trees: there is a structure, and the rest is unused */
  double *weight, *direction;
};

static const naive_shared *asked; /* for a function that is given nothing of its own */

static void give(const double *score, const double *label, int64_t n, int32_t n_outputs, double *g, double *h) {
  (void)score, (void)label, (void)n_outputs;
  memcpy(g, asked->g, (size_t)n * sizeof *g);
  memcpy(h, asked->h, (size_t)n * sizeof *h);
}

/* Gradient of cell (r, k) at a score, and its weight. */
static gbt_gh cell_gradient(const gbt_trainer_spec *spec, int64_t r, int32_t k, double score, double *w) {
  const gbt_rows *rows = &spec->train->rows;
  const double *weight = gbt_field_of_output(rows, GBT_WEIGHT, k);
  gbt_objective its = spec->objective;
  if (gbt_has_levels(&its)) its.param[0] = its.levels[k];
  *w = weight != NULL ? weight[r] : 1.0;
  return test_gradient(&its, score, gbt_field_of_output(rows, GBT_LABEL, k)[r]);
}

/* The root mean square of each column's gradients at its base score, rounded down to a power of two. */
static double *column_sizes(const gbt_trainer_spec *spec) {
  const gbt_rows *rows = &spec->train->rows;
  const int32_t K = spec->objective.n_outputs;
  double *size = test_alloc((size_t)K * sizeof *size), *base = test_alloc((size_t)K * sizeof *base);
  gbt_ctx ctx = test_ctx(NULL, 1);
  CHECK_OK(gbt_base_scores(&ctx, &spec->objective, rows, base, test_err));
  for (int32_t k = 0; k < K; k++) {
    gbt_exact_sum square = {0}, total = {0};
    for (int64_t r = 0; r < rows->n; r++) {
      const double *offset = gbt_field_of_output(rows, GBT_OFFSET, k);
      double w;
      const gbt_gh gh = cell_gradient(spec, r, k, base[k] + (offset != NULL ? offset[r] : 0.0), &w);
      gbt_exact_add(&square, w * (gh.g * gh.g));
      gbt_exact_add(&total, w);
    }
    const double mean = gbt_exact_value(&square) / gbt_exact_value(&total);
    size[k] = 1.0;
    while (mean > 0.0 && size[k] * size[k] > mean) size[k] /= 2.0;
    while (mean > 0.0 && 4.0 * size[k] * size[k] <= mean) size[k] *= 2.0;
  }
  gbt_ctx_close(&ctx);
  free(base);
  return size;
}

/* Without projections: where that is asked for, and, unless they are, for up to 8 columns. */
static int grows_together(const gbt_trainer_spec *spec) {
  const gbt_objective *o = &spec->objective;
  const int usual = gbt_has_columns(o) && o->n_outputs <= 8;
  return spec->params.sketch == GBT_SKETCH_NONE || (usual && spec->params.sketch == GBT_SKETCH_AUTO);
}

static naive_shared *new_team(const gbt_trainer_spec *spec) {
  const size_t K = (size_t)spec->objective.n_outputs;
  naive_shared *s = test_alloc(sizeof *s);
  memset(s, 0, sizeof *s);
  if (gbt_has_columns(&spec->objective) || gbt_has_levels(&spec->objective)) s->size = column_sizes(spec);
  s->weight = test_alloc(K * sizeof *s->weight);
  s->direction = test_alloc(K * sizeof *s->direction);
  for (size_t k = 0; k < K; k++) s->weight[k] = s->size != NULL ? 1.0 / (s->size[k] * s->size[k]) : 1.0;
  s->team = (naive_team){test_alloc(K * sizeof *s->team.tree), (int32_t)K, s->weight, s->direction};
  return s;
}

naive_shared *naive_shared_new(const gbt_trainer_spec *spec) {
  if (spec->params.multi_strategy == 0) return NULL;
  if (grows_together(spec)) return new_team(spec);
  naive_shared *s = test_alloc(sizeof *s);
  memset(s, 0, sizeof *s);
  const size_t n = (size_t)spec->train->rows.n;
  s->spec = *spec;
  s->spec.objective = gbt_objective_make(GBT_OBJ_CUSTOM, 1);
  s->spec.n_valid = 0;
  s->spec.monotone = NULL;
  if (gbt_has_columns(&spec->objective) || gbt_has_levels(&spec->objective)) {
    s->size = column_sizes(spec);
    s->plain = *spec->train;
    memset(s->plain.rows.field, 0, sizeof s->plain.rows.field);
    s->spec.train = &s->plain;
  }
  s->score = test_alloc(n * sizeof *s->score);
  memset(s->score, 0, n * sizeof *s->score);
  s->g = test_alloc(n * sizeof *s->g);
  s->h = test_alloc(n * sizeof *s->h);
  s->nv = naive_open(&s->spec, &s->score);
  return s;
}

void naive_shared_free(naive_shared *s) {
  if (s == NULL) return;
  if (s->team.n == 0) naive_close(&s->nv);
  free(s->team.tree), free(s->weight), free(s->direction);
  free(s->score), free(s->g), free(s->h), free(s->size);
  free(s);
}

/* The direction of a round: 1 or -1 by the size of each output's gradients. */
static void signs(const naive_shared *s, const naive *nv, uint64_t round, double *u) {
  const int32_t K = nv->n_outputs;
  const gbt_key32 key = gbt_key((uint64_t)nv->p->seed, GBT_FOR_CONTRAST, round, 0);
  const int levels = gbt_has_levels(&nv->spec->objective);
  const int32_t place = (int32_t)(gbt_hash32(key, 0) / 4294967296.0 * K); /* levels: the first of those that go up */
  for (int32_t k = 0; k < K; k++) {
    const int up = levels ? k >= place : gbt_hash32(key, (uint64_t)k) % 2 == 1;
    u[k] = (up ? 1.0 : -1.0) / s->size[k];
  }
}

static void project(naive_shared *s, const naive *nv, uint64_t round) {
  const int32_t K = nv->n_outputs;
  double *u = test_alloc((size_t)K * sizeof *u);
  signs(s, nv, round, u);
  for (int64_t r = 0; r < nv->n; r++) {
    double g = 0.0, h = 0.0, w;
    for (int32_t k = 0; k < K; k++) {
      const gbt_gh gh = cell_gradient(nv->spec, r, k, nv->start[k * nv->n + r], &w);
      g += u[k] * (w * gh.g);
      h += w * gh.h;
    }
    s->g[r] = g;
    s->h[r] = h / K;
  }
  free(u);
}

/* Normal deviates less their mean, as long as sqrt(K - 1). Where all are alike, 1 stands for the first, 0 for the
 * others. */
static void direction(const gbt_params *p, uint64_t round, int32_t K, double *u) {
  const gbt_key32 key = gbt_key((uint64_t)p->seed, GBT_FOR_CONTRAST, round, 0);
  double sum = 0.0, square = 0.0;
  int alike = 1;
  for (int32_t k = 0; k < K; k++) {
    u[k] = gbt_normal_of(gbt_hash32(key, (uint64_t)k));
    alike &= u[k] == u[0];
  }
  for (int32_t k = 0; k < K && alike; k++) u[k] = k == 0;
  for (int32_t k = 0; k < K; k++) sum += u[k];
  for (int32_t k = 0; k < K; k++) {
    u[k] -= sum / K;
    square += u[k] * u[k];
  }
  for (int32_t k = 0; k < K; k++) u[k] *= gbt_sqrt((K - 1) / square);
}

static void contrast(naive_shared *s, const naive *nv, uint64_t round) {
  const int32_t K = nv->n_outputs;
  double *u = test_alloc((size_t)K * sizeof *u);
  direction(nv->p, round, K, u);
  for (int64_t r = 0; r < nv->n; r++) {
    const double own = u[(int32_t)nv->spec->train->rows.field[GBT_LABEL][r]];
    double top = -INFINITY, sum = 0.0, g = 0.0, h = 0.0;
    for (int32_t k = 0; k < K; k++) top = fmax(top, nv->start[k * nv->n + r]);
    for (int32_t k = 0; k < K; k++) {
      const double e = gbt_exp(nv->start[k * nv->n + r] - top);
      sum += e;
      g += e * (u[k] - own);
      h += e * (u[k] - own) * (u[k] - own);
    }
    s->g[r] = g / sum;
    s->h[r] = fmax(h / sum - s->g[r] * s->g[r], 0.0);
  }
  free(u);
}

static void grow_team(naive_shared *s, const naive *nv, uint64_t round, uint64_t tree) {
  if (s->size != NULL)
    signs(s, nv, round, s->direction);
  else
    direction(nv->p, round, nv->n_outputs, s->direction);
  for (int32_t k = 0; k < s->team.n; k++) s->team.tree[k] = *nv;
  naive_grow_together(&s->team, tree);
}

void naive_shared_grow(naive_shared *s, const naive *nv, uint64_t round, uint64_t tree) {
  if (s->team.n > 0) {
    grow_team(s, nv, round, tree);
    return;
  }
  if (s->size != NULL)
    project(s, nv, round);
  else
    contrast(s, nv, round);
  memcpy(s->nv.cost, nv->cost, (size_t)nv->n_feats * sizeof *nv->cost);
  s->nv.size_reg = nv->size_reg;
  asked = s;
  naive_gradients(&s->nv, round, give);
  s->nv.eta = nv->eta;
  naive_grow(&s->nv, 0, tree);
}

void naive_shared_plant(naive_shared *s, naive *nv, int32_t output, uint64_t tree) {
  if (s->team.n == 0) {
    naive_plant(nv, &s->nv, output, tree, 1);
    return;
  }
  naive *from = &s->team.tree[output];
  nv->tree = from->tree;
  nv->output = from->output;
  nv->unit = from->unit;
  nv->node = from->node;
  nv->n_nodes = from->n_nodes;
  nv->n_leaves = from->n_leaves;
}

void naive_shared_done(naive_shared *s) {
  if (s->team.n == 0) naive_free_nodes(&s->nv);
}

/* The value of output k in leaf i of the round's first tree `at`. */
static double value_of(const gbt_forest *parts, size_t at, size_t k, uint32_t i) {
  return parts->nodes[parts->trees[at + k].node_beg + i].arg.value;
}

void naive_join(const gbt_forest *parts, gbt_forest *to) {
  const size_t K = (size_t)parts->n_outputs;
  memcpy(to->base, parts->base, K * sizeof *to->base);
  for (size_t at = 0; at < parts->n_trees; at += K) {
    const gbt_tree *one = &parts->trees[at];
    const uint32_t n = one->n_nodes;
    gbt_node *nodes = test_alloc(n * sizeof *nodes);
    double *gain = test_alloc(n * sizeof *gain), *cover = test_alloc(n * sizeof *cover);
    double *values = test_alloc(n * K * sizeof *values);
    memcpy(nodes, parts->nodes + one->node_beg, n * sizeof *nodes);
    for (uint32_t i = 0; i < n; i++) {
      gain[i] = cover[i] = 0.0;
      for (size_t k = 0; k < K; k++) {
        const size_t of = (size_t)parts->trees[at + k].node_beg + i;
        gain[i] += parts->gain[of];
        cover[i] += parts->cover[of];
        CHECK(parts->count[of] == parts->count[one->node_beg + i] && parts->nodes[of].left == nodes[i].left);
        if (nodes[i].left == 0)
          values[i * K + k] = value_of(parts, at, k, i);
        else
          CHECK_EQ_BYTES(&parts->nodes[of], &nodes[i], sizeof nodes[i]);
      }
      if (nodes[i].left == 0) nodes[i].arg.vector = i;
    }
    const gbt_tree_parts tree = {.n_nodes = n, .n_words = one->n_words, .nodes = nodes, .gain = gain, .cover = cover,
                                 .count = parts->count + one->node_beg, .sets = parts->sets + one->set_beg,
                                 .leaf_values = values};
    CHECK_OK(gbt_forest_add(to, &tree, test_err));
    free(nodes), free(gain), free(cover), free(values);
  }
}
