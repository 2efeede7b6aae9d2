/* Trains on made data of a shape (shapes.h), on the device or the CPU, and prints what it took.
 *
 *   train shape=higgs [depth=8] [rounds=500] [rows=N] [cols=N] [test=N] [bins=255] [device=cuda|cpu] [threads=N]
 *         [check=3] [steps=5] [cpu=0] [repeats=1] [serve=0] [any training parameter, choices by position]
 *
 *   threads all that the machine has by default
 *   check   rounds that the CPU trains as well: its model must have the device's bytes; 0: none
 *   steps   rounds that are taken apart, see steps.h; 0: none
 *   cpu     rounds that the CPU trains for its time
 *   serve   1: data are made, then every line on the standard input begins one more training, until there are none
 *
 * One line a figure:  shape,rows,cols,depth,rounds,engine,name,value,unit,share,of    (as in micro.cuh) */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "model/model_impl.h"
#include "shapes.h"
#include "steps.h"

extern const gbt_device_api *gbt_cuda_api(void);

typedef struct bench {
  const shape *shape;
  int64_t rows, rounds, n_test, check, steps, cpu, repeats, threads, bins, serve;
  int64_t cols, depth;
  int on_cpu;
  gbt_params params;
  gbt_ctx ctx;
  const gbt_device_api *device; /* NULL: the CPU */
  device_facts facts;
  made train, test;
  gbt_table table, test_table;
  gbt_objective_kind loss;
  int32_t n_outputs;
  int faults;
} bench;

static double now(void) { return (double)gbt_clock_ns() * 1e-9; }

static void show(const bench *b, int64_t rounds, const char *engine, const char *name, double value, const char *unit,
                 double theory, const char *of) {
  printf("%s,%lld,%lld,%lld,%lld,%s,%s,%.6g,%s,", b->shape->name, (long long)b->rows, (long long)b->cols,
         (long long)b->params.max_depth, (long long)rounds, engine, name, value, unit);
  if (theory > 0.0)
    printf("%.3f,%s\n", value / theory, of);
  else
    printf(",\n");
  fflush(stdout);
}

static const char *engine_of(const gbt_device_api *device) { return device ? "gbt-cuda" : "gbt-cpu"; }

static double free_bytes(const bench *b) {
  gbt_device_info info;
  gbt_error err = {0};
  if (!b->device || b->device->info(0, &info, &err) != GBT_OK) return 0.0;
  return (double)info.free_bytes;
}

/* Whether the models of both forests' first trees have the same bytes. */
static gbt_status same_models(const gbt_ctx *ctx, const gbt_forest *a, const gbt_forest *b, uint64_t n_trees,
                              const gbt_schema *schema, int *same, gbt_error *err) {
  gbt_status status = GBT_OK;
  uint8_t *bytes[2] = {NULL, NULL};
  size_t size[2] = {0, 0};
  const gbt_forest *forest[2] = {a, b};
  *same = 0;
  for (int i = 0; i < 2; i++) {
    gbt_model_parts parts = {gbt_forest_first(gbt_forest_view_of(forest[i]), n_trees),
                             gbt_objective_make(GBT_OBJ_CUSTOM, forest[i]->n_outputs), schema, NULL, 0};
    GBT_TRY_GOTO(gbt_model_write(&ctx->mem, &parts, &bytes[i], &size[i], err), done);
  }
  *same = size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0;
done:
  gbt_mem_free(&ctx->mem, bytes[0]);
  gbt_mem_free(&ctx->mem, bytes[1]);
  return status;
}

static gbt_status new_trainer(bench *b, const gbt_device_api *device, gbt_dataset *ds, gbt_trainer **out,
                              gbt_error *err) {
  gbt_trainer_spec spec = {.params = b->params, .objective = gbt_objective_make(b->loss, b->n_outputs), .train = ds};
  spec.device = device;
  return gbt_trainer_new(&b->ctx, &spec, out, err);
}

/* ---- after the training ---- */

