#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "peek.h"

const char *const step_names[N_STEPS] = {"gradients", "begin tree", "histogram",  "search",
                                         "select",    "partition",  "finish tree"};

static double sector(double bytes) { return (double)((int64_t)(bytes + 31.0) / 32 * 32); }

static double codes_of_row(const gbt_layout *layout) {
  double bytes = 0.0;
  for (int32_t g = 0; g < layout->n_groups; g++)
    bytes += layout->group[g].n_feats * (layout->group[g].wide ? 2.0 : 1.0);
  return bytes;
}

/* The rows that the steps of a tree of the forest had to read, as bytes. Searched nodes are those that have been
 * split or could have been: siblings below the depth limit. */
static int count_bytes(const gbt_forest *forest, size_t which, int64_t max_depth, int32_t n_features, int64_t n_rows,
                       steps *out) {
  const gbt_tree *tree = &forest->trees[which];
  const gbt_node *node = forest->nodes + tree->node_beg;
  const uint32_t *count = forest->count + tree->node_beg;
  int *depth = calloc(tree->n_nodes, sizeof *depth);
  if (!depth) return 0;
  out->bytes[STEP_HIST][0] += count[0] * (out->row_bytes + 4.0);
  out->adds[0] += 2.0 * count[0] * n_features;
  out->bytes[STEP_FINISH][0] += 25.0 * (double)n_rows;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    if (node[i].left == 0) continue;
    uint32_t left = node[i].left;
    double rows = count[i], smaller = count[left] < count[left + 1] ? count[left] : count[left + 1];
    int layer = depth[i], column = layer < 5 ? 1 << layer : 32;
    depth[left] = depth[left + 1] = layer + 1;
    if (layer + 1 >= MAX_LAYERS) continue;
    if (layer + 1 > out->n_layers) out->n_layers = layer + 1;
    out->bytes[STEP_PARTITION][layer] += rows * (16.0 + column);
    if (max_depth > 0 && layer + 1 >= max_depth) continue;
    out->bytes[STEP_HIST][layer + 1] += smaller * (sector(out->row_bytes) + 8.0);
    out->adds[layer + 1] += 2.0 * smaller * n_features;
  }
  free(depth);
  return 1;
}

static double now(const gbt_device_api *device) {
  if (device) device_wait();
  return (double)gbt_clock_ns() * 1e-9;
}

/* A batch of trees. Steps count as layers, which is what they are in depthwise and symmetric growth. */
static gbt_status grow(gbt_ctx *ctx, const gbt_device_api *device, gbt_backend *be, const gbt_tree_task *task,
                       int32_t n_trees, gbt_forest *forest, steps *out, gbt_error *err) {
  const gbt_backend_ops *ops = be->ops;
  if (device) peek_step_by_step(be);
  double t = now(device), u;
#define TIMED(step, layer, call)        \
  do {                                  \
    GBT_TRY(call);                      \
    u = now(device);                    \
    out->seconds[step][layer] += u - t; \
    t = u;                              \
  } while (0)
  TIMED(STEP_BEGIN, 0, ops->begin_trees(ctx, be, task, n_trees, err));
  for (int step = 0;; step++) {
    int32_t chosen = 0;
    int layer = step < MAX_LAYERS ? step : MAX_LAYERS - 1;
    TIMED(STEP_HIST, layer, ops->build_hist(ctx, be, err));
    TIMED(STEP_SEARCH, layer, ops->find_splits(ctx, be, err));
    TIMED(STEP_SELECT, layer, ops->select(ctx, be, &chosen, err));
    if (chosen == 0) break;
    TIMED(STEP_PARTITION, layer, ops->partition(ctx, be, err));
  }
  TIMED(STEP_FINISH, 0, ops->finish_trees(ctx, be, forest, err));
#undef TIMED
  return GBT_OK;
}

