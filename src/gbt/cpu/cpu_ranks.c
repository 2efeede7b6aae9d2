/* Several ranks divide the search: each owns a range of features, by slots about the same for all.
 *
 *   built here     |  slots of rank 0  |  rank 1  |  rank 2  |    from the rows of this rank
 *   reduce-scatter         every rank gets the sums of all ranks in its own slots
 *   subtract, search       of its own features, in all nodes of the step
 *   gather                 the best split of each node, from every rank; the best of these wins, by the same rule as
 *                          among features of one process
 *
 * All ranks then have the same splits and go on alike. Histograms that are kept for their children hold sums in the
 * rank's own slots only.
 *
 * On the way histograms lie in blocks: one after the other for every rank, in each the nodes one after the other. Of a
 * node with fewer than 65,536 rows (of all ranks) and 16-bit gradients, sums fit into 32 bits; counts go with them.
 *
 * Rows that go left are counted by the histogram where it counts rows: then the owner of the split tells them to all.
 * Elsewhere every rank counts its own rows in cpu_partition, and the counts are added up in the same round as the
 * histograms of the children. Until then the children have as many rows as their parent; nothing but limits is decided
 * by them, and limits are checked again. Where no histograms follow, cpu_leaf.c adds up the rows of all nodes at the
 * end. */
#include "cpu_layer_impl.h"

#include <string.h>

#include "../backend/feature_share.h"

enum {
  BLOCK_BYTES = 400000,  /* about; one histogram at least. See gbt_ranks_spare */
  BLOCKS = 64,           /* in one round */
  SET_WORDS = 16,        /* of a set that goes with a split: 512 levels */
  NARROW_ROWS = 65535    /* 32 bits hold sums of so many gradients of 16 bits */
};

/* ---- who owns what ---- */

static gbt_status share_out(cpu_backend *be, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  GBT_TRY(gbt_mem_array(&be->mem, (size_t)ranks->size + 1, sizeof *ranks->slot_beg, &ranks->slot_beg, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_features, 1, &ranks->owns, err));
  gbt_share_features(be->layout, be->n_features, ranks->size, ranks->rank, ranks->slot_beg, ranks->owns);
  return GBT_OK;
}

gbt_status cpu_ranks_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  ranks->size = gbt_comm_size(ctx);
  ranks->rank = gbt_comm_rank(ctx);
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  const size_t size = (size_t)ranks->size, n = (size_t)be->n_features;
  GBT_TRY(gbt_mem_array(&be->mem, size, sizeof *ranks->bytes, &ranks->bytes, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *ranks->tree_feats, &ranks->tree_feats, err));
  for (int32_t f = 0; f < be->n_features; f++) {
    const size_t words = be->split.plan[f].by_sets ? ((size_t)be->cuts->feat[f].n_bins + 31) / 32 : 0;
    if (words > ranks->set_words) ranks->set_words = words;
  }
  ranks->set_words = ranks->set_words > SET_WORDS ? 0 : (ranks->set_words + 1) / 2 * 2;
  ranks->on = ctx->comm->reduce_scatter != NULL && be->layout->n_slots > 0;
  return ranks->on ? share_out(be, err) : GBT_OK;
}

