#include "maps.h"

#include "../../src/gbt/schema/schema_impl.h"

gbt_schema *maps_base(test_rng *rng, const gbt_table *table) {
  const gbt_mem mem = gbt_mem_default();
  gbt_schema_column *col = test_alloc((size_t)table->n_cols * sizeof *col);
  gbt_schema *out = NULL;
  for (int32_t c = 0; c < table->n_cols; c++) {
    const gbt_column *from = &table->cols[c];
    col[c] = (gbt_schema_column){.name = from->name, .tag = "", .type = from->type};
    if (from->type == GBT_NUMERIC) continue;
    const char **level = test_alloc(((size_t)from->n_levels + 1) * sizeof *level);
    int32_t n = 0;
    if (test_below(rng, 3) == 0) level[n++] = "a level of training alone";
    for (int32_t i = 0; i < from->n_levels; i++) {
      int again = from->levels[i] == NULL || test_below(rng, 6) == 0;
      for (int32_t k = 0; k < n && !again; k++) again = strcmp(level[k], from->levels[i]) == 0;
      if (!again) level[n++] = from->levels[i];
    }
    col[c].levels = level;
    col[c].n_levels = n;
  }
  CHECK_OK(gbt_schema_new(&mem, table->n_cols, col, &out, test_err));
  for (int32_t c = 0; c < table->n_cols; c++) free((void *)(uintptr_t)col[c].levels);
  free(col);
  return out;
}

/* Some of the columns that have no order; *n_cols may be 0. */
static void draw_columns(test_rng *rng, const gbt_schema *schema, int32_t most, gbt_projection *proj) {
  int32_t *col = test_alloc(GBT_MOST_COMBINED * sizeof *col);
  proj->col = col;
  proj->n_cols = 0;
  const int64_t one_in = 1 + test_below(rng, 3);
  for (int32_t c = 0; c < schema->n_columns && proj->n_cols < most; c++) {
    if (schema->col[c].type != GBT_CATEGORICAL || test_below(rng, one_in) > 0) continue;
    col[proj->n_cols++] = c;
    if (gbt_projection_space(schema, proj) == 0) proj->n_cols--;
  }
}

static void draw_keys(test_rng *rng, const gbt_schema *schema, int64_t most_keys, gbt_projection *proj) {
  const uint64_t space = gbt_projection_space(schema, proj);
  const uint64_t most_skipped = space / (uint64_t)most_keys + (uint64_t)test_below(rng, 4);
  uint64_t *key;
  proj->key = NULL;
  proj->n_keys = (int64_t)space;
  if (proj->n_cols == 1) return;
  proj->key = key = test_alloc(2 * (size_t)most_keys * sizeof *key);
  proj->n_keys = 0;
  if (test_below(rng, 8) == 0) return;
  for (uint64_t k = (uint64_t)test_below(rng, 3); k < space && proj->n_keys < 2 * most_keys;
       k += 1 + (uint64_t)test_below(rng, (int64_t)most_skipped + 1))
    key[proj->n_keys++] = k;
  if (proj->n_keys > 0 && test_below(rng, 3) == 0) key[proj->n_keys - 1] = space - 1;
}

static void draw_feature(test_rng *rng, const gbt_projection *proj, int32_t at, gbt_feature *feat) {
  static const gbt_feature_kind kinds[] = {GBT_FEATURE_TARGET_MEAN, GBT_FEATURE_TARGET_CLASS, GBT_FEATURE_KEY_COUNT};
  const int32_t n_bins = 1 + (int32_t)test_below(rng, test_below(rng, 2) ? 8 : GBT_DERIVED_BINS);
  uint8_t *bin = test_alloc((size_t)proj->n_keys + 1);
  double *shown = test_alloc((size_t)n_bins * sizeof *shown);
  for (int64_t i = 0; i < proj->n_keys; i++) bin[i] = (uint8_t)test_below(rng, n_bins);
  shown[0] = test_bell(rng);
  for (int32_t b = 1; b < n_bins; b++) shown[b] = shown[b - 1] + (double)test_below(rng, 3) / 8.0;
  *feat = (gbt_feature){.kind = kinds[test_below(rng, 3)],
                        .projection = at,
                        .part = (int32_t)test_below(rng, 4),
                        .prior_weight = (double)test_below(rng, 40) / 4.0,
                        .n_bins = n_bins,
                        .unknown = (uint8_t)test_below(rng, n_bins),
                        .bin = bin,
                        .shown = shown};
}

gbt_schema *maps_extend(test_rng *rng, gbt_schema *base, int32_t n, int64_t most_keys) {
  const gbt_mem mem = gbt_mem_default();
  gbt_projection *proj = test_alloc((size_t)(n + 1) * sizeof *proj);
  gbt_feature *feat = test_alloc(3 * (size_t)(n + 1) * sizeof *feat);
  int32_t n_proj = 0, n_feat = 0;
  gbt_schema *out = NULL;
  for (int32_t i = 0; i < n; i++) {
    gbt_projection *p = &proj[n_proj];
    draw_columns(rng, base, 1 + (int32_t)test_below(rng, GBT_MOST_COMBINED), p);
    if (p->n_cols == 0) {
      free((void *)(uintptr_t)p->col);
      continue;
    }
    draw_keys(rng, base, most_keys, p);
    for (int64_t k = 1 + test_below(rng, 3); k > 0; k--) draw_feature(rng, p, n_proj, &feat[n_feat++]);
    n_proj++;
  }
  CHECK_OK(gbt_schema_extend(&mem, base, n_proj, proj, n_feat, feat, &out, test_err));
  for (int32_t p = 0; p < n_proj; p++) {
    free((void *)(uintptr_t)proj[p].col);
    free((void *)(uintptr_t)proj[p].key);
  }
  for (int32_t f = 0; f < n_feat; f++) {
    free((void *)(uintptr_t)feat[f].bin);
    free((void *)(uintptr_t)feat[f].shown);
  }
  free(proj);
  free(feat);
  return out;
}
