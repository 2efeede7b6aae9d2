/* Dealing columns to tiles.
 *
 *   apart     tile 0: 28 columns of 8 bits         tile 1: 20 of 2 bits         tile 2: 4 of 8 bits, counted
 *   mixed     tile 0: 4 counted columns of 8 bits, 28 of 8 bits                 tile 1: 20 of 2 bits
 *   (a warp's 32 lanes are a tile's columns)
 *
 * A histogram reads a row's number, its gradients and, for rows far apart, a sector of memory for every tile, whatever
 * the tile's width: the fewer tiles the better. Columns of one width, counted ones apart, are the least bytes and the
 * least work; where that makes more tiles than mixing widths, or mixing counted and other columns, they are mixed.
 *
 * Tables of few rows have narrower tiles (tile_cols), as a histogram's rows would not make work for all of the device.
 *
 * Columns of derived features (data/extend.h) have tiles of their own, after all others, as each variant has other
 * codes for them.
 *
 * A tile takes so many columns that its histogram has room in a block's shared memory, and in half of it if the column
 * is much smaller than the others; a column whose histogram does not fit even by itself adds its sums in global memory
 * (pitch 0). */
#include "tiles.cuh"

extern "C" {
#include "../../gbt/base/sort.h"
}

#include <string.h>

enum cu_mixing { APART = 0, WIDTHS, ALL, N_MIXINGS }; /* which columns may share a tile */

void cu_plan_free(const gbt_mem *mem, cu_plan *p) {
  void *blocks[] = {p->key, p->place, p->number, p->column, p->source, p->tile, p->tmp_key, p->tmp_place};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(mem, blocks[i]);
}

static gbt_status plan_alloc(const gbt_mem *mem, const gbt_layout *layout, cu_plan *p, gbt_error *err) {
  for (int32_t g = 0; g < layout->n_groups; g++) p->n_columns += layout->group[g].n_feats;
  size_t n = (size_t)p->n_columns + 1;
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->key, &p->key, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->place, &p->place, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)layout->n_groups * GBT_GROUP_MAX + 1, sizeof *p->number, &p->number, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *p->column, &p->column, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *p->source, &p->source, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->tile, &p->tile, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *p->tmp_key, &p->tmp_key, err));
  return gbt_mem_array(mem, n, sizeof *p->tmp_place, &p->tmp_place, err);
}

static int32_t bits_for(uint32_t n_codes) {
  static const int32_t widths[] = {1, 2, 4, 8, 16};
  int i = 0;
  GBT_ASSERT(n_codes <= 1u << 16);
  while (n_codes > 1u << widths[i]) i++;
  return widths[i];
}

static int32_t power_above(int32_t n) {
  int32_t p = 1;
  while (p < n) p *= 2;
  return p;
}

static int counts_column(const cu_dataset_spec *spec, const gbt_layout *layout, int32_t feat) {
  if (feat >= 0) return spec->counts[feat];
  for (int32_t i = layout->bundle_beg[-1 - feat]; i < layout->bundle_beg[-feat]; i++)
    if (spec->counts[layout->bundle_feat[i]]) return 1;
  return 0;
}

static uint32_t codes_of(const gbt_layout *layout, uint32_t place) {
  return layout->group[place / GBT_GROUP_MAX].n_codes[place % GBT_GROUP_MAX];
}

/* Keys: derived or not, widths where they do not mix, counted or not, codes; the widest and the counted ones first. */
enum { KEY_COUNTED = 20, KEY_WIDTH = 21, KEY_DERIVED = 27 };

static void sort_columns(const cu_dataset_spec *spec, const gbt_layout *layout, cu_mixing mixing, cu_plan *p) {
  size_t n = 0;
  for (int32_t g = 0; g < layout->n_groups; g++)
    for (int32_t k = 0; k < layout->group[g].n_feats; k++) {
      uint32_t n_codes = layout->group[g].n_codes[k];
      uint64_t other = !counts_column(spec, layout, layout->group[g].feat[k]);
      uint64_t width = mixing == APART ? (uint64_t)(32 - bits_for(n_codes)) : 0;
      const uint64_t derived = g >= layout->derived;
      p->place[n] = (uint32_t)g * GBT_GROUP_MAX + (uint32_t)k;
      p->key[n++] = derived << KEY_DERIVED | width << KEY_WIDTH | other << KEY_COUNTED |
                    (uint64_t)((1u << KEY_COUNTED) - 1u - n_codes);
    }
  gbt_sort_u64(p->key, p->place, n, p->tmp_key, p->tmp_place);
}

