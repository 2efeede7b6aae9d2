/* Searches on the device: split for split, and sum for sum, what the CPU backend finds in the same histograms. The
 * first half puts a view around the histograms of a case and runs the searches of src/cuda on it, the second half
 * compares. */
#include "../../src/cuda/grow/search/layer.cuh"
#include "../../src/cuda/grow/search/ops.cuh"
#include "../../src/cuda/grow/state/ops.cuh"

extern "C" {
#include "split_case.h"
#include "test.h"
}

enum { MOST_WORDS = 1 << 16, SEARCH_TASKS = 12 * 4 * 2 /* of a unit: blocks, warps, turns of split.cu */ };

/* ---- the device ---- */

struct split_device {
  cu_backend be;
  const split_case *of;
  cu_feature *feat;
  cu_array<cu_feature> feat_up;
  cu_array<int8_t> monotone;
  uint32_t fault; /* of the last layer */
};

static void split_device_close(split_device *d);

static int failed(gbt_status status) { return status != GBT_OK; }

template <class T> static int put(T *to, const T *from, size_t n) {
  return n > 0 && cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyHostToDevice) != cudaSuccess;
}

template <class T> static int get(T *to, const T *from, size_t n) {
  return n > 0 && cudaMemcpy(to, from, n * sizeof *to, cudaMemcpyDeviceToHost) != cudaSuccess;
}

static void describe(split_device *d) {
  const split_case *c = d->of;
  for (int32_t f = 0; f < c->cuts.n_features; f++) {
    const gbt_feature_cuts *cuts = &c->cuts.feat[f];
    const gbt_place *place = &c->layout.place[f];
    int factor = c->cuts.schema->feat[f].type == GBT_CATEGORICAL;
    cu_feature x = {};
    x.column = place->group;
    x.slot = place->slot_beg;
    x.n_slots = place->n_slots;
    x.zero_bin = place->zero_bin;
    x.n_bins = cuts->n_bins;
    x.has_missing = cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins);
    x.counts = c->counts[f];
    x.kind = !factor ? CU_NUMERIC : cuts->n_bins > c->params.max_cat_onehot ? CU_SET : CU_ONEHOT;
    d->feat[f] = x;
  }
}

/* Sizes, before anything is allocated. */
static void size_view(split_device *d, int32_t run_feats, int by_node, int32_t max_step) {
  cu_backend *be = &d->be;
  cu_view *v = &be->view;
  const split_case *c = d->of;
  v->params = c->params;
  v->policy = gbt_grow_policy_of(&c->params, NULL);
  v->n_features = be->n_features;
  v->constrained = c->monotone != NULL || c->params.max_delta_step > 0.0;
  v->any_counts = c->any_counts;
  v->n_slots = c->layout.n_slots;
  v->n_trees = v->n_turns = be->base.most_trees = 1;
  v->max_step = max_step;
  v->max_hists = 2 * max_step;
  v->run_feats = run_feats;
  v->n_feat_runs = (be->n_features + run_feats - 1) / run_feats + v->n_set_feats;
  v->by_node = by_node;
  v->max_words = MOST_WORDS;
  v->max_nodes = MOST_WORDS;
}

/* The contents of the view's arrays before a step. */
static int fill_view(split_device *d, gbt_error *err) {
  cu_view *v = &d->be.view;
  const split_case *c = d->of;
  const size_t n = (size_t)d->be.n_features, masks = cu_n_masks(v);
  uint8_t *allowed = (uint8_t *)malloc(masks * n);
  for (size_t i = 0; i < masks * n; i++) allowed[i] = c->allowed[i % n];
  const int32_t n_tree_feats = c->n_tree_feats;
  int bad = failed(cu_new_from(&d->be.device, &d->feat_up, d->feat, n, err)) || put(v->feats, &n_tree_feats, 1) ||
            put(v->feats + 1, (const int32_t *)c->tree_feats, (size_t)n_tree_feats) ||
            put(v->allowed, (const uint8_t *)allowed, masks * n) ||
            (c->monotone && failed(cu_new_from(&d->be.device, &d->monotone, (const int8_t *)c->monotone, n, err)));
  v->train.feat = d->feat_up.at;
  v->policy.monotone = d->monotone.at;
  free(allowed);
  return bad;
}

