/* The layout of an extended data set: the strips of its base, as they lie in memory, and those of derived features.
 *
 *   base, a strip of two groups    a b c d . | e f g          columns of d and e are unused
 *   extended                       [a b c]     [f g]          the same bytes, groups that leave them out
 *   then                           [s t u]                    derived features: groups and strips of their own
 *
 * A strip that would come to have more than GBT_STRIP_MAX groups is two strips in the layout of the same bytes.
 * A bundle with a member that is used stays as it is. Sparse features all stay, as lists have them. */
#include <string.h>

#include "extend.h"
#include "page_impl.h"

static int is_dropped(const uint8_t *drop, int32_t feat) { return drop != NULL && drop[feat]; }

/* Whether a column of a group is left in. */
static int is_kept(const gbt_layout *base, const uint8_t *drop, int32_t column) {
  if (column >= 0) return !is_dropped(drop, column);
  for (int32_t i = base->bundle_beg[-1 - column]; i < base->bundle_beg[-column]; i++)
    if (!is_dropped(drop, base->bundle_feat[i])) return 1;
  return 0;
}

/* The first run of columns from *pos on that are all left in: *pos, and how many; 0: none. */
static int32_t next_run(const gbt_layout *base, const uint8_t *drop, const gbt_group *group, int32_t *pos) {
  int32_t n = 0;
  while (*pos < group->n_feats && !is_kept(base, drop, group->feat[*pos])) ++*pos;
  while (*pos + n < group->n_feats && is_kept(base, drop, group->feat[*pos + n])) n++;
  return n;
}

static int32_t count_runs(const gbt_layout *base, const uint8_t *drop) {
  int32_t n_runs = 0;
  for (int32_t g = 0; g < base->n_groups; g++)
    for (int32_t pos = 0, n; (n = next_run(base, drop, &base->group[g], &pos)) > 0; pos += n) n_runs++;
  return n_runs;
}

/* A feature of a column: where it is now. moved: what is added to its slots. */
static void move_place(const gbt_layout *base, gbt_layout *out, int32_t feat, int32_t g, int32_t pos, uint32_t moved) {
  gbt_place *place = &out->place[feat];
  *place = base->place[feat];
  place->group = g;
  place->pos = pos;
  place->slot_beg += moved;
}

/* A group of n columns of a base group, from `pos` on. Returns the next free slot. */
static uint64_t add_run(const gbt_layout *base, const gbt_group *from, int32_t pos, int32_t n, uint64_t slot,
                        gbt_layout *out) {
  const int32_t g = out->n_groups++, width = from->wide ? (n + 1) / 2 * 2 : (n + 3) / 4 * 4;
  gbt_group *to = &out->group[g];
  uint32_t at = 0;
  to->n_feats = n;
  to->width = width < from->width - pos ? width : from->width - pos;
  to->stride = from->stride;
  to->lead = from->lead + pos;
  to->wide = from->wide;
  to->slot_beg = (uint32_t)slot;
  for (int32_t k = 0; k < n; k++) {
    const int32_t column = to->feat[k] = from->feat[pos + k];
    const uint32_t moved = to->slot_beg + at - (from->slot_beg + from->offset[pos + k]); /* may wrap around */
    to->offset[k] = at;
    to->n_codes[k] = from->n_codes[pos + k];
    at += to->n_codes[k] | 1u;
    if (column >= 0) move_place(base, out, column, g, k, moved);
    for (int32_t i = column < 0 ? base->bundle_beg[-1 - column] : 0; column < 0 && i < base->bundle_beg[-column]; i++)
      move_place(base, out, base->bundle_feat[i], g, k, moved);
  }
  for (int32_t k = n; k < to->width; k++) to->offset[k] = at;
  to->n_slots = at + 1;
  return slot + to->n_slots;
}

/* The last group is the next one of strip s of the base, of whose groups there are `n` already. */
static void add_to_strip(gbt_layout *out, int32_t s, int32_t n, int32_t *shared) {
  const int32_t most = out->group[out->n_groups - 1].wide ? 1 : GBT_STRIP_MAX;
  if (n % most == 0) shared[out->n_strips++] = s;
  out->strip_beg[out->n_strips] = out->n_groups;
}

