/* The CUDA backend: opening, closing, the way of a tree. See backend.cuh.
 * Everything is allocated when the backend opens, as large as sizes.cu says. */
#include "batch.cuh"

#include "../data/resident.cuh"
#include "gradients/ops.cuh"
#include "gradients/sample.cuh"
#include "leaves/ops.cuh"
#include "metrics/ops.cuh"
#include "rows/gather.cuh"
#include "search/ops.cuh"
#include "small/small.cuh"
#include "state/ops.cuh"
#include "state/ranks.cuh"
#include "steps/ops.cuh"

/* ---- closing ---- */

static void destroy(gbt_backend *self) {
  cu_backend *be = (cu_backend *)self;
  gbt_mem mem = be->mem;
  int before = be->device.number; /* the host frees when it likes, in the midst of another device's training as well */
  (void)cudaGetDevice(&before);
  cudaSetDevice(be->device.number);
  cu_ranks_stop(be);
  if (be->device.stream) cudaStreamSynchronize(be->device.stream);
  cu_graph_close(be);
  for (int32_t s = 0; be->data && s <= be->n_valid; s++) cu_dataset_free(&mem, &be->device, &be->data[s]);
  gbt_mem_free(&mem, be->data);
  cu_metrics_close(be);
  cu_down_close(be);
  cu_gradients_close(be);
  cu_sample_close(be);
  cu_gather_close(be);
  cu_renew_close(be);
  cu_ranks_close(be);
  cu_step_close(be);
  cu_drop(&be->device.memory, &be->state);
  cu_features_close(be);
  cu_drop(&be->device.memory, &be->monotone);
  cu_drop(&be->device.memory, &be->handicaps);
  cu_host_free(&be->task);
  cu_layer_close(be);
  cu_together_close(be);
  cu_small_close(be);
  cu_refit_close(be);
  cu_set_feats_close(be);
  cu_sizes_close(be);
  cu_device_close(&be->device);
  if (before != be->device.number) cudaSetDevice(before);
  gbt_mem_free(&mem, be);
  (void)cudaGetLastError(); /* what went wrong here is not for the next training to find */
}

/* ---- opening ---- */

/* How much of the memory that is left to this backend the codes of a data set may take. An eighth is left to what is
 * made while trees grow. */
static cu_code_room room_of(const cu_backend *be, int32_t s) {
  enum { SHARES = 8 };
  const cu_hooks *hooks = &be->hooks;
  const cu_dataset *data = &be->data[s];
  const uint64_t bytes = cu_code_bytes(data), ring = cu_ring_room(data->from);
  const uint64_t left = cu_free_bytes(&be->device.memory) / (uint64_t)be->n_backends;
  cu_code_room room = {left > ring ? (left - ring) / SHARES * (SHARES - 1) : 0, cu_host_room(data->from)};
  const uint64_t on_device = bytes * (uint64_t)(100 - hooks->less_device) / 100;
  const uint64_t on_host = bytes * (uint64_t)(100 - hooks->less_host) / 100;
  GBT_ASSERT(hooks->less_device >= 0 && hooks->less_device <= 100 && hooks->less_host >= 0 && hooks->less_host <= 100);
  if (hooks->less_device > 0 && on_device < room.device) room.device = on_device;
  if (hooks->less_host > 0 && on_host < room.host) room.host = on_host;
  if (s == 0 && be->bounds.codes == CU_TRAIN_CODES) room.device = CU_ALL_ROWS;
  return room;
}

/* Codes are allocated last: those that do not fit next to all other arrays stay in the host's memory. */
static gbt_status open_apart(gbt_ctx *ctx, cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  const cu_dataset_spec data_spec = cu_dataset_spec_of(be);
  for (int32_t s = 0; s <= spec->n_valid; s++)
    GBT_TRY(cu_dataset_begin(ctx, &be->device, &data_spec, spec->data[s], &be->data[s], err));
  for (int32_t s = 0; s <= spec->n_valid; s++) {
    GBT_TRY(cu_dataset_fill(ctx, &be->device, &data_spec, room_of(be, s), &be->data[s], err));
    be->base.host_bytes += be->data[s].host_bytes;
    be->bounds.by_hand |= be->data[s].stream_end > 0;
  }
  if (be->bounds.codes == CU_DRAWN_CODES) GBT_TRY(cu_gather_open(be, err));
  be->bounds.by_hand |= be->gather.offered;
  return GBT_OK;
}

