/* The calls and bytes of one round of training on a device, counted under emulation. Lines for tools/check-counts.py:
 *
 *   round SHAPE rows=N trees=N nodes=N launches=N ...      what the host has asked for; nodes of all trees
 *   run SHAPE:KERNEL launches=N blocks=N ...       what each kernel has done, see tests/simt/control.h
 *   graph depth_D kernels=N                        kernels of a round of trees of depth D, as of large data
 *   graph small_D kernels=N                        the same of small data
 *
 * Shapes are those of shapes.h with so few rows that all take half a minute, and a second-level cache of as much less
 * than an H200's 50 MB: rows of a node are then as far from each other as they are in the large shape. It is the third
 * round that counts, when recordings have been made and stay as they are. Two sizes of a shape tell what belongs to
 * rows and what to nodes; of the sectors, those of histograms (hists_read, hists_written) are counted apart, too. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "../../tests/simt/control.h"
#include "backend/device_api.h"
#include "peek.h"
#include "shapes.h"

extern const gbt_device_api *gbt_cuda_api(void);
extern int counts_are_right(void); /* counts_known.cu */

typedef struct run {
  const char *name, *shape;
  double full; /* rows of the large shape */
  int64_t rows;
  int32_t cols;
  int64_t depth, max_leaves; /* max_leaves: best-first growth; 0: depthwise */
} run;

static const run runs[] = {
    {"higgs", "higgs", 11e6, 4000, 28, 8, 0},         {"airline", "airline", 115e6, 4000, 13, 8, 0},
    {"covertype", "covertype", 581e3, 600, 54, 8, 0}, {"epsilon", "epsilon", 400e3, 300, 200, 8, 0},
    {"small", "small", 100e3, 2000, 28, 6, 0},        {"best_first", "small", 1e6, 2000, 28, 0, 255},
};
enum { MOST_DEPTH = 8, WARM_ROUNDS = 2, MORE = 3 };

static void show(const run *r, int trees, int64_t nodes) {
  const simt_counts c = simt_counted();
  printf("round %s rows=%lld trees=%d nodes=%lld launches=%lld graph_launches=%lld copies=%lld sets=%lld waits=%lld"
         " allocs=%lld\n",
         r->name, (long long)r->rows, trees, (long long)nodes, (long long)c.launches, (long long)c.graph_launches,
         (long long)c.copies, (long long)c.sets, (long long)c.waits, (long long)c.allocs);
  simt_traffic t;
  for (int i = 0; simt_traffic_of(i, &t); i++)
    printf("run %s:%s launches=%lld blocks=%lld read=%lld written=%lld sectors_read=%lld sectors_written=%lld"
           " hists_read=%lld hists_written=%lld global_adds=%lld shared_adds=%lld shared_bytes=%lld\n",
           r->name, t.kernel, (long long)t.launches, (long long)t.blocks, (long long)t.read, (long long)t.written,
           (long long)t.sectors_read, (long long)t.sectors_written, (long long)t.watched_read,
           (long long)t.watched_written, (long long)t.global_adds, (long long)t.shared_adds, (long long)t.shared_bytes);
}

/* The emulated device's door; a backend that is opened has its histograms watched. */
static gbt_status open_watched(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                               gbt_error *err) {
  size_t bytes;
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  simt_watch(NULL, 0);
  for (int32_t y = 0; peek_histograms(*out, y, &bytes); y++) simt_watch(peek_histograms(*out, y, &bytes), bytes);
  return GBT_OK;
}

