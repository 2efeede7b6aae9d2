#include "../../src/cuda/grow/backend.cuh"

extern "C" {
#include "peek.h"
}

void peek_step_by_step(gbt_backend *self) {
  cu_hooks *hooks = &((cu_backend *)self)->hooks;
  hooks->no_small = hooks->no_recording = 1;
}

const void *peek_histograms(const gbt_backend *self, int32_t tree, size_t *bytes) {
  const cu_view *v = &((const cu_backend *)self)->view;
  *bytes = (size_t)v->max_hists * v->n_slots * sizeof *v->sum;
  return tree < self->most_trees ? (const char *)v->sum + (uint64_t)tree * v->stride : NULL;
}
