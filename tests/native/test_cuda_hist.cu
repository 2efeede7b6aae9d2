/* Data sets on the device, histograms and partitions against naive ones made from the pages. Made for tests/simt: it
 * puts a backend together by hand, with the plans that kernels otherwise make. */
#include "../../src/cuda/cu.cuh"

extern "C" {
#include "made.h"

void suite_cuda_hist(void);
}

enum { MAX_NODES = 128, MAX_WORDS = 4096 };

/* A data set on the device and all that histograms and partitions want. */
struct world {
  gbt_ctx ctx;
  made *m;
  gbt_dataset *ds;
  gbt_params params;
  cu_backend be;
  cu_set set;
  test_rng rng;
  int open;
  /* what stands on the device, on the host */
  uint32_t n; /* positions */
  uint32_t *row[2];
  gbt_gh16 *gh[2];
  gbt_gh32 *gh32; /* by row */
  gbt_grow_node node[MAX_NODES];
  int32_t n_nodes;
  cu_tree tree;
};

struct shape {
  uint64_t seed;
  int64_t n_rows;
  int32_t n_cols, max_bin, page_rows;
  const made_kind *kinds;
  int32_t min_data, n_units;
  size_t shared_limit;
};

template <class T> static T *host(size_t n) { return (T *)test_alloc(n * sizeof(T)); }

static int counts_feature(const world *w, int32_t f) {
  return w->params.min_data_in_leaf > 1 || (w->ds->cuts->schema->feat[f].type == GBT_CATEGORICAL &&
                                            w->ds->cuts->feat[f].n_bins > w->params.max_cat_onehot);
}

/* Takes the table. */
static int world_open_with(world *w, made *m, const shape *s) {
  memset(&w->ctx, 0, sizeof w->ctx);
  w->be = cu_backend();
  w->set = cu_set();
  w->open = 0;
  w->row[0] = w->row[1] = NULL;
  w->gh[0] = w->gh[1] = NULL;
  w->gh32 = NULL;
  w->rng.state = gbt_mix64(s->seed ^ 0x415);
  w->ctx = test_ctx(NULL, 1);
  w->m = m;
  made_response(m, GBT_LOSS_SQUARED, 1, s->seed);
  w->params = gbt_params_default();
  w->params.min_data_in_leaf = s->min_data;
  w->ds = made_dataset(&w->ctx, m, NULL, s->max_bin, s->page_rows);
  if (w->ds == NULL) return 0;
  cu_backend *be = &w->be;
  be->mem = gbt_mem_default();
  be->params = &w->params;
  be->n_outputs = 1;
  be->n_features = w->ds->cuts->n_features;
  be->n_rows = w->ds->n_rows;
  be->n_units = s->n_units;
  be->shared_limit = s->shared_limit;
  be->cuts = w->ds->cuts;
  be->layout = &w->ds->pages->layout;
  be->counts = host<int8_t>((size_t)be->n_features);
  for (int32_t f = 0; f < be->n_features; f++) {
    be->counts[f] = (int8_t)counts_feature(w, f);
    be->view.any_counts |= be->counts[f];
  }
  if (!CHECK(cudaStreamCreate(&be->stream) == cudaSuccess)) return 0;
  if (!CHECK_OK(cu_set_make(&w->ctx, be, w->ds, &w->set, test_err))) return 0;
  be->set = &w->set;
  be->view.train = w->set.view;
  be->view.n_slots = be->layout->n_slots;
  be->view.n_features = be->n_features;
  be->view.n_outputs = 1;
  be->view.params = w->params;
  be->view.policy = gbt_grow_policy_of(&w->params, NULL);
  w->open = CHECK_OK(cu_hist_open(be, test_err));
  return w->open;
}

static int world_open(world *w, const shape *s) {
  return world_open_with(w, made_new(s->seed, s->n_rows, s->n_cols, s->kinds), s);
}

static void world_close(world *w) {
  cu_backend *be = &w->be;
  if (be->stream) cudaStreamSynchronize(be->stream);
  cu_set_free(be, &w->set);
  for (int32_t i = 0; i < be->n_blocks; i++) cu_drop(&be->memory, &be->block[i]);
  if (be->stream) cudaStreamDestroy(be->stream);
  CHECK_EQ_U64(be->memory.bytes, 0);
  for (int k = 0; k < 2; k++) {
    free(w->row[k]);
    free(w->gh[k]);
  }
  free(w->gh32);
  free(be->counts);
  gbt_dataset_unref(w->ds);
  made_free(w->m);
  gbt_ctx_close(&w->ctx);
}

