#include "variant_job.h"

#include "../../src/gbt/boost/backends.h"
#include "../../src/gbt/boost/constraints.h"
#include "../../src/gbt/boost/grow.h"
#include "../../src/gbt/objective/base_score.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "../../src/gbt/tree/contest.h"
#include "datasets.h"
#include "mask_job.h"

/* ---- jobs ---- */

static int32_t n_sets(const variant_job *j) { return 1 + j->random->job.spec.n_valid; }
static const made *set_of(const variant_job *j, int32_t s) { return s ? j->random->valid[s - 1] : j->random->data; }

/* Bins that go with the response, each with a noise of its own. */
static uint8_t *draw_bins(const made *m, int32_t n_bins, test_rng *rng) {
  uint8_t *bin = test_alloc((size_t)m->table.n_rows + 1);
  const double noise = 0.2 + 2.0 * test_unit(rng);
  for (int64_t r = 0; r < m->table.n_rows; r++) {
    const double x = m->signal[r] + noise * test_bell(rng), u = 1.0 / (1.0 + exp(-(x == x ? x : 0.0)));
    const int32_t b = (int32_t)(u * n_bins);
    bin[r] = (uint8_t)(b < n_bins ? b : n_bins - 1);
  }
  return bin;
}

variant_job variant_job_make(random_job *random, uint64_t seed) {
  static const int32_t bins[] = {1, 2, 2, 3, 16, 64, 254, 255};
  variant_job j = {.random = random, .seed = seed};
  test_rng rng = {gbt_mix64(seed ^ 0x7a31)};
  j.n_derived = 1 + (int32_t)test_below(&rng, test_below(&rng, 4) ? 6 : VARIANT_FEATS);
  j.n_variants = 1 + (int32_t)test_below(&rng, GBT_MOST_VARIANTS);
  for (int32_t f = 0; f < j.n_derived; f++) j.n_bins[f] = bins[test_below(&rng, 8)];
  for (int32_t s = 0; s < n_sets(&j); s++)
    for (int32_t v = 0; v < (s == 0 ? j.n_variants : 1); v++)
      for (int32_t f = 0; f < j.n_derived; f++) j.bin[s][v][f] = draw_bins(set_of(&j, s), j.n_bins[f], &rng);
  for (int r = 0; r < VARIANT_ROUNDS; r++) j.of_round[r] = (int32_t)test_below(&rng, j.n_variants);
  j.with_drop = test_below(&rng, 2) == 0;
  random->job.rounds = 2 + (int64_t)test_below(&rng, 3);
  if (test_below(&rng, 3) == 0)
    j.mask = mask_make((mask_kind)test_below(&rng, MASK_KINDS), random->data->table.n_rows, seed);
  for (int64_t i = 0; random->data->weight != NULL && i < random->data->table.n_rows; i++)
    random->data->weight[i] += 0.5; /* not all rows of the mask may weigh nothing */
  return j;
}

void variant_job_free(variant_job *j) {
  for (int32_t s = 0; s <= JOB_VALID; s++)
    for (int32_t v = 0; v < GBT_MOST_VARIANTS; v++)
      for (int32_t f = 0; f < VARIANT_FEATS; f++) free(j->bin[s][v][f]);
  free(j->mask);
}

int variant_drops(const variant_job *j, int32_t feat) {
  test_rng rng = {gbt_mix64(j->seed + 977u * (uint64_t)feat)};
  return j->with_drop && (feat < j->drop_first || test_below(&rng, 3) == 0);
}

/* ---- cuts ---- */

static gbt_schema *add_columns(const variant_job *j, const gbt_schema *base) {
  const int32_t n = base->n_columns, n_feats = base->n_features;
  gbt_schema_column *col = test_alloc((size_t)(n + j->n_derived) * sizeof *col);
  gbt_feature *feat = test_alloc((size_t)(n_feats + j->n_derived) * sizeof *feat);
  char names[VARIANT_FEATS][16];
  gbt_schema *out = NULL;
  memcpy(col, base->col, (size_t)n * sizeof *col);
  memcpy(feat, base->feat, (size_t)n_feats * sizeof *feat);
  for (int32_t f = 0; f < j->n_derived; f++) {
    snprintf(names[f], sizeof names[f], "d%d", (int)f);
    col[n + f] = (gbt_schema_column){.name = names[f], .tag = ""};
    feat[n_feats + f] = (gbt_feature){.col = n + f};
  }
  const gbt_mem mem = gbt_mem_default();
  CHECK_OK(gbt_schema_new_mapped(&mem, NULL, n + j->n_derived, col, n_feats + j->n_derived, feat, &out, test_err));
  free(col);
  free(feat);
  return out;
}