static gbt_status metric(bench *b, const double *score, const made *d, double *out, gbt_error *err) {
  const gbt_objective objective = gbt_objective_make(b->loss, b->n_outputs);
  const gbt_metric which = gbt_metric_for(gbt_metric_of_objective(b->loss), &objective);
  const gbt_rows rows = {.n = d->n, .field = {[GBT_LABEL] = d->y}};
  return gbt_metric_eval(&b->ctx, &which, &objective, &rows, NULL, score, out, err);
}

/* Quality on the test rows; the device's predictions, where it has any, must be the CPU's. */
static gbt_status predict(bench *b, const gbt_trainer *tr, const gbt_dataset *ds, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_binding *binding = NULL;
  const gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
  const size_t n = (size_t)b->test.n * (size_t)b->n_outputs;
  double value, t, *score = NULL, *other = NULL;
  if (n == 0) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(&b->ctx.mem, n, sizeof *score, &score, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&b->ctx.mem, n, sizeof *other, &other, err), done);
  GBT_TRY_GOTO(gbt_binding_new(&b->ctx, &b->test_table, ds->cuts->schema, GBT_UNSEEN_PRIOR, &binding, err), done);
  t = now();
  GBT_TRY_GOTO(gbt_predict_scores(&b->ctx, &view, binding, (gbt_tree_range){0, view.n_trees}, NULL, score, err), done);
  show(b, b->rounds, "gbt-cpu", "predict test rows", now() - t, "s", 0, "");
  GBT_TRY_GOTO(metric(b, score, &b->test, &value, err), done);
  show(b, b->rounds, engine_of(b->device), "logloss of test rows", value, "", 0, "");
  if (b->device && b->device->scores) {
    t = now();
    GBT_TRY_GOTO(b->device->scores(&b->ctx, 0, &view, binding, 0, view.n_trees, NULL, other, err), done);
    show(b, b->rounds, "gbt-cuda", "predict test rows", now() - t, "s", 0, "");
    int same = memcmp(score, other, n * sizeof *score) == 0;
    show(b, b->rounds, "gbt-cuda", "predictions are the CPU's", same, "", 0, "");
    b->faults += !same;
  }
done:
  gbt_binding_free(binding);
  gbt_mem_free(&b->ctx.mem, score);
  gbt_mem_free(&b->ctx.mem, other);
  return status;
}

/* A few rounds on the CPU: the same bytes? More of them: how long? */
static gbt_status compare(bench *b, const gbt_forest *forest, gbt_dataset *ds, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  int same = 0;
  const int64_t check = b->check < b->rounds ? b->check : b->rounds, rounds = check > b->cpu ? check : b->cpu;
  const uint64_t common = (uint64_t)(rounds < b->rounds ? rounds : b->rounds) * (uint64_t)b->n_outputs;
  if (rounds == 0 || !b->device) return GBT_OK;
  GBT_TRY_GOTO(new_trainer(b, NULL, ds, &tr, err), done);
  double t = now();
  GBT_TRY_GOTO(gbt_trainer_run(&b->ctx, tr, rounds, &why, err), done);
  show(b, rounds, "gbt-cpu", "train", now() - t, "s", 0, "");
  GBT_TRY_GOTO(same_models(&b->ctx, forest, gbt_trainer_forest(tr), common, ds->cuts->schema, &same, err), done);
  show(b, rounds, "gbt-cuda", "model is the CPU's", same, "", 0, "");
  if (!same) fprintf(stderr, "%s: THE MODELS DIFFER within %lld rounds\n", b->shape->name, (long long)rounds);
  b->faults += !same;
done:
  gbt_trainer_free(tr);
  return status;
}