static gbt_status open_data(gbt_ctx *ctx, cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)spec->n_valid + 1, sizeof *be->data, &be->data, err));
  be->n_valid = spec->n_valid;
  const cu_dataset_spec data_spec = cu_dataset_spec_of(be);
  if (be->bounds.codes == CU_ALL_CODES) {
    for (int32_t s = 0; s <= spec->n_valid; s++)
      GBT_TRY(cu_dataset_make(ctx, &be->device, &data_spec, spec->data[s], &be->data[s], err));
  } else {
    GBT_TRY(open_apart(ctx, be, spec, err));
  }
  cu_use_extents(be);
  be->view.score = be->data[0].score.at;
  be->view.label = be->data[0].label;
  be->view.weight = be->data[0].weight;
  be->view.own_weights = spec->data[0]->rows.n_outputs[GBT_WEIGHT] > 1;
  return cu_init_scores(ctx, be, spec, err);
}

static gbt_status copy_monotone(cu_backend *be, const int8_t *monotone, gbt_error *err) {
  be->view.policy = gbt_grow_policy_of(be->params, NULL);
  be->view.constrained = monotone != NULL || be->params->max_delta_step > 0.0;
  if (!monotone) return GBT_OK;
  GBT_TRY(cu_new_from(&be->device, &be->monotone, monotone, (size_t)be->n_features, err));
  be->view.policy.monotone = be->monotone.at;
  return GBT_OK;
}

static gbt_status open_handicaps(cu_backend *be, gbt_error *err) {
  if (be->handicap == NULL) return GBT_OK;
  GBT_TRY(cu_new(&be->device.memory, &be->handicaps, (size_t)be->n_features, err));
  be->view.handicap = be->handicaps.at;
  return GBT_OK;
}

static gbt_status open_all(gbt_ctx *ctx, cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  GBT_TRY(cu_device_open(&be->device, err));
  cu_sample_plan(be, spec);
  GBT_TRY(cu_sizes_open(be, err));
  GBT_TRY(copy_monotone(be, spec->monotone, err));
  GBT_TRY(open_handicaps(be, err));
  GBT_TRY(cu_share_open(ctx, be, err));
  GBT_TRY(cu_features_open(be, err));
  GBT_TRY(cu_state_open(be, err));
  GBT_TRY(cu_gradients_open(ctx, be, err));
  GBT_TRY(cu_sample_open(be, spec, err));
  GBT_TRY(cu_renew_open(be, err));
  GBT_TRY(cu_step_open(be, err));
  GBT_TRY(cu_down_open(be, err));
  GBT_TRY(cu_host_alloc((size_t)be->base.most_trees * sizeof *be->task, &be->task, err));
  GBT_TRY(open_data(ctx, be, spec, err));
  GBT_TRY(cu_hist_open(be, err));
  GBT_TRY(cu_columns_make(&be->mem, &be->device, &be->data[0], err)); /* the last, of what memory is left */
  be->view.train = be->data[0].view;
  if (cu_is_whole(&be->data[0]) && !be->bounds.by_hand) GBT_TRY(cu_small_open(be, err));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  return GBT_OK;
}

/* ---- the way of a tree ---- */

static gbt_status faults(const cu_backend *be, gbt_error *err) {
  for (int32_t y = 0; y < be->view.n_trees; y++) GBT_TRY(cu_faults_of(be, cu_down_of(be, y), err));
  return GBT_OK;
}

static gbt_status gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, gbt_error *err) {
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(((cu_backend *)self)->device.number));
  return cu_gradients(ctx, (cu_backend *)self, round, err);
}

static gbt_status set_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, const double *g, const double *h,
                                gbt_error *err) {
  CU_TRY(cudaSetDevice(((cu_backend *)self)->device.number));
  return cu_set_gradients(ctx, (cu_backend *)self, round, g, h, err);
}

static gbt_status set_projection(gbt_ctx *ctx, gbt_backend *self, gbt_backend *from, const double *u, uint64_t round,
                                 gbt_error *err) {
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(((cu_backend *)self)->device.number));
  return cu_set_projection(ctx, (cu_backend *)self, (const cu_backend *)from, u, round, err);
}

static gbt_status issue_roots(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  if (cu_inputs_are_args(be)) {
    GBT_TRY(cu_features_send(be, err));
    GBT_TRY(cu_small_grow(be, err));
    if (cu_grows_in_one_kernel(be)) return GBT_OK;
  }
  CU_TRY(cu_state_send(be, &be->view.tree->task, be->task, sizeof *be->task));
  GBT_TRY(cu_features_send(be, err));
  GBT_TRY(cu_gradients_of_trees(ctx, be, err));
  if (cu_grows_in_one_kernel(be)) GBT_TRY(cu_small_grow(be, err));
  if (cu_grows_in_one_kernel(be)) return GBT_OK;
  GBT_TRY(cu_rows_begin(ctx, be, err));
  return cu_root(be, err);
}

