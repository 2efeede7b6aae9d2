/* Nanoseconds of the engine's inner operations, one by one, so that a regression shows where it is.
 *
 *   micro [rows] [features] [depth] [threads] [repeats]            default 1000000 28 8 1 5
 *
 * One tree is grown step by step on made data; every figure is the median of the repeats: processor time with one
 * thread, else time of day. Units:
 *   cuts, binning              ns per value
 *   gradients                  ns per row, by loss: their maxima
 *   begin tree                 ns per row: gradients as integers, rows in order, sums of the root
 *   histogram                  ns per (row added, feature); rows added: of the root, then of the smaller siblings
 *   split                      ns per (node searched, histogram slot), subtraction apart
 *   partition                  ns per row of the nodes that are split
 *   leaf                       ns per row: fine sums and scores
 *   predict                    ns per (row, tree) */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "boost/backends.h"
#include "cpu/cpu.h"
#include "made.h"

enum { LAYERS = 64, REPEATS = 99 };

typedef struct figure {
  double unit[REPEATS]; /* ns per unit, by repeat */
  int n;
  double work; /* units of the last repeat */
} figure;

typedef struct figures {
  figure cuts, binning, begin, leaf, predict, gradients[2];
  figure hist[LAYERS], split[LAYERS], partition[LAYERS];
  int32_t nodes[LAYERS];
  int n_layers;
} figures;

