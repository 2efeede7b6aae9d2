/* Which features nodes may use, drawn on the device: mask for mask what tree/features.c says, for trees put together by
 * hand; and trees whose number of steps nobody knows, which the host looks at now and then. */
#include "../../src/cuda/grow/state/ops.cuh"
#include "../../src/cuda/grow/steps/ops.cuh"

extern "C" {
#include "random_job.h"
}
#include "cuda_door.cuh"
#include "schedules.h"

enum { MOST_TREES = 3, MOST_NODES = 48, UNTOUCHED = 0x5a };

template <class T> static T *host(size_t n) { return (T *)test_alloc(n * sizeof(T) + 1); }

static int failed(gbt_status status) { return status != GBT_OK; }

/* ---- rules ---- */

struct shape {
  int32_t n_features;
  int n_groups; /* 0: none */
  int weighted; /* 1: some 0; 2: most of them so small that their ranks are equal */
  double by_tree, by_layer, by_node;
  int symmetric;
};

static double *some_weights(test_rng *rng, const shape *s) {
  double *w = host<double>((size_t)s->n_features);
  for (int32_t f = 0; f < s->n_features; f++) {
    w[f] = test_below(rng, 4) == 0 ? 0.0 : 0.01 + test_unit(rng) * 5.0;
    if (s->weighted == 2 && w[f] > 0.0 && test_below(rng, 5)) w[f] = 1e-310;
  }
  return w;
}

/* Sets of a few features, of many, of none; the first feature is in most of them. */
static gbt_feature_rules *some_rules(test_rng *rng, const shape *s) {
  const size_t n = (size_t)s->n_features, n_groups = (size_t)s->n_groups;
  gbt_mem mem = gbt_mem_default();
  gbt_params params = gbt_params_default();
  gbt_feature_rules *rules = NULL;
  double *weight = s->weighted ? some_weights(rng, s) : NULL;
  int32_t *beg = host<int32_t>(n_groups + 1), *feat = host<int32_t>(n * n_groups + 1), at = 0;
  beg[0] = 0;
  for (int i = 0; i < s->n_groups; i++) {
    const int64_t size = test_below(rng, 4) || s->n_groups > 20 ? 3 : test_below(rng, 3) * (int64_t)n / 2;
    for (int32_t f = 0; f < s->n_features; f++)
      if (f == 0 ? test_below(rng, 8) > 0 : test_below(rng, (int64_t)n) < size) feat[at++] = f;
    beg[i + 1] = at;
  }
  params.colsample_bytree = s->by_tree;
  params.colsample_bylevel = s->by_layer;
  params.colsample_bynode = s->by_node;
  params.seed = test_below(rng, 1000000);
  CHECK_OK(gbt_feature_rules_new(&mem, s->n_features, NULL, &params, weight, beg, feat, s->n_groups, &rules, test_err));
  free(weight), free(beg), free(feat);
  return rules;
}

/* ---- trees ---- */

struct tree {
  uint64_t number;
  gbt_grow_node node[MOST_NODES];
  int32_t n_search, fresh_beg, n_feats, *feat;
  cu_searched search[MOST_NODES];
};

static int contains(const int32_t *feat, int32_t beg, int32_t end, int32_t f) {
  for (int32_t j = beg; j < end; j++)
    if (feat[j] == f) return 1;
  return 0;
}

/* A feature to split by: often one of a group, so that groups stay alive on long paths. */
static int32_t some_split(test_rng *rng, const gbt_feature_rules *r, const tree *t, int32_t group) {
  const int32_t any = t->n_feats > 0 ? t->feat[test_below(rng, t->n_feats)] : 0;
  if (group < 0 || r->group_beg[group] == r->group_beg[group + 1] || test_below(rng, 12) == 0) return any;
  const int32_t f = r->group_feat[r->group_beg[group] + test_below(rng, r->group_beg[group + 1] - r->group_beg[group])];
  return contains(t->feat, 0, t->n_feats, f) ? f : any;
}

/* Chains, bushes and what is between; a step of masks for single nodes has nodes of any depth. The tree's features are
 * the rules', or any: so that draws of layers and nodes meet weights of 0. */
