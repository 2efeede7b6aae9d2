/* Tables as sources of chunks: in place of gbt_dataset_make, see the Makefile. */
#include "../../src/gbt/data/dataset.h"
#include "chunks.h"

static int64_t rows_in_use; /* 0: tables stay tables */

int chunks_from_environment(void) {
  const char *text = getenv("GBT_TEST_CHUNK");
  char *end;
  if (text == NULL || text[0] == 0) return 1;
  rows_in_use = strtoll(text, &end, 10);
  return *end == 0 && rows_in_use > 0;
}

__typeof__(gbt_dataset_make) __real_gbt_dataset_make, __wrap_gbt_dataset_make;

gbt_status __wrap_gbt_dataset_make(gbt_ctx *ctx, const gbt_dataset_spec *spec, gbt_dataset **out, gbt_error *err) {
  if (rows_in_use == 0 || spec->table == NULL) return __real_gbt_dataset_make(ctx, spec, out, err);
  gbt_dataset_spec cut = *spec;
  chunks *c = chunks_new(spec->table, rows_in_use, 1);
  cut.table = NULL;
  cut.source = &c->source;
  gbt_status status = __real_gbt_dataset_make(ctx, &cut, out, err);
  chunks_free(c);
  return status;
}