/* The host's may change once the call returns: they are not page-locked, so the copy has been taken then. */
static gbt_status send_handicaps(cu_backend *be, gbt_error *err) {
  const size_t bytes = be->handicaps.n * sizeof *be->handicap;
  if (be->handicap == NULL) return GBT_OK;
  CU_TRY(cudaMemcpyAsync(be->handicaps.at, be->handicap, bytes, cudaMemcpyHostToDevice, be->device.stream));
  return GBT_OK;
}

static gbt_status begin_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                              gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(be->device.number)); /* the thread may be a new one; it takes all steps of the batch */
  be->begun_ns = gbt_clock_ns();
  cu_take_tasks(be, task, n_trees); /* none is being copied: see cu_down_can_defer */
  be->depth = 0;
  cu_features_draw(be);
  GBT_TRY(send_handicaps(be, err));
  GBT_TRY(cu_together_send(be, err));
  cu_down_swap(be);
  cu_replay(ctx, be);
  if (!be->graph.replays) GBT_TRY(issue_roots(ctx, be, err));
  if (be->graph.replays) be->depth = (int32_t)be->bounds.looks; /* not used where it is 0 */
  return cu_down_finish(be, err); /* the device is at work */
}

/* After the last step that can split anything there is nothing to build or to search; a replay contains all steps, or
 * those up to the next look. */
static int is_over(const cu_backend *be) {
  return be->graph.replays || (be->bounds.looks == 0 && be->depth >= be->bounds.max_steps);
}

static gbt_status build_hist(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  return is_over(be) ? GBT_OK : cu_build_hist(ctx, be, err);
}

static gbt_status search(cu_backend *be, gbt_error *err) {
  GBT_TRY(cu_features(be, err));
  if (be->layer) return cu_layer_search(be, err);
  return be->team ? cu_team_search(be, err) : cu_search(be, err);
}

static gbt_status find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  if (is_over(be)) return GBT_OK;
  GBT_TRY(search(be, err));
  return cu_share_splits(ctx, be, err);
}

static gbt_status issue_choice(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  if (be->layer)
    GBT_TRY(cu_layer_decide(ctx, be, err));
  else if (be->team)
    GBT_TRY(cu_team_open_nodes(be, err));
  GBT_TRY(cu_select(be, err));
  be->depth++;
  return GBT_OK;
}

/* How many nodes the trees have chosen in the last step. */
static gbt_status look(gbt_ctx *ctx, cu_backend *be, int32_t *n, gbt_error *err) {
  GBT_TRY(cu_read_states(ctx, be, err));
  GBT_TRY(faults(be, err));
  *n = 0;
  for (int32_t y = 0; y < be->view.n_trees; y++) *n += cu_down_of(be, y)->n_chosen;
  return GBT_OK;
}

static gbt_status choose(gbt_ctx *ctx, gbt_backend *self, int32_t *n, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  *n = 0;
  if (be->graph.replays && be->bounds.looks > 0) return look(ctx, be, n, err);
  if (is_over(be)) return GBT_OK; /* nothing is left to be issued */
  GBT_TRY(issue_choice(ctx, be, err));
  *n = be->view.max_step;
  return be->bounds.looks > 0 && be->depth % be->bounds.looks == 0 ? look(ctx, be, n, err) : GBT_OK;
}

static gbt_status partition(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  GBT_ASSERT(!be->graph.replays || be->bounds.looks > 0); /* else there is one part, and nothing was chosen */
  if (be->graph.replays) cu_replay_part(be, CU_MORE);
  return be->graph.replays ? GBT_OK : cu_partition(ctx, be, err);
}

static gbt_status issue_end(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  if (cu_grows_in_one_kernel(be)) return cu_small_end(ctx, be, err);
  GBT_TRY(cu_leaves(ctx, be, err));
  return cu_team_gains(be, err);
}

/* A step up to its choice. */
static gbt_status issue_step(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  GBT_TRY(cu_build_hist(ctx, be, err));
  GBT_TRY(search(be, err));
  return issue_choice(ctx, be, err);
}

