/* Which store data sets get: in place of gbti_pages_build, see the Makefile. */
#include "../../src/gbt/data/page_impl.h"
#include "../../src/gbt/disk/disk.h"
#include "port.h"
#include "stores.h"
#include "test.h"

static store_kind in_use;

store_kind stores_use(store_kind kind) {
  store_kind before = in_use;
  in_use = kind;
  return before;
}

int stores_from_environment(void) {
  const char *name = getenv("GBT_TEST_STORE");
  if (name == NULL || name[0] == 0 || strcmp(name, "memory") == 0) return 1;
  static const char *const names[] = {"memory", "poison", "poison3", "file", "file2", "file2z"};
  for (int k = 0; k < 6; k++)
    if (strcmp(name, names[k]) == 0) {
      in_use = (store_kind)k;
      return 1;
    }
  return 0;
}

__typeof__(gbti_pages_build) __real_gbti_pages_build, __wrap_gbti_pages_build;

/* Pages in files of the folder for temporary files. The files have lost their names when this returns. */
static gbt_status build_file(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, int32_t page_rows, gbti_page_how how,
                             gbt_page_store **out, gbt_error *err) {
  char name[2][PORT_PATH];
  const char *const folder[2] = {name[0], name[1]};
  const gbt_folders folders = {folder, in_use == STORE_FILE ? 1 : 2};
  const gbt_codec codec = in_use != STORE_FILE_2Z             ? GBT_CODEC_NONE
                          : gbt_codec_is_here(GBT_CODEC_ZSTD) ? GBT_CODEC_ZSTD
                          : gbt_codec_is_here(GBT_CODEC_LZ4)  ? GBT_CODEC_LZ4
                                                              : GBT_CODEC_NONE;
  gbt_disk_writer *writer;
  for (int k = 0; k < 2; k++) port_temp_path(name[k], "test");
  GBT_TRY(gbt_disk_writer_new(ctx, folders, codec, &writer, err));
  how.sink = gbt_disk_writer_sink(writer, (uint64_t)(feed->table.n_rows % 4 * 8 * feed->table.n_rows));
  const gbt_status status = __real_gbti_pages_build(ctx, feed, cuts, page_rows, how, out, err);
  gbt_disk_writer_free(writer);
  return status;
}

gbt_status __wrap_gbti_pages_build(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, int32_t page_rows,
                                   gbti_page_how how, gbt_page_store **out, gbt_error *err) {
  if (in_use == STORE_MEMORY) return __real_gbti_pages_build(ctx, feed, cuts, page_rows, how, out, err);
  if (page_rows == 0) page_rows = (int32_t)(feed->table.n_rows / 12 + 1);
  if (in_use >= STORE_FILE) return build_file(ctx, feed, cuts, page_rows, how, out, err);
  gbt_page_store *inner;
  *out = NULL;
  GBT_TRY(__real_gbti_pages_build(ctx, feed, cuts, page_rows, how, &inner, err));
  return poison_open(inner, in_use == STORE_POISON_3 ? 3 : 1, out, err);
}
