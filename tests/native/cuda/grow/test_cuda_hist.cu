/* Histograms against sums made naively from the pages. */
#include "../../src/cuda/grow/steps/byte_lanes.cuh"
#include "cuda_world.cuh"

extern "C" void suite_cuda_hist(void);

/* What a row adds to: slots of dense columns, then of the lists. Returns how many. */
static size_t slots_of(const world *w, uint32_t row, uint32_t *slot) {
  gbt_page_store *pages = w->ds->pages;
  const gbt_layout *layout = gbt_pages_layout(pages);
  const gbt_page *page = page_pin(pages, (int32_t)(row / (uint32_t)gbt_pages_page_rows(pages)));
  int32_t r = (int32_t)(row - page->row_beg);
  size_t n = 0;
  for (int32_t g = 0; g < layout->n_groups; g++)
    for (int32_t k = 0; k < layout->group[g].n_feats; k++) {
      const gbt_group *group = &layout->group[g];
      int64_t at = (int64_t)r * group->stride + k;
      uint32_t code = group->wide ? ((const uint16_t *)page->group[g])[at] : ((const uint8_t *)page->group[g])[at];
      slot[n++] = group->slot_beg + group->offset[k] + code;
    }
  if (layout->n_sparse > 0)
    for (uint32_t e = page->sparse_beg[r]; e < page->sparse_beg[r + 1]; e++)
      slot[n++] = layout->sparse_slot + page->sparse_slots[e];
  page_unpin(pages, page);
  return n;
}

/* Rows are counted in the slots of some features; the contents of others do not matter. */
static void only_counted(const world *w, uint32_t *count) {
  for (int32_t f = 0; f < w->be.n_features; f++) {
    const gbt_place *place = &w->be.layout->place[f];
    if (!counts_feature(w, f)) memset(count + place->slot_beg, 0, place->n_slots * sizeof *count);
    if (!counts_feature(w, f) && place->first == 1) count[place->slot_beg - 1] = 0; /* the rest of a bundle */
  }
}

static void naive_hist(const world *w, const gbt_grow_node *node, gbt_sum *sum, uint32_t *count) {
  size_t n_slots = w->be.layout->n_slots, n_cols = (size_t)w->be.n_features;
  uint32_t *slot = host<uint32_t>(n_cols);
  memset(sum, 0, n_slots * sizeof *sum);
  memset(count, 0, n_slots * sizeof *count);
  for (uint32_t p = node->order_beg; p < node->order_beg + node->n_rows; p++) {
    uint32_t row = w->row[node->depth & 1][p];
    const gbt_gh16 *q = &w->gh[node->depth & 1][p];
    size_t n = slots_of(w, row, slot);
    for (size_t i = 0; i < n; i++) {
      sum[slot[i]].g += w->tree.wide ? w->gh32[row].g : q->g;
      sum[slot[i]].h += w->tree.wide ? (int64_t)w->gh32[row].h : q->h;
      count[slot[i]]++;
    }
  }
  free(slot);
}

