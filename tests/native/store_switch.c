/* Which store data sets get: in place of gbti_pages_build, see the Makefile. */
#include "../../src/gbt/data/page_impl.h"
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
  in_use = strcmp(name, "poison3") == 0 ? STORE_POISON_3 : STORE_POISON;
  return in_use == STORE_POISON_3 || strcmp(name, "poison") == 0;
}

__typeof__(gbti_pages_build) __real_gbti_pages_build, __wrap_gbti_pages_build;

gbt_status __wrap_gbti_pages_build(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, int32_t page_rows,
                                   gbti_page_how how, gbt_page_store **out, gbt_error *err) {
  if (in_use == STORE_MEMORY) return __real_gbti_pages_build(ctx, feed, cuts, page_rows, how, out, err);
  if (page_rows == 0) page_rows = (int32_t)(feed->table.n_rows / 12 + 1);
  gbt_page_store *inner;
  *out = NULL;
  GBT_TRY(__real_gbti_pages_build(ctx, feed, cuts, page_rows, how, &inner, err));
  return poison_open(inner, in_use == STORE_POISON_3 ? 3 : 1, out, err);
}
