/* Trees of small data: all steps of a tree in one kernel, whose blocks wait for each other (base/gate.cuh). What a
 * layer costs elsewhere is mostly the latency of its kernels; here it is that of two gates:
 *
 *   rows      a row goes to a child of its node, and is added to the histograms of the child that is built
 *   | gate    the last block to come makes the children, whose rows are counted now
 *   search    a warp takes a node and a run of features, as in split.cu
 *   | gate    the last block takes the best splits and chooses; what is built next is known before rows are
 *
 * At the end rows go to their leaves and add there what their 16-bit gradients dropped. At another gate the last block
 * computes the leaf values; after it rows add these to their scores. Rows stay where they are and have the number of
 * their node (at), so nothing is moved. An item is a group of columns, of a tile's at most four, and a range of rows;
 * the block that takes it has the histograms of all nodes that are built in shared memory, in 32-bit cells:
 *
 *   cells   g: [build][column][code]   h: the same   rows: the same, where the tile counts
 *
 * All groups of columns find out where a range's rows go, from the numbers of the layer above; those of the first group
 * write the new ones, into the other array, and count. What is not 0 then goes to the build's histogram, g and h of a
 * slot by neighbouring lanes.
 *
 * Of two children the one of the smaller sum of hessians is built, as rows are not counted yet; it does not show. */
#include "small.cuh"

#include "../leaves/ops.cuh"
#include "../leaves/values.cuh"
#include "../search/split.cuh"
#include "../steps/frontier.cuh"

enum { THREADS = CU_SMALL_THREADS, MOST_STEPS = CU_SMALL_STEPS, AHEAD = 4 };
enum : uint32_t { NOT_DRAWN = 0x8000u, NODE_BITS = 0x7fffu };
enum { BUILT_NONE = 0, BUILT_LEFT, BUILT_RIGHT };

/* A node that is split, as every row of it asks: one access. */
enum { STEP_BUILT = 3, STEP_MISSING_LEFT = 4, STEP_PLAIN = 8 }; /* which child is built; codes are bins, in order */
struct alignas(16) small_step {
  uint32_t at;         /* the word, in row 0, that has the code of its column */
  int16_t left, build; /* left: 0: the node is a leaf; its number among the builds */
  uint16_t bin, n_bins;
  uint8_t words, shift, bits, how; /* words of a row; where in the word, and of how many bits */
};

/* The same for those that are not plain: codes of bundles and of features with a zero bin, splits by level. */
struct small_other {
  cu_feature feat;
  uint32_t set_beg, set_words;
  int numeric;
};

/* Of a layer, by number within it. */
struct small_steps {
  small_step *step;
  small_other *other;
};

/* The work of a block. */
struct small_item {
  cu_tile tile;
  int32_t lane, n_cols, first_col;
  uint32_t beg, end;         /* rows */
  uint32_t n_cells, n_plane; /* cells of a build; of all builds */
  uint32_t n_build;
  int first, bytes, counts; /* of the first group; codes are the bytes of one word; rows are counted in cells */
  const uint32_t *word;     /* of row 0, with the first column */
  const gbt_gh16 *gh;       /* of row 0 */
};

/* A row, as a thread keeps it. */
struct small_row {
  uint32_t row, from, both, word;
  int live;
};

/* The numbers of rows' nodes in a turn. The address is computed by an offset, not selected from two pointers: see
 * cu_shifted. */
__device__ static __forceinline__ uint16_t *at_of(const cu_view &v, const cu_small_view &s, int turn) {
  return s.at + (turn ? (uint64_t)v.train.n_rows : 0u);
}

/* ---- the way of a row ---- */

