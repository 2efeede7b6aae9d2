/* Binned rows. A page is a run of consecutive rows; all pages of a data set share one layout. Their store keeps them in
 * memory, in files or elsewhere (page_store.h).
 *
 * Columns of codes are packed in groups: up to 16 with up to 256 codes in bytes, or up to 8 with more codes in 16-bit
 * words, so a row of a group is at most 16 bytes. Up to four byte groups are side by side in a strip, so that all
 * their codes of a row are one cache line; a group of words is a strip of its own:
 *
 *   strip 0: groups 0, 1                        strip 1: group 2 (16 bit)
 *   row 0: b b b b .. (16) b b b . (4) ....     row 0: w w w . (4 words)
 *   row 1: b b b b .. (16) b b b . (4) ....     row 1: w w w . (4)
 *   ...
 *
 * `width` (codes a row) is n_feats rounded up to 4 bytes; padding codes are 0. `stride` is codes from row to row.
 * Features that are nearly always in their zero bin are sparse: per row a list of slots, ascending, of the codes *not*
 * in the zero bin.
 *
 * Features that are never outside their zero bins in the same row of the table share a column, a bundle: code 0 when
 * all are in their zero bins, then one run of codes for each member. What is bundled depends on the table, so data
 * sets of the same cuts may have different layouts.
 *
 * A slot is the place of (feature, code) in a histogram; code = n_bins for missing. A dense feature's codes all have
 * one: slot_beg[f] + code. A feature whose zero bin is left out has none for it; codes above it move down by one:
 *
 *   codes   0 1 2 z 4 5      slots   0 1 2 4 5         see gbt_place_slot
 *
 * Columns of a group are consecutive slot ranges, each of odd length, so that equal bins of neighbouring columns do not
 * fall into the same cache set. Every group ends with one dummy slot for its padding codes. Sparse features come last,
 * and lists have their slots without those before: 0 is layout->sparse_slot.
 *
 * The layout of an extended data set (extend.h) has the same strips, then those of derived features. Where features of
 * its base are unused, their columns belong to no group: what is left of a group on either side of them are groups of
 * their own. A strip that has none left is not in the layout, one with many is in it more than once.
 *
 * A level that the cuts do not know has no bin: in a page it is the missing code. With `unseen` = prior such cells are
 * also kept in lists, so that validation rows take the same paths as in predictions. Growing treats such cells as
 * missing. */
#ifndef GBT_DATA_PAGE_H
#define GBT_DATA_PAGE_H

#include "../base/hd.h"
#include "cuts.h"

#define GBT_GROUP_MAX 16
#define GBT_STRIP_MAX 4

typedef struct gbt_group {
  int32_t n_feats;                 /* 1 .. 16, or 1 .. 8 with wide codes */
  int32_t width;                   /* codes a row: 4, 8, 12 or 16; wide: 2, 4, 6 or 8; any with unused columns */
  int32_t stride;                  /* codes from row to row: widths of the strip's groups, rounded up */
  int32_t lead;                    /* codes before it in a row of the strip */
  int32_t wide;                    /* 0: uint8_t codes, 1: uint16_t */
  int32_t feat[GBT_GROUP_MAX];     /* by column: the feature, or -1 - the number of a bundle */
  uint32_t n_codes[GBT_GROUP_MAX]; /* of each column: its codes are below that */
  uint32_t slot_beg;               /* first slot of the group */
  uint32_t n_slots;                /* of the group, the dummy included */
  uint32_t offset[GBT_GROUP_MAX];  /* width entries: first slot of code k, relative to slot_beg; padding: the dummy */
} gbt_group;

/* Where one feature is. */
typedef struct gbt_place {
  int32_t group; /* -1: sparse, or unused */
  int32_t pos;   /* column of the group */
  uint32_t slot_beg;
  uint32_t n_slots; /* codes that have a slot: all n_bins + 1; one less when the zero bin is left out */
  int32_t zero_bin; /* -1: every code has a slot; else the code that has none, the feature's zero bin */
  uint32_t first;   /* the column's code for the feature's first slot; column codes go up like the slots */
} gbt_place;

/* Slot of a code, relative to slot_beg; not for the zero bin that is left out. */
GBT_FN uint32_t gbt_place_slot(const gbt_place *place, int32_t code) {
  return (uint32_t)(code - (place->zero_bin >= 0 && code > place->zero_bin));
}

/* Whether the missing code has a slot; in a bundle it has none when no row of the table is missing. */
GBT_FN int gbt_place_has_missing(const gbt_place *place, int32_t n_bins) {
  return (int32_t)place->n_slots + (place->zero_bin >= 0) > n_bins;
}

/* The code of a slot of a feature whose zero bin is left out. */
GBT_FN int32_t gbt_slot_code(int32_t zero_bin, uint32_t slot) { return (int32_t)slot + ((int32_t)slot >= zero_bin); }

/* The code of a slot. */
GBT_FN int32_t gbt_place_code(const gbt_place *place, uint32_t slot) {
  return place->zero_bin >= 0 ? gbt_slot_code(place->zero_bin, slot) : (int32_t)slot;
}

typedef struct gbt_layout {
  int32_t n_features, n_groups, n_strips, n_sparse, n_bundles;
  int32_t derived;      /* groups from this one on have derived features (extend.h); n_groups: there are none */
  gbt_group *group;     /* n_groups */
  int32_t *strip_beg;   /* n_strips + 1 into group */
  gbt_place *place;     /* n_features */
  int32_t *sparse_feat; /* n_sparse: features in slot order */
  int32_t *bundle_beg;  /* n_bundles + 1 into bundle_feat */
  int32_t *bundle_feat; /* members, bundle by bundle, ascending */
  uint8_t *unused;      /* n_features: 1 where nothing may read the feature's codes or slots; NULL: nowhere */
  uint32_t sparse_slot; /* first slot of the sparse part */
  uint32_t n_slots;     /* all */
} gbt_layout;

static inline int gbt_layout_uses(const gbt_layout *layout, int32_t feat) {
  return layout->unused == NULL || !layout->unused[feat];
}

typedef struct gbt_page {
  int64_t row_beg; /* first row, global */
  int32_t n_rows;
  void **strip;           /* n_strips: uint8_t or uint16_t [n_rows][stride], 64-byte aligned */
  void **group;           /* n_groups: the group's first code, in its strip */
  uint32_t *sparse_beg;   /* n_rows + 1 into sparse_slot; NULL when the layout has no sparse features */
  uint32_t *sparse_slots; /* ascending within a row; 0: the first slot of the sparse part */
} gbt_page;

/* The code (bin, or n_bins for missing) of feature f in row r of the page. */
int32_t gbt_page_code(const gbt_layout *layout, const gbt_cuts *cuts, const gbt_page *page, int32_t r, int32_t f);

#endif