static void some_tree(test_rng *rng, const gbt_feature_rules *r, int by_node, int32_t max_search, tree *t) {
  uint64_t *rank = host<uint64_t>((size_t)r->n_features);
  const int chain = test_below(rng, 3) == 0;
  const int32_t group = r->n_groups > 0 ? (int32_t)test_below(rng, r->n_groups) : -1;
  t->number = test_u(rng) >> 20;
  t->feat = host<int32_t>((size_t)r->n_features);
  t->n_feats = 0;
  if (test_below(rng, 2))
    t->n_feats = gbt_features_of_tree(r, t->number, t->feat, rank);
  else
    for (int32_t f = 0, part = 1 + (int32_t)test_below(rng, 3); f < r->n_features; f++)
      if (test_below(rng, part) == 0) t->feat[t->n_feats++] = f;
  for (int32_t id = 0; id < MOST_NODES; id++) {
    const int32_t parent = id == 0 ? -1 : chain ? id - 1 : (int32_t)test_below(rng, id);
    t->node[id] = gbt_grow_empty(parent, id == 0 ? 0 : t->node[parent].depth + 1);
    t->node[id].split.feat = some_split(rng, r, t, group);
  }
  t->n_search = test_below(rng, 10) ? 1 + (int32_t)test_below(rng, max_search) : 0;
  t->fresh_beg = test_below(rng, 2) ? MOST_NODES : (int32_t)test_below(rng, MOST_NODES); /* none, or some */
  for (int32_t i = 0; i < t->n_search; i++) {
    t->search[i].node = i > 0 && !by_node ? t->search[0].node : (int32_t)test_below(rng, MOST_NODES);
    t->search[i].minus = -1;
  }
  free(rank);
}

/* The host's draws. */
static int32_t want_of(const gbt_feature_rules *r, const tree *t, int32_t id, int symmetric, uint8_t *mask) {
  uint64_t *rank = host<uint64_t>((size_t)r->n_features);
  int32_t *list = host<int32_t>((size_t)r->n_features);
  uint32_t *path = host<uint32_t>((size_t)r->n_words);
  memset(path, 0, (size_t)r->n_words * sizeof *path);
  memset(mask, 0, (size_t)r->n_features);
  for (int32_t p = t->node[id].parent; p >= 0; p = t->node[p].parent)
    path[t->node[p].split.feat >> 5] |= 1u << (t->node[p].split.feat & 31);
  int32_t n = gbt_features_of_layer(r, t->number, t->node[id].depth, t->feat, t->n_feats, list, rank);
  n = gbt_features_allowed(r, path, list, n);
  if (!symmetric) n = gbt_features_of_node(r, t->number, id, list, n, list, rank);
  for (int32_t i = 0; i < n; i++) mask[list[i]] = 1;
  free(rank), free(list), free(path);
  return n;
}

/* ---- the device ---- */

template <class T> static void put(const cu_backend *be, int32_t y, const T *first, const T *from, size_t n) {
  const T *to = (const T *)((uintptr_t)first + (size_t)y * be->view.stride);
  if (n > 0) CHECK(cudaMemcpy((void *)to, from, n * sizeof *from, cudaMemcpyHostToDevice) == cudaSuccess);
}

static int device_open(cu_backend *be, const gbt_feature_rules *rules, const shape *s, int32_t max_step,
                       int32_t n_trees) {
  cu_view *v = &be->view;
  be->mem = gbt_mem_default();
  be->rules = rules;
  be->base.most_trees = n_trees;
  be->n_features = rules->n_features;
  be->device.n_units = 1; /* blocks take several masks */
  v->n_features = rules->n_features;
  v->max_step = max_step;
  v->n_trees = n_trees;
  v->by_node = !s->symmetric && (rules->by_node < 1.0 || rules->n_groups > 0);
  if (cudaStreamCreate(&be->device.stream) != cudaSuccess || failed(cu_features_open(be, test_err))) return 0;
  v->max_nodes = MOST_NODES;
  if (failed(cu_state_open(be, test_err))) return 0;
  return cudaMemset(v->tree, UNTOUCHED, v->stride * (size_t)n_trees) == cudaSuccess;
}