static gbt_status take_apart(bench *b, gbt_dataset *ds, double seconds_a_tree, gbt_error *err) {
  static steps s; /* large */
  const char *engine = engine_of(b->device);
  double all = 0.0;
  char name[64];
  GBT_TRY(steps_run(&b->ctx, b->device, ds, b->loss, b->n_outputs, &b->params, (int)b->steps, &s, err));
  for (int step = 0; step < N_STEPS; step++) {
    int by_layer = step >= STEP_HIST && step <= STEP_PARTITION, layers = by_layer ? s.n_layers + 1 : 1;
    for (int layer = 0; layer < layers; layer++) {
      double seconds = s.seconds[step][layer] / s.n_trees, bytes = s.bytes[step][layer] / s.n_trees;
      all += seconds;
      if (by_layer)
        snprintf(name, sizeof name, "%s layer %d", step_names[step], layer);
      else
        snprintf(name, sizeof name, "%s", step_names[step]);
      show(b, b->steps, engine, name, seconds * 1e3, "ms a tree", 0, "");
      if (!(seconds > 0.0) || !(bytes > 0.0)) continue;
      strcat(name, " least bytes");
      show(b, b->steps, engine, name, bytes / seconds * 1e-9, "GB/s", b->facts.bandwidth * 1e-9, "memory bandwidth");
      if (step != STEP_HIST) continue;
      snprintf(name, sizeof name, "%s layer %d additions", step_names[step], layer);
      show(b, b->steps, engine, name, s.adds[layer] / s.n_trees / seconds * 1e-9, "Gadd/s",
           b->facts.units * 32.0 * b->facts.clock * 1e-9, "a bank a clock");
    }
  }
  show(b, b->steps, engine, "trees at once", s.at_once, "", 0, "");
  show(b, b->steps, engine, "all steps", all * 1e3, "ms a tree", 0, "");
  double floor = steps_floor(&s, &b->facts);
  if (floor > 0.0 && b->device) {
    show(b, b->steps, engine, "least time", floor * 1e3, "ms a tree", 0, "");
    show(b, b->rounds, engine, "roofline reached in training", floor / seconds_a_tree, "", 1.0, "least time");
  }
  return GBT_OK;
}

/* ---- one training ---- */

static void show_training(bench *b, const gbt_trainer *tr, const double *t, const double *memory) {
#define TEXT(name, text) text,
  static const char *const phase[GBT_N_PHASES] = {GBT_PHASES(TEXT)};
#undef TEXT
  const char *engine = engine_of(b->device);
  double seconds[GBT_N_PHASES];
  char name[64];
  show(b, b->rounds, engine, "data set", t[1] - t[0], "s", 0, "");
  show(b, b->rounds, engine, "open", t[2] - t[1], "s", 0, "");
  show(b, b->rounds, engine, "train", t[3] - t[2], "s", 0, "");
  show(b, b->rounds, engine, "data set and train", t[3] - t[0], "s", 0, "");
  show(b, b->rounds, engine, "train a round", (t[3] - t[2]) / (double)b->rounds * 1e3, "ms", 0, "");
  gbt_trainer_seconds(tr, seconds);
  for (int i = 0; i < GBT_N_PHASES; i++) {
    snprintf(name, sizeof name, "train of which %s", phase[i]);
    if (seconds[i] > 0.0) show(b, b->rounds, engine, name, seconds[i], "s", 0, "");
  }
  if (memory[0] <= 0.0) return;
  double least = memory[1] < memory[2] ? memory[1] : memory[2], counted = (double)gbt_trainer_device_bytes(tr);
  show(b, b->rounds, engine, "device memory", counted * 1e-6, "MB", 0, "");
  show(b, b->rounds, engine, "device memory a row", counted / (double)b->rows, "bytes", 0, "");
  show(b, b->rounds, engine, "codes read in the host's memory", (double)gbt_trainer_host_bytes(tr) * 1e-6, "MB", 0, "");
  show(b, b->rounds, engine, "device memory by the driver", (memory[0] - least) * 1e-6, "MB", 0, "");
}