/* Builds of some of the nodes, in histograms of any order; twice into the same ones. */
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
  be->bounds.max_hist_blocks = first[n] + 3;
  gbt_sum *want = host<gbt_sum>(n_slots);
  uint32_t *want_count = host<uint32_t>(n_slots);
  for (int again = 0; again < 2; again++) {
    CHECK(cudaMemset(v->sum, 0, n_hists * n_slots * sizeof *v->sum) == cudaSuccess);
    if (v->count) CHECK(cudaMemset(v->count, 0, n_hists * n_slots * sizeof *v->count) == cudaSuccess);
    CHECK_OK(cu_build_hist(&w->ctx, be, test_err));
  }
  gbt_sum *got = down(w, v->sum, n_hists * n_slots);
  uint32_t *got_count = v->any_counts ? down(w, v->count, n_hists * n_slots) : NULL;
  for (int32_t b = 0; b < n; b++) {
    size_t at = (size_t)build[b].hist * n_slots;
    naive_hist(w, &w->node[build[b].node], want, want_count);
    CHECK_EQ_BYTES(got + at, want, n_slots * sizeof *want);
    if (!got_count) continue;
    only_counted(w, want_count);
    only_counted(w, got_count + at);
    CHECK_EQ_BYTES(got_count + at, want_count, n_slots * sizeof *want_count);
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

/* The only node becomes a root of all rows, which has no order to look into. */
static void make_whole(world *w) {
  cu_view *v = &w->be.view;
  const int from = w->node[0].depth & 1;
  CHECK(w->n_nodes == 1 && w->n == (uint32_t)w->be.n_rows);
  if (from == 1) {
    memcpy(w->row[0], w->row[1], w->n * sizeof *w->row[0]);
    memcpy(w->gh[0], w->gh[1], w->n * sizeof *w->gh[0]);
  }
  w->node[0].depth = 0;
  w->tree.whole = 1;
  v->node = up(w, w->node, 1);
  v->row = up<uint32_t>(w, NULL, 2 * v->order_rows);
  v->gh = up<gbt_gh16>(w, NULL, 2 * v->order_rows);
  if (!w->tree.wide)
    CHECK(cudaMemcpy(v->gradients, w->gh[0], w->n * sizeof *w->gh[0], cudaMemcpyHostToDevice) == cudaSuccess);
}

static void whole_of(const shape *s, int wide, uint32_t hist_rows) {
  static world w;
  if (world_open(&w, s)) {
    fill_rows(&w, 1, 1.0, wide);
    make_whole(&w);
    do same_hists(&w, hist_rows);
    while (w.tree.n_build == 0); /* the node was left out */
  }
  world_close(&w);
}

/* Positions of the lanes' cells are all different in every step, and a row's bytes are taken once each. */
template <int W, uint32_t PITCH> static void lanes_of(void) {
  typedef cu_byte_lanes<W> lanes;
  enum { COLUMNS = 4 * W };
  int taken[32][COLUMNS] = {{0}};
  for (uint32_t step = 0; step < lanes::STEPS; step++) {
    uint32_t seen = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
      const uint32_t position = lanes::template position_of<PITCH>(lane) ^ step;
      const uint32_t column = lanes::word_of(lane) * 4u + (lanes::turn_of(lane) ^ step);
      CHECK(position < PITCH && column < COLUMNS && position % COLUMNS == column);
      CHECK(lanes::row_of(lane) < lanes::ROWS && lanes::word_of(lane) + lanes::WORDS <= W);
      taken[lanes::row_of(lane)][column]++;
      seen |= 1u << position;
    }
    CHECK_EQ_U64(seen, PITCH == 32 ? UINT32_MAX : (1u << PITCH % 32) - 1u);
  }
  for (uint32_t row = 0; row < lanes::ROWS; row++)
    for (int column = 0; column < COLUMNS; column++) CHECK_EQ_I64(taken[row][column], 1);
}

static void lanes_of_bytes_have_banks_of_their_own(void) {
  lanes_of<1, 32>();
  lanes_of<2, 32>();
  lanes_of<4, 32>();
  lanes_of<8, 32>();
  lanes_of<1, 4>();
  lanes_of<2, 8>();
  lanes_of<4, 16>();
}

/* Numbers of rows around what a warp, a block and a build's block take, in tiles of 1, 2, 4 and 8 words, full and not:
 * of nodes and of roots of all rows. */
static void histograms_of_every_number_of_rows(void) {
  static const int64_t n_rows[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1025};
  static const int32_t n_cols[] = {3, 4, 5, 8, 13, 16, 29, 32, 37};
  uint64_t seed = 100;
  for (size_t r = 0; r < sizeof n_rows / sizeof *n_rows; r++)
    for (size_t c = 0; c < sizeof n_cols / sizeof *n_cols; c++, seed++) {
      const int counted = (int)((r + c) % 3 == 0), wide = (int)((r + 2 * c) % 5 == 0);
      const int32_t tile_cols = seed % 4 == 3 ? 8 : 0;
      const shape s = {seed, n_rows[r], n_cols[c], 200, 0, NULL, 1 + counted, 1, 232448, tile_cols};
      hists_of(&s, 1 + (int32_t)(seed % 3), 1.0, wide, 256);
      whole_of(&s, wide, seed % 2 ? 64 : 256);
    }
}

static void histograms_of_whole_roots(void) {
  static const made_kind kinds[] = {MADE_ZEROS, MADE_LEVELS, MADE_HOLES, MADE_ZEROS, MADE_BELL};
  made_kind many[30];
  for (int c = 0; c < 30; c++) many[c] = kinds[c % 5];
  for (int i = 0; i < 4; i++) {
    const shape s = {(uint64_t)(90 + i), 900, 30, 255, 200, many, 1 + i / 2, 3, 232448};
    whole_of(&s, i % 2, 128);
  }
  static const int64_t around[] = {65535, 65536, 65537};
  for (int i = 0; i < 3; i++) {
    const shape s = {(uint64_t)(95 + i), around[i], 3, 255, 0, NULL, 1 + i / 2, 1, 232448};
    whole_of(&s, 0, i == 1 ? 32768 : 21760);
  }
}