__device__ static __forceinline__ void make_step(const cu_view &v, int32_t id, int32_t c, small_step *step,
                                                 small_other *other) {
  const gbt_grow_node *node = &v.node[id];
  const cu_feature f = v.train.feat[node->split.feat];
  const cu_column column = v.train.column[f.column];
  const cu_tile tile = cu_train_tiles(v)[column.tile];
  const uint32_t bit = (uint32_t)column.lane * (uint32_t)tile.bits;
  const int numeric = node->split.kind == GBT_SPLIT_NUMERIC, plain = numeric && f.zero_bin < 0;
  const int built = v.tree->n_build == 0 ? BUILT_NONE : v.build[c].node == node->left ? BUILT_LEFT : BUILT_RIGHT;
  GBT_ASSERT(tile.at + (uint64_t)v.train.n_rows * (uint32_t)tile.words <= UINT32_MAX && f.n_bins <= UINT16_MAX);
  small_step s;
  s.at = (uint32_t)tile.at + (bit >> 5);
  s.words = (uint8_t)tile.words;
  s.shift = (uint8_t)(bit & 31u);
  s.bits = (uint8_t)tile.bits;
  s.left = (int16_t)node->left;
  s.bin = (uint16_t)node->split.bin;
  s.n_bins = (uint16_t)f.n_bins;
  s.build = (int16_t)c;
  s.how = (uint8_t)(built | (node->split.missing_left ? STEP_MISSING_LEFT : 0) | (plain ? STEP_PLAIN : 0));
  *step = s;
  other->feat = f;
  other->set_beg = node->set_beg;
  other->set_words = node->set_words;
  other->numeric = numeric;
}

/* The steps of the layer. All threads. */
__device__ static __forceinline__ void make_steps(const cu_view &v, const small_steps &steps) {
  const int32_t beg = v.tree->fresh_beg, n = v.tree->n_nodes - beg, n_chosen = v.tree->n_chosen;
  for (int32_t i = (int32_t)threadIdx.x; i < n && n_chosen > 0; i += (int32_t)blockDim.x) steps.step[i].left = 0;
  __syncthreads();
  for (int32_t c = (int32_t)threadIdx.x; c < n_chosen; c += (int32_t)blockDim.x) {
    const int32_t id = v.chosen[c];
    make_step(v, id, c, &steps.step[id - beg], &steps.other[id - beg]);
  }
  __syncthreads();
}

/* gbt_grow_goes_left, from what the step knows. */
__device__ static __forceinline__ int goes_left(const cu_view &v, const small_step &s, const small_other &other,
                                                uint32_t row) {
  const uint32_t word = v.train.words[s.at + row * s.words], in_column = word >> s.shift & ((1u << s.bits) - 1u);
  const int missing_left = (s.how & STEP_MISSING_LEFT) != 0;
  if (s.how & STEP_PLAIN) return in_column == s.n_bins ? missing_left : in_column <= s.bin;
  const int32_t code = cu_code_of(other.feat, in_column);
  if (code == (int32_t)s.n_bins) return missing_left;
  if (other.numeric) return code <= (int32_t)s.bin;
  return gbt_bit(v.sets + other.set_beg, other.set_words, (uint32_t)code);
}

/* The number, within the layer, of the step that a row of the node takes; -1: it stays. beg: of the layer's nodes; one
 * that takes no row: where none is split. */
__device__ static __forceinline__ int32_t step_from(const small_steps &steps, int32_t beg, uint32_t from) {
  const int32_t i = (int32_t)(from & NODE_BITS) - beg;
  return i < 0 || steps.step[i].left == 0 ? -1 : i;
}

/* The first node of the layer that is split; if none is, the number of nodes. */
__device__ static __forceinline__ int32_t split_from(const cu_view &v) {
  return v.tree->n_chosen > 0 ? v.tree->fresh_beg : v.tree->n_nodes;
}

/* One row more at count[place], for every lane that counts. All lanes of the warp. */
__device__ static __forceinline__ void count_row(uint32_t *count, int counts, uint32_t place) {
  const unsigned same = __match_any_sync(CU_ALL, counts ? place : ~0u);
  if (counts && (same & cu_lanes_before()) == 0) atomicAdd(&count[place], (uint32_t)__popc(same));
}

/* Counts of a block to those of all. All threads; what they have added is there. */
__device__ static __forceinline__ void hand_in(const cu_small_view &s, uint32_t *count, int32_t n) {
  for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x)
    if (count[i] != 0) cu_add(&s.count[i], count[i]);
}

