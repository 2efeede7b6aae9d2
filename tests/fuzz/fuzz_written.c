/* What gbt_export_model() wrote, and somebody changed: the readers by which every file is checked either refuse it or
 * evaluate it, within memory that follows from its size. An input begins with two bytes: the format, and the model of
 * ../native/scenes/model_seeds.h that the reader believes the file to be of; the last one has linear leaves. */
#define _POSIX_C_SOURCE 200809L
#include "../../src/gbt/exchange/formats.h"
#include "files.h"
#include "fuzz.h"
#include "model_seeds.h"
#include "test.h"

static const gbti_format formats[] = {
#define GBT_FORMAT(ID, name, extension, flags, text) {name, extension, text, flags, gbti_write_##ID, gbti_read_##ID},
#include "../../src/gbt/exchange/formats.def"
#undef GBT_FORMAT
};
enum { N_FORMATS = (int)(sizeof formats / sizeof formats[0]), HEAD = 2, ROWS = 12, UNKNOWN_TREES = 2 };
enum { N_MODELS = MODEL_SEEDS + 2 };

/* Opened once, as it is read only. */
static gbt_model *models[N_MODELS];

static const gbt_model *model_of(uint8_t seed) {
  const gbt_mem mem = gbt_mem_default();
  size_t n;
  const int i = seed % N_MODELS;
  gbt_model **model = &models[i];
  if (*model == NULL) {
    uint8_t *bytes = i < MODEL_SEEDS ? model_seed((uint64_t)i, &n) : i == MODEL_SEEDS ? model_seed_linear(&n) :
                     model_seed_numbers(&n); /* stays, as the model */
    CHECK_OK(gbt_model_open(&mem, bytes, n, model, test_err));
  }
  return *model;
}

/* Cell c of row r: numbers of many sizes, levels, missing ones, and texts that are none. */
static gbti_cell cell_of(const gbt_schema_column *col, int32_t c, int32_t r) {
  static const double odd[ROWS] = {NAN, 0.0, -0.0, 1.0, -1.0, 0.3, 1e30, -1e30, INFINITY, -INFINITY, 1e-40, 2.5};
  const int32_t i = (r + c) % ROWS, level = r == ROWS - 1 ? col->n_levels - 1 : i - 2;
  if (col->type == GBT_NUMERIC) return (gbti_cell){odd[i], NULL};
  if (level < -1 || level >= col->n_levels) return (gbti_cell){NAN, NULL};
  if (level == -1) return (gbti_cell){col->type == GBT_ORDINAL ? NAN : -1.0, "\1"};
  return (gbti_cell){(double)level, col->levels[level]};
}

static void evaluate(const gbti_evaluator *written, const gbti_outgoing *x, uint64_t n_trees) {
  gbti_cell *row = test_alloc((size_t)x->schema->n_columns * sizeof *row);
  double *values = test_alloc((size_t)x->width * sizeof *values); /* of the very size that readers may write to */
  double *scores = test_alloc((size_t)x->n_outputs * sizeof *scores);
  for (int32_t r = 0; r < ROWS; r++) {
    for (int32_t c = 0; c < x->schema->n_columns; c++) row[c] = cell_of(&x->schema->col[c], c, r);
    for (uint64_t t = 0; t < n_trees + UNKNOWN_TREES; t++) (void)written->tree(written->state, t, row, values);
    (void)written->score(written->state, row, scores);
  }
  free(row);
  free(values);
  free(scores);
}

/* Bytes of a reader for a byte of a file at most. */
enum { MOST_PER_BYTE = 4096, MOST_APART = 1 << 20 };

int fuzz_use(const uint8_t *bytes, size_t n) {
  if (n < HEAD) return 0;
  const gbti_format *format = &formats[bytes[0] % N_FORMATS];
  const gbt_model *model = model_of(bytes[1]);
  const gbt_forest_view *forest = gbt_model_forest(model);
  meter m = {0, 0};
  gbti_outgoing x = {.mem = meter_mem(&m),
                     .err = test_err,
                     .format = format,
                     .name = "model",
                     .schema = gbt_model_schema(model),
                     .n_outputs = forest->n_outputs,
                     .width = format->flags & GBTI_CAN_VECTORS ? forest->n_leaf_outputs : 1};
  gbti_evaluator written = {0};
  uint8_t *own = test_alloc(n - HEAD); /* of its very size, so that the sanitizer sees what passes its end */
  if (n > HEAD) memcpy(own, bytes + HEAD, n - HEAD);
  test_err->msg[0] = 0;
  const gbt_status status = format->read(&x, own, n - HEAD, &written);
  CHECK(m.peak <= MOST_APART + (size_t)MOST_PER_BYTE * n);
  if (status == GBT_OK)
    evaluate(&written, &x, forest->n_trees);
  else
    CHECK(status != GBT_E_MEM && test_err->msg[0] != 0);
  if (written.close != NULL) written.close(written.state);
  free(own);
  CHECK_EQ_U64(m.live, 0);
  return status == GBT_OK;
}

/* Seed i is model i / N_FORMATS in format i % N_FORMATS; an empty file where the format cannot say the model. */
uint8_t *fuzz_seed(uint64_t i, size_t *n_bytes) {
  if (i >= (uint64_t)N_FORMATS * N_MODELS) return NULL;
  const uint8_t seed = (uint8_t)(i / N_FORMATS);
  const gbt_model *model = model_of(seed);
  const gbt_export_spec spec = {.model = model,
                                .trees = {0, gbt_model_forest(model)->n_trees},
                                .format = (int)(i % N_FORMATS),
                                .name = "model"};
  gbt_export_facts facts;
  uint8_t *file;
  size_t n;
  gbt_ctx ctx = test_ctx(NULL, 1);
  if (gbt_export_model(&ctx, &spec, &facts, &file, &n, test_err) != GBT_OK) n = 0;
  uint8_t *bytes = test_alloc(n + HEAD);
  bytes[0] = (uint8_t)spec.format;
  bytes[1] = seed;
  if (n > 0) memcpy(bytes + HEAD, file, n);
  *n_bytes = n + HEAD;
  gbt_mem_free(&ctx.mem, file);
  gbt_ctx_close(&ctx);
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  fuzz_use(bytes, n);
  return 0;
}

/* Format and model stay. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed) {
  return n < HEAD ? n : HEAD + fuzz_change(bytes + HEAD, n - HEAD, most - HEAD, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out, size_t most,
                                 unsigned seed) {
  if (n_a < HEAD || n_b < HEAD) return 0;
  if (out != a) memcpy(out, a, HEAD);
  const size_t n = fuzz_join(a + HEAD, n_a - HEAD, b + HEAD, n_b - HEAD, out + HEAD, most - HEAD, seed);
  return n > 0 ? n + HEAD : 0;
}