void cpu_ranks_close(cpu_backend *be) {
  cpu_ranks *r = &be->ranks;
  void *blocks[] = {r->slot_beg, r->owns,  r->tree_feats, r->left_rows, r->waiting, r->out,   r->in,
                    r->block,    r->count, r->parcel,     r->part,      r->bytes,   r->bests,
                    r->won};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

int32_t cpu_ranks_keep_own(const cpu_backend *be, int32_t *feats, int32_t n) {
  int32_t kept = 0;
  if (!be->ranks.on) return n;
  for (int32_t k = 0; k < n; k++)
    if (be->ranks.owns[feats[k]]) feats[kept++] = feats[k];
  return kept;
}

void cpu_ranks_begin(cpu_backend *be) {
  cpu_ranks *ranks = &be->ranks;
  ranks->n_left_rows = ranks->n_waiting = 0;
  if (!ranks->on) return;
  memcpy(ranks->tree_feats, be->split.tree_feats, (size_t)be->split.n_tree_feats * sizeof *ranks->tree_feats);
  ranks->n_tree_feats = cpu_ranks_keep_own(be, ranks->tree_feats, be->split.n_tree_feats);
}

uint32_t cpu_ranks_slot_beg(const cpu_backend *be) { return be->ranks.on ? be->ranks.slot_beg[be->ranks.rank] : 0; }

uint32_t cpu_ranks_slot_end(const cpu_backend *be) {
  return be->ranks.on ? be->ranks.slot_beg[be->ranks.rank + 1] : be->layout->n_slots;
}

/* ---- histograms on their way ---- */

/* The place of a slot among the 64-bit numbers of a histogram. */
static size_t place_of(const cpu_backend *be, uint32_t slot) {
  const size_t dense = be->layout->sparse_slot, each = be->pool.packed ? 1 : 2;
  return slot < dense ? 2 * (size_t)slot : 2 * dense + each * (slot - dense);
}

/* Numbers of 32 bits a slot. */
static size_t narrow_width(const cpu_backend *be) { return be->pool.any_counts ? 3 : 2; }

/* Numbers of the slots [beg, end) in a block of sums. */
static size_t numbers_of(const cpu_backend *be, int narrow, uint32_t beg, uint32_t end) {
  return narrow ? narrow_width(be) * (end - beg) : place_of(be, end) - place_of(be, beg);
}

static void pack_narrow(const cpu_backend *be, const cpu_hist *hist, uint32_t beg, uint32_t end, uint32_t *to) {
  const uint32_t sparse = be->layout->sparse_slot;
  const int64_t *both = (const int64_t *)(const void *)(hist->sum + sparse);
  for (uint32_t s = beg; s < end; s++) {
    const gbt_sum v = be->pool.packed && s >= sparse ? cpu_unpack(both[s - sparse]) : hist->sum[s];
    *to++ = (uint32_t)v.g;
    *to++ = (uint32_t)v.h;
  }
  if (hist->count && end > beg) memcpy(to, hist->count + beg, (end - beg) * sizeof *to);
}

static void unpack_narrow(const cpu_backend *be, const uint32_t *from, uint32_t beg, uint32_t end, cpu_hist *hist) {
  const uint32_t sparse = be->layout->sparse_slot;
  int64_t *both = (int64_t *)(void *)(hist->sum + sparse);
  for (uint32_t s = beg; s < end; s++, from += 2) {
    const gbt_sum v = {(int32_t)from[0], from[1]};
    if (be->pool.packed && s >= sparse)
      both[s - sparse] = v.g * 4294967296 + v.h;
    else
      hist->sum[s] = v;
  }
  if (hist->count && end > beg) memcpy(hist->count + beg, from, (end - beg) * sizeof *from);
}

/* A histogram into its blocks, rank by rank. */
static void pack_task(void *arg, int64_t task, int thread) {
  const cpu_backend *be = arg;
  const cpu_ranks *ranks = &be->ranks;
  const cpu_parcel *p = &ranks->parcel[task];
  const cpu_hist *hist = &be->pool.hist[be->hist.build[p->build].hist];
  const size_t j = (size_t)p->j, k = (size_t)p->k;
  (void)thread;
  for (int r = 0; r < ranks->size; r++) {
    const uint32_t beg = ranks->slot_beg[r], end = ranks->slot_beg[r + 1];
    const size_t at = k * numbers_of(be, p->narrow, 0, beg) + j * numbers_of(be, p->narrow, beg, end);
    if (p->narrow) {
      pack_narrow(be, hist, beg, end, (uint32_t *)ranks->block[p->block].x + at);
      continue;
    }
    const int64_t *sum = (const int64_t *)(const void *)hist->sum + place_of(be, beg);
    if (end > beg) memcpy((int64_t *)ranks->block[p->block].x + at, sum, numbers_of(be, 0, beg, end) * sizeof *sum);
    if (hist->count && end > beg)
      memcpy((uint32_t *)ranks->block[p->block + 1].x + k * beg + j * (end - beg), hist->count + beg,
             (end - beg) * sizeof *hist->count);
  }
}

/* The sums of this rank's slots back into the histogram. */
static void unpack_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_ranks *ranks = &be->ranks;
  const cpu_parcel *p = &ranks->parcel[task];
  cpu_hist *hist = &be->pool.hist[be->hist.build[p->build].hist];
  const uint32_t beg = cpu_ranks_slot_beg(be), end = cpu_ranks_slot_end(be);
  const size_t n = numbers_of(be, p->narrow, beg, end), j = (size_t)p->j;
  (void)thread;
  if (p->narrow) {
    unpack_narrow(be, (const uint32_t *)ranks->block[p->block].own + j * n, beg, end, hist);
    return;
  }
  int64_t *to = (int64_t *)(void *)hist->sum + place_of(be, beg);
  if (n > 0) memcpy(to, (const int64_t *)ranks->block[p->block].own + j * n, n * sizeof *to);
  if (hist->count && end > beg)
    memcpy(hist->count + beg, (const uint32_t *)ranks->block[p->block + 1].own + j * (end - beg),
           (end - beg) * sizeof *hist->count);
}

