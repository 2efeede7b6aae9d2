/* The steps of a batch of trees, recorded. Those of blind trees are the same launches every time: what differs stands
 * in device memory, or on the host at places that copies read when they run. So they are recorded once and launched as
 * one thing (a CUDA graph). Recordings are keyed by the number of trees and by whether their gradients have to be
 * made. */
#include "backend.cuh"

/* The first batch is issued step by step, as few are ever grown twice; the second is recorded, the others replayed. */
gbt_status cu_choose_mode(cu_backend *be, gbt_error *err) {
  be->graph.mode = CU_ISSUING;
  if (be->bounds.looks > 0 || be->graph.step_by_step) return GBT_OK;
  GBT_ASSERT(be->view.n_trees >= 1 && be->view.n_trees <= GBT_MOST_TREES);
  cu_recording *r = &be->graph.recording[be->view.n_trees][cu_are_fixed(be)];
  be->graph.current = r;
  if (r->exec) {
    be->graph.mode = CU_REPLAYING;
  } else if (r->n_uses++ > 0) {
    CU_TRY(cudaStreamBeginCapture(be->device.stream, cudaStreamCaptureModeThreadLocal));
    be->graph.mode = CU_RECORDING;
  }
  return GBT_OK;
}

gbt_status cu_launch_recording(cu_backend *be, gbt_error *err) {
  if (be->graph.mode == CU_RECORDING) {
    cudaGraph_t graph = NULL;
    be->graph.mode = CU_ISSUING;
    CU_TRY(cudaStreamEndCapture(be->device.stream, &graph));
    cudaError_t code = cudaGraphInstantiate(&be->graph.current->exec, graph, 0);
    cudaGraphDestroy(graph);
    if (code != cudaSuccess) {
      be->graph.current->exec = NULL;
      return cu_failed(code, "recording the steps of a tree", err);
    }
  }
  GBT_ASSERT(be->graph.current->exec != NULL);
  CU_TRY(cudaGraphLaunch(be->graph.current->exec, be->device.stream));
  return GBT_OK;
}

gbt_status cu_or_stop_recording(cu_backend *be, gbt_status status) {
  if (status == GBT_OK || be->graph.mode != CU_RECORDING) return status;
  cudaGraph_t graph = NULL;
  be->graph.mode = CU_ISSUING;
  (void)cudaStreamEndCapture(be->device.stream, &graph);
  if (graph) (void)cudaGraphDestroy(graph);
  (void)cudaGetLastError(); /* what was wrong has been told */
  return status;
}

void cu_graph_close(cu_backend *be) {
  for (int32_t n = 0; n <= GBT_MOST_TREES; n++)
    for (int made = 0; made < 2; made++)
      if (be->graph.recording[n][made].exec) cudaGraphExecDestroy(be->graph.recording[n][made].exec);
}
