/* Rows into children against a naive partition by the pages; the pieces that blocks of rows take; look-back. */
#include "../../src/cuda/grow/rows/look_back.cuh"
#include "../../src/cuda/grow/rows/pieces.cuh"
#include "cuda_world.cuh"
#include "schedules.h"

extern "C" void suite_cuda_partition(void);

enum { MAX_WORDS = 4096 };

static int64_t n_cleared;   /* histograms */
static int64_t n_copied[2]; /* columns that were in the copy: of bytes, of 16-bit codes */
static int64_t n_moved[2];  /* nodes whose gradients stayed, went with the rows */
static int64_t n_shared;    /* steps of several shares */

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

/* The copy has the codes of the tiles; a table of 64 bytes a row or fewer has one. */
static void good_copy(world *w) {
  const cu_rows_view *v = &w->be.view.train;
  const size_t n_rows = (size_t)v->n_rows, n = (size_t)v->n_columns;
  if (!v->copy) return;
  uint64_t *beg = down(w, v->copy_beg, n), n_wrong = 0;
  cu_feature *feat = down(w, v->feat, (size_t)v->n_features);
  cu_column *column = down(w, v->column, n);
  for (int32_t f = 0; f < v->n_features; f++) {
    if (feat[f].column < 0) continue;
    const cu_column *c = &column[feat[f].column];
    uint64_t at = beg[feat[f].column];
    CHECK_EQ_I64(at != CU_NO_COPY, w->data.host_tile[c->tile].words >= 4);
    if (at == CU_NO_COPY) continue;
    size_t size = c->n_codes > 256 ? 2 : 1;
    n_copied[size - 1]++;
    uint8_t *code = down(w, v->copy + at, n_rows * size);
    for (size_t r = 0; r < n_rows; r++) {
      uint32_t its = size == 1 ? code[r] : (uint32_t)code[2 * r] | (uint32_t)code[2 * r + 1] << 8;
      int32_t want = page_code(w->ds, (uint32_t)r, f);
      int32_t slot = (int32_t)(its - feat[f].first), got = slot;
      if (feat[f].zero_bin >= 0)
        got = slot < 0 || slot >= (int32_t)feat[f].n_slots ? feat[f].zero_bin : slot + (slot >= feat[f].zero_bin);
      n_wrong += got != want;
    }
    free(code);
  }
  CHECK_EQ_U64(n_wrong, 0);
  free(beg);
  free(feat);
  free(column);
}

static int goes_left(const world *w, const gbt_grow_node *node, const uint32_t *sets, uint32_t row) {
  const gbt_split *s = &node->split;
  int32_t code = page_code(w->ds, row, s->feat);
  if (code == w->ds->cuts->feat[s->feat].n_bins) return s->missing_left;
  if (s->kind == GBT_SPLIT_NUMERIC) return code <= s->bin;
  return sets[node->set_beg + (uint32_t)code / 32] >> (code % 32) & 1u;
}

/* Whether a child of the node could be split, as far as depth and rows go. */
static int goes_on(const world *w, const gbt_grow_node *node) {
  const gbt_grow_policy *p = &w->be.view.policy;
  return (p->max_depth == 0 || node->depth + 1 < p->max_depth) && (int64_t)node->n_rows >= 2 * p->min_rows;
}

/* The row at a place of the order. The order of a whole tree's root is nowhere. */
static uint32_t row_at(const world *w, const gbt_grow_node *node, uint32_t p) {
  return w->tree.whole && node->depth == 0 ? p : w->row[node->depth & 1][p];
}

