/* Which rank searches which features: the same for all backends. */
#ifndef GBT_BACKEND_FEATURE_SHARE_H
#define GBT_BACKEND_FEATURE_SHARE_H

#include "../data/page.h"

/* Rank r gets the features of the slots [slot_beg[r], slot_beg[r + 1]), by slots about the same for all. slot_beg:
 * size + 1 entries. owns: n_features zeros; those of `rank` become 1. The layout has slots. */
static inline void gbt_share_features(const gbt_layout *layout, int32_t n_features, int n_ranks, int rank,
                                      uint32_t *slot_beg, int8_t *owns) {
  const size_t size = (size_t)n_ranks;
  for (size_t r = 0; r <= size; r++) slot_beg[r] = layout->n_slots;
  for (int32_t f = 0; f < n_features; f++) {
    const gbt_place *place = &layout->place[f];
    if (!gbt_layout_uses(layout, f) || place->n_slots == 0) continue;
    const uint64_t middle = (uint64_t)place->slot_beg + place->n_slots / 2;
    const size_t owner = (size_t)(middle * size / layout->n_slots);
    if (place->slot_beg < slot_beg[owner]) slot_beg[owner] = place->slot_beg;
    owns[f] = owner == (size_t)rank;
  }
  for (size_t r = size; r-- > 0;) /* ranks without features */
    if (slot_beg[r] > slot_beg[r + 1]) slot_beg[r] = slot_beg[r + 1];
  slot_beg[0] = 0;
}

#endif
