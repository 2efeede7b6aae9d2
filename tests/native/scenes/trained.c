#include "trained.h"

#include "../../src/gbt/data/page_impl.h"
#include "../../src/gbt/model/predict.h"

train_job job_make(const made *data, gbt_objective_kind kind, int32_t n_outputs, int64_t rounds) {
  train_job job = {.data = data, .max_bin = 255, .rounds = rounds};
  job.spec.params = gbt_params_default();
  job.spec.objective = gbt_objective_make(kind, n_outputs);
  if (kind == GBT_OBJ_CUSTOM) job.custom = custom_gradients;
  return job;
}

void custom_gradients(const double *score, const double *label, int64_t n, int32_t n_outputs, double *g, double *h) {
  for (int32_t k = 0; k < n_outputs; k++)
    for (int64_t r = 0; r < n; r++) {
      int64_t at = k * n + r;
      double d = score[at] - label[r] * (k + 1);
      g[at] = d / (1.0 + fabs(d));
      h[at] = r % 11 == 0 ? 0.0 : r % 11 == 1 ? -0.0 : 1.0 / (1.0 + fabs(d));
    }
}

/* ---- data sets of a job ---- */

/* A data set of one of the job's tables. */
static gbt_dataset *job_dataset(gbt_ctx *ctx, const train_job *job, const made *m, gbt_cuts *cuts, int32_t page_rows) {
  gbt_dataset *ds = made_dataset(ctx, m, cuts, job->max_bin, page_rows);
  gbt_binding *binding = NULL;
  if (ds == NULL || !job->unbundled) return ds;
  gbt_page_store_unref(ds->pages);
  ds->n_variants = 0;
  int ok = CHECK_OK(gbt_binding_new(ctx, &m->table, ds->cuts->schema, GBT_UNSEEN_MISSING, &binding, test_err));
  if (ok) {
    gbti_feed feed = gbti_feed_of(ctx, binding);
    gbt_page_store *pages = NULL;
    ok = CHECK_OK(gbti_pages_build(ctx, &feed, ds->cuts, page_rows, (gbti_page_how){.unbundled = 1}, &pages, test_err));
    if (ok) gbti_dataset_put_pages(ds, pages);
  }
  gbt_binding_free(binding);
  if (ok) return ds;
  gbt_dataset_unref(ds);
  return NULL;
}

int job_open(gbt_ctx *ctx, const train_job *job, int32_t page_rows, gbt_trainer_spec *spec) {
  *spec = job->spec;
  spec->train = job_dataset(ctx, job, job->data, NULL, page_rows);
  for (int32_t i = 0; i < spec->n_valid; i++)
    spec->valid[i] = spec->train ? job_dataset(ctx, job, job->valid[i], spec->train->cuts, page_rows) : NULL;
  int ok = spec->train != NULL;
  for (int32_t i = 0; i < spec->n_valid; i++) ok &= spec->valid[i] != NULL;
  return ok;
}

void job_close(gbt_trainer_spec *spec) {
  gbt_dataset_unref(spec->train);
  for (int32_t i = 0; i < spec->n_valid; i++) gbt_dataset_unref(spec->valid[i]);
}

/* joined: a tree has a value for every output. linear: grids of linear leaves; NULL: these are constant. */
static gbt_forest *new_forest(const train_job *job, int32_t n_features, int joined, const gbt_linear_view *linear) {
  gbt_forest *out = NULL;
  gbt_mem mem = gbt_mem_default();
  gbt_forest_view shape = {.n_features = n_features,
                           .n_outputs = job->spec.objective.n_outputs,
                           .n_leaf_outputs = joined ? job->spec.objective.n_outputs : 1,
                           .n_parallel = (int32_t)job->spec.params.num_parallel_tree};
  if (linear != NULL) shape.linear = *linear;
  CHECK_OK(gbt_forest_new_like(&mem, &shape, &out, test_err));
  return out;
}

