/* Other ranks (base/comm.h): devices of other processes or threads, which hold other rows of the same trees. */
#pragma once

#include "../backend.cuh"

extern "C" {
#include "../../../gbt/base/comm.h"
}

/* Facts that all attempts to open have in common, found before memory is taken. Collective. start->whole: weights as
 * whole numbers (objective/renewal.h), on the host; NULL: all 1, or there is no need of them. Free in any case. */
gbt_status cu_start_make(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, cu_start *start,
                         gbt_error *err) GBT_MUST_CHECK;
void cu_start_free(gbt_ctx *ctx, cu_start *start);

/* An attempt to open has ended with `status`, GBT_OK or GBT_E_MEM. *most_trees: of a batch on this rank, then on all;
 * *given: whether memory was given back, then whether any rank has. Returns GBT_E_MEM with the error of the first rank
 * that has no room, on all ranks. Alone: `status`. Collective. */
gbt_status cu_start_agree(gbt_ctx *ctx, gbt_status status, int32_t *most_trees, int *given,
                          gbt_error *err) GBT_MUST_CHECK;

/* Whether any rank streams rows of its training set: then all list rows (partition.cu), as the child whose histogram is
 * built must be the same one. Collective. */
gbt_status cu_ranks_stream(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Connects the devices of the ranks by NCCL, if every rank has it and each a device of its own. Otherwise their numbers
 * go through the host. Collective. */
gbt_status cu_ranks_connect(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

void cu_ranks_close(cu_backend *be);

/* Where they are connected: a group of operations of NCCL begins, which is a meeting, and ends; result: of those of the
 * group. Collective. Issues work. The host must not wait for the stream before it has waited by cu_nccl_wait, as
 * cu_wait does: it looks whether the operations fail, and whether another rank has failed. cu_ranks_stop: they are
 * given up if they are still under way, so that the stream can be waited for. */
gbt_status cu_nccl_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_nccl_end(cu_backend *be, int result, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_nccl_wait(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_ranks_stop(cu_backend *be);

/* Room on the host (be->ranks.host), taken before the ranks meet. */
gbt_status cu_ranks_room(cu_backend *be, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

/* share.cu, where the search is divided: which features this rank has, and memory, also of search/offers.cu. By
 * cu_share_hists: issues the choice of the built histograms that are exchanged in 64 bits; once the host has read the
 * states, histograms become sums of all ranks in the slots of this rank's features, and other slots are not used any
 * more. Collective. */
gbt_status cu_share_open(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_share_close(cu_backend *be);
gbt_status cu_sort_by_width(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_scatter_hists(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The rest does nothing where there are no other ranks. It waits for these; what it does on the device may still be
 * under way when it returns. Collective. */

/* Of each output [first, first + n_outputs): largest |g| and h; sums of the fixed-point gradients. */
gbt_status cu_share_maxima(gbt_ctx *ctx, cu_backend *be, int32_t first, int32_t n_outputs,
                           gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_share_fixed(gbt_ctx *ctx, cu_backend *be, int32_t first, int32_t n_outputs,
                          gbt_error *err) GBT_MUST_CHECK;

/* n numbers on the device: sums. */
gbt_status cu_share_sums(gbt_ctx *ctx, cu_backend *be, int64_t *at, size_t n, gbt_error *err) GBT_MUST_CHECK;

/* Of every tree of the batch: the sums of its root, and how many rows were drawn. */
gbt_status cu_share_roots(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Histograms that the step has built, sums and counts. */
gbt_status cu_share_hists(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Rows of the chosen nodes that go left: all_left, which kernels have set to their own. The host has read the states
 * since nodes were chosen. */
gbt_status cu_share_left(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Complete trees: n numbers of every node, from `first` on, which is the first tree's array. */
gbt_status cu_share_nodes(gbt_ctx *ctx, cu_backend *be, int64_t *first, size_t n, gbt_comm_op op,
                          gbt_error *err) GBT_MUST_CHECK;
