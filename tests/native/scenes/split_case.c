#include "split_case.h"

#include "../../src/gbt/cpu/cpu.h"
#include "test.h"

/* ---- cases ---- */

static const int32_t some_bins[] = {1, 2, 2, 2, 3, 5, 16, 31, 32, 33, 64, 65, 100, 255, 256, 300};

static const int some_gradients[] = {SPLIT_ANY,  SPLIT_ANY,   SPLIT_ANY,  SPLIT_TIES,  SPLIT_TIES,   SPLIT_TIES,
                                     SPLIT_HUGE, SPLIT_LIGHT, SPLIT_HUGE, SPLIT_EQUAL, SPLIT_NOTHING};

static double one_of(test_rng *rng, const double *x, int64_t n) { return x[test_below(rng, n)]; }

static gbt_params draw_params(test_rng *rng, int symmetric) {
  static const double lambda[] = {0, 1, 10}, alpha[] = {0, 0, 0.5}, gamma[] = {0, 0, 0.01, 3}, weight[] = {0, 0, 1, 5},
                      rows[] = {1, 1, 2, 9}, step[] = {0, 0, 0.3}, smooth[] = {0, 1, 10}, l2[] = {0, 10},
                      noise[] = {0, 1, 1}, most[] = {1, 3, 64, 1000}, group[] = {1, 3, 20};
  gbt_params p = gbt_params_default();
  p.lambda = one_of(rng, lambda, 3);
  p.alpha = one_of(rng, alpha, 3);
  p.gamma = one_of(rng, gamma, 4);
  p.min_child_weight = one_of(rng, weight, 4);
  p.min_data_in_leaf = (int64_t)one_of(rng, rows, 4);
  p.max_delta_step = one_of(rng, step, 3);
  p.cat_smooth = one_of(rng, smooth, 3);
  p.cat_l2 = one_of(rng, l2, 2);
  p.cat_noise = one_of(rng, noise, 3);
  p.max_cat_threshold = (int64_t)one_of(rng, most, 4);
  p.min_data_per_group = (int64_t)one_of(rng, group, 3);
  p.max_cat_onehot = test_below(rng, 2) ? 4 : 33;
  p.max_depth = symmetric ? 16 : 0;
  p.grow_policy = symmetric ? GBT_SYMMETRIC : GBT_LOSSGUIDE;
  return p;
}

static split_case *new_case(uint64_t seed, int32_t n_feats, const gbt_params *params) {
  split_case *c = test_alloc(sizeof *c);
  size_t n = (size_t)n_feats;
  memset(c, 0, sizeof *c);
  c->params = *params;
  c->seed = seed;
  c->cuts.n_features = c->layout.n_features = n_feats;
  c->cuts.feat = test_alloc(n * sizeof *c->cuts.feat);
  c->cuts.schema = test_alloc(sizeof *c->cuts.schema);
  memset(c->cuts.schema, 0, sizeof *c->cuts.schema);
  c->cuts.schema->feat = test_alloc(n * sizeof *c->cuts.schema->feat);
  c->cuts.schema->n_features = n_feats;
  c->layout.place = test_alloc(n * sizeof *c->layout.place);
  c->counts = test_alloc(n);
  c->like = test_alloc(n * sizeof *c->like);
  c->tree_feats = test_alloc(n * sizeof *c->tree_feats);
  c->allowed = test_alloc(n);
  memset(c->cuts.feat, 0, n * sizeof *c->cuts.feat);
  memset(c->cuts.schema->feat, 0, n * sizeof *c->cuts.schema->feat);
  memset(c->allowed, 1, n);
  for (size_t f = 0; f < n; f++) {
    c->like[f] = -1;
    c->tree_feats[f] = (int32_t)f;
  }
  c->n_tree_feats = n_feats;
  return c;
}