static int is_narrow(const cpu_backend *be, const cpu_build *build) {
  const int64_t rows = be->ranks.root_waits ? cpu_all_rows(be) : gbt_grow_rows(&be->fr.node[build->node]);
  return !be->view.wide && rows <= NARROW_ROWS;
}

/* Nodes of a block. */
static size_t nodes_of_block(const cpu_backend *be, int narrow) {
  const size_t bytes = numbers_of(be, narrow, 0, be->layout->n_slots) * (narrow ? sizeof(uint32_t) : sizeof(int64_t));
  return bytes < BLOCK_BYTES ? BLOCK_BYTES / (bytes + 1) + 1 : 1;
}

/* Parcels of builds [first ..): as many as go in one round; builds of the same width follow each other in a block.
 * Returns the next build. */
static size_t plan_parcels(cpu_backend *be, size_t first, size_t *n_blocks) {
  cpu_ranks *ranks = &be->ranks;
  size_t b = first;
  *n_blocks = 0;
  while (b < be->hist.n_build && *n_blocks + 2 <= BLOCKS) {
    const int narrow = is_narrow(be, &be->hist.build[b]), more = !narrow && be->pool.any_counts;
    const size_t most = nodes_of_block(be, narrow);
    size_t k = 1;
    while (k < most && b + k < be->hist.n_build && is_narrow(be, &be->hist.build[b + k]) == narrow) k++;
    for (size_t j = 0; j < k; j++)
      ranks->parcel[b + j - first] =
          (cpu_parcel){(int32_t)(b + j), (int32_t)j, (int32_t)k, (int32_t)*n_blocks, narrow};
    b += k;
    *n_blocks += 1 + (size_t)more;
  }
  return b;
}

/* The block of k nodes: its numbers by rank, and its memory from *out and *in on, which move. */
static void make_block(cpu_backend *be, const cpu_parcel *p, int counts, size_t block, char **out, char **in) {
  cpu_ranks *ranks = &be->ranks;
  const gbt_comm_type type = p->narrow || counts ? GBT_COMM_U32 : GBT_COMM_I64;
  size_t *count = ranks->count + block * (size_t)ranks->size, all = 0;
  for (int r = 0; r < ranks->size; r++) {
    const uint32_t beg = ranks->slot_beg[r], end = ranks->slot_beg[r + 1];
    all += count[r] = (size_t)p->k * (counts ? end - beg : numbers_of(be, p->narrow, beg, end));
  }
  ranks->block[block] = (gbt_comm_block){*out, count, type, *in};
  *out += (all * gbt_comm_width(type) + 7) / 8 * 8;
  *in += (count[ranks->rank] * gbt_comm_width(type) + 7) / 8 * 8;
}

