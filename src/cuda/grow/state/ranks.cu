/* Numbers that devices exchange which grow the same trees. They are whole, so sums do not depend on how many there are.
 * Maxima are those of bits, in which magnitudes of doubles order like whole numbers, NaN above all.
 *
 *   by NCCL           ranks meet (base/comm.h), then   device   <--- sum of all ranks --->   device
 *   through the host  device  --->  host   <--- sum of all ranks, base/comm.h --->   host  --->  device
 *
 * Before an operation of NCCL ranks meet, so none begins it with one that has failed. It is not waited for: what uses
 * its numbers comes after it in the stream. At the next wait (cu_wait) the host looks whether it fails, or whether
 * another rank has failed since, which may never come to it. Memory is taken and given back before ranks meet, never
 * between an operation and the next wait: it could wait for the device, which waits for the others.
 *
 * Through the host, numbers are taken in pieces of at most CU_SHARE_BYTES, the same ones on all ranks: their sizes
 * follow from what all ranks know of the trees. Their way up is not waited for: the host writes be->ranks.host again
 * only after the wait for the next way down. */
#include "ranks.cuh"

#include "ops.cuh"

extern "C" {
#include "../../../gbt/base/parallel.h"
#include "../../../gbt/objective/renewal.h"
}

#include <stdio.h>
#include <string.h>
#if defined(__CUDACC__)
#include <unistd.h>
#endif

enum : size_t { CU_SHARE_BYTES = (size_t)64 << 20 };

/* ---- opening ---- */

/* Bytes that any training on the device may have. */
static gbt_status find_free(int32_t device, const gbt_backend_spec *spec, int64_t *out, gbt_error *err) {
  cu_memory memory = {0, 0, (size_t)spec->params->device_memory << 20};
  CU_TRY(cudaSetDevice(device));
  *out = (int64_t)cu_free_bytes(&memory);
  return GBT_OK;
}

/* Cells [0, n) of `to` become those of `from`, or 1 where that is NULL. */
struct cell_job {
  uint64_t *to;
  const uint64_t *from;
  size_t n;
};

enum : size_t { TASK_CELLS = (size_t)1 << 18 };

static void cell_task(void *arg, int64_t task, int thread) {
  const cell_job *job = (const cell_job *)arg;
  const size_t beg = (size_t)task * TASK_CELLS, end = job->n - beg < TASK_CELLS ? job->n : beg + TASK_CELLS;
  (void)thread;
  for (size_t i = beg; i < end; i++) job->to[i] = job->from != NULL ? job->from[i] : 1;
}

static gbt_status put_cells(gbt_ctx *ctx, uint64_t *to, const uint64_t *from, size_t n, gbt_error *err) {
  cell_job job = {to, from, n};
  return gbt_parallel(ctx, (int64_t)((n + TASK_CELLS - 1) / TASK_CELLS), cell_task, &job, err);
}

/* Whole weights of each column; those of columns where all weigh 1 are only there where another column's are. */
static gbt_status weigh_columns(gbt_ctx *ctx, const gbt_backend_spec *spec, uint64_t **out, gbt_error *err) {
  const gbt_rows *rows = &spec->data[0]->rows;
  const size_t n = (size_t)rows->n, all = n * (size_t)spec->objective.n_outputs;
  for (int32_t k = 0; k < spec->objective.n_outputs; k++) {
    const gbt_rows its = gbt_rows_of_output(rows, k);
    uint64_t *own = NULL;
    gbt_status status = gbt_renewal_weights(ctx, &spec->objective, &its, &own, err);
    if (status == GBT_OK && own != NULL && *out == NULL) {
      status = gbt_mem_array(&ctx->mem, all, sizeof **out, out, err);
      if (status == GBT_OK) status = put_cells(ctx, *out, NULL, all, err);
    }
    if (status == GBT_OK && own != NULL) status = put_cells(ctx, *out + (size_t)k * n, own, n, err);
    gbt_mem_free(&ctx->mem, own);
    GBT_TRY(status);
  }
  return GBT_OK;
}

