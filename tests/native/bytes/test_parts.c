/* Files of parts (bytes/parts.h): parts of all sizes come back; other kinds and versions are reported. */
#include "../../src/gbt/bytes/parts.h"
#include "checkpoint_job.h"

static void parts_come_back(void) {
  const gbt_mem mem = gbt_mem_default();
  const char *path = part_path();
  test_rng rng = {4};
  enum { PARTS = 40, MOST = 200000 };
  uint8_t *bytes = test_alloc(MOST), *got = test_alloc(MOST);
  uint64_t n[PARTS], size;
  for (int i = 0; i < MOST; i++) bytes[i] = (uint8_t)test_below(&rng, 256);
  for (uint64_t i = 0; i < PARTS; i++)
    n[i] = i < 20 ? i : i < 30 ? ((uint64_t)1 << (i - 14)) + i % 3 - 1 : 65536u * (i - 29) / 4;
  for (int i = 0; i < PARTS; i++) n[i] = n[i] < MOST ? n[i] : MOST;
  gbt_parts_writer w;
  gbt_parts_reader r;
  REQUIRE_OK(gbt_parts_begin(&mem, path, "testfile", 3, 42, &w, test_err));
  for (int i = 0; i < PARTS; i++) CHECK_OK(gbt_parts_put(&w, bytes, n[i], test_err));
  CHECK(!gbt_file_is_there(path));
  CHECK_OK(gbt_parts_end(&w, test_err));
  gbt_parts_drop(&w);
  CHECK_FAILS(gbt_parts_open(&mem, path, "testfile", 4, &r, test_err), GBT_E_FORMAT, "another version");
  gbt_parts_close(&r);
  CHECK_FAILS(gbt_parts_open(&mem, path, "testfilf", 3, &r, test_err), GBT_E_FORMAT, "not what gbt writes");
  gbt_parts_close(&r);
  REQUIRE_OK(gbt_parts_open(&mem, path, "testfile", 3, &r, test_err));
  CHECK_EQ_U64(r.head.identity, 42);
  for (int i = 0; i < PARTS; i++) {
    CHECK_OK(gbt_parts_next(&r, &size, test_err));
    CHECK_EQ_U64(size, n[i]);
    CHECK_OK(gbt_parts_take(&r, got, n[i], test_err));
    CHECK_EQ_BYTES(got, bytes, (size_t)n[i]);
  }
  CHECK_FAILS(gbt_parts_next(&r, &size, test_err), GBT_E_FORMAT, "damaged");
  gbt_parts_close(&r);
  gbt_file_remove(path);
  free(bytes), free(got);
}

void suite_parts(void) { RUN(parts_come_back); }