static void device_close(cu_backend *be) {
  if (be->device.stream) cudaStreamSynchronize(be->device.stream);
  cu_features_close(be);
  cu_drop(&be->device.memory, &be->state);
  if (be->device.stream) cudaStreamDestroy(be->device.stream);
  CHECK_EQ_U64(be->device.memory.bytes, 0);
}

struct masks_seen {
  int64_t masks, none, all, groups, left;
};

static void same_masks(const cu_backend *be, const shape *s, const tree *t, int32_t y, masks_seen *seen) {
  const cu_view *v = &be->view;
  const size_t n = (size_t)v->n_features, n_masks = cu_n_masks(v);
  uint8_t *got = host<uint8_t>(n_masks * n), *want = host<uint8_t>(n);
  const int32_t any = t->n_search > 0 || t->fresh_beg < MOST_NODES, n_drawn = v->by_node ? t->n_search : any;
  CHECK(cudaMemcpy(got, v->allowed + (size_t)y * v->stride, n_masks * n, cudaMemcpyDeviceToHost) == cudaSuccess);
  int64_t bad = 0;
  for (int32_t i = 0; i < n_drawn; i++) {
    const int32_t id = i < t->n_search ? t->search[i].node : t->fresh_beg;
    const int32_t k = want_of(be->rules, t, id, s->symmetric, want);
    for (int32_t j = 0; j < t->n_feats; j++) bad += got[(size_t)i * n + (size_t)t->feat[j]] != want[t->feat[j]];
    seen->masks++;
    seen->none += k == 0;
    seen->all += k == t->n_feats;
  }
  for (size_t i = (size_t)n_drawn * n; i < n_masks * n; i++) bad += got[i] != UNTOUCHED;
  if (!CHECK_EQ_I64(bad, 0))
    test_note("%d features, %d of the tree, %d groups, weights %d, shares %g %g, symmetric %d", (int)n, (int)t->n_feats,
              s->n_groups, s->weighted, s->by_layer, s->by_node, s->symmetric);
  free(got), free(want);
}

/* Trees with random rules, side by side. */
static void draw_both(test_rng *rng, const shape *s, masks_seen *seen) {
  const int32_t max_step = 1 + (int32_t)test_below(rng, s->n_features > 1000 ? 4 : 12);
  const int32_t n_trees = 1 + (int32_t)test_below(rng, MOST_TREES);
  gbt_feature_rules *rules = some_rules(rng, s);
  cu_backend *be = new cu_backend();
  REQUIRE(rules != NULL && CHECK(device_open(be, rules, s, max_step, n_trees)));
  tree *t = host<tree>(MOST_TREES);
  for (int32_t y = 0; y < n_trees; y++) {
    cu_tree state = {};
    some_tree(rng, rules, be->view.by_node, 2 * max_step, &t[y]);
    state.task.tree = t[y].number;
    state.n_nodes = MOST_NODES;
    state.n_search = t[y].n_search;
    state.fresh_beg = t[y].fresh_beg;
    put(be, y, be->view.tree, &state, 1);
    put(be, y, be->view.node, t[y].node, MOST_NODES);
    put(be, y, be->view.search, t[y].search, (size_t)t[y].n_search);
    put(be, y, be->view.feats, &t[y].n_feats, 1);
    put(be, y, be->view.feats + 1, t[y].feat, (size_t)t[y].n_feats);
  }
  for (int twice = 0; twice < 2; twice++) CHECK_OK(cu_features(be, test_err)); /* what stood there does not show */
  CHECK(cudaStreamSynchronize(be->device.stream) == cudaSuccess);
  for (int32_t y = 0; y < n_trees; y++) {
    same_masks(be, s, &t[y], y, seen);
    free(t[y].feat);
  }
  free(t);
  device_close(be);
  delete be;
  gbt_feature_rules_free(rules);
}

static double some_share(test_rng *rng) {
  const int64_t kind = test_below(rng, 6);
  return kind < 2 ? 1.0 : kind == 2 ? 1e-9 : kind == 3 ? 0.999 : 0.01 + 0.98 * test_unit(rng);
}