/* ---- histograms ---- */

__device__ static __forceinline__ small_item item_of(const cu_view &v, const cu_small_view &s, const cu_task &task,
                                                     int32_t i, int32_t n_build) {
  const cu_small_group g = s.group[i % s.n_groups];
  const uint64_t beg = (uint64_t)(uint32_t)(i / s.n_groups) * s.range_rows, n = (uint64_t)v.train.n_rows;
  small_item item;
  item.tile = cu_tiles_of(v.train, task.variant)[g.tile];
  item.lane = g.lane;
  item.n_cols = g.n_cols;
  item.first_col = item.tile.first_col + g.lane;
  item.beg = (uint32_t)(beg < n ? beg : n);
  item.end = (uint32_t)(beg + s.range_rows < n ? beg + s.range_rows : n);
  item.n_build = (uint32_t)n_build;
  item.n_cells = (uint32_t)g.n_cols * item.tile.n_codes;
  item.n_plane = item.n_cells * item.n_build;
  item.first = i % s.n_groups == 0;
  item.bytes = item.tile.bits == 8 && g.lane % 4 == 0;
  item.counts = item.tile.counts;
  item.word = v.train.words + item.tile.at + ((uint32_t)item.lane * (uint32_t)item.tile.bits >> 5);
  item.gh = cu_gh16(v, task.grads);
  GBT_ASSERT(item.n_plane * (item.counts ? 3u : 2u) <= s.n_words);
  return item;
}

/* g in the lower 16 bits and h in the upper ones. */
__device__ static __forceinline__ uint32_t both_of(const small_item &item, uint32_t row, int part) {
  if (part == CU_NARROW) return cu_gh_bits(item.gh + row);
  const gbt_gh32 q = ((const gbt_gh32 *)(const void *)item.gh)[row];
  return cu_half_of(q, part);
}

__device__ static __forceinline__ void add_row(const cu_view &v, const small_item &item, const small_row &r,
                                               uint32_t build, int part, uint32_t *cells) {
  const uint32_t g = cu_part_g(r.both, part), h = r.both >> 16;
  const int counts = item.counts && part != CU_HIGH;
  uint32_t *to = cells + build * item.n_cells;
  CU_UNROLL
  for (int32_t q = 0; q < CU_SMALL_COLS; q++, to += item.tile.n_codes) {
    if (q >= item.n_cols) break;
    const uint32_t code =
        item.bytes ? r.word >> (8 * q) & 255u : cu_tile_code(v.train.words, item.tile, item.lane + q, r.row);
    atomicAdd(&to[code], g);
    atomicAdd(&to[code + item.n_plane], h);
    if (counts) atomicAdd(&to[code + 2u * item.n_plane], 1u);
  }
}

/* Cells that are not 0 to the builds' histograms: a warp takes a column of a build, neighbouring lanes g and h of a
 * slot. */
template <bool ROOT>
__device__ static __forceinline__ void flush(const cu_view &v, const small_item &item, int part,
                                             const uint32_t *cells) {
  const int64_t weight = part == CU_HIGH ? 65536 : 1;
  const uint32_t which = cu_lane() & 1u, n_runs = item.n_build * (uint32_t)item.n_cols, n = item.tile.n_codes;
  const int counts = item.counts && part != CU_HIGH && which == 0;
  for (uint32_t run = cu_warp(); run < n_runs; run += cu_n_warps()) {
    const uint32_t build = run / (uint32_t)item.n_cols, column = (uint32_t)item.first_col + run % (uint32_t)item.n_cols;
    const uint64_t at = (uint64_t)(ROOT ? 0u : (uint32_t)v.build[build].hist) * v.n_slots + v.train.column[column].slot;
    const uint32_t *from = cells + run * n + which * item.n_plane, *rows = cells + run * n + 2u * item.n_plane;
    int64_t *to = (int64_t *)(void *)(v.sum + at) +
                  which; /* an offset, not a choice of pointers: the compiler knows that it is global */
    for (uint32_t code = cu_lane() >> 1; code < n; code += 16u) {
      const uint32_t x = from[code];
      const int64_t wide = part == CU_LOW || which ? (int64_t)x : (int64_t)(int32_t)x;
      if (x != 0) cu_add(to + 2u * code, wide * weight);
      if (counts && rows[code] != 0) cu_add(&v.count[at + code], rows[code]);
    }
  }
}