gbt_status cu_start_make(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, cu_start *start, gbt_error *err) {
  const gbt_dataset *train = spec->data[0];
  *start = cu_start();
  start->ranks.all_rows = gbt_comm_is_single(ctx) ? train->rows.n : train->all_rows;
  start->ranks.before = gbt_comm_is_single(ctx) ? 0 : (uint64_t)train->rows.before;
  start->ranks.shared = !gbt_comm_is_single(ctx);
  start->ranks.divided = start->ranks.shared && ctx->comm->reduce_scatter != NULL;
  start->ranks.rank = gbt_comm_rank(ctx);
  start->ranks.spare = gbt_scale_spare(start->ranks.all_rows);
  if (start->ranks.all_rows > (int64_t)UINT32_MAX)
    return gbt_fail_device(err, GBT_E_UNSUPPORTED, "the ranks have %lld rows together, and devices can train on at "
                                                   "most 4,294,967,295; use `device = \"cpu\"`",
                           (long long)start->ranks.all_rows);
  if (gbt_renews(&spec->objective) && gbt_has_columns(&spec->objective))
    GBT_TRY(weigh_columns(ctx, spec, &start->whole, err));
  else if (gbt_renews(&spec->objective))
    GBT_TRY(gbt_renewal_weights(ctx, &spec->objective, &train->rows, &start->whole, err));
  if (!start->ranks.shared) return GBT_OK;
  GBT_TRY(find_free(device, spec, &start->free_bytes, err));
  return gbt_comm_min_i64(ctx, &start->free_bytes, 1, err);
}

void cu_start_free(gbt_ctx *ctx, cu_start *start) {
  gbt_mem_free(&ctx->mem, start->whole);
  start->whole = NULL;
}

gbt_status cu_start_agree(gbt_ctx *ctx, gbt_status status, int32_t *most_trees, int *given, gbt_error *err) {
  const int size = gbt_comm_size(ctx), rank = gbt_comm_rank(ctx);
  int64_t most[3] = {status == GBT_E_MEM ? size - rank : 0, -(int64_t)*most_trees, *given};
  gbt_error its = {};
  if (gbt_comm_is_single(ctx)) return status;
  GBT_TRY(gbt_comm_max_i64(ctx, most, 3, err));
  *most_trees = (int32_t)-most[1];
  *given = most[2] != 0;
  if (most[0] == 0) return GBT_OK;
  if (most[0] == size - rank && err != NULL) its = *err;
  GBT_TRY(gbt_comm_broadcast(ctx, &its, sizeof its, size - (int)most[0], err));
  if (err != NULL) *err = its;
  return GBT_E_MEM;
}

gbt_status cu_ranks_stream(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  int64_t any = be->data[0].stream_end > 0;
  GBT_TRY(gbt_comm_max_i64(ctx, &any, 1, err));
  be->bounds.lists = any != 0;
  return GBT_OK;
}

/* ---- NCCL ---- */

/* A number that tells the device from all others of all machines. Emulated ones may be shared. */
static int64_t identity_of(const cu_backend *be) {
#if defined(__CUDACC__)
  char text[320] = "", name[256] = "", bus[64] = "";
  (void)gethostname(name, sizeof name - 1);
  (void)cudaDeviceGetPCIBusId(bus, (int)sizeof bus, be->device.number);
  (void)cudaGetLastError();
  snprintf(text, sizeof text, "%s %s", name, bus);
  uint64_t hash = 0;
  for (const char *c = text; *c; c++) hash = gbt_mix64(hash ^ (uint64_t)(unsigned char)*c);
  return (int64_t)(hash >> 1);
#else
  return be->view.rank;
#endif
}

/* Whether every rank has NCCL (found: this one) and a device of its own. */
static gbt_status can_connect(gbt_ctx *ctx, const cu_backend *be, int found, int *can, gbt_error *err) {
  const size_t n = (size_t)gbt_comm_size(ctx);
  const int64_t mine[2] = {found, identity_of(be)};
  int64_t *all;
  GBT_TRY(gbt_mem_array(&ctx->mem, 2 * n, sizeof *all, &all, err));
  const gbt_status status = gbt_comm_gather_i64(ctx, mine, 2, all, err);
  *can = 1;
  for (size_t i = 0; i < n && status == GBT_OK; i++) {
    *can &= all[2 * i] != 0;
    for (size_t k = 0; k < i; k++) *can &= all[2 * i + 1] != all[2 * k + 1];
  }
  gbt_mem_free(&ctx->mem, all);
  return status;
}

static gbt_status disconnect(cu_backend *be, int result, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  if (r->comm) (void)r->nccl.abort(r->comm);
  r->comm = NULL;
  return gbt_fail_device(err, GBT_E_DEVICE, "NCCL, which moves data between the GPUs, failed: %s; set the environment "
                                            "variable GBT_NCCL=none to train without it",
                         r->nccl.text(result));
}

