/* gbt's own JSON: every model of the seeds, written and read again. */
#include "../../src/gbt/exchange/exchange.h"
#include "../../src/gbt/model/model.h"
#include "../../src/gbt/tree/forest.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "model_seeds.h"
#include "test.h"

typedef struct file_case {
  uint8_t *bytes;
  size_t n;
} file_case;

static int json_format(void) {
  int f = 0;
  while (strcmp(gbt_export_name(f), "json") != 0) f++;
  return f;
}

/* NULL in bytes: the format cannot say it. To be freed. */
static file_case file_of(const uint8_t *bytes, size_t n_bytes) {
  const gbt_mem mem = gbt_mem_default();
  gbt_ctx ctx = test_ctx(NULL, 1);
  file_case out = {NULL, 0};
  uint8_t *file = NULL;
  gbt_model *model;
  gbt_export_facts facts;
  if (!CHECK_OK(gbt_model_open(&mem, bytes, n_bytes, &model, test_err))) return out;
  const gbt_export_spec spec = {
      .model = model, .trees = {0, gbt_model_forest(model)->n_trees}, .format = json_format(), .name = "model"};
  const gbt_status status = gbt_export_model(&ctx, &spec, &facts, &file, &out.n, test_err);
  CHECK(status == GBT_OK || status == GBT_E_UNSUPPORTED);
  if (status == GBT_OK) {
    out.bytes = test_alloc(out.n);
    memcpy(out.bytes, file, out.n);
  }
  gbt_mem_free(&ctx.mem, file);
  gbt_model_close(model);
  gbt_ctx_close(&ctx);
  return out;
}

static gbt_status import_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const file_case *c = arg;
  gbt_import_facts facts;
  uint8_t *out = NULL;
  size_t n_out;
  const gbt_status status = gbt_import(mem, c->bytes, c->n, &facts, &out, &n_out, err);
  CHECK((status == GBT_OK) == (out != NULL));
  gbt_mem_free(mem, out);
  return status;
}

/* The file of what a file became is the same file. */
static void check_same(const file_case *c) {
  const gbt_mem mem = gbt_mem_default();
  gbt_import_facts facts;
  uint8_t *out;
  size_t n_out;
  if (!CHECK_OK(gbt_import(&mem, c->bytes, c->n, &facts, &out, &n_out, test_err))) return;
  file_case again = file_of(out, n_out);
  if (CHECK(again.bytes != NULL) && CHECK_EQ_U64(again.n, c->n)) CHECK_EQ_BYTES(again.bytes, c->bytes, c->n);
  free(again.bytes);
  gbt_mem_free(&mem, out);
}

static int64_t sweep_seed(uint8_t *bytes, size_t n_bytes, int with_faults) {
  int64_t n = 0;
  if (!CHECK(bytes != NULL)) return 0;
  file_case c = file_of(bytes, n_bytes);
  if (c.bytes != NULL) {
    check_same(&c);
    n = with_faults ? fault_sweep(import_once, &c) : 1;
    CHECK(n > 0);
  }
  free(c.bytes);
  free(bytes);
  return n;
}

/* Where memory runs out, that is the error, and nothing is left. */
static void own_json_comes_back(void) {
  size_t n_bytes;
  int64_t n = 0, n_files = 0;
  for (uint64_t i = 0; i < MODEL_SEEDS; i++) {
    uint8_t *bytes = model_seed(i, &n_bytes);
    const int64_t its = sweep_seed(bytes, n_bytes, !test_few() || i < 4);
    n += its;
    n_files += its > 0;
  }
  uint8_t *bytes = model_seed_linear(&n_bytes);
  CHECK(sweep_seed(bytes, n_bytes, 1) > 0);
  bytes = model_seed_numbers(&n_bytes);
  CHECK(sweep_seed(bytes, n_bytes, 1) > 0);
  CHECK(n_files >= 10);
  test_note("%d files, %d allocations", (int)n_files, (int)n);
}

/* ---- sets ---- */

#define TREES                                                                                                     \
  "{\"format\":\"gbt\",\"version\":1,\"name\":\"m\",\"objective\":\"squared_error\",\"parameters\":{},\"response" \
  "\":\"score\",\"classes\":[],\"outputs\":1,\"output_names\":[],\"rounds\":1,\"base\":[0],\"offset\":false,"     \
  "\"sum\":\"plain\",\"scale\":1,\"columns\":[{\"name\":\"f\",\"type\":\"levels\",\"tag\":\"factor\",\"levels\":" \
  "[\"a\",\"c\",\"b\"]}],\"trees\":[{\"output\":0,\"left\":[1,3,5,0,0,0,0],\"column\":[0,0,0,-1,-1,-1,-1],"       \
  "\"value\":[null,null,null,1,2,3,4],\"gain\":[1,1,1,0,0,0,0],\"cover\":[1,1,1,1,1,1,1],\"count\":[1,1,1,1,1,1,"  \
  "1],\"unseen\":[0,0,0,0,0,0,0],\"missing\":"

/* How many words the sets of the model of a file have. */
static int64_t words_of(const char *text) {
  const gbt_mem mem = gbt_mem_default();
  gbt_import_facts facts;
  uint8_t *out;
  size_t n_out;
  gbt_model *model;
  int64_t n = -1;
  if (!CHECK_OK(gbt_import(&mem, text, strlen(text), &facts, &out, &n_out, test_err))) return n;
  if (CHECK_OK(gbt_model_open(&mem, out, n_out, &model, test_err))) {
    n = (int64_t)gbt_model_forest(model)->n_words;
    gbt_model_close(model);
  }
  gbt_mem_free(&mem, out);
  return n;
}

/* As in trees that were trained, the splits of a layer have one set. */
static void layers_share_sets(void) {
  CHECK_EQ_I64(words_of(TREES "[0,0,0,0,0,0,0],\"split\":[[1],[2],[2],null,null,null,null]}]}"), 2);
  CHECK_EQ_I64(words_of(TREES "[0,0,0,0,0,0,0],\"split\":[[1],[1],[1],null,null,null,null]}]}"), 1);
  CHECK_EQ_I64(words_of(TREES "[0,0,1,0,0,0,0],\"split\":[[1],[2],[2],null,null,null,null]}]}"), 3);
  CHECK_EQ_I64(words_of(TREES "[0,0,0,0,0,0,0],\"split\":[[1],[2],[2,0],null,null,null,null]}]}"), 4);
  CHECK_EQ_I64(words_of(TREES "[0,0,0,0,0,0,0],\"split\":[[],[],[],null,null,null,null]}]}"), 0);
  CHECK_EQ_I64(words_of(TREES "[0,0,0,0,0,0,0],\"split\":[[],[4],[4],null,null,null,null]}]}"), 1);
}

void suite_import(void) {
  RUN(own_json_comes_back);
  RUN(layers_share_sets);
}