template <class T> static T *up(world *w, const T *from, size_t n) {
  T *to = NULL;
  if (!CHECK_OK(cu_keep(&w->be, &to, n, test_err))) return NULL;
  if (from && n > 0) CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return to;
}

template <class T> static T *down(const world *w, const T *from, size_t n) {
  T *to = host<T>(n);
  CHECK(cudaStreamSynchronize(w->be.stream) == cudaSuccess);
  if (n > 0) CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return to;
}

static int32_t page_code(const gbt_dataset *ds, uint32_t row, int32_t f) {
  const gbt_page *page = &ds->pages->page[row / (uint32_t)ds->pages->page_rows];
  return gbt_page_code(&ds->pages->layout, ds->cuts, page, (int32_t)(row - page->row_beg), f);
}

/* ---- data sets ---- */

__global__ static void k_codes(cu_rows_view set, int32_t *code) {
  uint64_t all = (uint64_t)set.n_rows * (uint32_t)set.n_features, step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step)
    code[i] = cu_code(set, (int32_t)(i / (uint64_t)set.n_rows), (uint32_t)(i % (uint64_t)set.n_rows));
}

static void same_codes(world *w, const cu_set *set, const gbt_dataset *ds) {
  size_t n = (size_t)ds->n_rows, n_feats = (size_t)ds->cuts->n_features;
  int64_t n_wrong = 0;
  int32_t *at = up<int32_t>(w, NULL, n * n_feats);
  CU_LAUNCH(k_codes, 4, CU_BLOCK, 0, w->be.stream, set->view, at);
  int32_t *code = down(w, at, n * n_feats);
  for (size_t f = 0; f < n_feats; f++)
    for (size_t r = 0; r < n; r++) n_wrong += code[f * n + r] != page_code(ds, (uint32_t)r, (int32_t)f);
  CHECK_EQ_I64(n_wrong, 0);
  free(code);
}

/* Tiles hold what they say; *seen: bit widths, as bits of a number. */
static void good_tiles(world *w, const cu_set *set, uint32_t *seen, int *pitches) {
  const cu_rows_view *v = &set->view;
  cu_column *column = down(w, v->column, (size_t)v->n_columns);
  cu_feature *feat = down(w, v->feat, (size_t)v->n_features);
  int32_t c = 0;
  for (int32_t k = 0; k < v->n_tiles; k++) {
    const cu_tile *t = &set->host_tile[k];
    CHECK_EQ_I64(t->first_col, c);
    CHECK(t->n_cols >= 1 && t->n_cols <= t->lanes && t->lanes <= 32 && (t->lanes == 1 || t->lanes < 2 * t->n_cols));
    CHECK((t->words == 1 || t->words == 2 || t->words == 4 || t->words == 8) && t->words <= t->lanes);
    CHECK(t->n_cols * t->bits <= 32 * t->words && t->at % 8 == 0);
    size_t bytes = (size_t)t->n_codes * (size_t)t->pitch * (t->counts ? 12 : 8);
    CHECK(bytes <= w->be.shared_limit && (t->pitch == 0 || t->pitch == 32 || t->pitch == t->lanes));
    if (t->pitch == 0) CHECK((size_t)t->n_codes * (t->counts ? 12 : 8) > w->be.shared_limit);
    uint32_t most = 0;
    for (int32_t l = 0; l < t->n_cols; l++, c++) {
      CHECK(column[c].tile == k && column[c].lane == l && column[c].n_codes <= 1u << t->bits);
      if (column[c].n_codes > most) most = column[c].n_codes;
    }
    CHECK_EQ_I64(t->n_codes, most);
    *seen |= 1u << t->bits;
    pitches[t->pitch == 0 ? 0 : t->pitch == 32 ? 2 : 1]++;
  }
  CHECK_EQ_I64(c, v->n_columns);
  for (int32_t f = 0; f < v->n_features; f++) {
    const gbt_place *place = &set->from->pages->layout.place[f];
    const gbt_feature_cuts *cuts = &set->from->cuts->feat[f];
    int categorical = set->from->cuts->schema->feat[f].type == GBT_CATEGORICAL;
    CHECK(feat[f].slot == place->slot_beg && feat[f].n_slots == place->n_slots && feat[f].first == place->first);
    CHECK(feat[f].zero_bin == place->zero_bin && feat[f].n_bins == cuts->n_bins);
    CHECK_EQ_I64(feat[f].counts, w->be.counts[f]);
    CHECK_EQ_I64(feat[f].has_missing, cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins));
    CHECK_EQ_I64(feat[f].kind, !categorical                              ? CU_NUMERIC
                               : cuts->n_bins > w->params.max_cat_onehot ? CU_SET
                                                                         : CU_ONEHOT);
    CHECK_EQ_I64(feat[f].column < 0, place->group < 0);
    if (feat[f].column >= 0) CHECK(column[feat[f].column].slot == place->slot_beg - place->first);
    if (feat[f].counts && place->group >= 0) CHECK(set->host_tile[column[feat[f].column].tile].counts);
  }
  free(column);
  free(feat);
}