/* Room for the blocks of n parcels, and the blocks. */
static gbt_status make_blocks(cpu_backend *be, size_t n, size_t n_blocks, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const uint32_t beg = cpu_ranks_slot_beg(be), end = cpu_ranks_slot_end(be);
  size_t out = 16 * n_blocks, in = 16 * n_blocks;
  for (size_t i = 0; i < n; i++) { /* a slot takes 20 bytes at most: two sums and a count */
    const size_t bytes = ranks->parcel[i].narrow ? 4 * narrow_width(be) : be->pool.any_counts ? 20 : 16;
    out += bytes * be->layout->n_slots;
    in += bytes * (end - beg);
  }
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->out, &ranks->cap_out, out, 1, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->in, &ranks->cap_in, in, 1, err));
  char *next_out = ranks->out, *next_in = ranks->in;
  for (size_t i = 0; i < n; i++) {
    const cpu_parcel *p = &ranks->parcel[i];
    if (p->j > 0) continue;
    make_block(be, p, 0, (size_t)p->block, &next_out, &next_in);
    if (!p->narrow && be->pool.any_counts) make_block(be, p, 1, (size_t)p->block + 1, &next_out, &next_in);
  }
  GBT_ASSERT(next_out <= ranks->out + out && next_in <= ranks->in + in);
  return GBT_OK;
}

/* Sums over rows that travel with histograms; returns how many. */
static size_t list_rows(cpu_ranks *ranks, gbt_comm_part *part) {
  size_t n = 0;
  if (ranks->n_waiting > 0) part[n++] = (gbt_comm_part){ranks->waiting, ranks->n_waiting, GBT_COMM_I64};
  if (ranks->root_waits) part[n++] = (gbt_comm_part){ranks->root, 3, GBT_COMM_I64};
  return n;
}

/* Builds [first, ..) in one round; *next: the build that comes next. */
static gbt_status scatter_some(gbt_ctx *ctx, cpu_backend *be, size_t first, size_t *next, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  size_t n_blocks;
  *next = plan_parcels(be, first, &n_blocks);
  const size_t n = *next - first;
  const double ns = 4.0 * (double)n * be->layout->n_slots;
  GBT_TRY(make_blocks(be, n, n_blocks, err));
  GBT_TRY(cpu_parallel(ctx, (int64_t)n, ns, pack_task, be, err));
  gbt_comm_part rows[2];
  const gbt_comm_move move = {.op = GBT_COMM_SUM,
                              .part = rows,
                              .n_parts = first == 0 ? list_rows(ranks, rows) : 0,
                              .block = ranks->block,
                              .n_blocks = n_blocks};
  GBT_TRY(gbt_comm_run(ctx, &move, err));
  return cpu_parallel(ctx, (int64_t)n, ns, unpack_task, be, err);
}

/* All sums on all ranks. */
static gbt_status sum_everywhere(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const uint32_t n_slots = be->layout->n_slots;
  size_t n = 0;
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->part, &ranks->cap_part, 2 * be->hist.n_build + 2, sizeof *ranks->part, err));
  for (size_t b = 0; b < be->hist.n_build; b++) {
    const cpu_hist *hist = &be->pool.hist[be->hist.build[b].hist];
    ranks->part[n++] = (gbt_comm_part){hist->sum, place_of(be, n_slots), GBT_COMM_I64};
    if (hist->count) ranks->part[n++] = (gbt_comm_part){hist->count, n_slots, GBT_COMM_U32};
  }
  n += list_rows(ranks, ranks->part + n);
  return gbt_comm_sum_parts(ctx, ranks->part, n, err);
}

gbt_status cpu_ranks_sum_hists(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const size_t n = be->hist.n_build;
  for (size_t b = 0; b < n && be->n_rows == 0; b++) { /* a rank without rows has no page, so nothing was filled in */
    const cpu_hist *hist = &be->pool.hist[be->hist.build[b].hist];
    memset(hist->sum, 0, place_of(be, be->layout->n_slots) * sizeof(int64_t));
    if (hist->count) memset(hist->count, 0, be->layout->n_slots * sizeof *hist->count);
  }
  if (!ranks->on) return sum_everywhere(ctx, be, err);
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->parcel, &ranks->cap_parcel, n, sizeof *ranks->parcel, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->block, &ranks->cap_block, BLOCKS, sizeof *ranks->block, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->count, &ranks->cap_count, BLOCKS * (size_t)ranks->size, sizeof *ranks->count,
                       err));
  for (size_t first = 0, next; first < n; first = next) GBT_TRY(scatter_some(ctx, be, first, &next, err));
  return GBT_OK;
}