static shape some_shape(test_rng *rng) {
  static const int32_t sizes[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 513};
  shape s = {};
  s.n_features = test_below(rng, 3) ? sizes[test_below(rng, 10)] : 1 + (int32_t)test_below(rng, 80);
  s.weighted = (int)test_below(rng, 3);
  s.n_groups = test_below(rng, 2) ? 0 : test_below(rng, 8) ? 1 + (int)test_below(rng, 20) : 400;
  s.by_tree = some_share(rng);
  s.by_layer = some_share(rng);
  s.by_node = some_share(rng);
  s.symmetric = test_below(rng, 4) == 0;
  return s;
}

static int is_uniform(const shape *s) { return s->by_layer >= 1.0 && s->by_node >= 1.0 && s->n_groups == 0; }

static void masks_are_those_of_the_host(void) {
  masks_seen seen = {};
  for (uint64_t seed = 1; seed <= test_cases(250); seed++) {
    test_rng rng = {seed << 20};
    shape s = some_shape(&rng);
    if (!is_uniform(&s)) draw_both(&rng, &s, &seen);
  }
  test_note("%" PRId64 " masks, %" PRId64 " of them empty, %" PRId64 " full", seen.masks, seen.none, seen.all);
  CHECK_SEEN(seen.masks > 1000 && seen.none > 20 && seen.all > 20 && seen.none + seen.all < seen.masks / 2);
}

static void masks_of_many_features(void) {
  masks_seen seen = {};
  for (int i = 0; i < 9; i++) {
    test_rng rng = {(uint64_t)i + 77};
    const double node = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 0.3 : 0.9;
    shape s = {4999 + i, i % 2 ? 0 : 300, i % 3, 0.9, i % 4 ? 0.7 : 1.0, node, 0};
    draw_both(&rng, &s, &seen);
  }
  CHECK(seen.masks > 9);
}

static void masks_in_any_order(void) {
  masks_seen seen = {};
  for (int k = 0; test_schedule(k); k++)
    for (uint64_t seed = 1; seed <= 12; seed++) {
      test_rng rng = {seed << 33};
      shape s = some_shape(&rng);
      if (s.n_groups > 20) s.n_groups = 300;
      if (!is_uniform(&s)) draw_both(&rng, &s, &seen);
    }
  CHECK(seen.masks > 30);
}

/* ---- looking ---- */

/* The device, made to look after so many steps (-1: as it likes), and at how many it would have. */
static int looks_wanted, looks_planned;
static int32_t trees_planned;

static gbt_status open_looking(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                               gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  cu_backend *be = (cu_backend *)*out;
  looks_planned = be->bounds.looks;
  trees_planned = be->base.most_trees;
  if (looks_wanted >= 0) be->bounds.looks = looks_wanted;
  return GBT_OK;
}

static trained *train_looking(const train_job *job, const train_how *how, int looks) {
  looks_wanted = looks;
  return train_through(open_looking, job, how);
}

static int64_t depth_of(const gbt_forest *forest) {
  int64_t deepest = 0;
  for (size_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    const gbt_node *node = forest->nodes + tree->node_beg;
    int64_t *depth = host<int64_t>(tree->n_nodes);
    depth[0] = 0;
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      if (depth[i] > deepest) deepest = depth[i];
      if (node[i].left > 0) depth[node[i].left] = depth[node[i].left + 1] = depth[i] + 1;
    }
    free(depth);
  }
  return deepest;
}

/* Every row's response is half as large again as that of the row before, so that a split takes one row off. */
static made *made_steep(int64_t n) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_BELL};
  made *m = made_new(3, n, 3, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
  const double *x = (const double *)m->table.cols[0].values;
  for (int64_t i = 0; i < n; i++) {
    m->label[i] = 1.0;
    for (int64_t k = 0; k < n; k++) m->label[i] *= x[k] < x[i] ? 1.5 : 1.0;
  }
  return m;
}