static void tiles_are_the_pages(void) {
  static const made_kind zeros[] = {MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS,
                                    MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_BELL};
  const shape shapes[] = {{1, 700, 70, 255, 0, NULL, 1, 4, 232448},    {2, 700, 70, 255, 97, NULL, 2, 3, 40000},
                          {3, 1500, 24, 1400, 1000, NULL, 1, 4, 9000}, {4, 900, 40, 700, 0, NULL, 2, 4, 232448},
                          {5, 1, 5, 255, 0, NULL, 1, 1, 232448},       {6, 600, 13, 255, 100, zeros, 1, 4, 232448},
                          {7, 333, 33, 2, 50, NULL, 1, 2, 232448},     {8, 800, 50, 13, 0, NULL, 1, 2, 1000}};
  uint32_t widths = 0;
  int pitches[3] = {0, 0, 0};
  int64_t n_sparse = 0;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    static world w;
    if (world_open(&w, &shapes[i])) {
      n_sparse += w.be.layout->n_sparse;
      good_tiles(&w, &w.set, &widths, pitches);
      same_codes(&w, &w.set, w.ds);
    }
    world_close(&w);
  }
  CHECK_EQ_U64(widths, 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 12);
  CHECK(pitches[0] > 0 && pitches[1] > 0 && pitches[2] > 0 && n_sparse > 0);
}

static void labels_and_weights_go_up(void) {
  static world w;
  const shape s = {11, 300, 3, 255, 77, NULL, 1, 4, 232448};
  made *m = made_new(s.seed, s.n_rows, s.n_cols, NULL);
  made_weights(m, 5);
  if (world_open_with(&w, m, &s)) {
    double *label = down(&w, w.set.label.at, (size_t)s.n_rows), *weight = down(&w, w.set.weight.at, (size_t)s.n_rows);
    CHECK_EQ_BYTES(label, w.ds->label, (size_t)s.n_rows * sizeof *label);
    CHECK_EQ_BYTES(weight, w.ds->weight, (size_t)s.n_rows * sizeof *weight);
    CHECK_EQ_U64(w.set.score.n, s.n_rows);
    free(label);
    free(weight);
  }
  world_close(&w);
}

/* Bundles hang on the table: a validation set of the same cuts is laid out in its own way. */
static void a_validation_set_has_its_own_layout(void) {
  static world w;
  made_kind kinds[14];
  for (int c = 0; c < 14; c++) kinds[c] = c < 12 ? MADE_ZEROS : MADE_FACTOR;
  const shape s = {21, 600, 14, 255, 0, kinds, 2, 4, 232448};
  made *m = made_new(s.seed, s.n_rows, s.n_cols, kinds), *other = made_new(22, 150, 14, kinds);
  made_fields(m, 3, 4, 0, 23);
  made_fields(other, 3, 4, 9, 24);
  uint32_t widths = 0;
  int pitches[3];
  cu_set valid = cu_set();
  if (world_open_with(&w, m, &s)) {
    CHECK(w.be.layout->n_bundles > 0);
    gbt_dataset *ds = made_dataset(&w.ctx, other, w.ds->cuts, 255, 64);
    if (ds != NULL && CHECK_OK(cu_set_make(&w.ctx, &w.be, ds, &valid, test_err))) {
      int32_t n_other = 0;
      for (int32_t f = 0; f < 14; f++) n_other += ds->pages->layout.place[f].slot_beg != w.be.layout->place[f].slot_beg;
      CHECK(n_other > 0);
      good_tiles(&w, &w.set, &widths, pitches);
      good_tiles(&w, &valid, &widths, pitches);
      same_codes(&w, &w.set, w.ds);
      same_codes(&w, &valid, ds);
      CHECK(valid.label.at == NULL && valid.weight.at == NULL);
      cu_set_free(&w.be, &valid);
    }
    gbt_dataset_unref(ds);
  }
  made_free(other);
  world_close(&w);
}