static split_device *split_device_open(const split_case *c, int32_t run_feats, int by_node, int32_t max_step) {
  split_device *d = (split_device *)calloc(1, sizeof *d);
  cu_backend *be = &d->be;
  gbt_error err = {};
  const size_t n = (size_t)c->cuts.n_features;
  d->of = c;
  d->feat = (cu_feature *)calloc(n, sizeof *d->feat);
  be->mem = gbt_mem_default();
  be->params = &c->params;
  be->n_features = c->cuts.n_features;
  be->cuts = &c->cuts;
  be->layout = &c->layout;
  be->bounds.counts = c->counts;
  be->device.n_units = max_step > 8 ? 1 : 3;
  describe(d);
  int bad = cudaStreamCreate(&be->device.stream) != cudaSuccess || failed(cu_set_feats_open(be, &err));
  size_view(d, run_feats, by_node, max_step);
  if (!bad && c->params.grow_policy == GBT_SYMMETRIC) bad = failed(cu_layer_open(be, &err));
  bad = bad || failed(cu_state_open(be, &err)) || cudaStreamSynchronize(be->device.stream) != cudaSuccess;
  bad = bad || fill_view(d, &err);
  const double nothing = 0.0; /* as the CPU's, until a tree begins */
  if (!bad && be->layer) bad = put(be->layer->view.scored, &nothing, 1);
  if (!bad && be->layer && c->seed % 2 && be->layer->view.at_once > 3)
    be->layer->view.at_once = 3; /* several launches */
  if (!bad) return d;
  split_device_close(d);
  return NULL;
}

static void split_device_close(split_device *d) {
  if (!d) return;
  if (d->be.device.stream) cudaStreamSynchronize(d->be.device.stream);
  cu_layer_close(&d->be);
  cu_memory *memory = &d->be.device.memory;
  cu_set_feats_close(&d->be);
  cu_drop(memory, &d->be.state);
  cu_drop(memory, &d->feat_up);
  cu_drop(memory, &d->monotone);
  if (d->be.device.stream) cudaStreamDestroy(d->be.device.stream);
  free(d->feat);
  free(d);
}

static int32_t split_device_runs(const split_device *d) { return d->be.view.n_feat_runs; }
static uint32_t split_device_set_words(const split_device *d) { return d->be.view.set_words; }

/* The step's nodes and histograms onto the device. */
static int put_step(split_device *d, const split_step *s, uint32_t n_words) {
  cu_view *v = &d->be.view;
  const size_t cells = (size_t)s->n_hists * v->n_slots;
  cu_tree tree = {};
  tree.unit = d->of->unit;
  tree.noise = d->of->noise;
  tree.task.contest_noise = d->of->params.random_strength;
  tree.wide = d->of->gradients == SPLIT_HUGE;
  tree.fresh_beg = s->fresh_beg;
  tree.n_nodes = s->fresh_beg + s->n_fresh;
  tree.n_search = s->n_search;
  tree.n_words = n_words;
  cu_searched *list = (cu_searched *)malloc((size_t)s->n_search * sizeof *list + 1);
  for (int32_t i = 0; i < s->n_search; i++) {
    list[i].node = s->fresh_beg + s->searched[i];
    list[i].minus = s->minus[i];
  }
  int bad = put(v->tree, &tree, 1) || put(v->node + s->fresh_beg, (const gbt_grow_node *)s->node, (size_t)s->n_fresh) ||
            put(v->search, (const cu_searched *)list, (size_t)s->n_search) ||
            put(v->sum, (const gbt_sum *)s->before, cells) ||
            (v->any_counts && put(v->count, (const uint32_t *)s->count_before, cells));
  free(list);
  return bad;
}