/* ---- rows ---- */

/* A row of the root: whether it was drawn. */
__device__ static __forceinline__ uint32_t root_of(const cu_view &v, const cu_task &task, uint32_t row) {
  if (!(v.params.subsample < 1.0)) return 0;
  const gbt_key32 key = gbt_key((uint64_t)v.params.seed, GBT_FOR_ROWS, task.tree, 0);
  return gbt_hash32(key, row) < gbt_hash_limit(v.params.subsample) ? 0u : (uint32_t)NOT_DRAWN;
}

/* The part of a row that can be read before its side is known. from: of all rows; unused for the root. */
template <bool ROOT>
__device__ static __forceinline__ small_row read_row(const cu_view &v, const cu_task &task, const small_item &item,
                                                     const uint16_t *from, uint32_t row, int part) {
  small_row r;
  r.row = row;
  r.live = row < item.end;
  r.from = r.both = r.word = 0;
  if (!r.live) return r;
  r.from = ROOT ? root_of(v, task, row) : from[row];
  r.both = both_of(item, row, part);
  r.word = item.word[row * (uint32_t)item.tile.words];
  return r;
}

/* The rows of an item into cells, from the layer above; ROOT: all that were drawn. */
template <bool ROOT>
__device__ static __forceinline__ void take_rows(const cu_view &v, const cu_small_view &s, const cu_task &task,
                                                 const small_item &item, const small_steps &steps, int turn, int part,
                                                 uint32_t *cells, uint32_t *count) {
  const int counts = item.first && part != CU_HIGH;
  const uint16_t *from = at_of(v, s, turn);
  uint16_t *to = at_of(v, s, !turn);
  const int32_t beg = ROOT ? 0 : split_from(v);
  for (uint32_t base = item.beg; base < item.end; base += AHEAD * THREADS) {
    small_row r[AHEAD];
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++)
      r[k] = read_row<ROOT>(v, task, item, from, base + (uint32_t)k * THREADS + threadIdx.x, part);
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      const int32_t i = ROOT || !r[k].live ? -1 : step_from(steps, beg, r[k].from);
      const int in = r[k].live && !(r[k].from & NOT_DRAWN);
      const int32_t known = i < 0 ? 0 : i;
      const small_step its = steps.step[known];
      const int left = i >= 0 && goes_left(v, its, steps.other[known], r[k].row);
      uint32_t at = r[k].from;
      if (i >= 0) at = (at & NOT_DRAWN) | (uint32_t)(its.left + !left);
      if (r[k].live && counts) to[r[k].row] = (uint16_t)at;
      if (counts) count_row(count, in && (ROOT || i >= 0), i < 0 ? 0u : 2u * (uint32_t)its.build + !left);
      if (ROOT ? in : in && i >= 0 && (its.how & STEP_BUILT) == (left ? BUILT_LEFT : BUILT_RIGHT))
        add_row(v, item, r[k], ROOT ? 0u : (uint32_t)its.build, part, cells);
    }
  }
}

/* Sums of the drawn rows of an item for the root; those of all rows are known (gradient.cu). All threads. */
__device__ static __forceinline__ void add_to_root(const cu_view &v, const cu_task &task, const small_item &item) {
  gbt_sum sum = {0, 0};
  for (uint32_t row = item.beg + threadIdx.x; row < item.end; row += blockDim.x) {
    if (root_of(v, task, row)) continue;
    gbt_sum its = cu_gh_sum(cu_gh_bits(cu_gh16(v, task.grads) + row));
    if (v.tree->wide) {
      const gbt_gh32 q = cu_gh32(v, task.grads)[row];
      its.g = q.g;
      its.h = q.h;
    }
    sum = cu_plus(sum, its);
  }
  sum = cu_block_sum(sum);
  if (threadIdx.x != 0) return;
  cu_add(&v.tree->root.g, sum.g);
  cu_add(&v.tree->root.h, sum.h);
}