/* The first n rows as a data set, with the device's help where it offers any. */
static gbt_status make_dataset(bench *b, int64_t n, gbt_dataset **out, gbt_error *err) {
  gbt_table table = b->table;
  gbt_dataset_spec spec = {.table = &table, .max_bin = (int32_t)b->bins, .unseen = GBT_UNSEEN_PRIOR};
  table.n_rows = n;
  if (b->device) GBT_TRY(gbt_device_help(&b->ctx, b->device, 0, &spec.help, err));
  gbt_status status = gbt_dataset_make(&b->ctx, &spec, out, err);
  gbt_device_help_close(spec.help);
  GBT_TRY(status);
  return gbt_dataset_lend(&b->ctx, *out, GBT_LABEL, b->train.y, n, err);
}

/* first: with everything that is shown with the time. */
static gbt_status one_training(bench *b, int first, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_dataset *ds = NULL;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  const double *score;
  double t[4], memory[3], value;
  memory[0] = free_bytes(b);
  t[0] = now();
  GBT_TRY_GOTO(make_dataset(b, b->rows, &ds, err), done);
  t[1] = now();
  GBT_TRY_GOTO(new_trainer(b, b->device, ds, &tr, err), done);
  t[2] = now();
  memory[1] = free_bytes(b);
  double left_out = now() - t[2];
  GBT_TRY_GOTO(gbt_trainer_run(&b->ctx, tr, b->rounds, &why, err), done);
  t[3] = now() - left_out;
  memory[2] = free_bytes(b);
  show_training(b, tr, t, memory);
  GBT_TRY_GOTO(gbt_trainer_scores(&b->ctx, tr, 0, &score, err), done);
  GBT_TRY_GOTO(metric(b, score, &b->train, &value, err), done);
  show(b, b->rounds, engine_of(b->device), "logloss of training rows", value, "", 0, "");
  GBT_TRY_GOTO(predict(b, tr, ds, err), done);
  if (first) {
    GBT_TRY_GOTO(compare(b, gbt_trainer_forest(tr), ds, err), done);
    double a_tree = (t[3] - t[2]) / (double)(b->rounds * b->n_outputs);
    gbt_trainer_free(tr);
    tr = NULL;
    if (b->steps > 0) GBT_TRY_GOTO(take_apart(b, ds, a_tree, err), done);
  }
done:
  gbt_trainer_free(tr);
  gbt_dataset_unref(ds);
  return status;
}

/* What is loaded and made ready at first use shows in no figure but this one. */
static gbt_status warm_up(bench *b, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_dataset *ds = NULL;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  double t = now();
  if (!b->device) return GBT_OK;
  GBT_TRY_GOTO(make_dataset(b, b->rows < 20000 ? b->rows : 20000, &ds, err), done);
  GBT_TRY_GOTO(new_trainer(b, b->device, ds, &tr, err), done);
  GBT_TRY_GOTO(gbt_trainer_run(&b->ctx, tr, 2, &why, err), done);
  show(b, 2, "gbt-cuda", "first use", now() - t, "s", 0, "");
done:
  gbt_trainer_free(tr);
  gbt_dataset_unref(ds);
  return status;
}

/* ---- the program ---- */

static int set_option(bench *b, const char *name, const char *text) {
  const struct {
    const char *name;
    int64_t *to;
  } number[] = {{"rows", &b->rows},   {"cols", &b->cols},       {"rounds", &b->rounds}, {"test", &b->n_test},
                {"check", &b->check}, {"steps", &b->steps},     {"cpu", &b->cpu},       {"repeats", &b->repeats},
                {"bins", &b->bins},   {"threads", &b->threads}, {"depth", &b->depth},   {"serve", &b->serve}};
  gbt_error err = {0};
  if (strcmp(name, "shape") == 0) {
    b->shape = shape_find(text);
    if (!b->shape) fprintf(stderr, "%s is no shape: higgs, airline, covertype, epsilon, small\n", text);
    return b->shape != NULL;
  }
  if (strcmp(name, "device") == 0) {
    b->on_cpu = strcmp(text, "cpu") == 0;
    if (!b->on_cpu && strcmp(text, "cuda") != 0) fprintf(stderr, "device=cuda or device=cpu\n");
    return b->on_cpu || strcmp(text, "cuda") == 0;
  }
  for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
    if (strcmp(name, number[i].name) != 0) continue;
    *number[i].to = strtoll(text, NULL, 10);
    return 1;
  }
  if (gbt_params_set(&b->params, name, strtod(text, NULL), &err) == GBT_OK) return 1;
  fprintf(stderr, "%s\n", err.msg);
  return 0;
}