static uint64_t keep_strips(const gbt_layout *base, const uint8_t *drop, gbt_layout *out, int32_t *shared) {
  uint64_t slot = 0;
  for (int32_t s = 0; s < base->n_strips; s++) {
    int32_t n_groups = 0;
    for (int32_t g = base->strip_beg[s]; g < base->strip_beg[s + 1]; g++)
      for (int32_t pos = 0, n; (n = next_run(base, drop, &base->group[g], &pos)) > 0; pos += n) {
        slot = add_run(base, &base->group[g], pos, n, slot, out);
        add_to_strip(out, s, n_groups++, shared);
      }
  }
  return slot;
}

static gbt_status add_derived(const gbt_mem *mem, const gbt_cuts *cuts, int32_t first, gbt_layout *out, uint64_t *slot,
                              int32_t *shared, gbt_error *err) {
  const int32_t n = cuts->n_features - first, n_strips = out->n_strips;
  int32_t *feat;
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof *feat, &feat, err));
  for (int32_t i = 0; i < n; i++) {
    feat[i] = first + i;
    GBT_ASSERT(cuts->feat[feat[i]].n_bins <= GBT_DERIVED_BINS && !cuts->feat[feat[i]].has_missing);
    GBT_ASSERT(cuts->schema->feat[feat[i]].type == GBT_NUMERIC);
  }
  out->derived = out->n_groups;
  *slot = gbti_layout_deal(out, cuts, feat, n, *slot);
  gbti_layout_strips(out, out->derived);
  for (int32_t s = n_strips; s < out->n_strips; s++) shared[s] = -1;
  gbt_mem_free(mem, feat);
  return GBT_OK;
}

/* Room for everything; what does not change is copied. */
static gbt_status start(const gbt_mem *mem, const gbt_layout *base, const gbt_cuts *cuts, const uint8_t *drop,
                        gbt_layout *out, int32_t **shared, gbt_error *err) {
  const int32_t n_derived = cuts->n_features - base->n_features;
  const int32_t n_groups = count_runs(base, drop) + (n_derived + GBT_GROUP_MAX - 1) / GBT_GROUP_MAX;
  const size_t n_members = base->n_bundles > 0 ? (size_t)base->bundle_beg[base->n_bundles] : 0;
  out->n_features = cuts->n_features;
  out->n_sparse = base->n_sparse;
  out->n_bundles = base->n_bundles;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_groups, sizeof *out->group, &out->group, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_groups + 1, sizeof *out->strip_beg, &out->strip_beg, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)n_groups, sizeof **shared, shared, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)out->n_features, sizeof *out->place, &out->place, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)base->n_sparse, sizeof *out->sparse_feat, &out->sparse_feat, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)base->n_bundles + 2, sizeof *out->bundle_beg, &out->bundle_beg, err));
  GBT_TRY(gbt_mem_array(mem, n_members, sizeof *out->bundle_feat, &out->bundle_feat, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)out->n_features, sizeof *out->unused, &out->unused, err));
  for (int32_t i = 0; i < base->n_sparse; i++) out->sparse_feat[i] = base->sparse_feat[i];
  for (int32_t b = 0; b <= base->n_bundles; b++) out->bundle_beg[b] = base->bundle_beg[b];
  for (size_t i = 0; i < n_members; i++) out->bundle_feat[i] = base->bundle_feat[i];
  for (int32_t f = 0; f < base->n_features; f++) {
    out->unused[f] = is_dropped(drop, f) || !gbt_layout_uses(base, f);
    out->place[f] = (gbt_place){.group = -1, .zero_bin = -1};
  }
  return GBT_OK;
}

gbt_status gbti_layout_extend(const gbt_mem *mem, const gbt_layout *base, const gbt_cuts *cuts, const uint8_t *drop,
                              gbt_layout *out, int32_t **shared, gbt_error *err) {
  memset(out, 0, sizeof *out);
  *shared = NULL;
  GBT_ASSERT(cuts->n_features >= base->n_features);
  GBT_TRY(start(mem, base, cuts, drop, out, shared, err));
  uint64_t slot = keep_strips(base, drop, out, *shared);
  GBT_TRY(add_derived(mem, cuts, base->n_features, out, &slot, *shared, err));
  out->sparse_slot = (uint32_t)slot;
  out->n_slots = (uint32_t)slot + (base->n_slots - base->sparse_slot);
  for (int32_t i = 0; i < base->n_sparse; i++) {
    gbt_place *place = &out->place[base->sparse_feat[i]];
    *place = base->place[base->sparse_feat[i]];
    place->slot_beg += out->sparse_slot - base->sparse_slot;
  }
  return GBT_OK;
}