/* Places, which features are counted, units. */
static void finish_case(split_case *c, test_rng *rng) {
  uint32_t slot = 0;
  for (int32_t f = 0; f < c->cuts.n_features; f++) {
    gbt_place *place = &c->layout.place[f];
    int factor = c->cuts.schema->feat[f].type == GBT_CATEGORICAL;
    place->slot_beg = slot;
    slot += place->n_slots + (uint32_t)test_below(rng, 2);
    c->counts[f] = c->params.min_data_in_leaf > 1 || (factor && c->cuts.feat[f].n_bins > c->params.max_cat_onehot);
    c->any_counts |= c->counts[f];
  }
  c->layout.n_slots = c->layout.sparse_slot = slot + 1;
  c->gradients = some_gradients[test_below(rng, (int64_t)(sizeof some_gradients / sizeof *some_gradients))];
  c->unit.g = gbt_pow2(-10 - (int)test_below(rng, 3)) * 65536.0;
  c->unit.h = gbt_pow2(-12) * 65536.0;
  if (c->gradients != SPLIT_HUGE) c->unit.g *= gbt_pow2(-14), c->unit.h *= gbt_pow2(-14);
  c->noise = test_unit(rng);
}

static void draw_feature(split_case *c, int32_t f, test_rng *rng) {
  gbt_feature_cuts *cuts = &c->cuts.feat[f];
  gbt_place *place = &c->layout.place[f];
  int64_t kind = test_below(rng, 6);
  cuts->n_bins = some_bins[test_below(rng, (int64_t)(sizeof some_bins / sizeof *some_bins))];
  cuts->has_missing = test_below(rng, 3) == 0;
  cuts->zero_bin = -1;
  *place = (gbt_place){.group = 0, .n_slots = (uint32_t)cuts->n_bins + 1, .zero_bin = -1};
  if (kind >= 4) {
    c->cuts.schema->feat[f].type = GBT_CATEGORICAL;
  } else if (kind >= 2) { /* a sparse one, or one of a bundle */
    cuts->zero_bin = place->zero_bin = (int32_t)test_below(rng, test_below(rng, 3) ? cuts->n_bins : cuts->n_bins + 1);
    cuts->has_missing |= cuts->zero_bin == cuts->n_bins;
    place->group = kind == 2 ? -1 : 0;
    int slot = kind == 2 || cuts->has_missing;
    place->n_slots = (uint32_t)(cuts->n_bins - (cuts->zero_bin < cuts->n_bins && !slot));
  }
  if (f == 0 || test_below(rng, 4) != 0) return;
  int32_t as = (int32_t)test_below(rng, f); /* ties between features */
  *cuts = c->cuts.feat[as];
  *place = c->layout.place[as];
  c->cuts.schema->feat[f].type = c->cuts.schema->feat[as].type;
  c->like[f] = as;
}

split_case *split_case_new(uint64_t seed, int32_t n_feats, int symmetric) {
  test_rng rng = {seed * 1000003u};
  gbt_params params = draw_params(&rng, symmetric);
  params.extra_trees = seed % 5 == 2;
  params.random_strength = symmetric && seed % 3 == 1 ? 2.0 : 0.0; /* of a layer the winner, of a node every feature */
  split_case *c = new_case(seed, n_feats, &params);
  for (int32_t f = 0; f < n_feats; f++) draw_feature(c, f, &rng);
  finish_case(c, &rng);
  if (test_below(&rng, 3) == 0) {
    c->monotone = test_alloc((size_t)n_feats);
    for (int32_t f = 0; f < n_feats; f++) c->monotone[f] = (int8_t)(test_below(&rng, 3) - 1);
  }
  if (test_below(&rng, 3) == 0) {
    c->n_tree_feats = 0;
    for (int32_t f = 0; f < n_feats; f++)
      if (test_below(&rng, 3) > 0) c->tree_feats[c->n_tree_feats++] = f;
  }
  for (int32_t f = 0; f < n_feats; f++) c->allowed[f] = test_below(&rng, 8) > 0;
  return c;
}