/* n_features: of the forest; statistics of columns count as well. */
static trained *new_trained(const train_job *job, int32_t n_features, int joined, const gbt_linear_view *linear) {
  trained *t = test_alloc(sizeof *t);
  memset(t, 0, sizeof *t);
  t->n_data = 1 + job->spec.n_valid;
  for (int32_t s = 0; s < t->n_data; s++) {
    t->n_rows[s] = s == 0 ? job->data->table.n_rows : job->valid[s - 1]->table.n_rows;
    t->score[s] = test_alloc((size_t)(t->n_rows[s] * job->spec.objective.n_outputs) * sizeof(double));
  }
  t->forest = new_forest(job, n_features, joined, linear);
  return t;
}

void trained_free(trained *t) {
  if (t == NULL) return;
  gbt_forest_free(t->forest);
  for (int32_t s = 0; s < t->n_data; s++) free(t->score[s]);
  free(t->log);
  free(t);
}

/* ---- training ---- */

int train_rounds(gbt_ctx *ctx, const train_job *job, gbt_trainer *tr, gbt_stop_reason *why) {
  if (job->spec.objective.kind != GBT_OBJ_CUSTOM) return CHECK_OK(gbt_trainer_run(ctx, tr, job->rounds, why, test_err));
  int64_t n = job->data->table.n_rows;
  double *g = test_alloc((size_t)(n * job->spec.objective.n_outputs) * sizeof *g);
  double *h = test_alloc((size_t)(n * job->spec.objective.n_outputs) * sizeof *h);
  int ok = 1;
  for (int64_t i = 0; i < job->rounds && ok; i++) {
    const double *scores = NULL;
    if (!CHECK_OK(gbt_trainer_scores(ctx, tr, 0, &scores, test_err))) break;
    job->custom(scores, job->data->label, n, job->spec.objective.n_outputs, g, h);
    ok = CHECK_OK(gbt_trainer_set_gradients(ctx, tr, g, h, test_err)) &&
         CHECK_OK(gbt_trainer_run(ctx, tr, 1, why, test_err));
  }
  free(g);
  free(h);
  return ok;
}

/* Predictions for a table from a forest must be these scores, bit by bit. */
static void compare_predictions(gbt_ctx *ctx, const gbt_forest *forest, int32_t which, const made *m,
                                const gbt_schema *schema, const double *score) {
  /* Training rows have no unseen levels, so that the default gives the same; validation data are made without it. */
  const gbt_unseen unseen = which == 0 ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
  gbt_binding *binding = NULL;
  gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_tree_range all = {0, view.n_trees};
  size_t cells = (size_t)(m->table.n_rows * view.n_outputs);
  double *out = test_alloc(cells * sizeof *out);
  if (CHECK_OK(gbt_binding_new(ctx, &m->table, schema, unseen, &binding, test_err)) &&
      CHECK_OK(gbt_predict_scores(ctx, &view, binding, all, m->offset, out, test_err)))
    CHECK_EQ_BYTES(out, score, cells * sizeof *out);
  gbt_binding_free(binding);
  free(out);
}

trained *trained_of(gbt_ctx *ctx, const train_job *job, const gbt_trainer_spec *spec, gbt_trainer *tr) {
  gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
  trained *t = new_trained(job, spec->train->cuts->n_features, view.n_leaf_outputs > 1, &view.linear);
  CHECK_OK(gbt_forest_append(t->forest, &view, test_err));
  t->rounds = gbt_trainer_rounds(tr);
  t->best_round = gbt_trainer_best_round(tr);
  const gbt_layout *layout = gbt_pages_layout(spec->train->pages);
  t->n_sparse = layout->n_sparse;
  t->n_bundles = layout->n_bundles;
  t->n_slots = layout->n_slots;
  for (int32_t s = 0; s < t->n_data; s++) {
    CHECK_EQ_I64(gbt_trainer_n_rows(tr, s), t->n_rows[s]);
    const double *scores = NULL;
    if (CHECK_OK(gbt_trainer_scores(ctx, tr, s, &scores, test_err)))
      memcpy(t->score[s], scores, (size_t)(t->n_rows[s] * job->spec.objective.n_outputs) * sizeof(double));
  }
  const double *log = gbt_trainer_log(tr, &t->width);
  size_t cells = (size_t)t->rounds * (size_t)t->width;
  t->log = test_alloc(cells * sizeof *t->log);
  if (cells > 0) memcpy(t->log, log, cells * sizeof *t->log);
  for (int32_t s = 0; s < t->n_data; s++)
    compare_predictions(ctx, t->forest, s, s == 0 ? job->data : job->valid[s - 1], spec->train->cuts->schema,
                        t->score[s]);
  return t;
}