static gbt_status issue_whole(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  GBT_TRY(issue_roots(ctx, be, err));
  while (be->depth < be->bounds.max_steps) {
    GBT_TRY(issue_step(ctx, be, err));
    GBT_TRY(cu_partition(ctx, be, err));
  }
  return issue_end(ctx, be, err);
}

gbt_status cu_issue_part(gbt_ctx *ctx, cu_backend *be, cu_part part, gbt_error *err) {
  if (part == CU_END) return issue_end(ctx, be, err);
  if (be->bounds.looks == 0) return issue_whole(ctx, be, err);
  if (part == CU_BEGIN) GBT_TRY(issue_roots(ctx, be, err));
  for (int32_t step = 0; step < be->bounds.looks; step++) {
    if (part == CU_MORE || step > 0) GBT_TRY(cu_partition(ctx, be, err));
    GBT_TRY(issue_step(ctx, be, err));
  }
  return GBT_OK;
}

static void count_time(cu_backend *be, int64_t begun_ns) {
  be->base.seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - begun_ns) * 1e-9;
}

/* Waits, unless the next batch can be issued before this one has come. */
static gbt_status finish_trees(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  const int32_t n_trees = be->view.n_trees;
  if (be->graph.replays && be->bounds.looks > 0) cu_replay_part(be, CU_END);
  if (!be->graph.replays) GBT_TRY(issue_end(ctx, be, err));
  GBT_TRY(cu_down_send(be, err));
  be->base.device_bytes = be->device.memory.most;
  if (cu_down_can_defer(be)) {
    GBT_TRY(cu_down_defer(be, forest, err));
    count_time(be, be->begun_ns);
    return GBT_OK;
  }
  /* those of one output are not over yet, perhaps; several have had all of theirs */
  be->grad.fixed_output = be->task[0].output == be->task[n_trees - 1].output ? be->task[0].output : -1;
  GBT_TRY(cu_wait(ctx, be, err));
  GBT_TRY(faults(be, err));
  GBT_TRY(cu_down_take(be, forest, err));
  count_time(be, be->begun_ns);
  return GBT_OK;
}

static gbt_status settle(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  const int64_t begun_ns = gbt_clock_ns();
  (void)ctx;
  CU_TRY(cudaSetDevice(((cu_backend *)self)->device.number));
  GBT_TRY(cu_down_finish((cu_backend *)self, err));
  count_time((cu_backend *)self, begun_ns);
  return GBT_OK;
}

static gbt_status scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double **out, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  GBT_ASSERT(which >= 0 && which <= be->n_valid);
  cu_dataset *data = &be->data[which];
  size_t bytes = data->score.n * sizeof *data->host_score;
  CU_TRY(cudaSetDevice(be->device.number));
  if (!data->host_score) GBT_TRY(cu_host_alloc(bytes, &data->host_score, err));
  CU_TRY(cudaMemcpyAsync(data->host_score, data->score.at, bytes, cudaMemcpyDeviceToHost, be->device.stream));
  GBT_TRY(cu_wait(ctx, be, err));
  *out = data->host_score;
  return GBT_OK;
}

static gbt_status set_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *score, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  cu_array<double> *to = &be->data[which].score;
  CU_TRY(cudaSetDevice(be->device.number));
  CU_TRY(cudaMemcpyAsync(to->at, score, to->n * sizeof *score, cudaMemcpyHostToDevice, be->device.stream));
  return cu_wait(ctx, be, err);
}

static gbt_backend_ops make_ops() {
  gbt_backend_ops ops = {};
  ops.name = "cuda";
  ops.destroy = destroy;
  ops.gradients = gradients;
  ops.set_gradients = set_gradients;
  ops.set_projection = set_projection;
  ops.set_scores = set_scores;
  ops.begin_trees = begin_trees;
  ops.build_hist = build_hist;
  ops.find_splits = find_splits;
  ops.select = choose;
  ops.partition = partition;
  ops.finish_trees = finish_trees;
  ops.settle = settle;
  ops.refit_trees = cu_refit_trees;
  ops.scores = scores;
  ops.metric = cu_metric;
  return ops;
}

static const gbt_backend_ops cu_ops = make_ops();