split_case *split_case_levels(uint64_t seed, int32_t n_levels, int symmetric) {
  test_rng rng = {seed * 1000003u};
  gbt_params params = draw_params(&rng, symmetric);
  params.max_cat_onehot = 4;
  params.min_data_in_leaf = 1;
  params.gamma = params.cat_noise = 0.0;
  params.cat_smooth = 1.0;
  params.max_cat_threshold = seed % 2 ? 40000 : 64;
  params.extra_trees = seed % 4 == 3;
  split_case *c = new_case(seed, 1, &params);
  c->cuts.schema->feat[0].type = GBT_CATEGORICAL;
  c->cuts.feat[0] = (gbt_feature_cuts){.n_bins = n_levels, .has_missing = 1, .zero_bin = -1};
  c->layout.place[0] = (gbt_place){.n_slots = (uint32_t)n_levels + 1, .zero_bin = -1};
  finish_case(c, &rng);
  c->gradients = seed % 3 ? SPLIT_ANY : SPLIT_TIES;
  return c;
}

split_case *split_case_numeric(uint64_t seed, int32_t n_bins) {
  test_rng rng = {seed * 1000003u};
  gbt_params params = draw_params(&rng, 0);
  if (seed % 4 > 0) params.alpha = params.max_delta_step = 0.0; /* a search may know bounds then */
  params.extra_trees = seed % 7 == 3;
  split_case *c = new_case(seed, 1, &params);
  c->cuts.feat[0] = (gbt_feature_cuts){.n_bins = n_bins, .has_missing = seed % 3 > 0, .zero_bin = -1};
  c->layout.place[0] = (gbt_place){.n_slots = (uint32_t)n_bins + 1, .zero_bin = -1};
  finish_case(c, &rng);
  if (n_bins > 66 && c->gradients == SPLIT_HUGE) c->gradients = SPLIT_ANY; /* sums of so many rows would overflow */
  if (seed % 5 == 0) {
    c->monotone = test_alloc(1);
    c->monotone[0] = (int8_t)(test_below(&rng, 3) - 1);
  }
  return c;
}

void split_case_free(split_case *c) {
  free(c->cuts.feat), free(c->cuts.schema->feat), free(c->cuts.schema), free(c->layout.place);
  free(c->monotone), free(c->counts), free(c->like), free(c->tree_feats), free(c->allowed), free(c);
}

/* ---- steps ---- */

static gbt_sum draw_gradient(const split_case *c, test_rng *rng) {
  gbt_sum s = {test_below(rng, 20001) - 10000, 1 + test_below(rng, 10000)};
  if (c->gradients == SPLIT_TIES) s = (gbt_sum){(test_below(rng, 3) - 1) * 4096, 4096};
  if (c->gradients == SPLIT_LIGHT && test_below(rng, 10) > 0) s.h = 0;
  if (c->gradients == SPLIT_HUGE) {
    s.g = s.g * (INT64_C(1) << 40) + test_below(rng, 1000);
    s.h = s.h * (INT64_C(1) << 40) + test_below(rng, 1000);
  }
  if (c->gradients == SPLIT_EQUAL) s = (gbt_sum){-777, 1234};
  if (c->gradients == SPLIT_NOTHING) s = (gbt_sum){0, 0};
  return s;
}

/* How a feature's codes fall: anywhere, nearly all in one bin, in few bins, or all in one. */
static int32_t draw_code(const split_case *c, int32_t f, int mode, test_rng *rng) {
  const gbt_feature_cuts *cuts = &c->cuts.feat[f];
  const gbt_place *place = &c->layout.place[f];
  int32_t n = cuts->n_bins, zero = cuts->zero_bin >= 0 ? cuts->zero_bin : (int32_t)(c->seed % (uint64_t)n);
  /* a set of rows may have missing values that the rows which the cuts came from had not */
  int missing = cuts->has_missing || (c->seed % 3 == 0 && gbt_place_has_missing(place, n));
  if (missing && test_below(rng, 6) == 0) return n;
  if (mode == 0) return (int32_t)test_below(rng, n);
  if (mode == 1) return test_below(rng, 5) ? zero : (int32_t)test_below(rng, n);
  if (mode == 2) return (int32_t)(test_below(rng, 3) * (n - 1) / 2);
  return zero;
}

