/* The memory of a growing tree on the device: copies to it and from it. */
#pragma once

#include "../backend.cuh"

/* Bytes of a tree's state; makes the states of most_trees trees and lets the view point to them. */
size_t cu_state_bytes(const cu_backend *be);
gbt_status cu_state_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Where the parts CU_DOWN of a tree with so many nodes are from `base` on, on the host as on the device, and how many
 * bytes they are. */
cu_tree_state cu_tree_down(const cu_backend *be, const void *base, size_t nodes, size_t *bytes);

/* The same part of every tree's state, `bytes` of each: copied from the host, where they are contiguous; or to the
 * host, where they are `pitch` bytes apart. Issues work. */
cudaError_t cu_state_send(const cu_backend *be, void *to, const void *from, size_t bytes);
cudaError_t cu_state_fetch(const cu_backend *be, void *to, size_t pitch, const void *from, size_t bytes);

/* Tasks of a batch: outputs ascend without gaps, and each has as many trees. */
void cu_take_tasks(cu_backend *be, const gbt_tree_task *task, int32_t n_trees);

/* The error of a tree that has come to the host. */
gbt_status cu_faults_of(const cu_backend *be, const cu_tree *tree, gbt_error *err) GBT_MUST_CHECK;

/* Waits for all that was issued. */
gbt_status cu_wait(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The states of the batch's trees to where cu_down_of has them. Waits. */
gbt_status cu_read_states(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Before such a pass: whether any tree has something to be built, or split, so that it is worth it. Waits where rows
 * are streamed; elsewhere it says yes. */
enum cu_wanted { CU_BUILDS, CU_SPLITS };
gbt_status cu_find_any(gbt_ctx *ctx, cu_backend *be, cu_wanted wanted, int *is_any, gbt_error *err) GBT_MUST_CHECK;

/* Finished trees to the host. A batch begins, and comes to the other place. Issues the batch's copies, those of small
 * trees unasked, so that there is one wait. The result of tree y of the batch. Once that was waited for: the forest
 * gets the trees now, or, where all of them have come whole, is left to cu_down_finish, so that the host makes them
 * while the device grows others. */
gbt_status cu_down_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_down_close(cu_backend *be);
void cu_down_swap(cu_backend *be);
gbt_status cu_down_send(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
const cu_tree *cu_down_of(const cu_backend *be, int32_t y);
gbt_status cu_down_take(cu_backend *be, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;
/* In place of waiting and cu_down_take, where cu_down_can_defer: cu_down_finish waits, and returns faults. */
int cu_down_can_defer(const cu_backend *be);
gbt_status cu_down_defer(cu_backend *be, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_down_finish(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Tree y of the batch that has come, all of it. */
gbt_status cu_down_whole(cu_backend *be, int32_t y, gbt_grown *grown, gbt_error *err) GBT_MUST_CHECK;