/* The children's runs as they must be, and that nothing else was written to: the left child's rows ascend from the
 * front of the run, the right one's from its back. */
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
    const int from = parent->depth & 1, moves = !w->tree.wide && goes_on(w, parent);
    uint32_t n_left = 0, n_right = 0;
    for (uint32_t i = 0; i < parent->n_rows; i++) {
      const uint32_t p = parent->order_beg + (cu_descends(chosen[c]) ? parent->n_rows - 1 - i : i);
      const int side = goes_left(w, parent, sets, row_at(w, parent, p));
      const uint32_t at = parent->order_beg + (side ? n_left++ : parent->n_rows - 1 - n_right++);
      want[!from][at] = row_at(w, parent, p);
      if (moves) want_gh[!from][at] = w->gh[from][p];
    }
    n_moved[moves]++;
    CHECK_EQ_I64(left[0].order_beg, parent->order_beg);
    CHECK_EQ_I64(left[0].n_rows, n_left);
    CHECK_EQ_I64(left[1].order_beg, parent->order_beg + n_left);
    CHECK_EQ_I64(left[1].n_rows, parent->n_rows - n_left);
  }
  for (int k = 0; k < 2; k++) {
    CHECK_EQ_BYTES(row[k], want[k], (size_t)w->be.n_rows * sizeof(uint32_t));
    CHECK_EQ_BYTES(gh[k], want_gh[k], (size_t)w->be.n_rows * sizeof(gbt_gh16));
    free(want[k]);
    free(want_gh[k]);
  }
}

/* Slots of the histograms that may be built are cleared, others are as they were. */
static void good_slots(const world *w) {
  const cu_view *v = &w->be.view;
  const size_t n_slots = v->n_slots, bytes = n_slots * sizeof(gbt_sum);
  cu_tree *tree = down(w, v->tree, 1);
  cu_build *build = down(w, v->build, (size_t)tree->n_build);
  gbt_sum *sum = down(w, v->sum, (size_t)v->max_hists * n_slots);
  uint32_t *count = down(w, v->count, (size_t)v->max_hists * n_slots);
  unsigned char *want = host<unsigned char>(bytes);
  for (int32_t i = 0; i < v->max_hists; i++) {
    const int cleared = i >= tree->clear_beg && i < tree->clear_beg + tree->n_clear;
    for (int32_t b = 0; b < tree->n_build; b++) CHECK(cleared || build[b].hist != i);
    memset(want, cleared ? 0 : 0x5a, bytes);
    CHECK_EQ_BYTES(sum + (size_t)i * n_slots, want, bytes);
    memset(want, cleared && v->any_counts ? 0 : 0x5a, bytes);
    CHECK_EQ_BYTES(count + (size_t)i * n_slots, want, n_slots * sizeof *count);
  }
  n_cleared += tree->n_build;
  free(tree);
  free(build);
  free(sum);
  free(count);
  free(want);
}

/* Gradients of even or odd depths as partition must find them, reckoned without cu_order_at. */
static gbt_gh16 *gh_of_depth(const world *w, int32_t k) {
  const cu_view *v = &w->be.view;
  if (k == 0 && w->tree.whole) return (gbt_gh16 *)(void *)v->gradients;
  return v->gh + (k && !v->reuses_gh16 ? v->order_rows : 0);
}