typedef struct made_hist {
  gbt_sum total, *sum; /* n_slots */
  uint32_t n_rows, *count;
} made_hist;

static void add_code(const split_case *c, made_hist *h, int32_t f, int32_t code, gbt_sum s, uint32_t weight) {
  const gbt_place *place = &c->layout.place[f];
  if (code == place->zero_bin) return;
  uint32_t slot = place->slot_beg + gbt_place_slot(place, code);
  h->sum[slot].g += s.g;
  h->sum[slot].h += s.h;
  if (c->counts[f]) h->count[slot] += weight;
}

static void add_row(const split_case *c, made_hist *h, int64_t row, const int *mode, int32_t *code, test_rng *rng) {
  gbt_sum s = draw_gradient(c, rng);
  uint32_t weight = (uint32_t)(c->gradients == SPLIT_HUGE ? 1 + test_below(rng, 20000000) : 1 + test_below(rng, 3));
  h->total.g += s.g;
  h->total.h += s.h;
  h->n_rows += weight;
  for (int32_t f = 0; f < c->cuts.n_features; f++) {
    code[f] = c->like[f] >= 0 ? code[c->like[f]] : draw_code(c, f, mode[f], rng);
    if (c->cuts.n_features == 1 && row < c->cuts.feat[0].n_bins) code[0] = (int32_t)row;
    add_code(c, h, f, code[f], s, weight);
  }
}

/* A node of n_rows rows, histogram and all. */
static void fill_node(const split_case *c, split_step *s, int32_t fresh, int32_t n_rows, test_rng *rng) {
  size_t n_feats = (size_t)c->cuts.n_features, at = (size_t)fresh * c->layout.n_slots;
  made_hist h = {{0, 0}, s->after + at, 0, s->count_after + at};
  int *mode = test_alloc(n_feats * sizeof *mode);
  int32_t *code = test_alloc(n_feats * sizeof *code);
  gbt_grow_node *node = &s->node[fresh];
  for (size_t f = 0; f < n_feats; f++) mode[f] = (int)test_below(rng, 13) / 4;
  for (int64_t r = 0; r < n_rows; r++) add_row(c, &h, r, mode, code, rng);
  *node = gbt_grow_empty(-1, 0);
  while ((2 << node->depth) - 1 <= s->fresh_beg) node->depth++; /* of a full tree */
  node->sum = h.total;
  node->n_rows = h.n_rows;
  node->bounds = (gbt_bounds){-GBT_GROW_INFINITY, GBT_GROW_INFINITY};
  if (c->monotone && test_below(rng, 2)) node->bounds = (gbt_bounds){-test_unit(rng), test_unit(rng)};
  node->hist = fresh;
  node->splittable = 1;
  free(mode), free(code);
}