static int read_options(bench *b, int argc, char **argv) {
  b->rows = b->cols = -1;
  b->depth = 8;
  b->rounds = 500;
  b->n_test = -1;
  b->check = 3;
  b->steps = 5;
  b->repeats = 1;
  b->bins = 255;
  b->threads = sysconf(_SC_NPROCESSORS_ONLN);
  b->params = gbt_params_default();
  b->shape = shape_find("higgs");
  for (int i = 1; i < argc; i++) {
    char *equals = strchr(argv[i], '=');
    if (!equals) {
      fprintf(stderr, "%s: not name=value\n", argv[i]);
      return 0;
    }
    *equals = 0;
    if (!set_option(b, argv[i], equals + 1)) return 0;
  }
  if (b->rows < 0) b->rows = b->shape->rows;
  if (b->cols < 0 || b->shape->classes > 2) b->cols = b->shape->cols;
  if (b->n_test < 0) b->n_test = b->rows / 10 < 500000 ? b->rows / 10 : 500000;
  b->params.max_depth = b->depth;
  b->loss = b->shape->classes > 2 ? GBT_OBJ_SOFTMAX : GBT_OBJ_LOGISTIC;
  b->n_outputs = b->shape->classes > 2 ? b->shape->classes : 1;
  return b->rows > 0 && b->cols > 0 && b->rounds > 0 && b->threads > 0;
}

static int make_data(bench *b) {
  double t = now();
  if (!shape_make(&b->ctx, b->shape, 0, b->rows, (int32_t)b->cols, &b->train)) return 0;
  if (!shape_make(&b->ctx, b->shape, b->rows, b->n_test, (int32_t)b->cols, &b->test)) return 0;
  b->table = (gbt_table){.n_rows = b->train.n, .n_cols = b->train.m, .cols = b->train.col};
  b->test_table = (gbt_table){.n_rows = b->test.n, .n_cols = b->test.m, .cols = b->test.col};
  show(b, b->rounds, "host", "make data", now() - t, "s", 0, "");
  return 1;
}

static gbt_status all_trainings(bench *b, gbt_error *err) {
  char line[64];
  GBT_TRY(warm_up(b, err));
  for (int64_t r = 0; r < b->repeats && !b->serve; r++) GBT_TRY(one_training(b, r == 0, err));
  if (!b->serve) return GBT_OK;
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    GBT_TRY(one_training(b, 0, err));
    printf("done\n");
    fflush(stdout);
  }
  return GBT_OK;
}

int main(int argc, char **argv) {
  static bench b;
  gbt_error err = {0};
  gbt_device_info info;
  if (!read_options(&b, argc, argv)) return 2;
  gbt_status s = gbt_ctx_open(&b.ctx, gbt_mem_default(), (int)b.threads, GBT_SIMD_AUTO, NULL, NULL, &err);
  if (!b.on_cpu) {
    b.device = gbt_cuda_api();
    if (!s) s = b.device->info(0, &info, &err);
    if (!s) (void)device_look(&b.facts);
  }
  if (!s && !make_data(&b)) s = gbt_fail(&err, GBT_E_MEM, "no memory for the data");
  if (!s) s = all_trainings(&b, &err);
  if (s) fprintf(stderr, "%s: %s\n", b.shape->name, err.msg);
  made_free(&b.train);
  made_free(&b.test);
  gbt_ctx_close(&b.ctx);
  return s != GBT_OK || b.faults > 0;
}