static void same_partition(world *w, uint32_t split_rows) {
  cu_backend *be = &w->be;
  cu_view *v = &be->view;
  int32_t chosen[MAX_NODES], n = 0;
  uint32_t first[MAX_NODES + 1], n_words = 0, sets[MAX_WORDS];
  uint64_t rows = 0;
  for (int32_t i = 0; i < w->n_nodes; i++) {
    if (test_below(&w->rng, 4) == 0 && i > 0) continue;
    draw_split(w, &w->node[i], sets, &n_words);
    chosen[n++] = i;
    rows += w->node[i].n_rows;
  }
  const uint32_t n_shares = cu_n_shares(rows, (uint32_t)n, split_rows);
  first[0] = 0;
  for (int32_t c = 0; c < n; c++)
    first[c + 1] = first[c] + cu_n_pieces(w->node[chosen[c]].n_rows, n_shares, split_rows);
  n_shared += n_shares > 1;
  w->tree.n_chosen = n;
  w->tree.n_split_shares = n_shares;
  w->tree.n_split_blocks = n_shares * first[n];
  w->tree.n_clear = 2 * n < MAX_NODES ? 2 * n : MAX_NODES;
  v->split_states = w->tree.n_split_blocks;
  CHECK(v->split_states <= cu_most_pieces(rows, (uint64_t)n, split_rows));
  v->split_rows = split_rows;
  v->hist_rows = 256;
  v->max_step = n;
  v->max_hists = MAX_NODES;
  v->tree = up(w, &w->tree, 1);
  v->chosen = up(w, chosen, (size_t)n);
  v->split_block = up(w, first, (size_t)n + 1);
  v->sets = up(w, sets, (size_t)n_words + 1);
  v->look_state = up<unsigned long long>(w, NULL, 2 * (size_t)v->split_states);
  v->left_rows = up<uint32_t>(w, NULL, (size_t)n);
  v->build = up<cu_build>(w, NULL, 2 * (size_t)n);
  v->search = up<cu_searched>(w, NULL, 2 * (size_t)n);
  v->hist_block = up<uint32_t>(w, NULL, 2 * (size_t)n + 1);
  be->bounds.max_split_blocks = v->split_states + 2;
  be->bounds.keeps = 1;
  CHECK(cudaMemcpy(v->node, w->node, (size_t)w->n_nodes * sizeof *w->node, cudaMemcpyHostToDevice) == cudaSuccess);
  const size_t sums = (size_t)v->max_hists * v->n_slots;
  v->sum = up<gbt_sum>(w, NULL, sums);
  v->count = up<uint32_t>(w, NULL, sums);
  CHECK(cudaMemset(v->look_state, 0, 2 * (size_t)v->split_states * sizeof *v->look_state) == cudaSuccess);
  CHECK(cudaMemset(v->sum, 0x5a, sums * sizeof *v->sum) == cudaSuccess);
  CHECK(cudaMemset(v->count, 0x5a, sums * sizeof *v->count) == cudaSuccess);
  CHECK_OK(cu_partition(&w->ctx, be, test_err));
  good_slots(w);
  gbt_grow_node *node = down(w, v->node, MAX_NODES);
  uint32_t *row[2];
  gbt_gh16 *gh[2];
  for (int32_t k = 0; k < 2; k++) {
    row[k] = down(w, v->row + (k ? v->order_rows : 0), (size_t)be->n_rows);
    gh[k] = down(w, gh_of_depth(w, k), (size_t)be->n_rows);
  }
  good_children(w, chosen, n, sets, node, row, gh);
  free(node);
  for (int k = 0; k < 2; k++) {
    free(row[k]);
    free(gh[k]);
  }
}

/* The one node becomes the root of a tree that has all rows: nothing is in the orders, and the gradients are where
 * their output has them. reuses: the orders have room for gradients of odd depths alone. */