static void deep_trees_are_looked_at_now_and_then(void) {
  made *m = made_steep(60);
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  for (int kind = 0; kind < 4; kind += test_few() ? 3 : 1) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
    gbt_params *p = &job.spec.params;
    const int leaves = kind % 2;
    p->grow_policy = leaves ? GBT_LOSSGUIDE : GBT_DEPTHWISE;
    p->max_depth = 0;
    p->max_leaves = 40;
    p->min_child_weight = p->lambda = 0.0;
    p->num_parallel_tree = kind < 2 ? 1 : 3;
    p->colsample_bynode = kind < 2 ? 1.0 : 0.6;
    p->grad_bits = GBT_GRAD_32;
    trained *cpu = train(&job, &how);
    for (int looks = -1; looks < 6; looks += looks < 1 ? 2 : 1 + 2 * leaves) {
      trained *cuda = train_looking(&job, &how, looks);
      if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) test_note("kind %d, looks %d", kind, looks);
      trained_free(cuda);
    }
    CHECK_EQ_I64(looks_planned, kind == 3 ? 0 : 8); /* draws for nodes: a leaf a step, whose number is known */
    CHECK_EQ_I64(trees_planned, p->num_parallel_tree);
    if (cpu != NULL) CHECK(leaves || depth_of(cpu->forest) > 12);
    trained_free(cpu);
  }
  made_free(m);
}

/* Layers of many nodes in several steps each, as there is room for few histograms. */
static void layers_in_parts(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL};
  made *m = made_new(9, 1500, 8, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 9);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  job.spec.params.max_depth = 8;
  job.spec.params.colsample_bynode = 0.5;
  job.spec.params.num_parallel_tree = 2;
  job.spec.params.hist_memory = 1; /* of 8 x 256 sums of 16 bytes: 32 histograms */
  trained *cpu = train(&job, &how), *cuda = train_looking(&job, &how, -1);
  CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  CHECK_EQ_I64(looks_planned, 8);
  trained_free(cpu);
  trained_free(cuda);
  made_free(m);
}

/* Features by layer and node, and groups, are no reason to look. */
static void forests_are_not_looked_at(void) {
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made *m = made_steep(60);
  const int32_t beg[] = {0, 2, 3}, feat[] = {0, 1, 2};
  for (int policy = 0; policy < 3; policy++)
    for (int rule = 0; rule < 3; rule++) {
      train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
      gbt_params *p = &job.spec.params;
      p->grow_policy = policy;
      p->max_depth = policy == GBT_LOSSGUIDE ? 0 : 4;
      p->max_leaves = policy == GBT_LOSSGUIDE ? 9 : 0;
      p->num_parallel_tree = 5;
      p->colsample_bylevel = rule == 0 ? 0.6 : 1.0;
      p->colsample_bynode = rule == 1 && policy != GBT_SYMMETRIC ? 0.5 : 1.0;
      if (rule == 2) {
        job.spec.n_interact = 2;
        job.spec.interact_beg = beg;
        job.spec.interact_col = feat;
      }
      trained *cpu = train(&job, &how), *cuda = train_looking(&job, &how, -1);
      CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
      CHECK_EQ_I64(looks_planned, 0);
      CHECK_EQ_I64(trees_planned, 5);
      trained_free(cpu);
      trained_free(cuda);
    }
  made_free(m);
}

/* ---- leaves that are split ahead ---- */

/* A random job, its trees best-first with so many leaves. */
static random_job job_of_leaves(uint64_t seed, int64_t max_leaves) {
  random_job r = random_job_make(seed, 400);
  gbt_params *p = &r.job.spec.params;
  p->grow_policy = GBT_LOSSGUIDE;
  p->max_leaves = max_leaves;
  if (seed % 4) p->colsample_bynode = 1.0;
  if (seed % 2) { /* as many leaves as it may have */
    p->min_child_weight = p->gamma = p->alpha = 0.0;
    p->min_data_in_leaf = 1;
    p->subsample = 1.0;
    p->max_depth = seed % 3 ? 0 : 9;
  }
  r.job.rounds = 2;
  return r;
}

