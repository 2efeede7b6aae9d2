/* Rounds that change what those before them count, from the definition in boost/factors.h: what every tree adds to
 * every row is kept, and so is what every round counted behind every round. */
#include "../../src/gbt/base/rng.h"
#include "naive_impl.h"

typedef struct naive_past {
  const gbt_trainer_spec *spec;
  int64_t n_rounds, per_round, before;
  double **added[1 + GBT_MAX_VALID]; /* by data set, by tree of this training: of all rows */
  int32_t *output;                   /* of these trees */
  int64_t n_trees;
  double *count; /* n_rounds x n_rounds: behind a round, what the others count */
} naive_past;

int naive_rescales(const gbt_params *p) {
  return p->boosting == GBT_BOOSTING_DART || p->model_shrink_rate > 0.0 || p->tail_rounds > 1;
}

static int64_t trees_per_round(const gbt_trainer_spec *spec) {
  return spec->objective.n_outputs * spec->params.num_parallel_tree;
}

static int64_t rounds_before(const gbt_trainer_spec *spec) {
  return spec->init != NULL ? (int64_t)spec->init->n_trees / trees_per_round(spec) : 0;
}

naive_past *naive_past_new(const gbt_trainer_spec *spec, int64_t n_rounds) {
  naive_past *past = test_alloc(sizeof *past);
  *past = (naive_past){.spec = spec,
                       .n_rounds = n_rounds,
                       .per_round = trees_per_round(spec),
                       .before = rounds_before(spec)};
  for (int32_t s = 0; s <= spec->n_valid; s++)
    past->added[s] = test_alloc((size_t)(n_rounds * past->per_round) * sizeof **past->added);
  past->output = test_alloc((size_t)(n_rounds * past->per_round) * sizeof *past->output);
  past->count = test_alloc((size_t)(n_rounds * n_rounds) * sizeof *past->count);
  return past;
}

void naive_past_free(naive_past *past) {
  if (past == NULL) return;
  for (int32_t s = 0; s <= past->spec->n_valid; s++) {
    for (int64_t t = 0; t < past->n_trees; t++) free(past->added[s][t]);
    free(past->added[s]);
  }
  free(past->output), free(past->count), free(past);
}

static const gbt_dataset *set_at(const gbt_trainer_spec *spec, int32_t which) {
  return which == 0 ? spec->train : spec->valid[which - 1];
}

void naive_keep_tree(naive *nv, const double *value) {
  naive_past *past = nv->past;
  for (int32_t s = 0; s <= nv->spec->n_valid; s++) {
    const int64_t n = set_at(nv->spec, s)->rows.n;
    double *added = past->added[s][past->n_trees] = test_alloc((size_t)n * sizeof *added);
    for (int64_t r = 0; r < n; r++) added[r] = value[naive_leaf_of(nv, s, r)];
  }
  past->output[past->n_trees++] = nv->output;
}

/* ---- what a round does ---- */

/* The shrinkage of a round, those of the initial model included. */
double naive_eta_of(const gbt_trainer_spec *spec, uint64_t round) {
  const uint64_t per_round = (uint64_t)(spec->objective.n_outputs * spec->params.num_parallel_tree);
  int64_t own = (int64_t)(round - (spec->init ? spec->init->n_trees / per_round : 0));
  if (spec->eta == NULL) return spec->params.eta;
  while (own >= spec->n_eta) own--;
  return spec->eta[own];
}

double naive_shrink_of(const gbt_trainer_spec *spec, int64_t own) {
  const int64_t round = rounds_before(spec) + own;
  const double rate = spec->params.model_shrink_rate;
  if (round == 0 || rate == 0.0) return 1.0;
  if (spec->params.model_shrink_mode == GBT_SHRINK_DECREASING) return 1.0 - rate / (double)round;
  return 1.0 - rate * naive_eta_of(spec, (uint64_t)round);
}

/* Whether round r is dropped while round `own` grows: its hash is among the smallest of those below the limit. */
static int drops(const gbt_trainer_spec *spec, int64_t own, int64_t r) {
  const gbt_params *p = &spec->params;
  const uint64_t round = (uint64_t)(rounds_before(spec) + own), before = (uint64_t)rounds_before(spec);
  const gbt_key32 skip = gbt_key((uint64_t)p->seed, GBT_FOR_DROPS, round, 1);
  const gbt_key32 key = gbt_key((uint64_t)p->seed, GBT_FOR_DROPS, round, 0);
  if (p->boosting != GBT_BOOSTING_DART || (double)gbt_hash32(skip, 0) < floor(p->skip_drop * 4294967296.0)) return 0;
  const uint32_t its = gbt_hash32(key, before + (uint64_t)r);
  if ((double)its >= floor(p->rate_drop * 4294967296.0)) return 0;
  int64_t smaller = 0;
  for (int64_t i = 0; i < own; i++) {
    const uint32_t hash = gbt_hash32(key, before + (uint64_t)i);
    smaller += hash < its || (hash == its && i < r);
  }
  return p->max_drop == 0 || smaller < p->max_drop;
}

static int64_t n_dropped(const gbt_trainer_spec *spec, int64_t own) {
  int64_t n = 0;
  for (int64_t r = 0; r < own; r++) n += drops(spec, own, r);
  return n;
}