gbt_status cu_ranks_connect(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  char why[256];
  int can = 0;
  if (!be->view.shared) return GBT_OK;
  const int found = cu_nccl_find(&r->nccl, why, sizeof why);
  GBT_TRY(can_connect(ctx, be, found, &can, err));
  if (!can) return GBT_OK;
  struct {
    cu_nccl_id id;
    int made;
  } first = {};
  if (be->view.rank == 0) first.made = r->nccl.make_id(&first.id) == CU_NCCL_OK;
  GBT_TRY(gbt_comm_broadcast(ctx, &first, sizeof first, 0, err)); /* and a meeting: all open it, or none does */
  int64_t any = !first.made;
  if (!any) any = r->nccl.open(&r->comm, gbt_comm_size(ctx), first.id, be->view.rank) != CU_NCCL_OK;
  if (any) r->comm = NULL;
  GBT_TRY(gbt_comm_max_i64(ctx, &any, 1, err));
  if (any && r->comm) (void)r->nccl.abort(r->comm); /* where it cannot connect them, numbers go through the host */
  if (any) r->comm = NULL;
  return GBT_OK;
}

gbt_status cu_nccl_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  GBT_TRY(gbt_comm_sync(ctx, err));
#if !defined(__CUDACC__)
  CU_TRY(cudaStreamSynchronize(be->device.stream)); /* the stand-in of the tests works at once, on the host */
#endif
  const int result = be->ranks.nccl.begin();
  return result == CU_NCCL_OK ? GBT_OK : disconnect(be, result, err);
}

gbt_status cu_nccl_end(cu_backend *be, int result, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  if (result == CU_NCCL_OK) result = r->nccl.end();
  if (result != CU_NCCL_OK) return disconnect(be, result, err);
  r->under_way = 1;
  return GBT_OK;
}

/* Another rank has failed: this one gets its error at the next meeting. */
static gbt_status leave_nccl(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  cu_ranks_stop(be);
  GBT_TRY(gbt_comm_sync(ctx, err));
  return gbt_fail(err, GBT_E_INTERNAL, "another device has failed without an error");
}

gbt_status cu_nccl_wait(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  cudaError_t now = cudaErrorNotReady;
  if (!r->comm || !r->under_way) return GBT_OK;
  for (int failed = CU_NCCL_IN_PROGRESS; now == cudaErrorNotReady || failed == CU_NCCL_IN_PROGRESS;) {
    const int result = r->nccl.error(r->comm, &failed);
    if (result != CU_NCCL_OK || (failed != CU_NCCL_OK && failed != CU_NCCL_IN_PROGRESS))
      return disconnect(be, result != CU_NCCL_OK ? result : failed, err);
    if (ctx->comm->failed != NULL && ctx->comm->failed(ctx->comm->state)) return leave_nccl(ctx, be, err);
    now = cudaStreamQuery(be->device.stream);
  }
  r->under_way = 0;
  CU_TRY(now);
  return GBT_OK;
}

void cu_ranks_stop(cu_backend *be) {
  cu_ranks *r = &be->ranks;
  if (!r->comm || !r->under_way) return;
  (void)r->nccl.abort(r->comm);
  r->comm = NULL;
}

static gbt_status by_nccl(gbt_ctx *ctx, cu_backend *be, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op,
                          gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  int result = CU_NCCL_OK;
  GBT_TRY(cu_nccl_begin(ctx, be, err));
  for (size_t i = 0; i < n_parts && result == CU_NCCL_OK; i++)
    result = r->nccl.all_reduce(part[i].x, part[i].x, part[i].n,
                                part[i].type == GBT_COMM_U32 ? CU_NCCL_UINT32 : CU_NCCL_INT64,
                                op == GBT_COMM_SUM ? CU_NCCL_SUM : CU_NCCL_MAX, r->comm, be->device.stream);
  return cu_nccl_end(be, result, err);
}

void cu_ranks_close(cu_backend *be) {
  if (be->ranks.comm) (void)be->ranks.nccl.abort(be->ranks.comm);
  be->ranks.comm = NULL;
  cu_host_free(&be->ranks.host);
  be->ranks.bytes = 0;
  cu_drop(&be->device.memory, &be->ranks.packed);
  cu_share_close(be);
}

/* ---- exchanging ---- */

