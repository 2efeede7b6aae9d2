/* Ranks divide the search of a step, as on the CPU (cpu/cpu_ranks.c): each owns a range of features.
 *
 *   built here   |  slots of rank 0  |  rank 1  |  rank 2  |     from the rows of this rank
 *   parcel       |  rank 0: histogram 0, 1, ..  |  rank 1: histogram 0, 1, ..  |  ..      some histograms at a time
 *   sums         every rank gets those of its own block, which go back to its slots
 *
 * By NCCL that is a group of reductions, one to each rank: blocks have unequal sizes, which its reduce-scatter does not
 * take. Through the host it is the reduce-scatter of the ranks. The search goes over this rank's features only, then
 * search/offers.cu compares the best splits. */
#include "ranks.cuh"

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
  GBT_TRY(gbt_mem_zeros(&be->mem, size, sizeof *r->number, &r->number, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, size, sizeof *r->number_counts, &r->number_counts, err));
  if (n_slots > 0) gbt_share_features(be->layout, be->n_features, r->size, be->view.rank, r->slot_beg, r->owns);
  GBT_TRY(cu_new_from(&be->device, &r->slots, r->slot_beg, size + 1, err));
  const size_t hist = n_slots * (sizeof(gbt_sum) + (be->view.any_counts ? sizeof(uint32_t) : 0));
  r->parcel_hists = room_for(PARCEL_BYTES, hist, be->view.max_hists);
  GBT_TRY(cu_new(memory, &r->parcel, (size_t)r->parcel_hists * hist + 1, err));
  const int layers = gbt_policy_one_split(gbt_policy_of(be->params)), most_nodes = 2 * be->view.max_step;
  r->set_words = most_set_words(be);
  r->offer_words = layers ? cu_layer_offer_words(r->set_words, most_nodes)
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
  gbt_mem_free(&be->mem, r->number_counts);
  r->slot_beg = NULL;
  r->owns = NULL;
  r->number = r->number_counts = NULL;
}

/* ---- histograms ---- */

/* Some histograms, side by side, and their parcel. */
struct cu_parcel {
  gbt_sum *sum, *to;
  uint32_t *count, *to_count; /* NULL: not counted */
  const uint32_t *slot_beg;
  uint32_t n_slots, n;
  int size;
};

/* Histograms to the parcel; own >= 0: the block of this rank back to them. */
__global__ static void __launch_bounds__(CU_BLOCK) k_parcel(cu_parcel p, int own) {
  const uint64_t all = (uint64_t)p.n * p.n_slots, step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    const uint32_t hist = (uint32_t)(i / p.n_slots), slot = (uint32_t)(i % p.n_slots);
    int lo = 0, hi = p.size; /* slot_beg[lo] <= slot < slot_beg[hi] */
    while (hi - lo > 1) {
      const int mid = lo + (hi - lo) / 2;
      if (p.slot_beg[mid] <= slot)
        lo = mid;
      else
        hi = mid;
    }
    if (own >= 0 && lo != own) continue;
    const uint32_t beg = p.slot_beg[lo], end = p.slot_beg[lo + 1];
    const uint64_t at = (uint64_t)p.n * beg + (uint64_t)hist * (end - beg) + (slot - beg);
    if (own >= 0)
      p.sum[i] = p.to[at];
    else
      p.to[at] = p.sum[i];
    if (!p.count) continue;
    if (own >= 0)
      p.count[i] = p.to_count[at];
    else
      p.to_count[at] = p.count[i];
  }
}

static gbt_status reduce_by_nccl(gbt_ctx *ctx, cu_backend *be, const cu_parcel *p, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  int result = CU_NCCL_OK;
  GBT_TRY(cu_nccl_begin(ctx, be, err));
  for (int k = 0; k < r->size && result == CU_NCCL_OK; k++) {
    gbt_sum *sum = p->to + (uint64_t)p->n * r->slot_beg[k];
    uint32_t *count = p->to_count ? p->to_count + (uint64_t)p->n * r->slot_beg[k] : NULL;
    if (r->number[k] == 0) continue;
    result = r->nccl.reduce(sum, sum, r->number[k], CU_NCCL_INT64, CU_NCCL_SUM, k, r->comm, be->device.stream);
    if (result == CU_NCCL_OK && count)
      result = r->nccl.reduce(count, count, r->number_counts[k], CU_NCCL_UINT32, CU_NCCL_SUM, k, r->comm,
                              be->device.stream);
  }
  return cu_nccl_end(be, result, err);
}