gbt_cuts *variant_cuts(const variant_job *j, const gbt_cuts *base) {
  const gbt_mem mem = gbt_mem_default();
  gbt_cuts *cuts;
  if (!CHECK_OK(gbt_mem_zeros(&mem, 1, sizeof *cuts, &cuts, test_err))) return NULL;
  *cuts = *base;
  cuts->refs = 1;
  cuts->mem = mem;
  cuts->schema = add_columns(j, base->schema);
  cuts->n_features = base->n_features + j->n_derived;
  CHECK_OK(gbt_mem_zeros(&mem, (size_t)cuts->n_features, sizeof *cuts->feat, &cuts->feat, test_err));
  for (int32_t f = 0; f < cuts->n_features; f++) {
    const int32_t d = f - base->n_features, n_bins = d < 0 ? base->feat[f].n_bins : j->n_bins[d];
    double *cut = NULL;
    cuts->feat[f] = d < 0 ? base->feat[f] : (gbt_feature_cuts){.n_bins = n_bins};
    if (d < 0 && base->feat[f].cut == NULL) continue;
    CHECK_OK(gbt_mem_array(&mem, (size_t)n_bins, sizeof *cut, &cut, test_err));
    for (int32_t b = 0; b < n_bins; b++) cut[b] = d < 0 ? base->feat[f].cut[b] : b + 1 < n_bins ? b : HUGE_VAL;
    cuts->feat[f].cut = cut;
    for (int64_t r = 0; d >= 0 && r < j->random->data->table.n_rows; r++)
      cuts->feat[f].n_filled += j->bin[0][0][d][r] != 0; /* the twin may store it as a sparse one */
  }
  return cuts;
}

/* ---- data sets ---- */

/* The rows that are trained on, or all of them. */
static made *rows_in(const variant_job *j, const made *m) {
  int64_t *rows = test_alloc((size_t)m->table.n_rows * sizeof *rows), n = 0;
  for (int64_t r = 0; r < m->table.n_rows; r++)
    if (j->mask[r]) rows[n++] = r;
  made *out = made_rows(m, rows, n);
  free(rows);
  return out;
}

/* Takes over the data set: its mask, with the fields of these rows. */
static gbt_dataset *mask_set(gbt_ctx *ctx, const variant_job *j, gbt_dataset *all, const made *m) {
  gbt_dataset *ds = NULL;
  if (all == NULL || j->mask == NULL) return all;
  made *in = rows_in(j, m);
  const int64_t n = in->table.n_rows;
  CHECK_OK(gbt_dataset_mask(ctx, all, j->mask, 1, &ds, test_err));
  CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, in->label, n, test_err));
  if (in->weight) CHECK_OK(gbt_dataset_set(ctx, ds, GBT_WEIGHT, in->weight, n, test_err));
  if (in->offset) CHECK_OK(gbt_dataset_set(ctx, ds, GBT_OFFSET, in->offset, n * in->n_offset, test_err));
  made_free(in);
  gbt_dataset_unref(all);
  return ds;
}

/* Puts the bins of a set, in two parts, some of them by way of a permutation. */
static void put_bins(const variant_job *j, int32_t s, gbt_dataset *ext) {
  const int64_t n = ext->rows.n;
  test_rng rng = {j->seed};
  uint8_t *moved = test_alloc((size_t)n + 1);
  uint32_t *at = test_alloc(((size_t)n + 1) * sizeof *at);
  int64_t *order = test_permutation(&rng, n);
  for (int32_t v = 0; v < ext->n_variants; v++)
    for (int32_t f = 0; f < j->n_derived; f++) {
      const int32_t feat = ext->base->cuts->n_features + f;
      const int64_t mid = test_below(&rng, n + 1), by_row = test_below(&rng, 2);
      for (int64_t r = 0; r < n; r++) {
        const int64_t row = ext->rows.table_row ? (int64_t)ext->rows.table_row[r] : r;
        at[r] = (uint32_t)order[r];
        moved[by_row ? r : order[r]] = j->bin[s][v][f][row];
      }
      gbti_extended_put(ext, v, feat, mid, n, moved, by_row ? NULL : at);
      gbti_extended_put(ext, v, feat, 0, mid, moved, by_row ? NULL : at);
    }
  free(moved);
  free(at);
  free(order);
}

