/* Ranks divide the search of a step, as on the CPU (cpu/cpu_ranks.c): each owns a range of features.
 *
 *   built here   |  slots of rank 0  |  rank 1  |  rank 2  |     from the rows of this rank
 *   parcel       |  rank 0: histogram 0, 1, ..  |  rank 1: histogram 0, 1, ..  |  ..      some histograms at a time
 *   sums         every rank gets those of its own block, which go back to its slots
 *
 * Of a node with fewer than 65,536 rows (of all ranks) and 16-bit gradients, sums fit into 32 bits, and the counts go
 * with them. A kernel puts the histograms of other nodes first; how many these are comes to the host with the trees'
 * states. So a parcel has up to three parts, each in blocks by rank:
 *
 *   wide: sums, 64 bits   |   wide: counts, 32 bits   |   narrow: g, h and, where there are counts, count, 32 bits
 *
 * By NCCL that is a group of reductions, one of each part to each rank: blocks have unequal sizes, which its
 * reduce-scatter does not take. Through the host it is the reduce-scatter of the ranks. The search goes over this
 * rank's features only, then search/offers.cu compares the best splits. */
#include "ranks.cuh"

#include "../../base/block.cuh"
#include "../search/layer.cuh"
#include "ops.cuh"

extern "C" {
#include "../../../gbt/backend/feature_plan.h"
#include "../../../gbt/backend/feature_share.h"
}

/* Of one parcel, and of the offers that are gathered at once, about; one node or tree at least. Emulated devices take
 * little, so that the small data of tests go in several parcels. */
#if defined(__CUDACC__)
enum : size_t { PARCEL_BYTES = (size_t)16 << 20, OFFER_BYTES = (size_t)4 << 20 };
#else
enum : size_t { PARCEL_BYTES = 10000, OFFER_BYTES = 3000 };
#endif

enum : uint32_t { NARROW_ROWS = 65535 }; /* 32 bits hold sums of so many gradients of 16 bits */

/* Of a parcel: wide sums, their counts, narrow sums. */
enum { N_PARTS = 3 };

/* Bytes of a slot. */
static size_t wide_bytes(const cu_backend *be) {
  return sizeof(gbt_sum) + (be->view.any_counts ? sizeof(uint32_t) : 0);
}
static size_t narrow_bytes(const cu_backend *be) { return (be->view.any_counts ? 3 : 2) * sizeof(uint32_t); }

/* ---- opening ---- */

/* Words of the widest set of levels that a split may have. */
static uint32_t most_set_words(const cu_backend *be) {
  uint32_t most = 0;
  for (int32_t f = 0; f < be->n_features && be->view.n_set_feats > 0; f++) {
    const uint32_t words = ((uint32_t)be->cuts->feat[f].n_bins + 31u) / 32u;
    if (gbt_feature_plan_of(be->cuts, be->layout, f, be->params).by_sets && words > most) most = words;
  }
  return most;
}

/* How many items of so many bytes there is room for; 1 at least. */
static int32_t room_for(size_t bytes, size_t each, int32_t most) {
  const size_t n = bytes / (each + 1) + 1;
  return n < (size_t)most ? (int32_t)n : most;
}

gbt_status cu_share_open(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  cu_memory *memory = &be->device.memory;
  if (!be->view.divided) return GBT_OK;
  const size_t size = (size_t)gbt_comm_size(ctx), n_slots = be->view.n_slots;
  r->size = (int)size;
  GBT_TRY(gbt_mem_zeros(&be->mem, size + 1, sizeof *r->slot_beg, &r->slot_beg, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_features, 1, &r->owns, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, N_PARTS * size, sizeof *r->number, &r->number, err));
  if (n_slots > 0) gbt_share_features(be->layout, be->n_features, r->size, be->view.rank, r->slot_beg, r->owns);
  GBT_TRY(cu_new_from(&be->device, &r->slots, r->slot_beg, size + 1, err));
  const size_t hist = n_slots * wide_bytes(be);
  r->parcel_bytes = (size_t)room_for(PARCEL_BYTES, hist, be->view.max_hists) * hist;
  GBT_TRY(cu_new(memory, &r->parcel, r->parcel_bytes + 1, err));
  const int layers = gbt_policy_one_split(gbt_policy_of(be->params)), most_nodes = 2 * be->view.max_step;
  r->set_words = most_set_words(be);
  r->offer_words = layers              ? cu_layer_offer_words(r->set_words, most_nodes)
                   : cu_is_by_nodes(be) ? cu_team_offer_words(r->set_words)
                                        : (sizeof(gbt_split) / 4 + r->set_words + 1) / 2 * 2;
  const size_t offer = r->offer_words * sizeof(uint32_t) * (size + 1);
  r->offered = room_for(OFFER_BYTES, offer, layers ? be->base.most_trees : most_nodes);
  return cu_new(memory, &r->offers, (size_t)r->offered * offer, err);
}