/* Every number of leaves up to more than a step splits, and those about where they fill warps and blocks. */
static void what_is_split_ahead_does_not_show(void) {
  static const int64_t large[] = {127, 128, 129, 255, 256, 257};
  int64_t splits = 0, bounded = 0;
  const int wanted = looks_wanted;
  looks_wanted = -1;
  for (int64_t i = 1; i <= 82; i += test_few() ? 5 : 1) {
    const int64_t leaves = i <= 70 ? i : large[(i - 71) % 6];
    random_job r = job_of_leaves((uint64_t)i, leaves);
    trained *cpu = train(&r.job, &r.how), *cuda = train_looking(&r.job, &r.how, -1);
    if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) test_note("max_leaves %d", (int)leaves);
    if (cpu != NULL) {
      splits += (int64_t)(cpu->forest->n_nodes - cpu->forest->n_trees) / 2;
      bounded += (int64_t)cpu->forest->n_nodes == (int64_t)cpu->forest->n_trees * (2 * leaves - 1);
    }
    trained_free(cpu);
    trained_free(cuda);
    random_job_free(&r);
  }
  looks_wanted = wanted;
  test_note("%d splits, %d trainings whose trees have all the leaves they may", (int)splits, (int)bounded);
  CHECK_SEEN(splits > 1000 && bounded > 3);
}

/* Leaves that waited are split together with deeper ones: each has the draw of its own depth. */
static void leaves_that_waited_have_the_draw_of_their_layer(void) {
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made_kind kinds[10];
  for (int f = 0; f < 10; f++) kinds[f] = MADE_BELL;
  made *m = made_new(11, 4000, 10, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
  const int wanted = looks_wanted;
  looks_wanted = -1;
  for (int64_t leaves = 31; leaves <= 255; leaves = 2 * leaves + 1) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
    gbt_params *p = &job.spec.params;
    p->grow_policy = GBT_LOSSGUIDE;
    p->max_depth = 0;
    p->max_leaves = leaves;
    p->min_child_weight = 0.0;
    p->min_data_in_leaf = 1;
    p->colsample_bylevel = 0.4;
    trained *cpu = train(&job, &how), *cuda = train_looking(&job, &how, -1);
    if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) test_note("max_leaves %d", (int)leaves);
    if (cpu != NULL) CHECK_EQ_I64((int64_t)cpu->forest->n_nodes, (int64_t)cpu->forest->n_trees * (2 * leaves - 1));
    trained_free(cpu);
    trained_free(cuda);
  }
  looks_wanted = wanted;
  made_free(m);
}

/* Gains that are equal by hundreds: the policy then uses numbers, and most splits ahead are not used. */
static void equal_gains_are_taken_by_number(void) {
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  const made_kind kinds[] = {MADE_BELL, MADE_BELL};
  made *m = made_new(5, 512, 2, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
  double *x = (double *)m->table.cols[0].values;
  for (int64_t i = 0; i < 512; i++) { /* every bit of the row's number splits all nodes of a layer alike */
    x[i] = (double)i;
    m->label[i] = 0.0;
    for (int bit = 0; bit < 9; bit++) m->label[i] += (i >> bit & 1 ? 1.0 : -1.0) * (double)(1 << bit);
  }
  for (int64_t leaves = 2; leaves <= 300; leaves = leaves * (test_few() ? 8 : 3) / 2 + 1) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
    job.spec.params.grow_policy = GBT_LOSSGUIDE;
    job.spec.params.max_depth = 0;
    job.spec.params.max_leaves = leaves;
    job.spec.params.min_child_weight = job.spec.params.lambda = 0.0;
    trained *cpu = train(&job, &how), *cuda = train_looking(&job, &how, -1);
    if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) test_note("max_leaves %d", (int)leaves);
    trained_free(cpu);
    trained_free(cuda);
  }
  made_free(m);
}

extern "C" void suite_cuda_features(void);
extern "C" void suite_cuda_features(void) {
  RUN(masks_are_those_of_the_host);
  RUN(masks_of_many_features);
  RUN(masks_in_any_order);
  RUN(deep_trees_are_looked_at_now_and_then);
  RUN(layers_in_parts);
  RUN(forests_are_not_looked_at);
  RUN(what_is_split_ahead_does_not_show);
  RUN(leaves_that_waited_have_the_draw_of_their_layer);
  RUN(equal_gains_are_taken_by_number);
}