/* ---- rows of nodes ---- */

/* Some of the rows in runs of n_nodes nodes, of different depths; gradients up to the ends of their ranges. */
static void fill_rows(world *w, int32_t n_nodes, double share, int wide) {
  cu_backend *be = &w->be;
  cu_view *v = &be->view;
  size_t n_rows = (size_t)be->n_rows;
  for (int k = 0; k < 2; k++) {
    w->row[k] = host<uint32_t>(n_rows);
    w->gh[k] = host<gbt_gh16>(n_rows);
    memset(w->row[k], 0xee, n_rows * sizeof(uint32_t));
    memset(w->gh[k], 0xdd, n_rows * sizeof(gbt_gh16));
  }
  w->gh32 = host<gbt_gh32>(n_rows);
  for (size_t r = 0; r < n_rows; r++) {
    gbt_gh32 ends[3] = {{INT32_MAX - 65536, UINT32_MAX - 65536}, {-(INT32_MAX - 65536), 0}, {-1, 65535}};
    gbt_gh32 any = {(int32_t)test_below(&w->rng, 4294836224) - (INT32_MAX - 65536), (uint32_t)test_u(&w->rng) / 2};
    w->gh32[r] = test_below(&w->rng, 4) ? any : ends[test_below(&w->rng, 3)];
  }
  uint32_t *picked = host<uint32_t>(n_rows);
  w->n = 0;
  for (uint32_t r = 0; r < n_rows; r++)
    if (test_unit(&w->rng) < share) picked[w->n++] = r;
  for (int32_t i = 0; i < n_nodes; i++) {
    gbt_grow_node *node = &w->node[i];
    *node = gbt_grow_empty(-1, (int32_t)test_below(&w->rng, 5));
    uint32_t beg = i == 0 ? 0 : w->node[i - 1].row_beg + w->node[i - 1].n_rows, left = w->n - beg;
    node->row_beg = beg;
    node->n_rows = i == n_nodes - 1                        ? left
                   : (uint32_t)test_below(&w->rng, 8) == 0 ? (uint32_t)test_below(&w->rng, 3)
                                                           : (uint32_t)((double)left * test_unit(&w->rng) * 0.6);
    if (node->n_rows > left) node->n_rows = left;
    node->number = i;
    /* rows of a node ascend: the run takes every so many of what is left */
    uint32_t *row = w->row[node->depth & 1] + beg;
    memcpy(row, picked + beg, node->n_rows * sizeof *row);
    for (uint32_t p = 0; p < node->n_rows; p++)
      w->gh[node->depth & 1][beg + p] = gbt_fix16(w->gh32[row[p]], (uint32_t)test_u(&w->rng));
  }
  free(picked);
  w->n_nodes = n_nodes;
  w->tree = cu_tree();
  w->tree.wide = wide;
  w->tree.n_in = w->n;
  w->tree.n_nodes = n_nodes;
  w->tree.n_leaves = n_nodes;
  w->tree.unit.g = w->tree.unit.h = 1.0;
  for (int k = 0; k < 2; k++) {
    v->order[k].row = up(w, w->row[k], n_rows);
    v->order[k].gh = up(w, w->gh[k], n_rows);
  }
  v->gradients = (uint32_t *)(void *)up(w, w->gh32, n_rows);
  v->max_nodes = MAX_NODES;
  v->node = up<gbt_grow_node>(w, NULL, MAX_NODES);
  CHECK(cudaMemcpy(v->node, w->node, (size_t)n_nodes * sizeof *w->node, cudaMemcpyHostToDevice) == cudaSuccess);
}

/* ---- histograms ---- */

/* What a row adds to: slots of dense columns, then of the lists. Returns how many. */
static size_t slots_of(const world *w, uint32_t row, uint32_t *slot, int *counts) {
  const gbt_page_store *pages = w->ds->pages;
  const gbt_layout *layout = &pages->layout;
  const gbt_page *page = &pages->page[row / (uint32_t)pages->page_rows];
  int32_t r = (int32_t)(row - page->row_beg);
  size_t n = 0;
  for (int32_t g = 0; g < layout->n_groups; g++)
    for (int32_t k = 0; k < layout->group[g].n_feats; k++) {
      const gbt_group *group = &layout->group[g];
      int64_t at = (int64_t)r * group->stride + k;
      uint32_t code = group->wide ? ((const uint16_t *)page->group[g])[at] : ((const uint8_t *)page->group[g])[at];
      int32_t f = group->feat[k] >= 0 ? group->feat[k] : layout->bundle_feat[layout->bundle_beg[-1 - group->feat[k]]];
      counts[n] = counts_feature(w, f);
      slot[n++] = group->slot_beg + group->offset[k] + code;
    }
  if (layout->n_sparse == 0) return n;
  for (uint32_t e = page->sparse_beg[r]; e < page->sparse_beg[r + 1]; e++) {
    counts[n] = w->params.min_data_in_leaf > 1;
    slot[n++] = page->sparse_slots[e];
  }
  return n;
}

