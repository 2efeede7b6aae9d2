/* Pages for the tests, and what must hold of all of them.
 *
 *   gbt_page_store *s = pages_how(t, cuts, 1000, how, 2);
 *   good_layout(&s->info.layout, cuts);  good_pages(s, cuts);  all_codes(s, cuts, x, n); */
#ifndef GBT_TEST_PAGES_H
#define GBT_TEST_PAGES_H

#include "../../src/gbt/data/page_impl.h"
#include "stores.h"
#include "tables.h"

/* NULL after a failure, which is reported as a failed check. */
gbt_page_store *pages_how(const tables *t, const gbt_cuts *cuts, int32_t page_rows, gbti_page_how how, int n_threads);

/* Every code is the bin of its value; x: by feature. */
void all_codes(gbt_page_store *s, const gbt_cuts *cuts, double *const *x, int64_t n);

/* Every feature has one place, slots follow each other without gaps. */
void good_layout(const gbt_layout *l, const gbt_cuts *cuts);

/* Slots of every row ascend, and there is one for every code outside its zero bin; codes are those that their columns
 * have, padding is 0; bytes add up. */
void good_pages(gbt_page_store *s, const gbt_cuts *cuts);

/* Byte by byte: layouts, pages, unknown levels. */
void same_stores(gbt_page_store *a, gbt_page_store *b);

#endif