static gbt_dataset *base_set(gbt_ctx *ctx, const variant_job *j, int32_t s, int32_t page_rows, gbt_cuts *cuts) {
  const made *m = set_of(j, s);
  const gbt_dataset_spec spec = {.table = &m->table,
                                 .weight = m->weight,
                                 .max_bin = j->random->job.max_bin,
                                 .page_rows = page_rows,
                                 .unseen = GBT_UNSEEN_MISSING};
  gbt_dataset *ds = NULL;
  if (s > 0 || j->help == NULL) return made_dataset(ctx, m, cuts, spec.max_bin, page_rows);
  if (!CHECK_OK(dataset_by_device(ctx, j->help, 0, &spec, &ds, test_err))) return NULL;
  CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, m->label, m->table.n_rows, test_err));
  if (m->weight) CHECK_OK(gbt_dataset_set(ctx, ds, GBT_WEIGHT, m->weight, m->table.n_rows, test_err));
  if (m->offset) CHECK_OK(gbt_dataset_set(ctx, ds, GBT_OFFSET, m->offset, m->table.n_rows * m->n_offset, test_err));
  return ds;
}

gbt_dataset *variant_extend(gbt_ctx *ctx, const variant_job *j, int32_t s, int32_t page_rows, gbt_cuts *base_cuts,
                            gbt_cuts **cuts) {
  gbt_dataset *base = base_set(ctx, j, s, page_rows, base_cuts), *ext = NULL;
  if (s == 0) base = mask_set(ctx, j, base, set_of(j, s));
  if (base == NULL) return NULL;
  if (*cuts == NULL) *cuts = variant_cuts(j, base->cuts);
  uint8_t *drop = test_alloc((size_t)base->cuts->n_features);
  for (int32_t f = 0; f < base->cuts->n_features; f++) drop[f] = (uint8_t)variant_drops(j, f);
  if (*cuts != NULL)
    CHECK_OK(
        gbti_dataset_extend(ctx, base, *cuts, j->with_drop ? drop : NULL, s == 0 ? j->n_variants : 1, &ext, test_err));
  free(drop);
  gbt_dataset_unref(base);
  if (ext != NULL) put_bins(j, s, ext);
  return ext;
}

/* The table of a variant as a data set. */
static gbt_dataset *ordinary(gbt_ctx *ctx, const variant_job *j, int32_t s, int32_t variant, int32_t page_rows,
                             gbt_cuts *cuts) {
  made m = *set_of(j, s);
  const int32_t n_cols = m.table.n_cols;
  const int64_t n = m.table.n_rows;
  gbt_column *cols = test_alloc((size_t)(n_cols + j->n_derived) * sizeof *cols);
  double *x = test_alloc(((size_t)n + 1) * (size_t)j->n_derived * sizeof *x);
  memcpy(cols, m.table.cols, (size_t)n_cols * sizeof *cols);
  for (int32_t f = 0; f < j->n_derived; f++) {
    double *its = x + (size_t)f * (size_t)n;
    for (int64_t r = 0; r < n; r++) its[r] = j->bin[s][variant][f][r];
    cols[n_cols + f] = (gbt_column){
        .name = cuts->schema->col[cuts->schema->n_columns - j->n_derived + f].name, .tag = "", .values = its};
  }
  m.table.cols = cols;
  m.table.n_cols += j->n_derived;
  gbt_dataset *ds = made_dataset(ctx, &m, cuts, j->random->job.max_bin, page_rows);
  free(cols);
  free(x);
  return s == 0 ? mask_set(ctx, j, ds, set_of(j, s)) : ds;
}

/* ---- training ---- */