static void naive_hist(const world *w, const gbt_grow_node *node, gbt_sum *sum, uint32_t *count) {
  size_t n_slots = w->be.layout->n_slots, n_cols = (size_t)w->be.n_features;
  uint32_t *slot = host<uint32_t>(n_cols);
  int *counts = host<int>(n_cols);
  memset(sum, 0, n_slots * sizeof *sum);
  memset(count, 0, n_slots * sizeof *count);
  for (uint32_t p = node->row_beg; p < node->row_beg + node->n_rows; p++) {
    uint32_t row = w->row[node->depth & 1][p];
    const gbt_gh16 *q = &w->gh[node->depth & 1][p];
    size_t n = slots_of(w, row, slot, counts);
    for (size_t i = 0; i < n; i++) {
      sum[slot[i]].g += w->tree.wide ? w->gh32[row].g : q->g;
      sum[slot[i]].h += w->tree.wide ? (int64_t)w->gh32[row].h : q->h;
      count[slot[i]] += counts[i] != 0;
    }
  }
  free(slot);
  free(counts);
}

/* Builds of some of the nodes, in slots of any order; twice into the same slots. */
static void same_hists(world *w, uint32_t hist_rows) {
  cu_backend *be = &w->be;
  cu_view *v = &be->view;
  const size_t n_slots = v->n_slots, n_hists = (size_t)w->n_nodes + 1;
  cu_build build[MAX_NODES];
  uint32_t first[MAX_NODES + 1];
  int64_t *place = test_permutation(&w->rng, (int64_t)n_hists);
  int32_t n = 0;
  first[0] = 0;
  for (int32_t i = w->n_nodes - 1; i >= 0; i--) {
    if (test_below(&w->rng, 5) == 0) continue;
    build[n] = cu_build{i, (int32_t)place[i]};
    first[n + 1] = first[n] + (w->node[i].n_rows + hist_rows - 1) / hist_rows;
    n++;
  }
  w->tree.n_build = n;
  w->tree.n_hist_blocks = first[n];
  v->hist_rows = hist_rows;
  v->max_step = (n + 1) / 2;
  v->tree = up(w, &w->tree, 1);
  v->build = up(w, build, (size_t)n);
  v->hist_block = up(w, first, (size_t)n + 1);
  v->sum = up<gbt_sum>(w, NULL, n_hists * n_slots);
  v->count = v->any_counts ? up<uint32_t>(w, NULL, n_hists * n_slots) : NULL;
  be->max_hist_blocks = first[n] + 3;
  gbt_sum *want = host<gbt_sum>(n_slots);
  uint32_t *want_count = host<uint32_t>(n_slots);
  for (int again = 0; again < 2; again++) CHECK_OK(cu_build_hist(be, test_err));
  gbt_sum *got = down(w, v->sum, n_hists * n_slots);
  uint32_t *got_count = v->any_counts ? down(w, v->count, n_hists * n_slots) : NULL;
  for (int32_t b = 0; b < n; b++) {
    size_t at = (size_t)build[b].slot * n_slots;
    naive_hist(w, &w->node[build[b].node], want, want_count);
    CHECK_EQ_BYTES(got + at, want, n_slots * sizeof *want);
    if (got_count) CHECK_EQ_BYTES(got_count + at, want_count, n_slots * sizeof *want_count);
  }
  free(got);
  free(got_count);
  free(want);
  free(want_count);
  free(place);
}

static void hists_of(const shape *s, int32_t n_nodes, double share, int wide, uint32_t hist_rows) {
  static world w;
  if (world_open(&w, s)) {
    fill_rows(&w, n_nodes, share, wide);
    same_hists(&w, hist_rows);
  }
  world_close(&w);
}