gbt_status cu_ranks_room(cu_backend *be, size_t bytes, gbt_error *err) {
  cu_ranks *r = &be->ranks;
  if (r->bytes >= bytes) return GBT_OK;
  if (r->host) CU_TRY(cudaStreamSynchronize(be->device.stream)); /* it may be on its way up */
  cu_host_free(&r->host);
  r->bytes = 0;
  GBT_TRY(cu_host_alloc(bytes, &r->host, err));
  r->bytes = bytes;
  return GBT_OK;
}

/* Bytes [beg, beg + n) of the parts, as if they were side by side, to the host or from it. */
static gbt_status copy_range(cu_backend *be, const gbt_comm_part *part, size_t n_parts, size_t width, size_t beg,
                             size_t n, cudaMemcpyKind kind, gbt_error *err) {
  size_t first = 0;
  for (size_t i = 0; i < n_parts; i++) {
    const size_t end = first + part[i].n * width, from = beg > first ? beg : first;
    const size_t to = beg + n < end ? beg + n : end;
    if (from < to) {
      char *host = be->ranks.host + (from - beg), *device = (char *)part[i].x + (from - first);
      const int down = kind == cudaMemcpyDeviceToHost;
      CU_TRY(cudaMemcpyAsync(down ? host : device, down ? device : host, to - from, kind, be->device.stream));
    }
    first = end;
  }
  return GBT_OK;
}

/* Parts on the device, all of one type. */
static gbt_status exchange(gbt_ctx *ctx, cu_backend *be, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op,
                           gbt_error *err) {
  const gbt_comm_type type = n_parts > 0 ? part[0].type : GBT_COMM_I64;
  const size_t width = type == GBT_COMM_U32 ? sizeof(uint32_t) : sizeof(int64_t);
  size_t all = 0;
  for (size_t i = 0; i < n_parts; i++) all += part[i].n * width;
  if (all == 0) return GBT_OK;
  GBT_ASSERT(op == GBT_COMM_SUM || op == GBT_COMM_MAX);
  if (be->ranks.comm) return by_nccl(ctx, be, part, n_parts, op, err);
  GBT_TRY(cu_ranks_room(be, all < CU_SHARE_BYTES ? all : (size_t)CU_SHARE_BYTES, err));
  for (size_t beg = 0; beg < all;) {
    const size_t n = all - beg < CU_SHARE_BYTES ? all - beg : (size_t)CU_SHARE_BYTES;
    GBT_TRY(copy_range(be, part, n_parts, width, beg, n, cudaMemcpyDeviceToHost, err));
    GBT_TRY(cu_wait(ctx, be, err));
    GBT_TRY(gbt_comm_reduce_at(ctx, __LINE__, be->ranks.host, n / width, type, op, err));
    GBT_TRY(copy_range(be, part, n_parts, width, beg, n, cudaMemcpyHostToDevice, err));
    beg += n;
  }
  return GBT_OK;
}

/* The same place in the state of tree y. */
template <class T> static T *of_tree(const cu_backend *be, T *first, int32_t y) {
  return cu_shifted(first, be->view.stride * (uint64_t)(uint32_t)y);
}

/* ---- what is exchanged ---- */

/* Words [word, word + n_words) of outputs to `packed`, or back. */
__global__ static void k_pack_outputs(cu_output *output, int32_t n_outputs, int32_t word, int32_t n_words,
                                      int64_t *packed, int back) {
  static_assert(sizeof(cu_output) % sizeof(int64_t) == 0, "words");
  for (int32_t i = (int32_t)threadIdx.x; i < n_outputs * n_words; i += (int32_t)blockDim.x) {
    int64_t *at = (int64_t *)(void *)&output[i / n_words].max_g + word + i % n_words;
    if (back)
      *at = packed[i];
    else
      packed[i] = *at;
  }
}