/* ---- rows ---- */

void cpu_ranks_begin_root(cpu_backend *be) {
  gbt_grow_node *root = &be->fr.node[0];
  if (be->ranks.size == 1) return;
  be->ranks.root[0] = be->rows.n_in;
  be->ranks.root[1] = root->sum.g;
  be->ranks.root[2] = root->sum.h;
  be->ranks.root_waits = root->splittable = 1;
}

static void settle_root(cpu_backend *be) {
  const int64_t *all = be->ranks.root;
  gbt_grow_node *root = &be->fr.node[0];
  const int32_t hist = root->hist;
  *root = gbt_grow_root(&be->fr.policy, (uint32_t)all[0], (gbt_sum){all[1], all[2]});
  gbt_grow_put_rows(root, all[0]);
  root->splittable = (int8_t)gbt_grow_could_split(&be->fr.policy, root, 1);
  root->own_rows = be->rows.n_in;
  root->hist = hist;
  be->ranks.root_waits = 0;
}

gbt_status cpu_ranks_sum_root(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  if (be->ranks.size == 1) return GBT_OK;
  GBT_TRY(gbt_comm_sum_i64(ctx, be->ranks.root, 3, err));
  settle_root(be);
  return GBT_OK;
}

void cpu_ranks_settle_rows(cpu_backend *be) {
  gbt_frontier *fr = &be->fr;
  if (be->ranks.root_waits) settle_root(be);
  for (size_t i = 0; i < be->ranks.n_waiting; i++) {
    gbt_grow_node *parent = &fr->node[fr->chosen[i]], *left = &fr->node[parent->ahead];
    gbt_grow_count(parent, be->ranks.waiting[i], left, left + 1);
  }
  if (be->ranks.n_waiting > 0) gbt_frontier_mark_splittable(fr);
  for (size_t i = 0; i < fr->n_fresh; i++)
    if (!fr->node[fr->fresh[i]].splittable) cpu_hist_release(be, fr->fresh[i]);
  be->ranks.n_waiting = 0;
}

gbt_status cpu_ranks_put_left_rows(cpu_backend *be, int32_t node, int64_t rows, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const size_t need = (size_t)node + 1;
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->left_rows, &ranks->cap_left_rows, need, sizeof *ranks->left_rows, err));
  while (ranks->n_left_rows < need) ranks->left_rows[ranks->n_left_rows++] = -1;
  ranks->left_rows[node] = rows;
  return GBT_OK;
}

/* ---- best splits ---- */

typedef struct best { /* of a node, of one rank's features; the words of its set follow */
  gbt_split split;
  int64_t left_rows; /* -1: not counted */
} best;

static size_t best_bytes(const cpu_ranks *ranks) { return sizeof(best) + ranks->set_words * sizeof(uint32_t); }

/* Rows that a split of a feature whose bins are counted sends left. */
static int64_t count_left(const cpu_backend *be, const gbt_grow_node *node, cpu_scratch *scratch) {
  const gbt_split *s = &node->split;
  cpu_search in;
  if (s->kind == GBT_SPLIT_NONE || !be->split.plan[s->feat].counts) return -1;
  cpu_search_node(be, node, &in);
  cpu_search_feature(be, s->feat, scratch, &in);
  const node_codes codes = codes_of(&in);
  int64_t rows = s->missing_left && in.has_missing ? rows_at(&codes, in.n_bins) : 0;
  if (s->kind == GBT_SPLIT_ONEHOT) return rows + rows_at(&codes, s->bin);
  if (s->kind == GBT_SPLIT_NUMERIC) {
    for (int32_t c = 0; c <= s->bin; c++) rows += rows_at(&codes, c);
    return rows;
  }
  const int32_t n = cpu_order_levels(&in, scratch, s->bin);
  for (int32_t k = 0; k < s->bin; k++) rows += rows_at(&codes, (int32_t)scratch->level[s->from_top ? n - 1 - k : k]);
  return rows;
}