/* Trains until all is recorded, then one round that is counted. */
static gbt_status train(gbt_ctx *ctx, const run *r, const made *d, int64_t *nodes, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_dataset *ds = NULL;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  const int classes = shape_find(r->shape)->classes, n_outputs = classes > 2 ? classes : 1;
  gbt_table table = {.n_rows = d->n, .n_cols = d->m, .cols = d->col};
  gbt_dataset_spec spec = {.table = &table, .max_bin = 255, .unseen = GBT_UNSEEN_PRIOR};
  gbt_trainer_spec how = {.params = gbt_params_default()};
  gbt_device_api device = *gbt_cuda_api();
  device.open = open_watched;
  how.params.max_depth = r->depth;
  how.objective = gbt_objective_make(classes > 2 ? GBT_OBJ_SOFTMAX : GBT_OBJ_LOGISTIC, n_outputs);
  how.device = &device;
  if (r->max_leaves > 0) {
    GBT_TRY(gbt_params_set(&how.params, "grow_policy", 1.0, err));
    GBT_TRY(gbt_params_set(&how.params, "max_leaves", (double)r->max_leaves, err));
  }
  GBT_TRY_GOTO(gbt_dataset_make(ctx, &spec, &ds, err), done);
  GBT_TRY_GOTO(gbt_dataset_lend(ctx, ds, GBT_LABEL, d->y, d->n, err), done);
  how.train = ds;
  GBT_TRY_GOTO(gbt_trainer_new(ctx, &how, &tr, err), done);
  GBT_TRY_GOTO(gbt_trainer_run(ctx, tr, WARM_ROUNDS, &why, err), done);
  simt_count_again();
  GBT_TRY_GOTO(gbt_trainer_run(ctx, tr, 1, &why, err), done);
  const gbt_forest *forest = gbt_trainer_forest(tr);
  *nodes = 0;
  for (int k = 1; k <= n_outputs; k++) *nodes += forest->trees[forest->n_trees - (size_t)k].n_nodes;
done:
  gbt_trainer_free(tr);
  gbt_dataset_unref(ds);
  return status;
}

/* The counting assumes a cache of as many bytes as belong to the shape's share of rows. */
static gbt_status count(gbt_ctx *ctx, const run *r, int trees, int64_t *kernels, gbt_error *err) {
  char cache[32];
  int64_t nodes;
  made d;
  snprintf(cache, sizeof cache, "%.0f", 50e6 * (double)r->rows / r->full);
  setenv("SIMT_CACHE", cache, 1);
  setenv("SIMT_COOPERATIVE", r->full > 100e3 ? "0" : "1", 1); /* large data are not grown by one kernel a tree */
  if (!shape_make(ctx, shape_find(r->shape), 0, r->rows, r->cols, &d))
    return gbt_fail(err, GBT_E_MEM, "no memory for the data");
  gbt_status status = train(ctx, r, &d, &nodes, err);
  made_free(&d);
  if (status == GBT_OK && trees > 0) show(r, trees, nodes);
  *kernels = simt_counted().kernels;
  return status;
}

static gbt_status all(gbt_ctx *ctx, gbt_error *err) {
  int64_t kernels;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    const int classes = shape_find(runs[i].shape)->classes, trees = classes > 2 ? classes : 1;
    run more = runs[i];
    char name[32];
    snprintf(name, sizeof name, "%s_more", runs[i].name);
    more.name = name;
    more.rows *= MORE;
    GBT_TRY(count(ctx, &runs[i], trees, &kernels, err));
    GBT_TRY(count(ctx, &more, trees, &kernels, err));
  }
  for (int depth = 1; depth <= MOST_DEPTH; depth++) {
    const run large = {"large", "small", 1e6, 700, 5, depth, 0}, few = {"few", "small", 100e3, 700, 5, depth, 0};
    GBT_TRY(count(ctx, &large, 0, &kernels, err));
    printf("graph depth_%d kernels=%lld\n", depth, (long long)kernels);
    GBT_TRY(count(ctx, &few, 0, &kernels, err));
    printf("graph small_%d kernels=%lld\n", depth, (long long)kernels);
  }
  return GBT_OK;
}

int main(void) {
  gbt_error err = {0};
  gbt_ctx ctx;
  if (!counts_are_right()) {
    fprintf(stderr, "a kernel of which all is known was counted wrongly\n");
    return 1;
  }
  gbt_status s = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &err);
  if (!s) s = all(&ctx, &err);
  if (s) fprintf(stderr, "%s\n", err.msg);
  gbt_ctx_close(&ctx);
  return s != GBT_OK;
}