static int get_sums(const split_device *d, const split_step *s, gbt_sum *sum, uint32_t *count) {
  const cu_view *v = &d->be.view;
  const size_t cells = (size_t)s->n_hists * v->n_slots;
  return get(sum, (const gbt_sum *)v->sum, cells) || (v->any_counts && get(count, (const uint32_t *)v->count, cells));
}

static int split_device_find(split_device *d, const split_step *s, gbt_split *found, uint32_t *set_bits, gbt_sum *sum,
                             uint32_t *count) {
  cu_view *v = &d->be.view;
  const size_t n = (size_t)s->n_search;
  gbt_error err = {};
  if (put_step(d, s, 0) || failed(cu_search(&d->be, &err)) || cudaStreamSynchronize(d->be.device.stream) != cudaSuccess)
    return 0;
  return !get(found, (const gbt_split *)v->found, n * (size_t)v->n_feat_runs) &&
         !get(set_bits, (const uint32_t *)v->set_bits, n * v->set_words) && !get_sums(d, s, sum, count);
}

static int split_device_layer(split_device *d, const split_step *s, int32_t depth, gbt_grow_node *node, uint32_t *words,
                              uint32_t room, uint32_t *n_words, gbt_sum *sum, uint32_t *count) {
  cu_view *v = &d->be.view;
  gbt_error err = {};
  cu_tree tree;
  d->be.depth = depth;
  if (put_step(d, s, *n_words) || failed(cu_layer_search(&d->be, &err)) ||
      failed(cu_layer_decide(NULL, &d->be, &err)) || cudaStreamSynchronize(d->be.device.stream) != cudaSuccess)
    return 0;
  if (get(node, (const gbt_grow_node *)v->node + s->fresh_beg, (size_t)s->n_fresh) ||
      get(&tree, (const cu_tree *)v->tree, 1))
    return 0;
  *n_words = tree.n_words;
  d->fault = tree.fault;
  return !get(words, (const uint32_t *)v->sets, room < *n_words ? room : *n_words) && !get_sums(d, s, sum, count);
}

/* ---- one node at a time ---- */

/* Two splits, the one with missing values settled. */
static int same_split(const gbt_split *a, const gbt_split *b) {
  if (a->kind != b->kind) return 0;
  if (a->kind == GBT_SPLIT_NONE) return 1;
  return gbt_bits(a->gain) == gbt_bits(b->gain) && a->feat == b->feat && a->bin == b->bin &&
         a->from_top == b->from_top && a->missing_left == b->missing_left && a->has_missing == b->has_missing &&
         a->left.g == b->left.g && a->left.h == b->left.h;
}

static void tell(const gbt_split *a, const gbt_split *b) {
  const gbt_split *both[] = {a, b};
  for (int i = 0; i < 2; i++)
    test_note("%s kind %d feature %d bin %d top %d missing %d of %d gain %.17g left %" PRId64 " %" PRId64,
              i ? "device:" : "cpu:", both[i]->kind, both[i]->feat, both[i]->bin, both[i]->from_top,
              both[i]->missing_left, both[i]->has_missing, both[i]->gain, both[i]->left.g, both[i]->left.h);
}

typedef struct seen {
  int64_t kinds[4], missing, left, top, constrained, beaten;
} seen;

static void see(seen *all, const gbt_split *s) {
  all->kinds[s->kind]++;
  if (s->kind == GBT_SPLIT_NONE) return;
  all->missing += s->has_missing;
  all->left += s->has_missing && s->missing_left;
  all->top += s->from_top;
}

template <class T> static T *some(size_t n) { return (T *)test_alloc(n * sizeof(T)); }

/* Room for what a device says. */
typedef struct answer {
  gbt_split *found;
  uint32_t *bits, *count;
  gbt_sum *sum;
} answer;