trained *train(const train_job *job, const train_how *how) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  trained *t = NULL;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), how->threads, how->simd, NULL, NULL, test_err))) return NULL;
  int opened = job_open(&ctx, job, how->page_rows, &spec);
  spec.device = how->device;
  if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    gbt_stop_reason why = GBT_RUN_DONE;
    if (train_rounds(&ctx, job, tr, &why)) {
      t = trained_of(&ctx, job, &spec, tr);
      t->why = why;
    }
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return t;
}

trained *train_naively(const train_job *job) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  trained *t = NULL;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_SCALAR, NULL, NULL, test_err))) return NULL;
  if (job_open(&ctx, job, 0, &spec)) {
    const int joined = spec.params.multi_strategy != 0 && spec.init == NULL;
    gbt_forest *parts = joined ? new_forest(job, spec.train->cuts->n_features, 0, NULL) : NULL;
    t = new_trained(job, spec.train->cuts->n_features, joined, NULL);
    naive_train(&spec, job->rounds, job->custom, joined ? parts : t->forest, t->score);
    if (joined) naive_join(parts, t->forest);
    gbt_forest_free(parts);
    t->rounds = job->rounds;
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return t;
}

/* ---- comparing ---- */

static int tell_tree(const gbt_forest *a, const gbt_forest *b, size_t t) {
  const gbt_tree *x = &a->trees[t], *y = &b->trees[t];
  if (x->n_nodes != y->n_nodes || x->n_words != y->n_words) {
    test_note("tree %zu: %u and %u nodes, %u and %u words", t, x->n_nodes, y->n_nodes, x->n_words, y->n_words);
  }
  for (uint32_t i = 0; i < x->n_nodes && i < y->n_nodes; i++) {
    size_t p = x->node_beg + i, q = y->node_beg + i;
    const gbt_node *m = &a->nodes[p], *n = &b->nodes[q];
    if (memcmp(m, n, sizeof *m) == 0 && a->count[p] == b->count[q] && gbt_bits(a->gain[p]) == gbt_bits(b->gain[q]) &&
        gbt_bits(a->cover[p]) == gbt_bits(b->cover[q]))
      continue;
    test_note("tree %zu, node %u: value %.17g and %.17g, feat %08x and %08x, left %u and %u, gain %.17g and %.17g, "
              "cover %.17g and %.17g, count %u and %u",
              t, i, m->arg.value, n->arg.value, m->feat, n->feat, m->left, n->left, a->gain[p], b->gain[q], a->cover[p],
              b->cover[q], a->count[p], b->count[q]);
    return 0;
  }
  return x->n_nodes == y->n_nodes;
}

static int same_linear(const gbt_linear_store *a, const gbt_linear_store *b, size_t n_nodes) {
  if (a == NULL || b == NULL) return a == b;
  return a->n_leaves == b->n_leaves && a->n_terms == b->n_terms && a->n_grids == b->n_grids &&
         a->n_values == b->n_values && (n_nodes == 0 || memcmp(a->of, b->of, n_nodes * sizeof *a->of) == 0) &&
         (a->n_leaves == 0 || memcmp(a->leaf, b->leaf, a->n_leaves * sizeof *a->leaf) == 0) &&
         (a->n_terms == 0 || memcmp(a->term, b->term, a->n_terms * sizeof *a->term) == 0) &&
         (a->n_grids == 0 || memcmp(a->grid, b->grid, a->n_grids * sizeof *a->grid) == 0) &&
         (a->n_values == 0 || (memcmp(a->cut, b->cut, a->n_values * sizeof *a->cut) == 0 &&
                               memcmp(a->x, b->x, a->n_values * sizeof *a->x) == 0));
}