split_step *split_step_new(const split_case *c, uint64_t seed, int32_t fresh_beg, int32_t n_fresh, int32_t n_rows,
                           int pairs) {
  test_rng rng = {seed * 7919u + 13u};
  split_step *s = test_alloc(sizeof *s);
  size_t n = (size_t)n_fresh, cells = n * c->layout.n_slots;
  *s = (split_step){.fresh_beg = fresh_beg, .n_fresh = n_fresh, .n_hists = n_fresh};
  s->node = test_alloc(n * sizeof *s->node);
  s->searched = test_alloc(n * sizeof *s->searched);
  s->minus = test_alloc(n * sizeof *s->minus);
  s->before = test_alloc(cells * sizeof *s->before), s->after = test_alloc(cells * sizeof *s->after);
  s->count_before = test_alloc(cells * sizeof(uint32_t)), s->count_after = test_alloc(cells * sizeof(uint32_t));
  memset(s->after, 0, cells * sizeof *s->after);
  memset(s->count_after, 0, cells * sizeof(uint32_t));
  for (int32_t i = 0; i < n_fresh; i++)
    fill_node(c, s, i, n_rows > 0 ? 1 + (int32_t)test_below(&rng, n_rows) : -n_rows, &rng);
  memcpy(s->before, s->after, cells * sizeof *s->after);
  memcpy(s->count_before, s->count_after, cells * sizeof(uint32_t));
  for (int32_t i = 0; i < n_fresh; i++) {
    int taken_off = pairs && i % 2 == 1;
    size_t own = (size_t)i * c->layout.n_slots, less = own - (taken_off ? c->layout.n_slots : 0);
    for (int32_t t = 0; taken_off && t < c->n_tree_feats; t++) {
      const gbt_place *place = &c->layout.place[c->tree_feats[t]];
      for (size_t k = place->slot_beg; k < place->slot_beg + place->n_slots; k++) {
        s->before[own + k].g += s->after[less + k].g;
        s->before[own + k].h += s->after[less + k].h;
        s->count_before[own + k] += s->count_after[less + k];
      }
    }
    if (pairs && !taken_off && n_fresh > 2 && test_below(&rng, 6) == 0) { /* built for its sibling's sake alone */
      s->node[i].splittable = 0;
      s->node[i].hist = -1;
      continue;
    }
    s->searched[s->n_search] = i;
    s->minus[s->n_search++] = taken_off ? i - 1 : -1;
  }
  for (int32_t i = s->n_search - 1; i > 0; i--) { /* they come in any order */
    int32_t j = (int32_t)test_below(&rng, i + 1), a = s->searched[i], b = s->minus[i];
    s->searched[i] = s->searched[j], s->minus[i] = s->minus[j];
    s->searched[j] = a, s->minus[j] = b;
  }
  return s;
}

void split_step_free(split_step *s) {
  free(s->node), free(s->searched), free(s->minus), free(s->before), free(s->after);
  free(s->count_before), free(s->count_after), free(s);
}

/* ---- the CPU ---- */

struct split_cpu {
  gbt_ctx ctx;
  cpu_backend be;
  gbt_feature_rules rules;
  gbt_scale scale;
  double noise;
  int8_t wide;
  const split_case *of;
};

static void *zeros(size_t n, size_t size) {
  void *block = test_alloc(n * size + 1);
  memset(block, 0, n * size + 1);
  return block;
}

split_cpu *split_cpu_open(const split_case *c) {
  split_cpu *cpu = zeros(1, sizeof *cpu);
  cpu_backend *be = &cpu->be;
  size_t n = (size_t)c->cuts.n_features;
  cpu->ctx = test_ctx(NULL, 1);
  cpu->of = c;
  cpu->scale.down_g = c->unit.g;
  cpu->scale.down_h = c->unit.h;
  cpu->noise = c->noise;
  cpu->wide = 1;
  be->view.wide = 1; /* units are those of the scale */
  cpu->rules.n_features = (int32_t)n;
  cpu->rules.by_tree = cpu->rules.by_layer = cpu->rules.by_node = 1.0;
  be->mem = cpu->ctx.mem;
  be->params = &c->params;
  be->n_features = (int32_t)n;
  be->n_outputs = 1;
  be->cuts = &c->cuts;
  be->layout = &c->layout;
  be->rules = &cpu->rules;
  be->task.contest_noise = c->params.random_strength;
  be->kernels = gbt_cpu_kernels(cpu->ctx.simd);
  be->grad.scale = &cpu->scale;
  be->grad.noise = &cpu->noise;
  be->grad.wide = &cpu->wide;
  be->pool.any_counts = c->any_counts;
  be->hist.acc_slots = 1;
  gbt_frontier_init(&be->fr, &be->mem, &c->params, c->monotone, 0);
  be->fr.policy.unit = c->unit;
  cpu_scratch_open(be);
  if (cpu_split_open(be, test_err) != GBT_OK || cpu_layer_open(be, test_err) != GBT_OK ||
      cpu_scratch_ready(&cpu->ctx, be, test_err) != GBT_OK)
    test_note("no memory");
  be->layer.depth = -1;
  return cpu;
}