static void histograms_are_sums_of_rows(void) {
  const shape s = {31, 2000, 21, 255, 0, NULL, 1, 4, 232448};
  hists_of(&s, 1, 1.0, 0, 256);
  if (!test_few()) hists_of(&s, 9, 0.7, 0, 64);
  hists_of(&s, 9, 0.7, 1, 64);
  const shape counted = {32, 1500, 40, 64, 301, NULL, 2, 1, 232448};
  hists_of(&counted, 5, 0.9, 0, 1024);
  if (!test_few()) hists_of(&counted, 5, 0.9, 1, 100);
  for (int32_t tile_cols = 4; tile_cols <= 16; tile_cols *= test_few() ? 4 : 2) {
    const shape narrow = {34, 1500, 21, 255, 0, NULL, 1 + (tile_cols == 8), 4, 232448, tile_cols};
    hists_of(&narrow, 5, 0.9, 0, 256);
  }
  const shape one_row = {33, 1, 4, 255, 0, NULL, 1, 4, 232448};
  hists_of(&one_row, 1, 1.0, 0, 1024);
  hists_of(&one_row, 1, 0.0, 0, 1024);
}

/* Columns of every width alone and with others, so that rows are taken 1, 2, .. 32 at a time. */
static void histograms_of_every_width(void) {
  for (int32_t n_cols = 1; n_cols <= 34; n_cols += n_cols < 4 ? 1 : n_cols == 4 ? 2 : 4) {
    made_kind kinds[34];
    for (int32_t bins = 0; bins < 6; bins++) {
      static const int32_t max_bin[] = {2, 3, 12, 200, 400, 200};
      for (int32_t c = 0; c < n_cols; c++) kinds[c] = bins == 0 ? MADE_BELL : MADE_HOLES;
      const int32_t min_data = 1 + (bins < 5 && bins % 2);
      const shape s = {(uint64_t)(40 + n_cols), 700, n_cols, max_bin[bins], 0, kinds, min_data, 2, 232448};
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
  for (int c = 0; c < 30; c++) kinds[c] = MADE_ZEROS;
  const shape all = {69, 700, 25, 255, 0, kinds, 2, 2, 232448};
  hists_of(&all, 4, 0.9, 0, 128);
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

/* Gradients at the ends of their ranges in more rows than cells can sum up; shared memory for one block alone. */
static void histograms_of_more_rows_than_a_cell_holds(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_CONSTANT};
  for (int wide = 0; wide < 2; wide++) {
    static world w;
    const shape s = {(uint64_t)(70 + wide), 70000, 2, 500, 0, kinds, 1, 1, 24};
    if (world_open(&w, &s)) {
      fill_rows(&w, 1, 1.0, wide);
      for (uint32_t p = 0; p < w.n; p++) {
        w.gh[w.node[0].depth & 1][p] = gbt_gh16{-32767, 65535};
        w.gh32[p] = gbt_gh32{-0x7ffe0001, UINT32_MAX - 65536}; /* its lower half: 65,535 */
      }
      cu_view *v = &w.be.view;
      const int32_t depth = w.node[0].depth;
      CHECK(cudaMemcpy(cu_order_at(*v, depth, 0, 0).gh, w.gh[depth & 1], w.n * sizeof(gbt_gh16),
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
    CHECK(w.ds->cuts->feat[0].n_bins == 65535 && w.data.host_tile[0].pitch == 0);
    fill_rows(&w, 2, 0.1, 0);
    w.rng.state = 1;
    same_hists(&w, 1024);
  }
  world_close(&w);
}

extern "C" void suite_cuda_hist(void) {
  RUN(lanes_of_bytes_have_banks_of_their_own);
  RUN(histograms_are_sums_of_rows);
  RUN(histograms_of_every_number_of_rows);
  RUN(histograms_of_whole_roots);
  RUN(histograms_of_every_width);
  RUN(histograms_with_little_shared_memory);
  RUN(histograms_of_sparse_features);
  RUN(histograms_of_more_rows_than_a_cell_holds);
  RUN(histograms_of_65535_bins);
}