static void make_whole(world *w, int reuses) {
  cu_view *v = &w->be.view;
  const size_t n = (size_t)w->be.n_rows;
  GBT_ASSERT(w->n_nodes == 1 && w->n == n);
  w->node[0].depth = 0;
  w->tree.whole = 1;
  v->reuses_gh16 = reuses;
  for (int32_t k = 0; k < 2; k++) {
    memset(w->row[k], 0xee, n * sizeof(uint32_t));
    memset(w->gh[k], 0xdd, n * sizeof(gbt_gh16));
    for (size_t r = 0; k == 0 && r < n; r++) w->gh[k][r] = gbt_fix16(w->gh32[r], (uint32_t)test_u(&w->rng));
    const size_t at = k ? (size_t)v->order_rows : 0;
    CHECK(cudaMemcpy(v->row + at, w->row[k], n * sizeof *v->row, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(gh_of_depth(w, k), w->gh[k], n * sizeof *v->gh, cudaMemcpyHostToDevice) == cudaSuccess);
  }
}

enum { ORDERED = 0, WHOLE, WHOLE_REUSES }; /* where the rows and gradients of the nodes are */

/* Codes come from the copy by column, where it was made. */
static void partition_as(const shape *s, int32_t n_nodes, double share, int wide, uint32_t split_rows, int copy,
                         int root) {
  static world w;
  GBT_ASSERT(split_rows <= CU_PIECE_ROWS);
  made *m = made_new(s->seed, s->n_rows, s->n_cols, s->kinds);
  if (s->kinds && s->kinds[0] == MADE_ZEROS) made_fields(m, 3, 4, 0, s->seed);
  if (world_open_with(&w, m, s)) {
    w.be.view.policy.max_depth = s->seed % 3 ? 4 : 0;
    fill_rows(&w, n_nodes, share, wide);
    if (root != ORDERED) make_whole(&w, root == WHOLE_REUSES);
    if (copy && CHECK_OK(cu_columns_make(&w.be.mem, &w.be.device, &w.data, test_err))) {
      w.be.view.train = w.data.view;
      good_copy(&w);
    }
    same_partition(&w, split_rows);
  }
  world_close(&w);
}

static void partition_of(const shape *s, int32_t n_nodes, double share, int wide, uint32_t split_rows, int copy) {
  partition_as(s, n_nodes, share, wide, split_rows, copy, ORDERED);
}

static void root_of(const shape *s, int wide, uint32_t split_rows, int copy) {
  partition_as(s, 1, 1.0, wide, split_rows, copy, WHOLE);
  partition_as(s, 1, 1.0, wide, split_rows, copy, WHOLE_REUSES);
}

static void rows_go_to_their_children(void) {
  made_kind kinds[28], numbers[13];
  for (int c = 0; c < 13; c++) numbers[c] = c % 4 ? MADE_BELL : MADE_HOLES;
  for (int c = 0; c < 28; c++) kinds[c] = c < 25 ? MADE_ZEROS : MADE_HOLED;
  for (int i = 0; i < 6; i++) {
    const shape s = {(uint64_t)(100 + i), 3000, 25, i % 2 ? 255 : 700, 999, NULL, 1, 1 + i % 3, 232448};
    partition_of(&s, 1 + 7 * i, i % 3 ? 0.8 : 1.0, i == 4, 32u << i, i % 2);
    partition_of(&s, 3, 0.9, 0, 1024, 1 - i % 2);
    const shape sparse = {(uint64_t)(110 + i), 1000, 28, 255, 0, kinds, 1, 2, 232448};
    const shape narrow = {(uint64_t)(130 + i), 1500, 13, i % 2 ? 255 : 400, 0, numbers, 1, 2, 232448};
    partition_of(&narrow, 4, 0.9, 0, 256, 1);
    partition_of(&sparse, 6, 0.9, 0, i % 2 ? 1024 : 64, i / 2 % 2);
  }
  const shape large = {120, 9000, 6, 255, 0, NULL, 1, 1, 232448};
  partition_of(&large, 2, 1.0, 0, 4096, 1);
  const shape one_row = {121, 1, 6, 255, 0, NULL, 1, 4, 232448};
  partition_of(&one_row, 1, 1.0, 0, 1024, 1);
  partition_of(&one_row, 1, 0.0, 0, 1024, 1);
  CHECK(n_cleared > 20);
  CHECK(n_copied[0] > 30 && n_copied[1] > 30);
  CHECK(n_moved[0] > 20 && n_moved[1] > 20);
}

/* One node and several, of as many rows as fill words, warps, blocks and pieces, and one row more or less. */
static void nodes_of_every_size(void) {
  const int64_t size[] = {1, 32, 128, 256, 512, 1024, 2048, 4096, 8192};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    for (int64_t n = size[i] - 1; n <= size[i] + 1; n++) {
      const shape s = {(uint64_t)(200 + n), n, 2, 255, 0, NULL, 1, 1, 232448};
      if (n == 0) continue;
      partition_of(&s, 1, 1.0, 0, 256u << (n % 5), 0);
      if (n > 1) partition_of(&s, 1 + (int32_t)(n % 7), 1.0, 0, 32u << (n % 4), 0);
    }
  CHECK(n_shared > 10);
}

/* A root of all rows, of every size as above, and of sparse features, from the tiles and from the copy. */
static void whole_roots(void) {
  const int64_t size[] = {1, 32, 256, 1024, 4096};
  made_kind kinds[28];
  for (int c = 0; c < 28; c++) kinds[c] = c < 25 ? MADE_ZEROS : MADE_HOLED;
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    for (int64_t n = size[i] - 1; n <= size[i] + 1; n++) {
      const shape s = {(uint64_t)(300 + n), n, 6, 255, 0, NULL, 1, 1, 232448};
      if (n > 0) root_of(&s, n % 4 == 0, 32u << (n % 4), n % 2 == 0);
    }
  for (int i = 0; i < 4; i++) {
    const shape sparse = {(uint64_t)(140 + i), 1000, 28, 255, 0, kinds, 1, 2, 232448};
    root_of(&sparse, i == 3, i % 2 ? 1024 : 64, i / 2);
  }
}

/* Exchanges what the environment says of a variable. NULL: nothing. The caller frees what is returned. */
static char *swap_env(const char *name, const char *value) {
  const char *old = getenv(name);
  char *kept = old ? host<char>(strlen(old) + 1) : NULL;
  if (kept) memcpy(kept, old, strlen(old) + 1);
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
  return kept;
}

/* Blocks side by side that are interrupted anywhere, so that pieces meet some that have published nothing, and
 * wait for them. Few rows, for the thread sanitizer. Later suites get the environment's schedule back. */
static void pieces_beside_each_other(void) {
  const shape s = {320, 400, 2, 63, 0, NULL, 1, 1, 232448};
  const char *name[] = {"SIMT_SCHED", "SIMT_SEED", "SIMT_PREEMPT", "SIMT_RESIDENT"};
  const char *value[] = {"random", "5", "3", "3"};
  char *kept[4];
  for (int i = 0; i < 4; i++) kept[i] = swap_env(name[i], value[i]);
  partition_of(&s, 2, 0.9, 0, 32, 0);
  root_of(&s, 0, 32, 0);
  for (int i = 0; i < 4; i++) {
    free(swap_env(name[i], kept[i]));
    free(kept[i]);
  }
}

/* ---- pieces ---- */

/* Every row of every node is in one piece; there are no more pieces than memory is for. */
static void good_pieces(const uint32_t *n_rows, uint32_t n_nodes, uint32_t most) {
  uint64_t rows = 0, pieces = 0;
  for (uint32_t i = 0; i < n_nodes; i++) rows += n_rows[i];
  const uint32_t n_shares = cu_n_shares(rows, n_nodes, most);
  for (uint32_t i = 0; i < n_nodes; i++) {
    const uint32_t all = n_shares * cu_n_pieces(n_rows[i], n_shares, most);
    uint64_t end = 0, full = all ? cu_piece_rows(n_rows[i], all, most) : 0;
    int ended = 0;
    for (uint32_t k = 0; k < all; k++) {
      const cu_piece p = cu_piece_of(n_rows[i], k, all, most);
      CHECK(p.n <= most && p.n <= full && p.number == k);
      CHECK(p.n > 0 ? !ended && p.beg == end : end == n_rows[i]);
      ended |= p.n < full;
      end += p.n;
    }
    CHECK_EQ_U64(end, n_rows[i]);
    CHECK(n_rows[i] == 0 || all > (n_rows[i] - 1u) / (uint32_t)full);
    pieces += all;
  }
  CHECK(pieces <= cu_most_pieces(rows, n_nodes, most));
}

static void pieces_cover_the_rows(void) {
  test_rng rng = {17};
  const uint32_t ends[] = {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 100000};
  enum { N_ENDS = sizeof ends / sizeof *ends };
  uint32_t n_rows[40];
  for (uint32_t i = 0; i < N_ENDS; i++)
    for (uint32_t most = 32; most <= CU_PIECE_ROWS; most *= 2) good_pieces(&ends[i], 1, most);
  for (int k = 0; k < 200; k++) {
    const uint32_t n = 1u + (uint32_t)test_below(&rng, 40);
    for (uint32_t i = 0; i < n; i++)
      n_rows[i] = test_below(&rng, 2) ? ends[test_below(&rng, N_ENDS)]
                                      : (uint32_t)test_below(&rng, (uint64_t)1 << test_below(&rng, 22));
    good_pieces(n_rows, n, 32u << test_below(&rng, 8));
  }
  n_rows[0] = UINT32_MAX; /* nothing overflows */
  n_rows[1] = 7;
  good_pieces(n_rows, 2, CU_PIECE_ROWS);
}

/* ---- look-back ---- */

GBT_FN uint32_t its_sum(uint32_t i) { return (uint32_t)gbt_mix64(i) >> 20; }

/* before[i]: what the blocks before the i-th have. A block of one warp takes several. */
__global__ static void k_chain(unsigned long long *state, unsigned *ticket, uint32_t n, uint32_t *before) {
  for (;;) {
    const uint32_t i = cu_from(cu_lane() == 0 ? atomicAdd(ticket, 1u) : 0u, 0);
    if (i >= n) return;
    if (cu_lane() == 0) cu_publish(&state[i], i == 0 ? CU_SUM_UPTO : CU_ITS_SUM, its_sum(i));
    const uint32_t sum = cu_look_back(state, i);
    if (cu_lane() == 0 && i % 3 > 0) cu_publish(&state[i], CU_SUM_UPTO, sum + its_sum(i)); /* others add up for it */
    if (cu_lane() == 0) before[i] = sum;
  }
}

static void chain_of(uint32_t n, unsigned blocks) {
  unsigned long long *state = NULL;
  unsigned *ticket = NULL;
  uint32_t *before = NULL, *got = host<uint32_t>(n), sum = 0, n_wrong = 0;
  CHECK(cudaMalloc(&state, n * sizeof *state) == cudaSuccess && cudaMalloc(&ticket, sizeof *ticket) == cudaSuccess);
  CHECK(cudaMalloc(&before, n * sizeof *before) == cudaSuccess);
  CHECK(cudaMemset(state, 0, n * sizeof *state) == cudaSuccess);
  CHECK(cudaMemset(ticket, 0, sizeof *ticket) == cudaSuccess);
  CU_LAUNCH(k_chain, blocks, CU_FULL, 0, 0, state, ticket, n, before);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMemcpy(got, before, n * sizeof *got, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (uint32_t i = 0; i < n; sum += its_sum(i++)) n_wrong += got[i] != sum;
  CHECK_EQ_U64(n_wrong, 0);
  cudaFree(state);
  cudaFree(ticket);
  cudaFree(before);
  free(got);
}

/* Blocks side by side, so that they meet some that have published nothing, or their own sums alone. */
static void sums_of_blocks_before(void) {
  const uint32_t n[] = {1, 2, 31, 32, 33, 64, 65, 200};
  for (int k = 0; test_schedule(k); k++)
    for (unsigned resident = 1; resident <= 64; resident *= 8) {
#if defined(GBT_TEST_SIMT)
      simt_resident(resident);
#endif
      for (size_t i = 0; i < sizeof n / sizeof *n; i++) chain_of(n[i], resident + 3u);
    }
#if defined(GBT_TEST_SIMT)
  simt_resident(1);
#endif
}

extern "C" void suite_cuda_partition(void) {
  RUN(sums_of_blocks_before);
  RUN(rows_go_to_their_children);
  RUN(nodes_of_every_size);
  RUN(whole_roots);
  RUN(pieces_beside_each_other);
  RUN(pieces_cover_the_rows);
}