/* What the round itself counts from the beginning, and what dropped ones count of what they counted. */
static double entry_of(const gbt_trainer_spec *spec, int64_t own) {
  const double k = (double)n_dropped(spec, own), eta = naive_eta_of(spec, (uint64_t)(rounds_before(spec) + own));
  if (k == 0.0) return 1.0;
  return spec->params.normalize_type == GBT_NORMALIZE_FOREST ? 1.0 / (1.0 + eta) : 1.0 / (k + eta);
}
static double left_of(const gbt_trainer_spec *spec, int64_t own) {
  const double k = (double)n_dropped(spec, own), eta = naive_eta_of(spec, (uint64_t)(rounds_before(spec) + own));
  return spec->params.normalize_type == GBT_NORMALIZE_FOREST ? 1.0 / (1.0 + eta) : k / (k + eta);
}

/* What round r counts when the shrinking before round `own` is done. */
static double count_before(const gbt_trainer_spec *spec, const double *count, int64_t n_rounds, int64_t own,
                           int64_t r) {
  return count[(own - 1) * n_rounds + r] * naive_shrink_of(spec, own);
}

/* count: n_rounds x n_rounds; its row `own`, from those before. */
static void count_round(const gbt_trainer_spec *spec, double *count, int64_t n_rounds, int64_t own) {
  for (int64_t r = 0; r < own; r++) {
    double now = count_before(spec, count, n_rounds, own, r);
    if (drops(spec, own, r)) now = now * left_of(spec, own);
    count[own * n_rounds + r] = now;
  }
  count[own * n_rounds + own] = 1.0;
}

/* ---- on scores ---- */

void naive_shrink(const gbt_dataset *ds, const double *base, int32_t n_outputs, double factor, double *score) {
  const double *offset = ds->rows.field[GBT_OFFSET];
  if (factor == 1.0) return;
  for (int32_t k = 0; k < n_outputs; k++)
    for (int64_t r = 0; r < ds->rows.n; r++) {
      const int64_t at = k * ds->rows.n + r;
      const double start = offset != NULL ? base[k] + offset[at] : base[k];
      score[at] = start + (score[at] - start) * factor;
    }
}

static void add_round(naive *nv, int32_t which, int64_t round, double times) {
  const naive_past *past = nv->past;
  const int64_t n = set_at(nv->spec, which)->rows.n;
  for (int64_t t = round * past->per_round; t < (round + 1) * past->per_round; t++)
    for (int64_t r = 0; r < n; r++)
      nv->score[which][past->output[t] * n + r] += past->added[which][t][r] * times;
}

static void begin_set(naive *nv, int32_t which, int64_t own, const double *base) {
  const naive_past *past = nv->past;
  naive_shrink(set_at(nv->spec, which), base, nv->n_outputs, naive_shrink_of(nv->spec, own), nv->score[which]);
  for (int64_t r = 0; r < own; r++)
    if (drops(nv->spec, own, r)) add_round(nv, which, r, -count_before(nv->spec, past->count, past->n_rounds, own, r));
}

void naive_begin_round(naive *nv, int64_t own, const double *base) {
  begin_set(nv, 0, own, base);
  nv->entry = entry_of(nv->spec, own);
}

void naive_begin_valid(naive *nv, int64_t own, const double *base) {
  for (int32_t s = 1; s <= nv->spec->n_valid; s++) begin_set(nv, s, own, base);
}

void naive_end_round(naive *nv, int64_t own) {
  naive_past *past = nv->past;
  for (int64_t r = 0; r < own; r++)
    for (int32_t s = 0; s <= nv->spec->n_valid && drops(nv->spec, own, r); s++)
      add_round(nv, s, r, count_before(nv->spec, past->count, past->n_rounds, own, r) * left_of(nv->spec, own));
  count_round(nv->spec, past->count, past->n_rounds, own);
}

/* ---- the model ---- */

/* The initial model's trees shrink alone. */
static double init_count(const gbt_trainer_spec *spec, int64_t own) {
  double count = 1.0;
  for (int64_t i = 0; i <= own; i++) count = count * naive_shrink_of(spec, i);
  return count;
}

void naive_model(const gbt_trainer_spec *spec, int64_t n_rounds, const gbt_forest *forest, gbt_forest *out) {
  const int64_t per_round = trees_per_round(spec), before = rounds_before(spec);
  const int64_t tail = spec->params.tail_rounds < n_rounds ? spec->params.tail_rounds : n_rounds;
  double *count = test_alloc((size_t)(n_rounds * n_rounds + 1) * sizeof *count);
  const gbt_forest_view all = gbt_forest_look(forest);
  const gbt_forest_view kept = gbt_forest_first(all, (uint64_t)((before + n_rounds) * per_round));
  for (int64_t i = 0; i < n_rounds; i++) count_round(spec, count, n_rounds, i);
  CHECK_OK(gbt_forest_append(out, &kept, test_err));
  for (size_t t = 0; t < out->n_trees; t++) {
    const int64_t round = (int64_t)t / per_round - before;
    double sum = 0.0;
    for (int64_t i = n_rounds - tail; i < n_rounds; i++)
      sum += round < 0 ? init_count(spec, i) : round <= i ? count[i * n_rounds + round] : 0.0;
    const double times = tail > 1 ? sum / (double)tail : tail == 1 ? sum : 1.0;
    for (uint64_t i = out->trees[t].node_beg; i < out->trees[t].node_beg + out->trees[t].n_nodes; i++)
      if (out->nodes[i].left == 0) out->nodes[i].arg.value = out->nodes[i].arg.value * times;
  }
  free(count);
}
