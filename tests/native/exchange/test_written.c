/* Files for other programs: every model of the seeds in every format that can say it. */
#include "../../src/gbt/exchange/exchange.h"
#include "../../src/gbt/model/model.h"
#include "../../src/gbt/tree/forest.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "model_seeds.h"
#include "test.h"

typedef struct written_case {
  const gbt_model *model;
  int format;
  size_t n_bytes;
} written_case;

static gbt_status write_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  written_case *c = arg;
  const gbt_export_spec spec = {.model = c->model,
                                .trees = {0, gbt_model_forest(c->model)->n_trees},
                                .format = c->format,
                                .name = "model"};
  gbt_export_facts facts;
  uint8_t *bytes;
  gbt_ctx ctx = test_ctx(mem, 1);
  const gbt_status status = gbt_export_model(&ctx, &spec, &facts, &bytes, &c->n_bytes, err);
  gbt_mem_free(mem, bytes);
  gbt_ctx_close(&ctx);
  return status;
}

/* A file, or a refusal in words; where memory runs out, that is the error, and nothing is left. */
static void allocations_fail(void) {
  enum { MOST = 32 };
  int64_t n_written[MOST] = {0}, n_swept = 0;
  int n_formats = 0;
  while (n_formats < MOST && gbt_export_name(n_formats) != NULL) n_formats++;
  for (uint64_t i = 0; i < MODEL_SEEDS; i++) {
    const gbt_mem mem = gbt_mem_default();
    size_t n_bytes;
    gbt_model *model;
    uint8_t *bytes = model_seed(i, &n_bytes);
    REQUIRE(bytes != NULL);
    REQUIRE_OK(gbt_model_open(&mem, bytes, n_bytes, &model, test_err));
    for (int f = 0; f < n_formats; f++) {
      written_case c = {.model = model, .format = f};
      const gbt_status status = write_once(&mem, &c, test_err);
      if (status != GBT_OK) {
        if (!CHECK_EQ_I64(status, GBT_E_UNSUPPORTED))
          test_note("seed %d as \"%s\": %s", (int)i, gbt_export_name(f), test_err->msg);
        continue;
      }
      CHECK(c.n_bytes > 0);
      if (n_written[f]++ > (test_few() ? 0 : 2)) continue;
      const int64_t n_bad = test_n_bad();
      n_swept += fault_sweep(write_once, &c);
      if (test_n_bad() > n_bad) test_note("as \"%s\"", gbt_export_name(f));
    }
    gbt_model_close(model);
    free(bytes);
  }
  for (int f = 0; f < n_formats; f++)
    if (!CHECK(n_written[f] > 0)) test_note("%s", gbt_export_name(f));
  test_note("%d allocations", (int)n_swept);
}

static int is_in(const char *name, const char *const *list) {
  while (*list != NULL && strcmp(name, *list) != 0) list++;
  return *list != NULL;
}

/* Formats that have such linear leaves, which end with NULL, write them; the others name these. */
static void check_linear(uint8_t *bytes, size_t n_bytes, const char *const *formats, const char *what) {
  const gbt_mem mem = gbt_mem_default();
  gbt_model *model = NULL;
  REQUIRE(bytes != NULL);
  REQUIRE_OK(gbt_model_open(&mem, bytes, n_bytes, &model, test_err));
  for (int f = 0; gbt_export_name(f) != NULL; f++) {
    const char *name = gbt_export_name(f);
    written_case c = {.model = model, .format = f};
    const gbt_status status = write_once(&mem, &c, test_err);
    if (is_in(name, formats)) {
      if (!CHECK_EQ_I64(status, GBT_OK)) test_note("as \"%s\": %s", name, test_err->msg);
      fault_sweep(write_once, &c);
      continue;
    }
    CHECK_EQ_I64(status, GBT_E_UNSUPPORTED);
    if (!CHECK(strstr(test_err->msg, what) != NULL)) test_note("%s", test_err->msg);
  }
  gbt_model_close(model);
  free(bytes);
}

static void linear_leaves(void) {
  static const char *const of_bins[] = {"c", "json", "sql", NULL};
  static const char *const of_numbers[] = {"c", "json", "sql", "lightgbm", NULL};
  size_t n_bytes;
  uint8_t *bytes = model_seed_linear(&n_bytes);
  check_linear(bytes, n_bytes, of_bins, "linear leaves; use \"c\", \"json\" or \"sql\" instead");
  bytes = model_seed_numbers(&n_bytes);
  check_linear(bytes, n_bytes, of_numbers,
               "linear leaves of LightGBM (`linear_tree`); use \"c\", \"json\", \"sql\" or \"lightgbm\" instead");
}

void suite_written(void) {
  RUN(allocations_fail);
  RUN(linear_leaves);
}