/* All items of a layer; reads the numbers of this turn, writes the others'. */
template <bool ROOT>
__device__ static __forceinline__ void build_layer(const cu_view &v, const cu_small_view &s, int turn, uint32_t *cells,
                                                   const small_steps &steps, uint32_t *count) {
  const int32_t n_build = ROOT ? 1 : v.tree->n_build, n_counts = ROOT ? 1 : 2 * v.tree->n_chosen;
  const int wide = v.tree->wide;
  const cu_task task = ROOT && s.task_is_arg ? s.task : v.tree->task;
  if (!ROOT) make_steps(v, steps);
  for (int32_t i = (int32_t)blockIdx.x; i < s.n_groups * s.n_ranges; i += (int32_t)gridDim.x) {
    const small_item item = item_of(v, s, task, i, n_build);
    for (int part = wide ? CU_LOW : CU_NARROW; part <= (wide ? CU_HIGH : CU_NARROW); part++) {
      for (uint32_t c = threadIdx.x; c < item.n_plane * (item.counts ? 3u : 2u); c += blockDim.x) cells[c] = 0;
      for (int32_t c = (int32_t)threadIdx.x; c < n_counts; c += (int32_t)blockDim.x) count[c] = 0;
      __syncthreads();
      take_rows<ROOT>(v, s, task, item, steps, turn, part, cells, count);
      __syncthreads();
      flush<ROOT>(v, item, part, cells);
      if (item.first && part != CU_HIGH) hand_in(s, count, n_counts);
      __syncthreads();
    }
    if (ROOT && item.first && !v.tree->whole) add_to_root(v, task, item);
  }
}

/* ---- the tree, by the last block at a gate ---- */

__device__ static __forceinline__ void plan_root(const cu_view &v, const cu_small_view &s) {
  cu_tree *t = v.tree;
  if (threadIdx.x != 0) return;
  const gbt_grow_policy policy = cu_policy_of(v);
  t->n_in = s.count[0];
  s.count[0] = 0;
  gbt_grow_node root = gbt_grow_root(&policy, t->n_in, t->root);
  t->n_nodes = 1;
  t->n_leaves = 1;
  t->fresh_beg = t->open_beg = t->n_chosen = t->n_build = 0;
  t->n_words = 0;
  t->n_search = t->n_hists = root.splittable;
  root.hist = root.splittable ? 0 : -1;
  v.search[0].node = 0;
  v.search[0].minus = -1;
  v.node[0] = root;
}

/* Whether a side of a chosen node could be split, as far as is known before its rows are counted. */
__device__ static __forceinline__ int may_split(const cu_view &v, const gbt_grow_policy &policy,
                                                const gbt_grow_node *node, int32_t n) {
  gbt_grow_node child = gbt_grow_empty(0, node->depth + 1);
  child.n_rows = node->n_rows;
  child.sum = node->split.left;
  int may = gbt_grow_could_split(&policy, &child, v.tree->n_leaves + n);
  child.sum.g = node->sum.g - node->split.left.g;
  child.sum.h = node->sum.h - node->split.left.h;
  return may | gbt_grow_could_split(&policy, &child, v.tree->n_leaves + n);
}