/* Of node i of n, from a rank; what this rank sends comes last. */
static best *best_at(const cpu_ranks *ranks, size_t n, int rank, size_t i) {
  return (best *)(void *)(ranks->bests + ((size_t)rank * n + i) * best_bytes(ranks));
}

/* The split that this rank has found for a node. */
static void put_best(const cpu_backend *be, const gbt_grow_node *node, best *to) {
  cpu_scratch *scratch = &be->scratch.of[0];
  to->split = node->split;
  to->left_rows = count_left(be, node, scratch);
  if (node->split.kind != GBT_SPLIT_SET || be->ranks.set_words == 0) return;
  cpu_search in;
  cpu_search_node(be, node, &in);
  cpu_search_feature(be, node->split.feat, scratch, &in);
  cpu_set_bits(&in, scratch, &node->split, (uint32_t *)(void *)(to + 1));
}

/* The rank that has the best split of node i of n. */
static int best_rank(const cpu_backend *be, const gbt_grow_node *node, size_t n, size_t i) {
  cpu_search in = {.contest = gbt_contest_plain()};
  int most = 0;
  if (be->split.contests) cpu_search_node(be, node, &in);
  for (int r = 1; r < be->ranks.size; r++)
    if (gbt_contest_beats(&in.contest, &best_at(&be->ranks, n, r, i)->split, &best_at(&be->ranks, n, most, i)->split))
      most = r;
  return most;
}

gbt_status cpu_ranks_best(gbt_ctx *ctx, cpu_backend *be, const int32_t *node, size_t n, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const size_t size = (size_t)ranks->size, bytes = n * best_bytes(ranks);
  if (!ranks->on || n == 0) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->bests, &ranks->cap_bests, (size + 1) * bytes, 1, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->won, &ranks->cap_won, n, sizeof *ranks->won, err));
  char *own = ranks->bests + size * bytes;
  memset(own, 0, bytes);
  for (size_t r = 0; r < size; r++) ranks->bytes[r] = bytes;
  for (size_t i = 0; i < n; i++) put_best(be, &be->fr.node[node[i]], best_at(ranks, n, ranks->size, i));
  GBT_TRY(gbt_comm_gather(ctx, own, ranks->bytes, ranks->bests, err));
  for (size_t i = 0; i < n; i++) {
    ranks->won[i] = best_rank(be, &be->fr.node[node[i]], n, i);
    const best *most = best_at(ranks, n, ranks->won[i], i);
    be->fr.node[node[i]].split = most->split;
    GBT_TRY(cpu_ranks_put_left_rows(be, node[i], most->left_rows, err));
  }
  return GBT_OK;
}

gbt_status cpu_ranks_gather_splits(gbt_ctx *ctx, cpu_backend *be, const gbt_split *own, size_t n,
                                   const gbt_split **all, gbt_error *err) {
  cpu_ranks *ranks = &be->ranks;
  const size_t size = (size_t)ranks->size, bytes = n * sizeof *own;
  GBT_TRY(gbt_mem_grow(&be->mem, &ranks->bests, &ranks->cap_bests, size * bytes, 1, err));
  for (size_t r = 0; r < size; r++) ranks->bytes[r] = bytes;
  GBT_TRY(gbt_comm_gather(ctx, own, ranks->bytes, ranks->bests, err));
  *all = (const gbt_split *)(const void *)ranks->bests;
  return GBT_OK;
}

const uint32_t *cpu_ranks_set_of(const cpu_backend *be, size_t i, size_t n) {
  const cpu_ranks *ranks = &be->ranks;
  if (!ranks->on || ranks->set_words == 0) return NULL;
  return (const uint32_t *)(const void *)(best_at(ranks, n, ranks->won[i], i) + 1);
}

gbt_status cpu_ranks_share_sets(gbt_ctx *ctx, cpu_backend *be, size_t beg, size_t end, gbt_error *err) {
  const gbt_comm_part part = {be->fr.sets + beg, end - beg, GBT_COMM_U32};
  return be->ranks.on ? gbt_comm_sum_parts(ctx, &part, 1, err) : GBT_OK;
}