int same_forests(const gbt_forest *a, const gbt_forest *b) {
  int ok = CHECK_EQ_I64(a->n_trees, b->n_trees) && CHECK_EQ_I64(a->n_outputs, b->n_outputs) &&
           CHECK_EQ_I64(a->n_parallel, b->n_parallel) && CHECK_EQ_I64(a->n_features, b->n_features) &&
           CHECK_EQ_I64(a->n_leaf_outputs, b->n_leaf_outputs) && CHECK_EQ_I64(a->n_vectors, b->n_vectors);
  if (!ok) return 0;
  ok &= CHECK_EQ_BYTES(a->base, b->base, (size_t)a->n_outputs * sizeof *a->base);
  int same = a->n_nodes == b->n_nodes && a->n_words == b->n_words &&
             memcmp(a->trees, b->trees, a->n_trees * sizeof *a->trees) == 0 &&
             memcmp(a->nodes, b->nodes, a->n_nodes * sizeof *a->nodes) == 0 &&
             memcmp(a->gain, b->gain, a->n_nodes * sizeof *a->gain) == 0 &&
             memcmp(a->cover, b->cover, a->n_nodes * sizeof *a->cover) == 0 &&
             memcmp(a->count, b->count, a->n_nodes * sizeof *a->count) == 0 &&
             (a->n_words == 0 || memcmp(a->sets, b->sets, a->n_words * sizeof *a->sets) == 0);
  if (ok && same && a->n_vectors > 0)
    same = memcmp(a->leaf_values, b->leaf_values,
                  a->n_vectors * (size_t)a->n_leaf_outputs * sizeof *a->leaf_values) == 0;
  if (ok && same) same = CHECK(same_linear(a->linear, b->linear, a->n_nodes));
  if (CHECK(same)) return ok;
  for (size_t t = 0; t < a->n_trees; t++)
    if (!tell_tree(a, b, t)) break;
  return 0;
}

static uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) digest = gbt_mix64(digest ^ at[i]);
  return digest;
}

uint64_t forest_digest(uint64_t before, const gbt_forest *f) {
  uint64_t digest = digest_bytes(before, f->base, (size_t)f->n_outputs * sizeof *f->base);
  digest = digest_bytes(digest, f->trees, f->n_trees * sizeof *f->trees);
  digest = digest_bytes(digest, f->nodes, f->n_nodes * sizeof *f->nodes);
  digest = digest_bytes(digest, f->sets, f->n_words * sizeof *f->sets);
  digest = digest_bytes(digest, f->gain, f->n_nodes * sizeof *f->gain);
  digest = digest_bytes(digest, f->leaf_values, f->n_vectors * (size_t)f->n_leaf_outputs * sizeof *f->leaf_values);
  digest = digest_bytes(digest, f->cover, f->n_nodes * sizeof *f->cover);
  if (f->linear != NULL) {
    digest = digest_bytes(digest, f->linear->of, f->n_nodes * sizeof *f->linear->of);
    digest = digest_bytes(digest, f->linear->leaf, f->linear->n_leaves * sizeof *f->linear->leaf);
    digest = digest_bytes(digest, f->linear->term, f->linear->n_terms * sizeof *f->linear->term);
  }
  return digest_bytes(digest, f->count, f->n_nodes * sizeof *f->count);
}

int same_trained(const trained *a, const trained *b) {
  if (!CHECK(a != NULL && b != NULL)) return 0;
  int ok = same_forests(a->forest, b->forest) & CHECK_EQ_I64(a->rounds, b->rounds);
  for (int32_t s = 0; s < a->n_data; s++)
    ok &= CHECK_EQ_BYTES(a->score[s], b->score[s], (size_t)(a->n_rows[s] * a->forest->n_outputs) * sizeof(double));
  if (ok && a->log != NULL && b->log != NULL)
    ok &= CHECK_EQ_I64(a->width, b->width) &&
          CHECK_EQ_BYTES(a->log, b->log, (size_t)a->rounds * (size_t)a->width * sizeof(double));
  return ok;
}

int device_trains_alike(const train_job *job, const train_how *how, const struct gbt_device_api *api, int64_t *splits) {
  train_how device = *how;
  device.device = api;
  trained *cpu = train(job, how), *cuda = train(job, &device);
  const int ok = CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  if (ok) *splits += (int64_t)cpu->forest->n_nodes / 2;
  trained_free(cpu);
  trained_free(cuda);
  return ok;
}