void cu_share_close(cu_backend *be) {
  cu_ranks *r = &be->ranks;
  cu_drop(&be->device.memory, &r->slots);
  cu_drop(&be->device.memory, &r->parcel);
  cu_drop(&be->device.memory, &r->offers);
  gbt_mem_free(&be->mem, r->slot_beg);
  gbt_mem_free(&be->mem, r->owns);
  gbt_mem_free(&be->mem, r->number);
  r->slot_beg = NULL;
  r->owns = NULL;
  r->number = NULL;
}

/* ---- histograms of many rows first ---- */

/* Rows of a build's node, of all ranks: at most. Where rows are listed its node is not made yet (partition.cu), and
 * has no more than its parent. */
__device__ static uint32_t most_rows_of(const cu_view &v, int32_t build) {
  const int32_t id = v.build[build].node;
  return v.node[id < v.tree->n_nodes ? id : v.chosen[id - v.tree->n_nodes]].n_rows;
}

/* v.by_width: the builds' histograms, those of wide nodes before the others, in each part in their order. One block a
 * tree. */
__global__ static void __launch_bounds__(CU_CONTROL) k_by_width(cu_view all, uint32_t narrow_rows) {
  const cu_view v = cu_view_of_block(all);
  const int32_t n = v.tree->n_build;
  uint32_t n_wide = 0, n_narrow = 0;
  for (int turn = 0; turn < 2; turn++) { /* wide ones, then the others */
    for (int32_t beg = 0; beg < n; beg += (int32_t)blockDim.x) {
      const int32_t b = beg + (int32_t)threadIdx.x;
      const int wide = b < n && (v.tree->wide || most_rows_of(v, b) > narrow_rows);
      const uint32_t mine = b < n && wide == (turn == 0);
      uint32_t total;
      const uint32_t at = n_wide + n_narrow + cu_block_scan(mine, &total);
      if (mine) v.by_width[at] = v.build[b].hist;
      if (turn == 0)
        n_wide += total;
      else
        n_narrow += total;
    }
  }
  if (threadIdx.x == 0) v.tree->n_wide = (int32_t)n_wide;
}

gbt_status cu_sort_by_width(cu_backend *be, gbt_error *err) {
  const uint32_t rows = be->hooks.narrow_rows > 0 ? be->hooks.narrow_rows : (uint32_t)NARROW_ROWS;
  CU_LAUNCH(k_by_width, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view, rows);
  CU_LAUNCHED();
  return GBT_OK;
}

/* ---- parcels ---- */

/* Some histograms, and their parcel. */
struct cu_parcel {
  gbt_sum *sum; /* of the tree */
  uint32_t *count; /* NULL: not counted */
  const int32_t *hist; /* n_wide, then n_narrow */
  gbt_sum *wide;
  uint32_t *wide_count, *narrow;
  const uint32_t *slot_beg;
  uint32_t n_slots, n_wide, n_narrow;
  int size;
};