static answer answer_new(const split_case *c, const split_device *d, const split_step *s) {
  size_t n = (size_t)s->n_search + 1, cells = (size_t)s->n_hists * c->layout.n_slots;
  answer a = {some<gbt_split>(n * (size_t)split_device_runs(d)), some<uint32_t>(n * (split_device_set_words(d) + 1)),
              some<uint32_t>(cells), some<gbt_sum>(cells)};
  return a;
}

static void answer_free(answer *a) { free(a->found), free(a->bits), free(a->count), free(a->sum); }

static void same_sums(const split_case *c, const split_step *s, const answer *a) {
  size_t cells = (size_t)s->n_hists * c->layout.n_slots;
  CHECK_EQ_BYTES(a->sum, s->after, cells * sizeof *a->sum);
  if (c->any_counts) CHECK_EQ_BYTES(a->count, s->count_after, cells * sizeof *a->count);
}

/* The run's features on the CPU, one by one. */
static gbt_split best_of(split_cpu *cpu, const split_case *c, const split_step *s, int32_t fresh, const int32_t *feats,
                         int32_t n, int sets, uint32_t *words) {
  gbt_split best = {};
  for (int32_t t = 0; t < n; t++) {
    int32_t f = feats[t];
    int set = c->cuts.schema->feat[f].type == GBT_CATEGORICAL && c->cuts.feat[f].n_bins > c->params.max_cat_onehot;
    if (!c->allowed[f] || set != sets) continue;
    gbt_split one = split_cpu_find(cpu, s, fresh, f, words);
    if (gbt_split_beats(&one, &best)) best = one;
  }
  return best;
}

static int in_tree(const split_case *c, int32_t feat) {
  for (int32_t t = 0; t < c->n_tree_feats; t++)
    if (c->tree_feats[t] == feat) return 1;
  return 0;
}

static int same_run(const split_step *s, int32_t fresh, gbt_split cpu, gbt_split device, seen *all) {
  gbt_grow_node node = s->node[fresh];
  node.split = device;
  gbt_grow_settle_missing(&node);
  int ok = same_split(&cpu, cpu.kind == GBT_SPLIT_NONE ? &device : &node.split);
  if (!CHECK(ok)) tell(&cpu, &node.split);
  see(all, &cpu);
  return ok;
}

/* Whether there are so many tasks that a warp takes several runs of a node. Then it may pass over what is
 * the best of a run, but not of the node. */
static int shared_by_runs(const split_device *d, const split_step *s, int32_t n_plain) {
  return (int64_t)s->n_search * n_plain > (int64_t)d->be.device.n_units * SEARCH_TASKS;
}

static void same_runs(split_cpu *cpu, const split_case *c, const split_device *d, const split_step *s,
                      int32_t run_feats, const answer *a, seen *all) {
  int32_t n_feat_runs = split_device_runs(d), n_plain = (c->cuts.n_features + run_feats - 1) / run_feats;
  uint32_t *words = some<uint32_t>(MOST_WORDS);
  for (int32_t i = 0; i < s->n_search; i++) {
    const gbt_split *found = a->found + (size_t)i * (size_t)n_feat_runs;
    const uint32_t *bits = a->bits + (size_t)i * split_device_set_words(d);
    const gbt_split top = best_of(cpu, c, s, s->searched[i], c->tree_feats, c->n_tree_feats, 0, words);
    for (int32_t u = 0; u < n_plain; u++) {
      int32_t beg = u * run_feats, n = c->n_tree_feats - beg;
      gbt_split best = best_of(cpu, c, s, s->searched[i], c->tree_feats + beg, n < run_feats ? n : run_feats, 0, words);
      if (shared_by_runs(d, s, n_plain) && best.gain < top.gain && gbt_split_beats(&best, &found[u]))
        all->beaten++;
      else
        same_run(s, s->searched[i], best, found[u], all);
    }
    int32_t run = n_plain;
    for (int32_t f = 0; f < c->cuts.n_features; f++) {
      int32_t n_bins = c->cuts.feat[f].n_bins;
      size_t n_words = ((size_t)n_bins + 31) / 32;
      if (c->cuts.schema->feat[f].type != GBT_CATEGORICAL || n_bins <= c->params.max_cat_onehot) continue;
      gbt_split best = best_of(cpu, c, s, s->searched[i], &f, in_tree(c, f), 1, words);
      if (same_run(s, s->searched[i], best, found[run++], all) && best.kind == GBT_SPLIT_SET)
        CHECK_EQ_BYTES(bits, words, n_words * sizeof *words);
      bits += n_words;
    }
    CHECK_EQ_I64(run, n_feat_runs);
  }
  free(words);
}