/* Fresh nodes get their splits; who is chosen, and whose histograms are built. */
__device__ static __forceinline__ void choose(const cu_view &v) {
  CU_SHARED(int32_t, shared, 1);
  cu_tree *t = v.tree;
  const gbt_grow_policy policy = cu_policy_of(v);
  int any = 0;
  cu_open_fresh(v);
  __syncthreads();
  int32_t n = t->fault & CU_FAULT_ROOM ? 0 : cu_choose_layer(v, shared);
  const int32_t first = t->n_nodes, hists = t->n_hists;
  __syncthreads();
  int room = first + 2 * n <= v.max_nodes;
  for (int32_t c = (int32_t)threadIdx.x; c < n && room; c += (int32_t)blockDim.x) {
    gbt_grow_node *node = &v.node[v.chosen[c]];
    node->open = 0;
    node->left = first + 2 * c;
    v.build[c].node = node->left + (node->split.left.h > node->sum.h - node->split.left.h);
    v.build[c].hist = hists + c;
    any |= may_split(v, policy, node, n);
  }
  any = __syncthreads_or(any);
  room = room && (!any || hists + n <= v.max_hists);
  if (threadIdx.x != 0) return;
  if (!room) t->fault |= CU_FAULT_ROOM; /* sizes are to see to it that this does not happen */
  t->n_chosen = room ? n : 0;
  t->n_build = room && any ? n : 0;
}

/* The histograms of a pair: the built child has one of its own, its sibling what is left of their parent's. Returns how
 * many are to be searched. */
__device__ static __forceinline__ uint32_t plan_pair(const cu_view &v, int32_t c, cu_searched *search) {
  const cu_build build = v.build[c];
  gbt_grow_node *parent = &v.node[v.chosen[c]];
  const int32_t other = build.node == parent->left ? build.node + 1 : build.node - 1;
  uint32_t n = 0;
  if (v.tree->n_build == 0) return 0;
  if (v.node[build.node].splittable) {
    v.node[build.node].hist = build.hist;
    search[n].node = build.node;
    search[n++].minus = -1;
  }
  if (v.node[other].splittable) {
    v.node[other].hist = parent->hist;
    search[n].node = other;
    search[n++].minus = build.hist;
  }
  parent->hist = -1;
  return n;
}

/* The children of the chosen nodes, whose rows are counted. */
__device__ static __forceinline__ void settle(const cu_view &v, const cu_small_view &s) {
  cu_tree *t = v.tree;
  const gbt_grow_policy policy = cu_policy_of(v);
  const int32_t n = t->n_chosen, first = t->n_nodes, c = (int32_t)threadIdx.x;
  cu_searched search[2];
  uint32_t n_search = 0, total;
  GBT_ASSERT(n <= (int32_t)blockDim.x);
  if (c < n) {
    gbt_grow_node *parent = &v.node[v.chosen[c]], *left = &v.node[parent->left];
    GBT_ASSERT(s.count[2 * c] + s.count[2 * c + 1] == parent->n_rows);
    gbt_grow_children(&policy, parent, v.chosen[c], s.count[2 * c], left, left + 1);
    for (int32_t k = 0; k < 2; k++) {
      left[k].number = parent->left + k;
      left[k].splittable = (int8_t)gbt_grow_could_split(&policy, &left[k], t->n_leaves + n);
      s.count[2 * c + k] = 0;
    }
    n_search = plan_pair(v, c, search);
  }
  const uint32_t at = cu_block_scan(n_search, &total);
  for (uint32_t k = 0; k < n_search; k++) v.search[at + k] = search[k];
  if (threadIdx.x != 0) return;
  t->fresh_beg = first;
  t->n_nodes = first + 2 * n;
  t->n_leaves += n;
  t->n_hists += t->n_build;
  t->n_search = (int32_t)total;
}

/* Sums and values of all nodes of the complete tree. */
__device__ static __forceinline__ void make_values(const cu_view &v) {
  const cu_tree *t = v.tree;
  const gbt_scale *scale = &v.output[t->task.output].scale;
  const int32_t me = (int32_t)threadIdx.x, step = (int32_t)blockDim.x, n_nodes = t->n_nodes;
  const int64_t unit = t->wide ? 1 : 65536;
  for (int32_t i = me; i < n_nodes; i += step) {
    const gbt_grow_node *node = &v.node[i];
    if (node->left) continue;
    v.fine[i].g += node->sum.g * unit;
    v.fine[i].h += node->sum.h * unit;
  }
  __syncthreads();
  cu_sum_up(v);
  for (int32_t i = me; i < n_nodes; i += step)
    v.value[i] = gbt_grow_own(&v.policy, scale, &v.node[i], v.fine[i]);
  __syncthreads();
  cu_shrink_values(v);
}