/* A training on the job's data sets, in one piece or round by round. */
typedef struct run {
  const variant_job *j;
  const train_how *how;
  gbt_ctx ctx;
  gbt_dataset *data[1 + JOB_VALID];
  gbt_trainer_spec spec;
  int8_t *monotone;
  double *weight;
  gbt_constraints constraints;
  gbt_feature_rules *rules;
  gbt_forest *forest;
  gbt_backend *be;
  gbt_forest *draft; /* trees as they were grown, where `fitted` grows them once more; else NULL */
  gbt_backend *fitted;
} run;

/* What the job asks of columns, also for those of derived features as well. */
static int set_rules(run *r, int32_t n_base, uint8_t *unused) {
  const random_job *random = r->j->random;
  const gbt_schema *schema = r->data[0]->cuts->schema;
  const int32_t n = schema->n_columns, n_feats = schema->n_features, n_old = n - r->j->n_derived;
  r->spec = random->job.spec;
  r->spec.train = r->data[0];
  for (int32_t f = 0; f < n_feats; f++) unused[f] = f < n_base && variant_drops(r->j, f);
  if (r->spec.monotone) {
    r->monotone = test_alloc((size_t)n);
    for (int32_t c = 0; c < n; c++) r->monotone[c] = (int8_t)(c < n_old ? r->spec.monotone[c] : c % 3 - 1);
    r->spec.monotone = r->monotone;
  }
  if (r->spec.feature_weight) {
    r->weight = test_alloc((size_t)n * sizeof *r->weight);
    for (int32_t c = 0; c < n; c++) r->weight[c] = c < n_old ? r->spec.feature_weight[c] : 0.5;
    r->spec.feature_weight = r->weight;
  }
  gbt_constraints *c = &r->constraints;
  return CHECK_OK(gbt_constraints_make(&r->ctx.mem, &r->spec, c, test_err)) &&
         CHECK_OK(gbt_feature_rules_new(&r->ctx.mem, n_feats, unused, &r->spec.params, c->weight, c->group_beg,
                                        c->group_feat, c->n_groups, &r->rules, test_err));
}

/* The forest, rules and all; data[0] is there. */
static int start(run *r, int32_t n_base) {
  uint8_t *unused = test_alloc((size_t)r->data[0]->cuts->n_features);
  int ok = set_rules(r, n_base, unused);
  free(unused);
  const gbt_objective *objective = &r->spec.objective;
  ok = ok && CHECK_OK(gbt_forest_new(&r->ctx.mem, r->data[0]->cuts->n_features, objective->n_outputs,
                                     (int32_t)r->spec.params.num_parallel_tree, &r->forest, test_err));
  return ok && CHECK_OK(gbt_base_scores(&r->ctx, objective, &r->data[0]->rows, r->forest->base, test_err));
}

static int open_one(run *r, const double *const *init, gbt_backend **out) {
  const double *none[1 + JOB_VALID] = {NULL};
  const gbt_backend_spec spec = {.params = &r->spec.params,
                                 .objective = r->spec.objective,
                                 .data = r->data,
                                 .n_valid = r->spec.n_valid,
                                 .base = r->forest->base,
                                 .init = init ? init : none,
                                 .monotone = r->constraints.monotone,
                                 .rules = r->rules};
  return CHECK_OK(gbt_backend_open(&r->ctx, r->how->device, 0, &spec, out, test_err));
}

static int open_backend(run *r, const double *const *init) { return open_one(r, init, &r->be); }

static int make_gradients(run *r, gbt_backend *be, uint64_t round) {
  const gbt_backend_ops *ops = be->ops;
  const int64_t n = r->data[0]->rows.n;
  const int32_t n_outputs = r->spec.objective.n_outputs;
  const double *score;
  if (r->j->random->job.custom == NULL) return CHECK_OK(ops->gradients(&r->ctx, be, round, test_err));
  if (!CHECK_OK(ops->scores(&r->ctx, be, 0, &score, test_err))) return 0;
  double *g = test_alloc(2 * sizeof *g * (size_t)(n * n_outputs)), *h = g + n * n_outputs;
  r->j->random->job.custom(score, r->data[0]->rows.field[GBT_LABEL], n, n_outputs, g, h);
  const int ok = CHECK_OK(ops->set_gradients(&r->ctx, be, round, g, h, test_err));
  free(g);
  return ok;
}