static void find_both(const split_case *c, const split_step *s, int32_t run_feats, int by_node, seen *all) {
  split_device *d = split_device_open(c, run_feats, by_node, (s->n_fresh + 1) / 2);
  REQUIRE(d != NULL);
  answer a = answer_new(c, d, s);
  split_cpu *cpu = split_cpu_open(c);
  if (CHECK(split_device_find(d, s, a.found, a.bits, a.sum, a.count))) {
    if (c->params.max_depth == 0) same_sums(c, s, &a); /* else nobody reads them again */
    same_runs(cpu, c, d, s, run_feats, &a, all);
  }
  split_cpu_close(cpu);
  split_device_close(d);
  answer_free(&a);
}

static void random_nodes(void) {
  seen all;
  memset(&all, 0, sizeof all);
  for (uint64_t seed = 1; seed <= 100; seed++) {
    split_case *c = split_case_new(seed, 1 + (int32_t)(seed % 9), 0);
    split_step *s = split_step_new(c, seed, (int32_t)(seed % 3), seed % 5 == 0 ? 1 : 4, 150, seed % 5 != 0);
    all.constrained += c->monotone != NULL;
    find_both(c, s, 1 + (int32_t)(seed % 4), seed % 2 == 0, &all);
    split_step_free(s);
    split_case_free(c);
  }
  test_note("%" PRId64 " none, %" PRId64 " numeric, %" PRId64 " one-hot, %" PRId64 " sets; %" PRId64
            " with missing, %" PRId64 " of them left, %" PRId64 " from the top; %" PRId64
            " cases with monotone constraints",
            all.kinds[0], all.kinds[1], all.kinds[2], all.kinds[3], all.missing, all.left, all.top, all.constrained);
  for (int k = 0; k < 4; k++) CHECK(all.kinds[k] > 0);
  CHECK(all.left > 0 && all.left < all.missing);
  CHECK(all.top > 0 && all.top < all.kinds[GBT_SPLIT_SET]);
}

/* More nodes than warps, so that a warp searches several runs of a node one after the other. */
static void many_nodes(void) {
  seen all;
  memset(&all, 0, sizeof all);
  for (uint64_t seed = 1; seed <= 12; seed++) {
    split_case *c = split_case_new(seed, 12, 0);
    c->params.alpha = c->params.max_delta_step = 0; /* a search may know bounds then */
    split_step *s = split_step_new(c, seed, 0, 24, 150, seed % 2 == 0);
    find_both(c, s, 1 + (int32_t)(seed % 2), 0, &all);
    split_step_free(s);
    split_case_free(c);
  }
  test_note("%" PRId64 " numeric, %" PRId64 " runs passed over", all.kinds[GBT_SPLIT_NUMERIC], all.beaten);
  CHECK(all.kinds[GBT_SPLIT_NUMERIC] > 100 && all.beaten > 10);
}

