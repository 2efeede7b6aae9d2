/* The steps of a batch, recorded. They are the same launches every time: what differs is in device memory, or on the
 * host at places that copies read when they run. So they are recorded once and launched as one thing (a CUDA graph),
 * or, where the host has to look, as one from look to look. Recordings are keyed by the number of trees and by whether
 * their gradients have to be made.
 *
 * A recording is open within one function, which calls nothing of the host's: it may free another trainer, for one, and
 * a recording does not survive that. Nothing of it has run when it fails, so such batches are issued step by step from
 * there on; an error that stays, as of a lost device, occurs again there and is returned. */
#include "batch.cuh"

#include "gradients/ops.cuh"

/* Of device memory for a launch or copy: what a kernel's arguments may take at most, and so an upper bound of the
 * largest part. What else CUDA takes is not known. */
enum : size_t { NODE_BYTES = 4096 };

/* Counted as device memory before it is taken. */
static int instantiate(cu_backend *be, cu_recording *r, cu_part part, cudaGraph_t graph) {
  const size_t most = be->hooks.most_nodes > 0 ? be->hooks.most_nodes : (size_t)CU_MOST_NODES;
  size_t n = 0;
  GBT_ASSERT(be->graph.n_nodes <= most);
  if (cudaGraphGetNodes(graph, NULL, &n) != cudaSuccess || n > most - be->graph.n_nodes) return 0;
  if (!cu_count(&be->device.memory, n * NODE_BYTES)) return 0;
  if (cudaGraphInstantiate(&r->exec[part], graph, 0) != cudaSuccess) {
    r->exec[part] = NULL;
    cu_uncount(&be->device.memory, n * NODE_BYTES);
    return 0;
  }
  r->n_nodes += n;
  be->graph.n_nodes += n;
  return 1;
}

static int record_part(gbt_ctx *ctx, cu_backend *be, cu_recording *r, cu_part part) {
  const int takes_steps = be->takes_steps;
  gbt_error refused;
  cudaGraph_t graph = NULL;
  int made = 0;
  if (cudaStreamBeginCapture(be->device.stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return 0;
  const gbt_status status = cu_issue_part(ctx, be, part, &refused);
  const cudaError_t ended = cudaStreamEndCapture(be->device.stream, &graph);
  const int as_issued = be->takes_steps == takes_steps; /* what cannot be recorded may be launched all the same */
  be->takes_steps = takes_steps;
  if (status == GBT_OK && ended == cudaSuccess && as_issued) made = instantiate(be, r, part, graph);
  if (graph) (void)cudaGraphDestroy(graph);
  return made;
}

static void drop(cu_backend *be, cu_recording *r) {
  for (int part = 0; part < CU_PARTS; part++) {
    if (r->exec[part]) (void)cudaGraphExecDestroy(r->exec[part]);
    r->exec[part] = NULL;
  }
  be->graph.n_nodes -= r->n_nodes;
  cu_uncount(&be->device.memory, r->n_nodes * NODE_BYTES);
  r->n_nodes = 0;
}

/* Does not change the host's state of the batch. */
static void record(gbt_ctx *ctx, cu_backend *be, cu_recording *r) {
  const int32_t fixed_output = be->grad.fixed_output;
  const int n_parts = be->bounds.looks > 0 ? CU_PARTS : 1;
  int made = 1;
  r->state = CU_TRIED;
  for (int part = 0; part < n_parts && made; part++) made = record_part(ctx, be, r, (cu_part)part);
  be->depth = 0;
  be->grad.fixed_output = fixed_output;
  if (!made) drop(be, r);
}

void cu_replay_part(cu_backend *be, cu_part part) {
  cu_recording *r = be->graph.replays;
  if (r->exec[part] && cudaGraphLaunch(r->exec[part], be->device.stream) == cudaSuccess) return;
  (void)cudaGetLastError(); /* what was refused is issued step by step */
  drop(be, r);
  be->graph.replays = NULL;
}

/* The first batch is issued step by step, as few are ever grown twice; the second is recorded, the others replayed. */
void cu_replay(gbt_ctx *ctx, cu_backend *be) {
  be->graph.replays = NULL;
  if (be->hooks.no_recording || be->bounds.by_hand || cu_inputs_are_args(be)) return;
  GBT_ASSERT(be->view.n_trees >= 1 && be->view.n_trees <= GBT_MOST_TREES);
  cu_recording *r = &be->graph.recording[be->view.n_trees][cu_are_fixed(be)];
  if (r->state == CU_GROWN_ONCE) record(ctx, be, r);
  if (r->state == CU_NEVER_GROWN) r->state = CU_GROWN_ONCE;
  (void)cudaGetLastError();
  if (!r->exec[CU_BEGIN]) return;
  be->graph.replays = r;
  cu_replay_part(be, CU_BEGIN);
}

void cu_graph_close(cu_backend *be) {
  for (int32_t n = 0; n <= GBT_MOST_TREES; n++)
    for (int made = 0; made < 2; made++) drop(be, &be->graph.recording[n][made]);
}