/* ---- the kernel ---- */

/* Fine sums are 0 when rows add to them, gates from here. */
__device__ static __forceinline__ void clear_fine(const cu_view &v) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (uint32_t k = i; k < (uint32_t)v.max_nodes; k += step) v.fine[k].g = v.fine[k].h = 0;
}

/* The root's histogram of the next tree. That of the first one was cleared by the host (small_plan.cu), so no tree has
 * to wait at a gate for it. */
__device__ static __forceinline__ void clear_root(const cu_view &v) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (uint32_t k = i; k < v.n_slots; k += step) {
    v.sum[k].g = v.sum[k].h = 0;
    if (v.any_counts) v.count[k] = 0;
  }
}

/* All searched nodes; and the histograms that the next layer may build are cleared. */
__device__ static __forceinline__ void search_layer(const cu_view &v) {
  const int32_t n_search = v.tree->n_search, n_hists = v.tree->n_hists, room = v.max_hists - n_hists;
  const uint32_t n_tasks = (uint32_t)n_search * (uint32_t)v.n_feat_runs;
  for (uint32_t t = blockIdx.x + gridDim.x * cu_warp(); t < n_tasks; t += gridDim.x * cu_n_warps()) {
    const cu_todo todo = cu_todo_of(v, (int32_t)(t / (uint32_t)v.n_feat_runs));
    float bar = todo.bound.bar;
    cu_search_run<0>(v, &todo, (int32_t)(t % (uint32_t)v.n_feat_runs), nullptr, &bar);
  }
  const uint64_t first = (uint64_t)(uint32_t)n_hists * v.n_slots;
  const uint64_t n = (uint64_t)(uint32_t)(n_search < room ? n_search : room) * v.n_slots;
  for (uint64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += (uint64_t)gridDim.x * blockDim.x) {
    v.sum[first + k].g = v.sum[first + k].h = 0;
    if (v.any_counts) v.count[first + k] = 0;
  }
}

/* Rows to their leaves: counts of the last children, and the rest of the leaves' sums. fine: 2 max_nodes words. */
__device__ static __forceinline__ void end_rows(const cu_view &v, const cu_small_view &s, int turn,
                                                const small_steps &steps, uint32_t *count, uint32_t *fine) {
  const uint32_t n_rows = (uint32_t)v.train.n_rows, nodes = (uint32_t)v.max_nodes;
  const int32_t n_counts = 2 * v.tree->n_chosen;
  const int wide = v.tree->wide;
  const gbt_key32 key = cu_rounding_key(v, v.tree->round, v.tree->task.output);
  const uint32_t *low = cu_low(v, v.tree->task.grads);
  for (uint32_t i = threadIdx.x; i < 2u * nodes; i += blockDim.x) fine[i] = 0;
  for (int32_t i = (int32_t)threadIdx.x; i < n_counts; i += (int32_t)blockDim.x) count[i] = 0;
  make_steps(v, steps);
  const int32_t beg = split_from(v);
  for (uint32_t base = blockIdx.x * blockDim.x; base < n_rows; base += gridDim.x * blockDim.x) {
    const uint32_t row = base + threadIdx.x;
    const int live = row < n_rows;
    const uint32_t from = live ? at_of(v, s, turn)[row] : 0u, part = live && !wide ? low[row] : 0u;
    const int in = live && !(from & NOT_DRAWN);
    const int32_t i = live ? step_from(steps, beg, from) : -1;
    const int32_t known = i < 0 ? 0 : i;
    const small_step its = steps.step[known];
    const int left = i >= 0 && goes_left(v, its, steps.other[known], row);
    const uint32_t to = i >= 0 ? (uint32_t)(its.left + !left) : from & NODE_BITS;
    if (live) at_of(v, s, turn)[row] = (uint16_t)to;
    count_row(count, in && i >= 0, i < 0 ? 0u : 2u * (uint32_t)its.build + !left);
    if (!in || wide) continue;
    const uint32_t bits = gbt_hash32(key, row);
    atomicAdd(&fine[to], (uint32_t)gbt_fix_rest_g(part, bits));
    atomicAdd(&fine[nodes + to], (uint32_t)gbt_fix_rest_h(part, bits));
  }
  __syncthreads();
  hand_in(s, count, n_counts);
  for (uint32_t i = threadIdx.x; i < nodes; i += blockDim.x) {
    if (fine[i] != 0) cu_add(&v.fine[i].g, (int32_t)fine[i]);
    if (fine[nodes + i] != 0) cu_add(&v.fine[i].h, (int32_t)fine[nodes + i]);
  }
}