static void histograms_are_sums_of_rows(void) {
  const shape s = {31, 2000, 21, 255, 0, NULL, 1, 4, 232448};
  hists_of(&s, 1, 1.0, 0, 256);
  hists_of(&s, 9, 0.7, 0, 64);
  hists_of(&s, 9, 0.7, 1, 64);
  const shape counted = {32, 1500, 40, 64, 301, NULL, 2, 1, 232448};
  hists_of(&counted, 5, 0.9, 0, 1024);
  hists_of(&counted, 5, 0.9, 1, 100);
  const shape one_row = {33, 1, 4, 255, 0, NULL, 1, 4, 232448};
  hists_of(&one_row, 1, 1.0, 0, 1024);
  hists_of(&one_row, 1, 0.0, 0, 1024);
}

/* Columns of every width alone and beside others, so that rows are taken 1, 2, .. 32 at a time. */
static void histograms_of_every_width(void) {
  for (int32_t n_cols = 1; n_cols <= 34; n_cols += n_cols < 4 ? 1 : 5) {
    made_kind kinds[34];
    for (int32_t bins = 0; bins < 5; bins++) {
      static const int32_t max_bin[] = {2, 3, 12, 200, 400};
      for (int32_t c = 0; c < n_cols; c++) kinds[c] = bins == 0 ? MADE_BELL : MADE_HOLES;
      const shape s = {(uint64_t)(40 + n_cols), 700, n_cols, max_bin[bins], 0, kinds, 1 + bins % 2, 2, 232448};
      hists_of(&s, 3, 0.8, bins == 2, 128);
    }
  }
}

/* Little shared memory: cells without room for all lanes, or for any. */
static void histograms_with_little_shared_memory(void) {
  static const size_t limits[] = {1000, 6000, 20000, 60000};
  for (int i = 0; i < 8; i++) {
    const shape s = {(uint64_t)(50 + i), 900, 12, i % 3 ? 255 : 600, 0, NULL, 1 + i % 2, 3, limits[i / 2]};
    hists_of(&s, 4, 0.9, i % 4 == 1, 256);
  }
}

static void histograms_of_sparse_features(void) {
  made_kind kinds[30];
  for (int c = 0; c < 30; c++) kinds[c] = c < 26 ? MADE_ZEROS : c == 26 ? MADE_LEVELS : MADE_HOLES;
  for (int i = 0; i < 4; i++) {
    static world w;
    const shape s = {(uint64_t)(60 + i), 900, 30, 255, 200, kinds, 1 + i / 2, 3, 232448};
    made *m = made_new(s.seed, s.n_rows, s.n_cols, kinds);
    if (i % 2) made_fields(m, 3, 4, 0, 61);
    if (world_open_with(&w, m, &s)) {
      CHECK(w.be.layout->n_sparse > 0);
      if (i % 2) CHECK(w.be.layout->n_bundles > 0);
      fill_rows(&w, 6, 0.8, i == 3);
      same_hists(&w, 128);
    }
    world_close(&w);
  }
}

/* Rows without any cell, and gradients at the ends of their ranges in more rows than cells can sum up. */
static void histograms_of_more_rows_than_a_cell_holds(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_CONSTANT};
  for (int wide = 0; wide < 2; wide++) {
    static world w;
    const shape s = {(uint64_t)(70 + wide), 150000, 2, 500, 0, kinds, 1, 1, 232448};
    if (world_open(&w, &s)) {
      fill_rows(&w, 1, 1.0, wide);
      for (uint32_t p = 0; p < w.n; p++) {
        w.gh[w.node[0].depth & 1][p] = gbt_gh16{-32767, 65535};
        w.gh32[p] = gbt_gh32{-(INT32_MAX - 65536), UINT32_MAX - 65536};
      }
      cu_view *v = &w.be.view;
      CHECK(cudaMemcpy(v->order[w.node[0].depth & 1].gh, w.gh[w.node[0].depth & 1], w.n * sizeof(gbt_gh16),
                       cudaMemcpyHostToDevice) == cudaSuccess);
      CHECK(cudaMemcpy(v->gradients, w.gh32, w.n * sizeof(gbt_gh32), cudaMemcpyHostToDevice) == cudaSuccess);
      w.rng.state = 3; /* one that leaves the node in */
      same_hists(&w, 16384);
      CHECK_EQ_I64(w.tree.n_build, 1);
    }
    world_close(&w);
  }
}

