/* Rules for cuts, layouts and pages that come from files. Checksums find damage; these rules find what an attacker made
 * up: whatever passes them leads no reader of bins out of bounds. Bins that were made here need no check.
 *
 *   when the index is opened   gbti_cuts_fault, then gbti_layout_fault, then gbti_known_fault
 *   when a page is read first  gbti_page_fault: its codes and lists
 *
 * A fault is a text that ends a sentence of an error message; NULL: there is none. */
#ifndef GBT_DATA_CHECK_H
#define GBT_DATA_CHECK_H

#include "page_store_impl.h"

/* Numbers of bins, the order of cuts, zero bins; the feature map is all columns, then counts of their levels. The
 * schema has been checked when it was made. */
const char *gbti_cuts_fault(const gbt_cuts *cuts);

/* A layout states for every feature whether it has a column, is a member of a bundle or is kept as lists. All else
 * follows from the cuts, which have no fault: it is made again and compared. n_members: length of stored->bundle_feat;
 * other arrays are as long as the counts say. Fails only when memory runs out. */
gbt_status gbti_layout_fault(const gbt_mem *mem, const gbt_layout *stored, int32_t n_members, const gbt_cuts *cuts,
                             const char **fault, gbt_error *err) GBT_MUST_CHECK;

/* Rows of unknown levels and level ids. The layout and the cuts have no fault. n_unseen: length of info->unseen_row. */
const char *gbti_known_fault(const gbti_page_info *info, size_t n_unseen, const gbt_schema *schema);

/* The right value of info->bytes. */
size_t gbti_known_bytes(const gbti_page_info *info);

/* The values that the codes and lists of a layout's pages may have. */
typedef struct gbti_page_limits {
  uint16_t *most; /* n_strips x GBTI_ROW_CODES: the largest code by its place in a row of the strip; 0: padding */
  uint32_t *next; /* by slot of the lists: the first slot of the next feature */
} gbti_page_limits;

enum { GBTI_ROW_CODES = GBT_GROUP_MAX * GBT_STRIP_MAX /* of a strip, at most */ };

/* Free with gbti_page_limits_free, also after a failure. */
gbt_status gbti_page_limits_make(const gbt_mem *mem, const gbt_layout *layout, gbti_page_limits *out,
                                 gbt_error *err) GBT_MUST_CHECK;
void gbti_page_limits_free(const gbt_mem *mem, gbti_page_limits *limits);

/* The page's lists begin at 0 and end where its slots end. */
const char *gbti_page_fault(const gbt_layout *layout, const gbti_page_limits *limits, const gbt_page *page);

#endif
