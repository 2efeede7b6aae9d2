/* Stores of pages for the tests: one that makes every fault of its users show, and reading a code from any.
 *
 * The poison store keeps one page pinned at a time, or three, as copies that lie elsewhere each time. When they are
 * released their bytes are overwritten before they are freed, so code that still reads them computes something else
 * (under the address sanitizer: is caught). Failed checks are: pages pinned before others are released, a release of
 * others, a page that was written to, a hint to read ahead that names another page than the next one, pages pinned when
 * the store goes.
 *
 * The Makefile wraps gbti_pages_build, so that data sets of all suites can get such a store. */
#ifndef GBT_TEST_STORES_H
#define GBT_TEST_STORES_H

#include "../../src/gbt/data/page_store_impl.h"

typedef enum store_kind {
  STORE_MEMORY = 0,
  STORE_POISON,
  STORE_POISON_3,
  STORE_FILE,
  STORE_FILE_2,
  STORE_FILE_2Z
} store_kind;

/* What data sets get from now on; returns what they got so far. With others than memory, page_rows = 0 means about a
 * dozen pages. A file keeps 0, 8, 16 or 24 bytes a row in memory, as the number of rows has it; file2 is two of them,
 * file2z two whose pages are packed, where this build can. The environment's GBT_TEST_STORE (memory, poison, poison3,
 * file, file2, file2z) says what the driver starts with; returns 0 when it is none of them. */
store_kind stores_use(store_kind kind);
int stores_from_environment(void);

/* A poison store that pins up to `most` pages of `inner`, whose reference it takes, also when it fails. */
gbt_status poison_open(gbt_page_store *inner, int32_t most, gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* Pages pinned in poison stores so far. */
int64_t poison_pins(void);

/* The code of one cell. */
int32_t code_at(gbt_page_store *store, const gbt_cuts *cuts, int64_t row, int32_t f);

/* Codes of all cells, by feature and row, of unused features junk; pages come by passes. Free with codes_free. */
int32_t **codes_of(gbt_page_store *store, const gbt_cuts *cuts);
void codes_free(int32_t **codes, const gbt_cuts *cuts);

/* One page, until it is unpinned. NULL after a failure, which is reported as a failed check. */
const gbt_page *page_pin(gbt_page_store *store, int32_t number);
void page_unpin(gbt_page_store *store, const gbt_page *page);

#endif