/* Words of outputs, which begin with eight numbers: see cu_output. */
static gbt_status share_outputs(gbt_ctx *ctx, cu_backend *be, int32_t first, int32_t n_outputs, int32_t word,
                                int32_t n_words, gbt_comm_op op, gbt_error *err) {
  static_assert(offsetof(cu_output, size) == 2 * sizeof(int64_t) && offsetof(cu_output, root) == 8 * sizeof(int64_t),
                "maxima, then sums");
  cu_array<int64_t> *packed = &be->ranks.packed;
  cu_output *output = be->view.output + first;
  if (!packed->at) GBT_TRY(cu_new(&be->device.memory, packed, 8 * (size_t)be->n_outputs, err));
  const gbt_comm_part part = {packed->at, (size_t)n_outputs * (size_t)n_words, GBT_COMM_I64};
  CU_LAUNCH(k_pack_outputs, 1, CU_CONTROL, 0, be->device.stream, output, n_outputs, word, n_words, packed->at, 0);
  CU_LAUNCHED();
  GBT_TRY(exchange(ctx, be, &part, 1, op, err));
  CU_LAUNCH(k_pack_outputs, 1, CU_CONTROL, 0, be->device.stream, output, n_outputs, word, n_words, packed->at, 1);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_share_maxima(gbt_ctx *ctx, cu_backend *be, int32_t first, int32_t n_outputs, gbt_error *err) {
  if (!be->view.shared) return GBT_OK;
  return share_outputs(ctx, be, first, n_outputs, 0, 2, GBT_COMM_MAX, err);
}

gbt_status cu_share_fixed(gbt_ctx *ctx, cu_backend *be, int32_t first, int32_t n_outputs, gbt_error *err) {
  if (!be->view.shared) return GBT_OK;
  return share_outputs(ctx, be, first, n_outputs, 2, 6, GBT_COMM_SUM, err);
}

gbt_status cu_share_sums(gbt_ctx *ctx, cu_backend *be, int64_t *at, size_t n, gbt_error *err) {
  const gbt_comm_part part = {at, n, GBT_COMM_I64};
  return be->view.shared ? exchange(ctx, be, &part, 1, GBT_COMM_SUM, err) : GBT_OK;
}

gbt_status cu_share_roots(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  gbt_comm_part part[GBT_MOST_TREES];
  if (!be->view.shared) return GBT_OK;
  for (int32_t y = 0; y < be->view.n_trees; y++) {
    cu_tree *tree = of_tree(be, be->view.tree, y);
    GBT_ASSERT(&tree->all_in == &tree->root.g + 2);
    part[y] = {&tree->root, 3, GBT_COMM_I64};
  }
  return exchange(ctx, be, part, (size_t)be->view.n_trees, GBT_COMM_SUM, err);
}

gbt_status cu_share_hists(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const size_t n_trees = (size_t)v->n_trees;
  gbt_comm_part sum[GBT_MOST_TREES], count[GBT_MOST_TREES];
  if (!v->shared) return GBT_OK;
  if (v->divided) GBT_TRY(cu_sort_by_width(be, err));
  GBT_TRY(cu_read_states(ctx, be, err));
  if (v->divided) return cu_scatter_hists(ctx, be, err);
  for (int32_t y = 0; y < v->n_trees; y++) {
    const cu_tree *tree = cu_down_of(be, y); /* the builds' histograms are the last that were taken */
    const size_t first = (size_t)(tree->n_hists - tree->n_build) * v->n_slots, n = (size_t)tree->n_build * v->n_slots;
    sum[y] = {of_tree(be, v->sum, y) + first, 2 * n, GBT_COMM_I64};
    count[y] = {of_tree(be, v->count, y) + first, n, GBT_COMM_U32};
  }
  GBT_TRY(exchange(ctx, be, sum, n_trees, GBT_COMM_SUM, err));
  return v->any_counts ? exchange(ctx, be, count, n_trees, GBT_COMM_SUM, err) : GBT_OK;
}

gbt_status cu_share_left(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  gbt_comm_part part[GBT_MOST_TREES];
  if (!be->view.shared) return GBT_OK;
  for (int32_t y = 0; y < be->view.n_trees; y++)
    part[y] = {of_tree(be, be->view.all_left, y), (size_t)cu_down_of(be, y)->n_chosen, GBT_COMM_I64};
  return exchange(ctx, be, part, (size_t)be->view.n_trees, GBT_COMM_SUM, err);
}

gbt_status cu_share_nodes(gbt_ctx *ctx, cu_backend *be, int64_t *first, size_t n, gbt_comm_op op, gbt_error *err) {
  gbt_comm_part part[GBT_MOST_TREES];
  if (!be->view.shared) return GBT_OK;
  GBT_TRY(cu_read_states(ctx, be, err));
  for (int32_t y = 0; y < be->view.n_trees; y++)
    part[y] = {of_tree(be, first, y), n * (size_t)cu_down_of(be, y)->n_nodes, GBT_COMM_I64};
  return exchange(ctx, be, part, (size_t)be->view.n_trees, op, err);
}