/* Bytes of a tile's histogram, a cell for every lane, or for each of 32. */
static size_t cell_bytes(uint32_t n_codes, int32_t pitch, int counts) {
  return (size_t)n_codes * (size_t)pitch * (counts ? 12u : 8u);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static int32_t most_columns(const cu_dataset_spec *spec) { return spec->tile_cols > 0 ? spec->tile_cols : 32; }

/* Whether a column may be added to the tile. */
static int has_room(const cu_dataset_spec *spec, const cu_tile *t, cu_mixing mixing, int counts, uint32_t n_codes) {
  if (mixing == APART && t->bits != bits_for(n_codes)) return 0;
  if (mixing != ALL && t->counts != counts) return 0;
  const uint32_t most = n_codes > t->n_codes ? n_codes : t->n_codes;
  if (t->n_cols >= (bits_for(most) > 8 ? 16 : 32) || t->n_cols >= most_columns(spec)) return 0;
  if (cell_bytes(t->n_codes, 1, t->counts) > spec->shared_limit) /* it has none: only for its like */
    return cell_bytes(n_codes, 1, counts) > spec->shared_limit;
  size_t bytes = cell_bytes(most, power_above(t->n_cols + 1), t->counts || counts);
  const int alike = least(n_codes, t->n_codes) >= most / 2;
  return bytes <= (alike ? spec->shared_limit : cu_shared_of_two(spec->shared_limit));
}

/* Cells for all 32 lanes, where two such blocks fit on a multiprocessor; not where tiles are narrow so that there is
 * little to clear and to write out. */
static void close_tile(const cu_dataset_spec *spec, cu_tile *t) {
  GBT_ASSERT(t->n_cols >= 1 && t->n_cols <= 32 && t->n_codes <= 1u << t->bits);
  t->lanes = power_above(t->n_cols);
  t->words = power_above((t->n_cols * t->bits + 31) / 32);
  t->pitch = t->lanes;
  if (most_columns(spec) == 32 && cell_bytes(t->n_codes, 32, t->counts) <= cu_shared_of_two(spec->shared_limit))
    t->pitch = 32;
  else if (cell_bytes(t->n_codes, t->lanes, t->counts) > spec->shared_limit)
    t->pitch = 0;
  GBT_ASSERT(t->words <= 8 && t->n_cols * t->bits <= 32 * t->words);
  GBT_ASSERT(t->lanes * t->bits == 32 * t->words || (t->words == 1 && t->lanes * t->bits < 32));
}

static void deal(const cu_dataset_spec *spec, const gbt_layout *layout, cu_mixing mixing, cu_plan *p) {
  sort_columns(spec, layout, mixing, p);
  p->n_tiles = p->base_columns = p->base_tiles = 0;
  for (int32_t c = 0; c < p->n_columns; c++) {
    const gbt_group *group = &layout->group[p->place[c] / GBT_GROUP_MAX];
    uint32_t n_codes = codes_of(layout, p->place[c]);
    int counts = !(p->key[c] >> KEY_COUNTED & 1u);
    const int derived = (int)(p->key[c] >> KEY_DERIVED & 1u), first_derived = derived && p->base_columns == c;
    cu_tile *t = p->n_tiles > 0 ? &p->tile[p->n_tiles - 1] : NULL;
    if (!t || first_derived || !has_room(spec, t, mixing, counts, n_codes)) {
      if (t) close_tile(spec, t);
      t = &p->tile[p->n_tiles++];
      *t = cu_tile();
      t->first_col = c;
    }
    if (!derived) p->base_columns = c + 1, p->base_tiles = p->n_tiles;
    if (n_codes > t->n_codes) t->n_codes = n_codes;
    t->bits = bits_for(t->n_codes);
    t->counts |= counts;
    p->number[p->place[c]] = c;
    p->column[c].tile = p->n_tiles - 1;
    p->column[c].lane = t->n_cols++;
    p->column[c].slot = group->slot_beg + group->offset[p->place[c] % GBT_GROUP_MAX];
    p->column[c].n_codes = n_codes;
  }
  if (p->n_tiles > 0) close_tile(spec, &p->tile[p->n_tiles - 1]);
}

/* The first way of mixing that makes the fewest tiles. */
static void deal_tiles(const cu_dataset_spec *spec, const gbt_layout *layout, cu_plan *p) {
  cu_mixing best = APART;
  int32_t fewest = 0;
  for (int mixing = 0; mixing < N_MIXINGS; mixing++) {
    deal(spec, layout, (cu_mixing)mixing, p);
    if (mixing > 0 && p->n_tiles >= fewest) continue;
    best = (cu_mixing)mixing;
    fewest = p->n_tiles;
  }
  deal(spec, layout, best, p);
}

void cu_plan_rows(cu_plan *p, int64_t n_rows, int32_t n_variants) {
  uint64_t base_words = 0;
  p->n_words = 0;
  for (int32_t k = 0; k < p->n_tiles; k++) {
    GBT_ASSERT(p->n_words % 8 == 0); /* a row never straddles two sectors of memory */
    p->tile[k].at = (int64_t)p->n_words;
    p->n_words += ((uint64_t)n_rows * (uint32_t)p->tile[k].words + CU_TILE_WORDS - 1) / CU_TILE_WORDS * CU_TILE_WORDS;
    if (k < p->base_tiles) base_words = p->n_words;
  }
  p->variant_words = p->n_words - base_words;
  p->n_words = base_words + (uint64_t)(uint32_t)n_variants * p->variant_words;
}

int64_t cu_plan_fit(cu_plan *p, int64_t n_rows, int32_t n_variants, uint64_t bytes) {
  const uint64_t words = bytes / sizeof(uint32_t);
  cu_plan_rows(p, n_rows, n_variants);
  if (p->n_words <= words) return n_rows;
  cu_plan_rows(p, CU_TILE_WORDS, n_variants);
  const uint64_t fit = words / p->n_words * CU_TILE_WORDS;
  GBT_ASSERT(fit <= (uint64_t)n_rows);
  return (int64_t)fit;
}

static void find_sources(const gbt_layout *layout, cu_plan *p) {
  for (int32_t s = 0; s < layout->n_strips; s++) {
    const gbt_group *first = &layout->group[layout->strip_beg[s]];
    uint32_t code = first->wide ? 2u : 1u, stride = (uint32_t)first->stride * code;
    for (int32_t g = layout->strip_beg[s]; g < layout->strip_beg[s + 1]; g++)
      for (int32_t k = 0; k < layout->group[g].n_feats; k++) {
        cu_source *from = &p->source[p->number[g * GBT_GROUP_MAX + k]];
        from->before = p->row_bytes;
        from->at = (uint32_t)(layout->group[g].lead + k) * code;
        from->stride = stride;
        from->wide = first->wide;
      }
    p->row_bytes += stride;
  }
}

/* Blocks of 1,024 rows times tiles are what a histogram's work is cut into: where rows are few, tiles are narrow, until
 * the root has four pieces for every multiprocessor. */
int32_t cu_tile_columns(int64_t n_rows, int32_t n_features, int32_t n_units) {
  enum { LEAST = 4, MOST = 32, LEAST_UNITS = 16 /* smaller devices are busy with less */ };
  const int64_t blocks = n_rows / 1024 + 1, fit = blocks * n_features / (4 * (int64_t)n_units);
  int32_t n = LEAST;
  if (n_units < LEAST_UNITS) return MOST;
  while (n < MOST && n < fit) n *= 2;
  return n;
}

gbt_status cu_plan_make(const gbt_mem *mem, const cu_dataset_spec *spec, const gbt_layout *layout, int64_t n_rows,
                        int32_t n_variants, cu_plan *p, gbt_error *err) {
  GBT_TRY(plan_alloc(mem, layout, p, err));
  deal_tiles(spec, layout, p);
  cu_plan_rows(p, n_rows, n_variants);
  find_sources(layout, p);
  return GBT_OK;
}
