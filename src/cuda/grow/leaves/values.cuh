/* Sums and values of a complete tree's nodes: by one block, for leaf.cu and for small.cu. */
#pragma once

#include "../../base/block.cuh"
#include "../view.cuh"

/* Inner nodes become the sums of the leaves below. */
__device__ static __forceinline__ void cu_sum_up(const cu_view &v) {
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
    if (v.node[i].left) continue;
    const gbt_sum s = v.fine[i];
    for (int32_t up = v.node[i].parent; up >= 0; up = v.node[up].parent) {
      cu_add(&v.fine[up].g, s.g);
      cu_add(&v.fine[up].h, s.h);
    }
  }
  __syncthreads();
}

/* Values are shrunk at the end, and looked at. */
__device__ static __forceinline__ void cu_shrink_values(const cu_view &v) {
  cu_tree *t = v.tree;
  int bad = 0;
  for (int32_t i = (int32_t)threadIdx.x; i < t->n_nodes; i += (int32_t)blockDim.x) {
    const double value = v.value[i] * t->task.shrinkage;
    v.value[i] = value;
    bad |= !gbt_grow_value_ok(value);
  }
  bad = __syncthreads_or(bad);
  if (!bad || threadIdx.x != 0) return;
  if (t->fault == 0) t->fault_round = t->task.round;
  t->fault |= CU_FAULT_VALUE;
}