static gbt_status open_batch(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, int32_t most_trees,
                             cu_resides codes, const cu_hooks *hooks, const cu_start *start, cu_backend **out,
                             gbt_error *err) {
  cu_backend *be = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *be, &be, err));
  be->base.ops = &cu_ops;
  be->mem = ctx->mem;
  be->device.number = device;
  be->params = spec->params;
  be->rules = spec->rules;
  be->handicap = spec->handicap;
  be->together = spec->together;
  be->objective = spec->objective;
  be->n_outputs = spec->objective.n_outputs;
  be->bounds.batch_limit = most_trees;
  be->bounds.codes = codes;
  if (hooks) be->hooks = *hooks;
  be->cuts = spec->data[0]->cuts;
  be->layout = gbt_pages_layout(spec->data[0]->pages);
  be->n_features = be->cuts->n_features;
  be->n_rows = spec->data[0]->rows.n;
  be->start_with = start;
  *static_cast<cu_ranks_view *>(&be->view) = start->ranks;
  be->bounds.by_hand = start->ranks.shared;
  be->view.params = *spec->params;
  be->view.objective = spec->objective;
  be->view.columns = gbt_has_columns(&spec->objective);
  be->view.renews = gbt_renews(&spec->objective);
  be->view.n_steps = gbt_leaf_steps(&spec->objective, spec->params);
  be->view.n_features = be->n_features;
  be->view.n_slots = be->layout->n_slots;
  be->n_backends = spec->n_backends > 1 ? spec->n_backends : 1;
  be->device.memory.limit = ((size_t)spec->params->device_memory << 20) / (size_t)be->n_backends;
  if (be->hooks.most_bytes > 0) be->device.memory.limit = be->hooks.most_bytes;
  *out = be;
  gbt_status status = open_all(ctx, be, spec, err);
  be->start_with = NULL;
  be->base.device_bytes = be->device.memory.most;
  return status;
}

/* Codes of these data sets that were left on the device; 0: there are none. With a limit set by the user they stay, as
 * the limit does not count them. */
static int release_residents(const gbt_backend_spec *spec, int32_t device) {
  int given = 0;
  for (int32_t s = 0; spec->params->device_memory == 0 && s <= spec->n_valid; s++)
    given |= cu_resident_release(spec->data[s]->pages, device);
  return given;
}

/* When memory does not allow as many trees at once as were planned: without codes that were left there, then with fewer
 * trees. All ranks make the same attempts. */
static gbt_status open_codes(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, cu_resides codes,
                             const cu_hooks *hooks, const cu_start *start, gbt_backend **out, gbt_error *err) {
  gbt_status status = GBT_E_MEM;
  *out = NULL;
  for (int32_t most = GBT_MOST_TREES; status == GBT_E_MEM && most > 0;) {
    cu_backend *be = NULL;
    status = open_batch(ctx, device, spec, most, codes, hooks, start, &be, err);
    int32_t its_most = be ? be->base.most_trees : most;
    int given = status == GBT_E_MEM && release_residents(spec, device);
    if (status == GBT_OK || status == GBT_E_MEM) status = cu_start_agree(ctx, status, &its_most, &given, err);
    if (status == GBT_OK) status = cu_ranks_stream(ctx, be, err);
    if (status == GBT_OK) status = cu_ranks_connect(ctx, be, err);
    if (status == GBT_OK) {
      cu_use_extents(be);
      be->base.most_trees = its_most;
      *out = &be->base;
      return GBT_OK;
    }
    if (most > its_most) most = its_most; /* also where there was no room for a backend: as on the other ranks */
    if (be) destroy(&be->base);
    if (status != GBT_E_MEM || !given) most /= 2;
  }
  return status;
}

gbt_status cu_open_with(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, cu_resides codes,
                        const cu_hooks *hooks, gbt_backend **out, gbt_error *err) {
  cu_start start;
  *out = NULL;
  gbt_status status = cu_start_make(ctx, device, spec, &start, err);
  if (status == GBT_OK) status = open_codes(ctx, device, spec, codes, hooks, &start, out, err);
  cu_start_free(ctx, &start);
  return status;
}

/* Codes that do not fit on the device stay on the host. When that does not help either, the error says what a training
 * without any codes on the device lacks. */
gbt_status cu_open(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err) {
  cu_start start;
  *out = NULL;
  gbt_status status = cu_start_make(ctx, device, spec, &start, err);
  const int made = status == GBT_OK;
  if (made) status = GBT_E_MEM;
  for (int codes = CU_ALL_CODES; made && status == GBT_E_MEM && codes < CU_N_CODES; codes++) {
    if (codes == CU_TRAIN_CODES && spec->n_valid == 0) continue;
    if (codes == CU_DRAWN_CODES && !cu_draws_rows(spec)) continue;
    status = open_codes(ctx, device, spec, (cu_resides)codes, NULL, &start, out, err);
  }
  cu_start_free(ctx, &start);
  return status;
}
