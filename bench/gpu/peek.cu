#include "../../src/cuda/grow/backend.cuh"

extern "C" {
#include "peek.h"
}

void peek_step_by_step(gbt_backend *self) { ((cu_backend *)self)->graph.step_by_step = 1; }