/* Orders of every size about those that sorting in pieces depends on. */
static void many_levels(void) {
  static const int32_t n_levels[] = {33, 2047, 2048, 2049, 4097, 9000, 60000};
  seen all;
  memset(&all, 0, sizeof all);
  for (size_t i = 0; i < sizeof n_levels / sizeof *n_levels; i++) {
    split_case *c = split_case_levels(i + 1, n_levels[i], 0);
    split_step *s = split_step_new(c, i + 1, 0, 1, -2 * n_levels[i], 0);
    find_both(c, s, 1, 0, &all);
    split_step_free(s);
    split_case_free(c);
  }
  CHECK(all.kinds[GBT_SPLIT_SET] > 3);
}

/* Cuts of every number about those that lanes and their turns depend on. */
static void many_cuts(void) {
  static const int32_t more[] = {255, 256, 257, 258, 511, 513, 4095, 4096, 4097};
  seen all;
  memset(&all, 0, sizeof all);
  for (int32_t i = 1; i <= 66 + (int32_t)(sizeof more / sizeof *more); i++) {
    const int32_t n_bins = i <= 66 ? i : more[i - 67];
    for (uint64_t k = 0; k < 3; k++) {
      const uint64_t seed = 3u * (uint64_t)i + k;
      split_case *c = split_case_numeric(seed, n_bins);
      c->params.max_depth = seed % 4 == 0; /* children have no histograms */
      split_step *s = split_step_new(c, seed, 0, 2, 3 * n_bins + 20, seed % 2 == 0);
      all.constrained += c->monotone != NULL;
      find_both(c, s, 1, 0, &all);
      split_step_free(s);
      split_case_free(c);
    }
  }
  CHECK(all.kinds[0] > 0 && all.kinds[GBT_SPLIT_NUMERIC] > 100 && all.constrained > 10);
  CHECK(all.left > 0 && all.left < all.missing);
}

/* ---- layers ---- */

/* How far the nodes of a layer are the same. */
static void same_nodes(const split_step *s, const gbt_grow_node *cpu, const gbt_grow_node *device) {
  for (int32_t i = 0; i < s->n_fresh; i++) {
    int open = cpu[i].open;
    CHECK_EQ_I64(device[i].open, open);
    if (!open) continue;
    if (!CHECK(same_split(&cpu[i].split, &device[i].split))) tell(&cpu[i].split, &device[i].split);
    CHECK_EQ_I64(device[i].kept, cpu[i].kept);
    CHECK_EQ_U64(device[i].set_words, cpu[i].set_words);
  }
}

typedef struct layers_seen {
  int64_t kinds[4], kept, missing;
} layers_seen;

static void layer_both(const split_case *c, split_cpu *cpu, split_device *d, const split_step *s, int32_t depth,
                       uint32_t *n_words, layers_seen *all) {
  answer a = answer_new(c, d, s);
  size_t n = (size_t)s->n_fresh;
  gbt_grow_node *want = some<gbt_grow_node>(n), *got = some<gbt_grow_node>(n);
  uint32_t *words = some<uint32_t>(MOST_WORDS), *sets = some<uint32_t>(MOST_WORDS);
  split_cpu_layer(cpu, s, want, words);
  if (CHECK(split_device_layer(d, s, depth, got, sets, MOST_WORDS, n_words, a.sum, a.count))) {
    CHECK_EQ_U64(d->fault, 0);
    same_sums(c, s, &a);
    same_nodes(s, want, got);
    if (want->open && want->set_words > 0 && got->set_words == want->set_words)
      CHECK_EQ_BYTES(sets + got->set_beg, words, want->set_words * sizeof *words);
  }
  all->kinds[want->open ? want->split.kind : 0]++;
  for (size_t i = 0; want->open && i < n; i++) all->kept += want[i].kept;
  all->missing += want->open && want->split.has_missing;
  free(want), free(got), free(words), free(sets);
  answer_free(&a);
}