/* The drafts of these tasks into the forest. */
static int fit_once_more(run *r, gbt_tree_task *task, int32_t n) {
  const gbt_backend_ops *ops = r->be->ops;
  if (ops->settle != NULL && !CHECK_OK(ops->settle(&r->ctx, r->be, test_err))) return 0;
  const gbt_forest_view drafts = gbt_forest_view_of(r->draft);
  int ok = CHECK_EQ_I64((int64_t)drafts.n_trees, n);
  for (int32_t i = 0; i < n; i++) task[i].variant = (task[i].variant + r->j->fit_after) % r->j->n_variants;
  for (int32_t i = 0, k; i < n && ok; i += k) {
    k = n - i < r->fitted->most_trees ? n - i : r->fitted->most_trees;
    ok = CHECK_OK(r->fitted->ops->refit_trees(&r->ctx, r->fitted, task + i, k, &drafts, (uint64_t)i, r->forest,
                                              test_err));
  }
  gbt_forest_cut(r->draft, 0);
  return ok;
}

static int grow_round(run *r, int64_t round, int32_t variant) {
  const int64_t per_output = r->spec.params.num_parallel_tree, n = r->spec.objective.n_outputs * per_output;
  const gbt_params *p = &r->spec.params;
  const double noise = gbt_contest_noise(p, r->data[0]->all_rows, (uint64_t)round, p->eta);
  gbt_tree_task task[GBT_MOST_TREES];
  if (!make_gradients(r, r->be, (uint64_t)round)) return 0;
  if (r->fitted && !make_gradients(r, r->fitted, (uint64_t)round)) return 0;
  for (int64_t grown = 0; grown < n;) {
    const int32_t k = gbt_batch_trees(r->be->most_trees, r->spec.objective.n_outputs, per_output, grown);
    for (int64_t i = 0; i < k; i++)
      task[i] = (gbt_tree_task){.tree = (uint64_t)(round * n + grown + i),
                                .round = (uint64_t)round,
                                .output = (int32_t)((grown + i) / per_output),
                                .shrinkage = r->spec.params.eta / (double)per_output,
                                .variant = variant,
                                .contest_noise = noise};
    gbt_forest *forest = r->fitted ? r->draft : r->forest;
    if (!CHECK_OK(gbt_grow_trees(&r->ctx, r->be, task, k, forest, test_err))) return 0;
    if (r->fitted && !fit_once_more(r, task, k)) return 0;
    grown += k;
  }
  return r->be->ops->settle == NULL || CHECK_OK(r->be->ops->settle(&r->ctx, r->be, test_err));
}

/* Scores of all sets to `end`. */
static int take_scores(run *r, variant_end *end) {
  for (int32_t s = 0; s <= r->spec.n_valid; s++) {
    const double *score;
    end->cells[s] = r->data[s]->rows.n * r->spec.objective.n_outputs;
    gbt_backend *be = r->fitted ? r->fitted : r->be;
    if (!CHECK_OK(be->ops->scores(&r->ctx, be, s, &score, test_err))) return 0;
    free(end->score[s]);
    end->score[s] = test_alloc(((size_t)end->cells[s] + 1) * sizeof **end->score);
    memcpy(end->score[s], score, (size_t)end->cells[s] * sizeof *score);
  }
  return 1;
}

static void finish(run *r, int ok, int32_t n_base, variant_end *end) {
  gbt_backend_close(r->be);
  gbt_backend_close(r->fitted);
  gbt_forest_free(r->draft);
  gbt_constraints_free(&r->ctx.mem, &r->constraints);
  gbt_feature_rules_free(r->rules);
  free(r->monotone);
  free(r->weight);
  for (int32_t s = 0; s <= JOB_VALID; s++) gbt_dataset_unref(r->data[s]);
  gbt_ctx_close(&r->ctx);
  end->forest = r->forest;
  if (!ok) variant_end_free(end);
  for (size_t i = 0; ok && i < end->forest->n_nodes; i++) {
    const gbt_node *node = &end->forest->nodes[i];
    end->n_derived += node->left > 0 && (int32_t)(node->feat & GBT_NODE_FEATURE) >= n_base;
  }
}