__device__ static __forceinline__ void add_scores(const cu_view &v, const uint16_t *at) {
  const uint32_t n_rows = (uint32_t)v.train.n_rows;
  double *score = v.score + (uint64_t)(uint32_t)v.tree->task.output * n_rows;
  for (uint32_t row = blockIdx.x * blockDim.x + threadIdx.x; row < n_rows; row += gridDim.x * blockDim.x)
    score[row] += v.value[at[row]];
}

/* Grows the tree of the view: that of one tree of the batch, made on the host, so that it takes no registers. */
__global__ static void __launch_bounds__(THREADS, 1) k_small(cu_view v, cu_small_view s) {
  CU_DYN_SHARED(uint32_t, cells);
  CU_SHARED(small_step, step, MOST_STEPS);
  CU_SHARED(small_other, other, MOST_STEPS);
  CU_SHARED(uint32_t, count, 2 * MOST_STEPS);
  const small_steps steps = {step, other};
  int turn = 0;
  clear_fine(v);
  if (s.task_is_arg && blockIdx.x == 0 && threadIdx.x == 0) v.tree->task = s.task; /* for the work after the gate */
  build_layer<true>(v, s, !turn, cells, steps, count);
  cu_pass(s.gate, [&] { plan_root(v, s); });
  for (;;) {
    search_layer(v);
    cu_pass(s.gate, [&] { choose(v); });
    if (v.tree->n_build == 0) break;
    build_layer<false>(v, s, turn, cells, steps, count);
    turn = !turn;
    cu_pass(s.gate, [&] { settle(v, s); });
  }
  end_rows(v, s, turn, steps, count, cells);
  cu_pass(s.gate, [&] {
    if (v.tree->n_chosen > 0) settle(v, s);
    __syncthreads();
    make_values(v);
  });
  add_scores(v, at_of(v, s, turn));
  clear_root(v);
}

/* ---- the host's side ---- */

/* Whether the kernel runs as it is planned; what it may take is asked for. */
gbt_status cu_small_prepare(const cu_small *small, int *runs, gbt_error *err) {
  int blocks = 0;
  CU_TRY(cudaFuncSetAttribute(k_small, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)small->shared));
  CU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k_small, CU_SMALL_THREADS, small->shared));
  *runs = blocks >= 1;
  return GBT_OK;
}

/* A device may have no room for all blocks at once after all, as when others use it. Then this training takes the
 * steps from here on, before anything of the batch has grown; an error that stays, as of a lost device, is met again
 * there. */
gbt_status cu_small_grow(cu_backend *be, gbt_error *err) {
  const cu_small *small = be->small;
  cu_small_view view = small->view;
  for (int32_t y = 0; y < be->view.n_trees; y++) {
    view.task_is_arg = be->grad.trees_set;
    view.task = be->task[y];
    CU_LAUNCH_TOGETHER(k_small, small->grid, THREADS, small->shared, be->device.stream,
                       cu_view_of(be->view, (uint32_t)y), view);
    if (y == 0 && cudaGetLastError() != cudaSuccess) {
      be->takes_steps = 1;
      return GBT_OK;
    }
    CU_LAUNCHED();
  }
  be->depth = (int32_t)be->bounds.max_steps; /* no step is left to be issued */
  return GBT_OK;
}

gbt_status cu_small_end(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  for (int32_t turn = 0; turn < be->view.n_turns; turn++) GBT_TRY(cu_route(ctx, be, turn, err));
  return GBT_OK;
}