static void add(figure *f, double seconds, double work) {
  if (work <= 0.0 || f->n == REPEATS) return;
  f->unit[f->n++] = seconds * 1e9 / work;
  f->work = work;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(figure *f) {
  if (f->n == 0) return 0.0;
  qsort(f->unit, (size_t)f->n, sizeof *f->unit, by_size);
  return f->n % 2 ? f->unit[f->n / 2] : (f->unit[f->n / 2 - 1] + f->unit[f->n / 2]) / 2.0;
}

/* With one thread the processor time of this process, which other programs disturb less than the time of day. */
static int one_thread;

static double seconds(void) {
  struct timespec t;
  clock_gettime(one_thread ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rows that the fresh nodes' histograms add: siblings come in pairs, the smaller one is added. */
static double rows_to_add(const gbt_frontier *fr) {
  double rows = 0.0;
  if (fr->n_fresh == 1) return fr->node[fr->fresh[0]].n_rows;
  for (size_t i = 0; i < fr->n_fresh; i += 2) {
    const gbt_grow_node *l = &fr->node[fr->fresh[i]], *r = l + 1;
    if (l->splittable || r->splittable) rows += l->n_rows < r->n_rows ? l->n_rows : r->n_rows;
  }
  return rows;
}

/* One tree; layers are distinguished by depth, a step may take part of a layer. */
static gbt_status grow(gbt_ctx *ctx, cpu_backend *be, gbt_forest *forest, figures *out, gbt_error *err) {
  const gbt_backend_ops *ops = be->base.ops;
  const double m = be->n_features, slots = be->layout->n_slots;
  double hist[LAYERS] = {0}, added[LAYERS] = {0}, split[LAYERS] = {0}, searched[LAYERS] = {0}, part[LAYERS] = {0},
         moved[LAYERS] = {0};
  gbt_tree_task task = {.shrinkage = 0.1};
  double begun = seconds();
  GBT_TRY(ops->begin_trees(ctx, &be->base, &task, 1, err));
  add(&out->begin, seconds() - begun, (double)be->n_rows);
  for (int32_t n = 0;;) {
    int32_t depth = be->fr.node[be->fr.fresh[0]].depth;
    double t0 = seconds(), rows = rows_to_add(&be->fr), nodes = 0.0;
    for (size_t i = 0; i < be->fr.n_fresh; i++) nodes += be->fr.node[be->fr.fresh[i]].splittable;
    GBT_TRY(ops->build_hist(ctx, &be->base, err));
    double t1 = seconds();
    GBT_TRY(ops->find_splits(ctx, &be->base, err));
    double t2 = seconds();
    hist[depth] += t1 - t0;
    added[depth] += rows * m;
    split[depth] += t2 - t1;
    searched[depth] += nodes * slots;
    out->nodes[depth] = out->nodes[depth] > (int32_t)nodes ? out->nodes[depth] : (int32_t)nodes;
    GBT_TRY(ops->select(ctx, &be->base, &n, err));
    if (n == 0) break;
    depth = be->fr.node[be->fr.chosen[0]].depth;
    for (size_t i = 0; i < be->fr.n_chosen; i++) moved[depth] += be->fr.node[be->fr.chosen[i]].n_rows;
    t0 = seconds();
    GBT_TRY(ops->partition(ctx, &be->base, err));
    part[depth] += seconds() - t0;
    if (depth + 1 > out->n_layers) out->n_layers = depth + 1;
  }
  for (int d = 0; d < LAYERS; d++) {
    add(&out->hist[d], hist[d], added[d]);
    add(&out->split[d], split[d], searched[d]);
    add(&out->partition[d], part[d], moved[d]);
  }
  double t0 = seconds();
  GBT_TRY(ops->finish_trees(ctx, &be->base, forest, err));
  add(&out->leaf, seconds() - t0, (double)be->n_rows);
  return GBT_OK;
}

static gbt_status run_backend(gbt_ctx *ctx, gbt_dataset *ds, gbt_objective_kind loss, int64_t depth, gbt_forest *forest,
                              figures *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_params params = gbt_params_default();
  gbt_feature_rules *rules = NULL;
  gbt_backend *be = NULL;
  double base = 0.0;
  params.max_depth = depth;
  gbt_backend_spec spec = {.params = &params, .objective = gbt_objective_make(loss, 1), .data = &ds, .base = &base};
  GBT_TRY_GOTO(gbt_feature_rules_new(&ctx->mem, ds->cuts->n_features, NULL, &params, NULL, NULL, NULL, 0, &rules, err),
               done);
  spec.rules = rules;
  GBT_TRY_GOTO(gbt_backend_open(ctx, NULL, 0, &spec, &be, err), done);
  for (uint64_t round = 0; round < 2; round++) { /* the first one finds cold memory */
    double t0 = seconds();
    GBT_TRY_GOTO(be->ops->gradients(ctx, be, round, err), done);
    if (round > 0) add(&out->gradients[loss], seconds() - t0, (double)ds->rows.n);
  }
  if (forest) {
    figures *warm = calloc(1, sizeof *warm); /* the first tree's histograms are fresh memory: not counted */
    status = warm ? grow(ctx, (cpu_backend *)be, forest, warm, err) : GBT_E_MEM;
    free(warm);
    if (status == GBT_OK) status = be->ops->gradients(ctx, be, 2, err); /* the next tree rounds them anew */
    if (status == GBT_OK) status = grow(ctx, (cpu_backend *)be, forest, out, err);
  }
done:
  gbt_backend_close(be);
  gbt_feature_rules_free(rules);
  return status;
}

static gbt_status run_all(gbt_ctx *ctx, const made *d, int64_t depth, double *score, figures *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_table table = {.n_rows = d->n, .n_cols = d->m, .cols = d->col};
  double values = (double)d->n * d->m, t0 = seconds();
  gbt_cuts *cuts = NULL;
  gbt_dataset reference = {.refs = 1}, *ds = NULL;
  const gbt_dataset_spec spec = {.table = &table, .reference = &reference, .unseen = GBT_UNSEEN_MISSING};
  gbt_forest *one = NULL, *forest = NULL;
  gbt_binding *binding = NULL;
  GBT_TRY_GOTO(gbt_cuts_build(ctx, &table, NULL, 255, &cuts, err), done);
  add(&out->cuts, seconds() - t0, values);
  reference.cuts = cuts;
  t0 = seconds();
  GBT_TRY_GOTO(gbt_dataset_make(ctx, &spec, &ds, err), done);
  add(&out->binning, seconds() - t0, values);
  GBT_TRY_GOTO(gbt_dataset_lend(ctx, ds, GBT_LABEL, d->y, d->n, err), done);
  GBT_TRY_GOTO(gbt_forest_new(&ctx->mem, d->m, 1, 1, &forest, err), done);
  GBT_TRY_GOTO(gbt_forest_new(&ctx->mem, d->m, 1, 1, &one, err), done);
  GBT_TRY_GOTO(run_backend(ctx, ds, GBT_OBJ_SQUARED_ERROR, depth, NULL, out, err), done);
  GBT_TRY_GOTO(run_backend(ctx, ds, GBT_OBJ_LOGISTIC, depth, one, out, err), done);
  gbt_forest_view look = gbt_forest_view_of(one); /* packing is part of a call: as many trees as a small model has */
  for (int copies = 0; copies < 50; copies++) GBT_TRY_GOTO(gbt_forest_append(forest, &look, err), done);
done:
  if (status == GBT_OK) {
    gbt_forest_view view = gbt_forest_view_of(forest);
    status = gbt_binding_new(ctx, &table, cuts->schema, GBT_UNSEEN_PRIOR, &binding, err);
    t0 = seconds();
    if (!status) status = gbt_predict_scores(ctx, &view, binding, (gbt_tree_range){0, view.n_trees}, NULL, score, err);
    add(&out->predict, seconds() - t0, (double)d->n * (double)view.n_trees);
  }
  gbt_binding_free(binding);
  gbt_forest_free(one);
  gbt_forest_free(forest);
  gbt_dataset_unref(ds);
  gbt_cuts_unref(cuts);
  return status;
}

static void print(figures *f, const made *d, long depth, int threads, long repeats) {
  printf("%lld rows x %d features, depth %ld, %d thread%s, medians of %ld\n", (long long)d->n, (int)d->m, depth,
         threads, threads == 1 ? "" : "s", repeats);
  printf("cuts       %7.2f ns per value\nbinning    %7.2f ns per value\n", median(&f->cuts), median(&f->binning));
  printf("gradients  %7.2f ns per row (squared error), %.2f (logistic)\n", median(&f->gradients[GBT_OBJ_SQUARED_ERROR]),
         median(&f->gradients[GBT_OBJ_LOGISTIC]));
  printf("begin tree %7.2f ns per row\n", median(&f->begin));
  printf("leaf       %7.2f ns per row\npredict    %7.2f ns per row and tree\n", median(&f->leaf), median(&f->predict));
  printf("layer  nodes  histogram ns/(row x feature)  split ns/(node x slot)  partition ns/row\n");
  for (int layer = 0; layer < f->n_layers; layer++)
    printf("%5d  %5d  %28.3f  %22.3f  %16.3f\n", layer, (int)f->nodes[layer], median(&f->hist[layer]),
           median(&f->split[layer]), median(&f->partition[layer]));
}

static long arg(int argc, char **argv, int i, long def) { return argc > i ? strtol(argv[i], NULL, 10) : def; }

int main(int argc, char **argv) {
  static figures f;
  long n = arg(argc, argv, 1, 1000000), m = arg(argc, argv, 2, 28), depth = arg(argc, argv, 3, 8);
  long threads = arg(argc, argv, 4, 1), repeats = arg(argc, argv, 5, 5);
  if (n < 1 || m < 1 || depth < 1 || depth >= LAYERS || threads < 1 || repeats < 1 || repeats > REPEATS) {
    fprintf(stderr, "micro [rows] [features] [depth below %d] [threads] [repeats, at most %d]\n", LAYERS, REPEATS);
    return 2;
  }
  gbt_error err = {0};
  gbt_ctx ctx;
  gbt_status s = gbt_ctx_open(&ctx, gbt_mem_default(), (int)threads, GBT_SIMD_AUTO, NULL, NULL, &err);
  one_thread = ctx.n_threads == 1;
  double *score = malloc((size_t)n * sizeof *score);
  made d;
  made_make(&d, n, (int32_t)m);
  for (long r = 0; r < repeats && !s; r++) s = run_all(&ctx, &d, depth, score, &f, &err);
  if (s)
    fprintf(stderr, "%s\n", err.msg);
  else
    print(&f, &d, depth, ctx.n_threads, repeats);
  gbt_ctx_close(&ctx);
  made_free(&d);
  free(score);
  return s != GBT_OK;
}