static run run_of(const variant_job *j, const train_how *how) {
  run r = {.j = j, .how = how};
  CHECK_OK(gbt_ctx_open(&r.ctx, gbt_mem_default(), how->threads, how->simd, NULL, NULL, test_err));
  return r;
}

static variant_end grow(const variant_job *j, const train_how *how, int fits) {
  run r = run_of(j, how);
  variant_end end = {.forest = NULL};
  gbt_cuts *cuts = NULL;
  int ok = 1;
  for (int32_t s = 0; s < n_sets(j) && ok; s++) {
    gbt_cuts *base_cuts = s > 0 ? r.data[0]->base->cuts : NULL;
    r.data[s] = variant_extend(&r.ctx, j, s, how->page_rows, base_cuts, &cuts);
    ok = r.data[s] != NULL;
  }
  const int32_t n_base = ok ? r.data[0]->base->cuts->n_features : 0;
  ok = ok && start(&r, n_base) && open_backend(&r, NULL);
  const gbt_forest_view shape = ok ? gbt_forest_view_of(r.forest) : (gbt_forest_view){0};
  if (fits && ok)
    ok = open_one(&r, NULL, &r.fitted) && CHECK_OK(gbt_forest_new_like(&r.ctx.mem, &shape, &r.draft, test_err));
  for (int64_t round = 0; round < j->random->job.rounds && ok; round++) ok = grow_round(&r, round, j->of_round[round]);
  ok = ok && take_scores(&r, &end);
  gbt_cuts_unref(cuts);
  finish(&r, ok, n_base, &end);
  return end;
}

variant_end variant_grow(const variant_job *j, const train_how *how) { return grow(j, how, 0); }
variant_end variant_refit(const variant_job *j, const train_how *how) { return grow(j, how, 1); }

/* The data sets of a round: a training set of its variant. */
static int set_variant(run *r, const variant_job *j, int32_t variant, gbt_cuts *cuts) {
  int ok = 1;
  for (int32_t s = 0; s < n_sets(j) && ok; s++) {
    if (s > 0 && r->data[s] != NULL) continue;
    gbt_dataset_unref(r->data[s]);
    r->data[s] = ordinary(&r->ctx, j, s, s == 0 ? variant : 0, r->how->page_rows, cuts);
    ok = r->data[s] != NULL;
  }
  return ok;
}

variant_end variant_twin(const variant_job *j, const train_how *how) {
  run r = run_of(j, how);
  variant_end end = {.forest = NULL};
  gbt_dataset *base = made_dataset(&r.ctx, set_of(j, 0), NULL, j->random->job.max_bin, how->page_rows);
  gbt_cuts *cuts = base != NULL ? variant_cuts(j, base->cuts) : NULL;
  const int32_t n_base = base != NULL ? base->cuts->n_features : 0;
  int ok = cuts != NULL && set_variant(&r, j, j->of_round[0], cuts) && start(&r, n_base);
  for (int64_t round = 0; round < j->random->job.rounds && ok; round++) {
    ok = set_variant(&r, j, j->of_round[round], cuts);
    ok = ok && open_backend(&r, round > 0 ? (const double *const *)end.score : NULL);
    ok = ok && grow_round(&r, round, 0) && take_scores(&r, &end);
    gbt_backend_close(r.be);
    r.be = NULL;
  }
  gbt_cuts_unref(cuts);
  gbt_dataset_unref(base);
  finish(&r, ok, n_base, &end);
  return end;
}

void variant_end_free(variant_end *end) {
  gbt_forest_free(end->forest);
  for (int32_t s = 0; s <= JOB_VALID; s++) free(end->score[s]);
  *end = (variant_end){.forest = NULL};
}

int same_ends(const variant_end *a, const variant_end *b) {
  int ok = a->forest != NULL && b->forest != NULL && same_forests(a->forest, b->forest);
  for (int32_t s = 0; s <= JOB_VALID && ok; s++) {
    ok = CHECK_EQ_I64(a->cells[s], b->cells[s]);
    ok = ok && (a->cells[s] == 0 || CHECK_EQ_BYTES(a->score[s], b->score[s], (size_t)a->cells[s] * sizeof(double)));
  }
  return ok;
}