static gbt_status grow_rounds(gbt_ctx *ctx, const gbt_device_api *device, gbt_backend *be, int32_t n_outputs,
                              const gbt_dataset *ds, const gbt_params *params, int rounds, gbt_forest *forest,
                              steps *out, gbt_error *err) {
  steps *warm = calloc(1, sizeof *warm);
  gbt_status status = GBT_OK;
  if (!warm) return gbt_fail(err, GBT_E_MEM, "no memory for timings");
  out->at_once = be->most_trees;
  for (int round = 0; round <= rounds; round++) {
    steps *to = round > 0 ? out : warm;
    double t = now(device);
    GBT_TRY_GOTO(be->ops->gradients(ctx, be, (uint64_t)round, err), done);
    to->seconds[STEP_GRADIENT][0] += now(device) - t;
    for (int32_t k = 0, n; k < n_outputs; k += n) {
      gbt_tree_task task[GBT_MOST_TREES];
      n = gbt_batch_trees(be->most_trees, n_outputs, 1, k);
      for (int32_t i = 0; i < n; i++)
        task[i] = (gbt_tree_task){.tree = (uint64_t)(round * n_outputs + k + i),
                                  .round = (uint64_t)round,
                                  .output = k + i,
                                  .shrinkage = params->eta};
      GBT_TRY_GOTO(grow(ctx, device, be, task, n, forest, to, err), done);
      to->n_trees += n;
      for (size_t i = forest->n_trees - (size_t)n; i < forest->n_trees; i++)
        if (!count_bytes(forest, i, params->max_depth, ds->cuts->n_features, ds->rows.n, to)) {
          status = gbt_fail(err, GBT_E_MEM, "no memory for a tree's depths");
          goto done;
        }
    }
  }
done:
  free(warm);
  return status;
}

gbt_status steps_run(gbt_ctx *ctx, const gbt_device_api *device, gbt_dataset *ds, gbt_objective_kind loss,
                     int32_t n_outputs, const gbt_params *params, int rounds, steps *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_feature_rules *rules = NULL;
  gbt_backend *be = NULL;
  gbt_forest *forest = NULL;
  double *base = calloc((size_t)n_outputs, sizeof *base);
  const double *const init[1] = {NULL};
  gbt_backend_spec spec = {
      .params = params, .objective = gbt_objective_make(loss, n_outputs), .data = &ds, .base = base, .init = init};
  memset(out, 0, sizeof *out);
  out->row_bytes = codes_of_row(gbt_pages_layout(ds->pages));
  if (!base) return gbt_fail(err, GBT_E_MEM, "no memory for base scores");
  GBT_TRY_GOTO(gbt_feature_rules_new(&ctx->mem, ds->cuts->n_features, NULL, params, NULL, NULL, NULL, 0, &rules, err),
               done);
  spec.rules = rules;
  GBT_TRY_GOTO(gbt_forest_new(&ctx->mem, ds->cuts->n_features, n_outputs, 1, &forest, err), done);
  GBT_TRY_GOTO(gbt_backend_open(ctx, device, 0, &spec, &be, err), done);
  GBT_TRY_GOTO(grow_rounds(ctx, device, be, n_outputs, ds, params, rounds, forest, out, err), done);
done:
  gbt_backend_close(be);
  gbt_forest_free(forest);
  gbt_feature_rules_free(rules);
  free(base);
  return status;
}

double steps_floor(const steps *s, const device_facts *dev) {
  double floor = 0.0, bank_adds = dev->units * 32.0 * dev->clock;
  if (!(dev->bandwidth > 0.0) || !(bank_adds > 0.0) || s->n_trees == 0) return 0.0;
  for (int layer = 0; layer < MAX_LAYERS; layer++) {
    double by_bytes = s->bytes[STEP_HIST][layer] / dev->bandwidth, by_adds = s->adds[layer] / bank_adds;
    floor += by_bytes > by_adds ? by_bytes : by_adds;
    floor += (s->bytes[STEP_PARTITION][layer] + s->bytes[STEP_FINISH][layer]) / dev->bandwidth;
  }
  return floor / s->n_trees;
}
