/* Where finished pages go when a data set is not to keep them in memory. A sink is made for one data set. */
#ifndef GBT_DATA_PAGE_SINK_H
#define GBT_DATA_PAGE_SINK_H

#include "page_store_impl.h"

struct gbt_page_sink {
  /* The next page, 0 first; borrowed for the call. info: layout, rows and pages are final. */
  gbt_status (*put)(gbt_page_sink *self, gbt_ctx *ctx, const gbti_page_info *info, const gbt_page *page,
                    gbt_error *err);

  /* All pages have come: a store of them, which takes over what info points to when it succeeds. */
  gbt_status (*close)(gbt_page_sink *self, gbt_ctx *ctx, const gbti_page_info *info, gbt_page_store **out,
                      gbt_error *err);
};

#endif