/* The owner of a slot: slot_beg[owner] <= slot < slot_beg[owner + 1]. */
__device__ static int owner_of(const cu_parcel &p, uint32_t slot) {
  int lo = 0, hi = p.size;
  while (hi - lo > 1) {
    const int mid = lo + (hi - lo) / 2;
    if (p.slot_beg[mid] <= slot)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

/* A slot of a wide histogram to the place `to` of its part, or back. */
__device__ static void move_wide(const cu_parcel &p, uint64_t slot, uint64_t to, int back) {
  if (back)
    p.sum[slot] = p.wide[to];
  else
    p.wide[to] = p.sum[slot];
  if (!p.count) return;
  if (back)
    p.count[slot] = p.wide_count[to];
  else
    p.wide_count[to] = p.count[slot];
}

__device__ static void move_narrow(const cu_parcel &p, uint64_t slot, uint64_t to, int back) {
  uint32_t *at = p.narrow + (p.count ? 3u : 2u) * to;
  if (back) {
    const gbt_sum sum = {(int32_t)at[0], at[1]};
    p.sum[slot] = sum;
    if (p.count) p.count[slot] = at[2];
  } else {
    const gbt_sum sum = p.sum[slot];
    at[0] = (uint32_t)sum.g;
    at[1] = (uint32_t)sum.h;
    if (p.count) at[2] = p.count[slot];
  }
}

/* Histograms to the parcel; own >= 0: the block of this rank back to them. */
__global__ static void __launch_bounds__(CU_BLOCK) k_parcel(cu_parcel p, int own) {
  const uint64_t all = ((uint64_t)p.n_wide + p.n_narrow) * p.n_slots, step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    const uint32_t k = (uint32_t)(i / p.n_slots), slot = (uint32_t)(i % p.n_slots);
    const int owner = owner_of(p, slot);
    if (own >= 0 && owner != own) continue;
    const uint32_t beg = p.slot_beg[owner], end = p.slot_beg[owner + 1];
    const uint64_t from = (uint64_t)(uint32_t)p.hist[k] * p.n_slots + slot;
    if (k < p.n_wide)
      move_wide(p, from, (uint64_t)p.n_wide * beg + (uint64_t)k * (end - beg) + (slot - beg), own >= 0);
    else
      move_narrow(p, from, (uint64_t)p.n_narrow * beg + (uint64_t)(k - p.n_wide) * (end - beg) + (slot - beg),
                  own >= 0);
  }
}

/* A part of a parcel. */
struct cu_part_of {
  unsigned char *at;
  size_t a_slot; /* numbers of a slot, of all histograms */
  gbt_comm_type type;
};

/* Part i; *number: its numbers, by rank. */
static cu_part_of part_of(const cu_ranks *r, const cu_parcel *p, int i, size_t **number) {
  const cu_part_of parts[N_PARTS] = {
      {(unsigned char *)p->wide, 2 * (size_t)p->n_wide, GBT_COMM_I64},
      {(unsigned char *)p->wide_count, p->count ? (size_t)p->n_wide : 0, GBT_COMM_U32},
      {(unsigned char *)p->narrow, (p->count ? 3u : 2u) * (size_t)p->n_narrow, GBT_COMM_U32}};
  *number = r->number + i * r->size;
  for (int k = 0; k < r->size; k++) (*number)[k] = parts[i].a_slot * (r->slot_beg[k + 1] - r->slot_beg[k]);
  return parts[i];
}

static gbt_status reduce_by_nccl(gbt_ctx *ctx, cu_backend *be, const cu_parcel *p, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  int result = CU_NCCL_OK;
  size_t *number;
  GBT_TRY(cu_nccl_begin(ctx, be, err));
  for (int i = 0; i < N_PARTS; i++) {
    const cu_part_of part = part_of(r, p, i, &number);
    const int type = part.type == GBT_COMM_I64 ? CU_NCCL_INT64 : CU_NCCL_UINT32;
    unsigned char *at = part.at;
    for (int k = 0; k < r->size && result == CU_NCCL_OK; at += number[k++] * gbt_comm_width(part.type))
      if (number[k] > 0)
        result = r->nccl.reduce(at, at, number[k], type, CU_NCCL_SUM, k, r->comm, be->device.stream);
  }
  return cu_nccl_end(be, result, err);
}

static gbt_status reduce_by_host(gbt_ctx *ctx, cu_backend *be, const cu_parcel *p, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  const size_t rank = (size_t)be->view.rank, beg = r->slot_beg[rank], n_own = r->slot_beg[rank + 1] - beg;
  cudaStream_t stream = be->device.stream;
  gbt_comm_block block[N_PARTS];
  unsigned char *own_at[N_PARTS]; /* on the device */
  size_t own_bytes[N_PARTS], *number;
  gbt_comm_move move = {};
  GBT_TRY(cu_ranks_room(be, 2 * r->parcel_bytes + N_PARTS * 16, err));
  char *to = r->host;
  for (int i = 0; i < N_PARTS; i++) {
    const cu_part_of part = part_of(r, p, i, &number);
    const size_t slot = part.a_slot * gbt_comm_width(part.type), bytes = slot * p->n_slots;
    const size_t room = (bytes + 7) / 8 * 8;
    if (bytes == 0) continue;
    own_at[move.n_blocks] = part.at + slot * beg;
    own_bytes[move.n_blocks] = slot * n_own;
    block[move.n_blocks++] = {to, number, part.type, to + room};
    CU_TRY(cudaMemcpyAsync(to, part.at, bytes, cudaMemcpyDeviceToHost, stream));
    to += room + (slot * n_own + 7) / 8 * 8;
  }
  GBT_TRY(cu_wait(ctx, be, err));
  move.op = GBT_COMM_SUM;
  move.block = block;
  GBT_TRY(gbt_comm_run(ctx, &move, err));
  for (size_t b = 0; b < move.n_blocks; b++)
    CU_TRY(cudaMemcpyAsync(own_at[b], block[b].own, own_bytes[b], cudaMemcpyHostToDevice, stream));
  return GBT_OK;
}

static gbt_status scatter_some(gbt_ctx *ctx, cu_backend *be, const cu_parcel *p, gbt_error *err) {
  const uint64_t slots = ((uint64_t)p->n_wide + p->n_narrow) * p->n_slots;
  const unsigned grid = cu_grid(&be->device, (slots + CU_BLOCK - 1) / CU_BLOCK, 8);
  CU_LAUNCH(k_parcel, grid, CU_BLOCK, 0, be->device.stream, *p, -1);
  CU_LAUNCHED();
  GBT_TRY(be->ranks.comm ? reduce_by_nccl(ctx, be, p, err) : reduce_by_host(ctx, be, p, err));
  CU_LAUNCH(k_parcel, grid, CU_BLOCK, 0, be->device.stream, *p, be->view.rank);
  CU_LAUNCHED();
  return GBT_OK;
}

/* As many histograms as there is room for, at least one, from number `first` of by_width on. */
static cu_parcel next_parcel(const cu_backend *be, int32_t y, int32_t first) {
  const cu_ranks *r = &be->ranks;
  const cu_view v = cu_view_of(be->view, (uint32_t)y);
  const cu_tree *tree = cu_down_of(be, y);
  const size_t wide = v.n_slots * wide_bytes(be), narrow = v.n_slots * narrow_bytes(be);
  const size_t wide_left = tree->n_wide > first ? (size_t)(tree->n_wide - first) : 0;
  const size_t narrow_left = (size_t)(tree->n_build - first) - wide_left;
  const size_t n_wide = r->parcel_bytes / wide < wide_left ? r->parcel_bytes / wide : wide_left;
  const size_t room = n_wide == wide_left ? (r->parcel_bytes - n_wide * wide) / narrow : 0;
  cu_parcel p = {};
  p.sum = v.sum;
  p.count = v.any_counts ? v.count : NULL;
  p.hist = v.by_width + first;
  p.n_slots = v.n_slots;
  p.n_wide = (uint32_t)n_wide;
  p.n_narrow = (uint32_t)(room < narrow_left ? room : narrow_left);
  p.wide = (gbt_sum *)(void *)r->parcel.at;
  p.wide_count = (uint32_t *)(void *)(p.wide + n_wide * v.n_slots);
  p.narrow = p.wide_count + (p.count ? n_wide * v.n_slots : 0);
  p.slot_beg = r->slots.at;
  p.size = r->size;
  return p;
}

gbt_status cu_scatter_hists(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  for (int32_t y = 0; y < be->view.n_trees && be->view.n_slots > 0; y++) {
    for (int32_t first = 0; first < cu_down_of(be, y)->n_build;) {
      const cu_parcel p = next_parcel(be, y, first);
      GBT_TRY(scatter_some(ctx, be, &p, err));
      first += (int32_t)(p.n_wide + p.n_narrow);
    }
  }
  return GBT_OK;
}