static void histograms_of_65535_bins(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW};
  static world w;
  const shape s = {80, 66000, 2, 65535, 0, kinds, 1, 4, 232448};
  if (world_open(&w, &s)) {
    uint32_t widths = 0;
    int pitches[3] = {0, 0, 0};
    CHECK(w.ds->cuts->feat[0].n_bins == 65535);
    good_tiles(&w, &w.set, &widths, pitches);
    CHECK(widths == (1u << 16 | 1u << 4) && pitches[0] == 1);
    same_codes(&w, &w.set, w.ds);
    fill_rows(&w, 2, 0.1, 0);
    w.rng.state = 1;
    same_hists(&w, 1024);
  }
  world_close(&w);
}

/* ---- partition ---- */

/* A split of any kind; sets go to `sets`. */
static void draw_split(world *w, gbt_grow_node *node, uint32_t *sets, uint32_t *n_words) {
  gbt_split *s = &node->split;
  s->kind = GBT_SPLIT_NUMERIC;
  s->feat = (int32_t)test_below(&w->rng, w->be.n_features);
  const gbt_feature_cuts *cuts = &w->ds->cuts->feat[s->feat];
  s->bin = (int32_t)test_below(&w->rng, cuts->n_bins);
  s->missing_left = (int8_t)test_below(&w->rng, 2);
  if (w->ds->cuts->schema->feat[s->feat].type != GBT_CATEGORICAL) return;
  int one = test_below(&w->rng, 2) == 0;
  s->kind = one ? GBT_SPLIT_ONEHOT : GBT_SPLIT_SET;
  node->set_beg = *n_words;
  node->set_words = ((uint32_t)cuts->n_bins + 31) / 32;
  for (uint32_t k = 0; k < node->set_words; k++) sets[*n_words + k] = one ? 0u : (uint32_t)test_u(&w->rng);
  if (one) sets[*n_words + (uint32_t)s->bin / 32] = 1u << (s->bin % 32);
  *n_words += node->set_words;
}

static int goes_left(const world *w, const gbt_grow_node *node, const uint32_t *sets, uint32_t row) {
  const gbt_split *s = &node->split;
  int32_t code = page_code(w->ds, row, s->feat);
  if (code == w->ds->cuts->feat[s->feat].n_bins) return s->missing_left;
  if (s->kind == GBT_SPLIT_NUMERIC) return code <= s->bin;
  return sets[node->set_beg + (uint32_t)code / 32] >> (code % 32) & 1u;
}

/* The children's runs as they must be, and that nothing else was written to. */
static void good_children(world *w, const int32_t *chosen, int32_t n, const uint32_t *sets, const gbt_grow_node *node,
                          uint32_t *const *row, gbt_gh16 *const *gh) {
  uint32_t *want[2];
  gbt_gh16 *want_gh[2];
  for (int k = 0; k < 2; k++) {
    want[k] = host<uint32_t>((size_t)w->be.n_rows);
    want_gh[k] = host<gbt_gh16>((size_t)w->be.n_rows);
    memcpy(want[k], w->row[k], (size_t)w->be.n_rows * sizeof(uint32_t));
    memcpy(want_gh[k], w->gh[k], (size_t)w->be.n_rows * sizeof(gbt_gh16));
  }
  for (int32_t c = 0; c < n; c++) {
    const gbt_grow_node *parent = &w->node[chosen[c]], *left = &node[node[chosen[c]].left];
    int from = parent->depth & 1;
    uint32_t at = parent->row_beg, n_left = 0;
    for (int side = 1; side >= 0; side--) {
      for (uint32_t p = parent->row_beg; p < parent->row_beg + parent->n_rows; p++) {
        if (goes_left(w, parent, sets, w->row[from][p]) != side) continue;
        want[!from][at] = w->row[from][p];
        if (!w->tree.wide) want_gh[!from][at] = w->gh[from][p];
        at++;
      }
      if (side) n_left = at - parent->row_beg;
    }
    CHECK_EQ_I64(left[0].row_beg, parent->row_beg);
    CHECK_EQ_I64(left[0].n_rows, n_left);
    CHECK_EQ_I64(left[1].row_beg, parent->row_beg + n_left);
    CHECK_EQ_I64(left[1].n_rows, parent->n_rows - n_left);
  }
  for (int k = 0; k < 2; k++) {
    CHECK_EQ_BYTES(row[k], want[k], (size_t)w->be.n_rows * sizeof(uint32_t));
    CHECK_EQ_BYTES(gh[k], want_gh[k], (size_t)w->be.n_rows * sizeof(gbt_gh16));
    free(want[k]);
    free(want_gh[k]);
  }
}