static gbt_status reduce_by_host(gbt_ctx *ctx, cu_backend *be, const cu_parcel *p, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  const size_t all = (size_t)p->n * p->n_slots, rank = (size_t)be->view.rank, beg = (size_t)p->n * r->slot_beg[rank];
  const size_t own = r->number_counts[rank], each = sizeof(gbt_sum) + (p->count ? sizeof(uint32_t) : 0);
  cudaStream_t stream = be->device.stream;
  GBT_TRY(cu_ranks_room(be, (all + own) * each + 16, err));
  gbt_sum *sum = (gbt_sum *)(void *)r->host, *own_sum = sum + all;
  uint32_t *count = (uint32_t *)(void *)(own_sum + own), *own_count = count + all;
  CU_TRY(cudaMemcpyAsync(sum, p->to, all * sizeof *sum, cudaMemcpyDeviceToHost, stream));
  if (p->count) CU_TRY(cudaMemcpyAsync(count, p->to_count, all * sizeof *count, cudaMemcpyDeviceToHost, stream));
  GBT_TRY(cu_wait(ctx, be, err));
  const gbt_comm_block block[2] = {{sum, r->number, GBT_COMM_I64, own_sum},
                                   {count, r->number_counts, GBT_COMM_U32, own_count}};
  gbt_comm_move move = {};
  move.op = GBT_COMM_SUM;
  move.block = block;
  move.n_blocks = p->count ? 2 : 1;
  GBT_TRY(gbt_comm_run(ctx, &move, err));
  CU_TRY(cudaMemcpyAsync(p->to + beg, own_sum, own * sizeof *sum, cudaMemcpyHostToDevice, stream));
  if (p->count)
    CU_TRY(cudaMemcpyAsync(p->to_count + beg, own_count, own * sizeof *count, cudaMemcpyHostToDevice, stream));
  CU_TRY(cudaStreamSynchronize(stream)); /* the host's memory is written again */
  return GBT_OK;
}

static gbt_status scatter_some(gbt_ctx *ctx, cu_backend *be, const cu_parcel *p, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  const unsigned grid = cu_grid(&be->device, ((uint64_t)p->n * p->n_slots + CU_BLOCK - 1) / CU_BLOCK, 8);
  for (int k = 0; k < r->size; k++) {
    r->number_counts[k] = (size_t)p->n * (r->slot_beg[k + 1] - r->slot_beg[k]);
    r->number[k] = 2 * r->number_counts[k];
  }
  CU_LAUNCH(k_parcel, grid, CU_BLOCK, 0, be->device.stream, *p, -1);
  CU_LAUNCHED();
  GBT_TRY(r->comm ? reduce_by_nccl(ctx, be, p, err) : reduce_by_host(ctx, be, p, err));
  CU_LAUNCH(k_parcel, grid, CU_BLOCK, 0, be->device.stream, *p, be->view.rank);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_scatter_hists(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  cu_ranks *r = &be->ranks;
  for (int32_t y = 0; y < v->n_trees && v->n_slots > 0; y++) {
    const cu_tree *tree = cu_down_of(be, y); /* the builds' histograms are the last that were taken */
    const cu_view its = cu_view_of(*v, (uint32_t)y);
    for (int32_t b = tree->n_hists - tree->n_build; b < tree->n_hists; b += r->parcel_hists) {
      const int32_t n = tree->n_hists - b < r->parcel_hists ? tree->n_hists - b : r->parcel_hists;
      const uint64_t first = (uint64_t)(uint32_t)b * v->n_slots;
      gbt_sum *to = (gbt_sum *)(void *)r->parcel.at;
      cu_parcel p = {};
      p.sum = its.sum + first;
      p.to = to;
      p.count = v->any_counts ? its.count + first : NULL;
      p.to_count = v->any_counts ? (uint32_t *)(void *)(to + (uint64_t)(uint32_t)n * v->n_slots) : NULL;
      p.slot_beg = r->slots.at;
      p.n_slots = v->n_slots;
      p.n = (uint32_t)n;
      p.size = r->size;
      GBT_TRY(scatter_some(ctx, be, &p, err));
    }
  }
  return GBT_OK;
}