void split_cpu_close(split_cpu *cpu) {
  cpu_backend *be = &cpu->be;
  free(be->pool.hist), free(be->pool.free);
  gbt_mem_free(&be->mem, be->rows.chunk);
  cpu_scratch_close(be);
  cpu_split_close(be);
  cpu_layer_close(be);
  gbt_frontier_free(&be->fr);
  gbt_ctx_close(&cpu->ctx);
  free(cpu);
}

/* The step's nodes into the frontier, those in [beg, end) fresh. */
static void put_nodes(split_cpu *cpu, const split_step *s, int32_t beg, int32_t end) {
  cpu_backend *be = &cpu->be;
  gbt_frontier *fr = &be->fr;
  size_t n = (size_t)(s->fresh_beg + s->n_fresh);
  int failed = gbt_mem_grow(&fr->mem, &fr->node, &fr->cap_nodes, n, sizeof *fr->node, test_err) != GBT_OK;
  failed |= gbt_mem_grow(&fr->mem, &fr->fresh, &fr->cap_fresh, n, sizeof *fr->fresh, test_err) != GBT_OK;
  if (failed) exit(2);
  memcpy(fr->node + s->fresh_beg, s->node, (size_t)s->n_fresh * sizeof *s->node);
  fr->n_nodes = n;
  fr->n_fresh = fr->n_open = fr->ahead.n_next = fr->n_chosen = fr->n_set_words = 0;
  for (int32_t i = beg; i < end; i++) fr->fresh[fr->n_fresh++] = s->fresh_beg + i;
  free(be->pool.hist), free(be->pool.free);
  be->pool.n = (size_t)s->n_hists;
  be->pool.n_free = 0;
  be->pool.hist = zeros(be->pool.n, sizeof *be->pool.hist);
  be->pool.free = zeros(2 * be->pool.n, sizeof *be->pool.free);
  for (size_t h = 0; h < be->pool.n; h++) {
    be->pool.hist[h].sum = s->after + h * cpu->of->layout.n_slots;
    be->pool.hist[h].count = s->count_after + h * cpu->of->layout.n_slots;
  }
}

gbt_split split_cpu_find(split_cpu *cpu, const split_step *s, int32_t fresh, int32_t feat, uint32_t *words) {
  cpu_backend *be = &cpu->be;
  put_nodes(cpu, s, fresh, fresh + 1);
  be->split.tree_feats[0] = feat;
  be->split.n_tree_feats = 1;
  CHECK_OK(cpu_find_splits(&cpu->ctx, &be->base, test_err));
  const gbt_grow_node *node = &be->fr.node[s->fresh_beg + fresh];
  if (node->set_words > 0) memcpy(words, be->fr.sets + node->set_beg, node->set_words * sizeof *words);
  return node->split;
}

void split_cpu_layer(split_cpu *cpu, const split_step *s, gbt_grow_node *node, uint32_t *words) {
  cpu_backend *be = &cpu->be;
  put_nodes(cpu, s, 0, s->n_fresh);
  be->split.n_tree_feats = 0;
  for (int32_t t = 0; t < cpu->of->n_tree_feats; t++) /* the same for all layers, so the tree's are the layer's */
    if (cpu->of->allowed[cpu->of->tree_feats[t]])
      be->split.tree_feats[be->split.n_tree_feats++] = cpu->of->tree_feats[t];
  CHECK_OK(cpu_find_splits(&cpu->ctx, &be->base, test_err));
  CHECK_OK(cpu_layer_decide(&cpu->ctx, be, test_err));
  memcpy(node, be->fr.node + s->fresh_beg, (size_t)s->n_fresh * sizeof *node);
  if (node->set_words > 0) memcpy(words, be->fr.sets + node->set_beg, node->set_words * sizeof *words);
}