static void same_partition(world *w, uint32_t split_rows) {
  cu_backend *be = &w->be;
  cu_view *v = &be->view;
  int32_t chosen[MAX_NODES], n = 0;
  uint32_t first[MAX_NODES + 1], n_words = 0, sets[MAX_WORDS];
  first[0] = 0;
  for (int32_t i = 0; i < w->n_nodes; i++) {
    if (test_below(&w->rng, 4) == 0 && i > 0) continue;
    draw_split(w, &w->node[i], sets, &n_words);
    chosen[n] = i;
    first[n + 1] = first[n] + (w->node[i].n_rows + split_rows - 1) / split_rows;
    n++;
  }
  w->tree.n_chosen = n;
  w->tree.n_split_blocks = first[n];
  v->split_rows = split_rows;
  v->hist_rows = 256;
  v->max_step = n;
  v->max_hists = MAX_NODES;
  v->tree = up(w, &w->tree, 1);
  v->chosen = up(w, chosen, (size_t)n);
  v->split_block = up(w, first, (size_t)n + 1);
  v->sets = up(w, sets, (size_t)n_words + 1);
  v->mask = up<uint32_t>(w, NULL, (size_t)first[n] * (split_rows / 32));
  v->block_left = up<uint32_t>(w, NULL, (size_t)first[n] + 1);
  v->leaf_block = up<uint32_t>(w, NULL, MAX_NODES + 2);
  v->build = up<cu_build>(w, NULL, 2 * (size_t)n);
  v->search = up<cu_searched>(w, NULL, 2 * (size_t)n);
  v->hist_block = up<uint32_t>(w, NULL, 2 * (size_t)n + 1);
  be->max_split_blocks = first[n] + 2;
  be->keeps = 1;
  CHECK(cudaMemcpy(v->node, w->node, (size_t)w->n_nodes * sizeof *w->node, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK_OK(cu_partition(be, test_err));
  gbt_grow_node *node = down(w, v->node, MAX_NODES);
  uint32_t *row[2] = {down(w, v->order[0].row, (size_t)be->n_rows), down(w, v->order[1].row, (size_t)be->n_rows)};
  gbt_gh16 *gh[2] = {down(w, v->order[0].gh, (size_t)be->n_rows), down(w, v->order[1].gh, (size_t)be->n_rows)};
  good_children(w, chosen, n, sets, node, row, gh);
  free(node);
  for (int k = 0; k < 2; k++) {
    free(row[k]);
    free(gh[k]);
  }
}

static void partition_of(const shape *s, int32_t n_nodes, double share, int wide, uint32_t split_rows) {
  static world w;
  made *m = made_new(s->seed, s->n_rows, s->n_cols, s->kinds);
  if (s->kinds && s->n_cols >= 12) made_fields(m, 3, 4, 0, s->seed);
  if (world_open_with(&w, m, s)) {
    fill_rows(&w, n_nodes, share, wide);
    same_partition(&w, split_rows);
  }
  world_close(&w);
}

static void rows_go_to_their_children(void) {
  made_kind kinds[28];
  for (int c = 0; c < 28; c++) kinds[c] = c < 25 ? MADE_ZEROS : MADE_HOLED;
  for (int i = 0; i < 6; i++) {
    const shape s = {(uint64_t)(100 + i), 3000, 25, i % 2 ? 255 : 700, 999, NULL, 1, 1 + i % 3, 232448};
    partition_of(&s, 1 + 7 * i, i % 3 ? 0.8 : 1.0, i == 4, 32u << i);
    const shape sparse = {(uint64_t)(110 + i), 1000, 28, 255, 0, kinds, 1, 2, 232448};
    partition_of(&sparse, 6, 0.9, 0, i % 2 ? 1024 : 64);
  }
  const shape large = {120, 9000, 6, 255, 0, NULL, 1, 1, 232448};
  partition_of(&large, 2, 1.0, 0, 4096);
  const shape one_row = {121, 1, 6, 255, 0, NULL, 1, 4, 232448};
  partition_of(&one_row, 1, 1.0, 0, 1024);
  partition_of(&one_row, 1, 0.0, 0, 1024);
}

void suite_cuda_hist(void) {
  RUN(tiles_are_the_pages);
  RUN(labels_and_weights_go_up);
  RUN(a_validation_set_has_its_own_layout);
  RUN(histograms_are_sums_of_rows);
  RUN(histograms_of_every_width);
  RUN(histograms_with_little_shared_memory);
  RUN(histograms_of_sparse_features);
  RUN(histograms_of_more_rows_than_a_cell_holds);
  RUN(histograms_of_65535_bins);
  RUN(rows_go_to_their_children);
}