static void grow_layers(const split_case *c, uint64_t seed, int32_t depth, int32_t n_rows, layers_seen *all) {
  int32_t max_step = depth > 1 ? 1 << (depth - 2) : 1;
  uint32_t n_words = 0;
  split_device *d = split_device_open(c, 3, 0, max_step);
  REQUIRE(d != NULL);
  split_cpu *cpu = split_cpu_open(c);
  for (int tree = 0; tree < 2; tree++, n_words = 0) { /* nothing of the first tree shows in the second one */
    for (int32_t layer = 0; layer < depth; layer++) {
      split_step *s =
          split_step_new(c, 3 * seed + (uint64_t)(17 * tree + layer), (1 << layer) - 1, 1 << layer, n_rows, layer > 0);
      layer_both(c, cpu, d, s, layer, &n_words, all);
      split_step_free(s);
    }
  }
  split_cpu_close(cpu);
  split_device_close(d);
}

static void random_levels(void) {
  layers_seen all;
  memset(&all, 0, sizeof all);
  for (uint64_t seed = 1; seed <= 80; seed++) {
    split_case *c = split_case_new(seed + 100, 1 + (int32_t)(seed % 7), 1);
    grow_layers(c, seed, 4, seed % 2 ? 60 : 6, &all); /* few rows: hessians of both sides are equal */
    split_case_free(c);
  }
  test_note("%" PRId64 " none, %" PRId64 " numeric, %" PRId64 " one-hot, %" PRId64 " sets; %" PRId64
            " with missing; %" PRId64 " nodes kept",
            all.kinds[0], all.kinds[1], all.kinds[2], all.kinds[3], all.missing, all.kept);
  for (int k = 0; k < 4; k++) CHECK(all.kinds[k] > 0);
  CHECK(all.kept > 0);
  CHECK(all.missing > 0);
}

static void layers_of_many(void) {
  layers_seen all;
  memset(&all, 0, sizeof all);
  for (uint64_t seed = 1; seed <= 2; seed++) {
    int32_t n_levels = seed == 1 ? 3000 : 60000; /* the second one: a batch of the level is a few nodes */
    split_case *c = split_case_levels(seed + 20, n_levels, 1);
    grow_layers(c, seed, seed == 1 ? 3 : 2, -2 * n_levels, &all);
    split_case_free(c);
  }
  CHECK(all.kinds[GBT_SPLIT_SET] > 0);
}

/* A layer whose set has no room, or that has more nodes than the host has launched work for, is a fault and no split.
 */
static void no_room(void) {
  split_case *c = split_case_levels(21, 200, 1);
  split_device *d = split_device_open(c, 1, 0, 2);
  REQUIRE(d != NULL);
  for (int kind = 0; kind < 3; kind++) {
    split_step *s = split_step_new(c, 21, 1, 2, -400, 1), *root = split_step_new(c, 20, 0, 1, -400, 0);
    answer a = answer_new(c, d, s);
    gbt_grow_node node[2];
    uint32_t sets[64], n_words = 57;
    d->be.view.max_words = kind == 1 ? 57 + 6 : 57 + 7; /* 200 levels take 7 words */
    CHECK(split_device_layer(d, root, 0, node, sets, 64, &n_words, a.sum, a.count));
    CHECK_EQ_U64(d->fault, kind == 1 ? CU_FAULT_ROOM : 0);
    CHECK_EQ_I64(node[0].open, kind != 1);
    CHECK_EQ_U64(n_words, kind == 1 ? 57 : 64);
    d->be.view.max_words = 1000;
    CHECK(split_device_layer(d, s, kind == 2 ? 0 : 1, node, sets, 64, &n_words, a.sum, a.count));
    CHECK_EQ_U64(d->fault, kind == 2 ? CU_FAULT_ROOM : 0);
    CHECK_EQ_I64(node[1].open, kind != 2);
    split_step_free(s);
    split_step_free(root);
    answer_free(&a);
  }
  split_device_close(d);
  split_case_free(c);
}

extern "C" void suite_cuda_split(void) {
  RUN(random_nodes);
  RUN(many_nodes);
  RUN(many_levels);
  RUN(many_cuts);
  RUN(random_levels);
  RUN(layers_of_many);
  RUN(no_room);
}
