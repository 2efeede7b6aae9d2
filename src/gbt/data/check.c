#include "check.h"

#include <math.h>
#include <string.h>

#include "page_impl.h"

/* ---- cuts ---- */

static const char *map_fault(const gbt_schema *schema) {
  int32_t last = -1;
  if (schema->n_columns < 1 || schema->n_features < schema->n_columns) return "it has too few features";
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    const int is_column = f < schema->n_columns;
    const int right_kind = feat->kind == (is_column ? GBT_FEATURE_COLUMN : GBT_FEATURE_LEVEL_COUNT);
    if (!right_kind || (is_column ? feat->col != f : feat->col <= last)) return "its features are out of order";
    if (!is_column) last = feat->col;
  }
  return NULL;
}

static const char *numeric_fault(const gbt_cuts *cuts, const gbt_feature_cuts *f) {
  int rise = 1;
  for (int32_t b = 1; b < f->n_bins; b++) rise &= f->cut[b - 1] < f->cut[b]; /* no NaN, too */
  if (!rise || f->cut[f->n_bins - 1] != (double)INFINITY) return "cuts are out of order";
  const int32_t zero_bin = cuts->absent_missing ? f->n_bins : gbt_cuts_bin(f, 0.0);
  return f->zero_bin != zero_bin || f->onehot != 0 ? "cuts have a wrong bin for 0" : NULL;
}

static const char *levels_fault(const gbt_feature_cuts *f, int32_t n_levels) {
  const int32_t n_bins = n_levels < 1 ? 1 : n_levels < GBT_MAX_LEVELS ? n_levels : GBT_MAX_LEVELS;
  return f->n_bins != n_bins || f->zero_bin != -1 ? "the bins of a column do not match its levels" : NULL;
}

const char *gbti_cuts_fault(const gbt_cuts *cuts) {
  const gbt_schema *schema = cuts->schema;
  const char *fault = map_fault(schema);
  for (int32_t i = 0; i < cuts->n_features && fault == NULL; i++) {
    const gbt_feature_cuts *f = &cuts->feat[i];
    if (f->n_bins < 1 || f->n_bins > GBT_MAX_BINS) return "a feature has a wrong number of bins";
    if ((f->has_missing | f->onehot) & ~1) return "cuts are invalid";
    if (f->n_filled < 0 || f->n_filled > cuts->n_rows) return "cuts count more rows than there are";
    fault = schema->feat[i].type == GBT_CATEGORICAL ? levels_fault(f, schema->col[schema->feat[i].col].n_levels)
                                                    : numeric_fault(cuts, f);
  }
  return fault;
}

/* ---- layouts ---- */

/* Members are features of one bundle that have a zero bin; bundles are as small as they are made. */
static int take_bundles(const gbt_layout *stored, int32_t n_members, const gbt_cuts *cuts, gbti_bundles *out) {
  const int32_t *beg = stored->bundle_beg;
  if (beg[0] != 0 || beg[stored->n_bundles] != n_members) return 0;
  for (int32_t b = 0; b < stored->n_bundles; b++)
    if (beg[b + 1] < beg[b] || beg[b + 1] - beg[b] < 2 || beg[b + 1] > n_members) return 0; /* from 0 on */
  for (int32_t b = 0; b < stored->n_bundles; b++) {
    uint32_t n_codes = 1;
    out->worth[b] = 1;
    for (int32_t i = beg[b]; i < beg[b + 1]; i++) {
      const int32_t f = stored->bundle_feat[i];
      if (f < 0 || f >= cuts->n_features || cuts->feat[f].zero_bin < 0 || out->of[f] >= 0) return 0;
      out->of[f] = b;
      out->missing[f] = stored->place[f].n_slots == gbti_filled_slots(&cuts->feat[f], 1);
      n_codes += gbti_filled_slots(&cuts->feat[f], out->missing[f]);
      if (n_codes > GBTI_BUNDLE_CODES) return 0;
    }
  }
  return 1;
}

static int take_sparse(const gbt_layout *stored, const gbt_cuts *cuts, const gbti_bundles *bundles, uint8_t *sparse) {
  for (int32_t i = 0; i < stored->n_sparse; i++) {
    const int32_t f = stored->sparse_feat[i];
    if (f < 0 || f >= cuts->n_features || cuts->feat[f].zero_bin < 0 || bundles->of[f] >= 0 || sparse[f]) return 0;
    sparse[f] = 1;
  }
  return 1;
}

/* Records have no gaps (disk/index.c). */
static int same(const void *a, const void *b, int32_t n, size_t size) {
  return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

static int same_layout(const gbt_layout *a, const gbt_layout *b) {
  if (a->n_features != b->n_features || a->n_groups != b->n_groups || a->n_strips != b->n_strips ||
      a->n_sparse != b->n_sparse || a->n_bundles != b->n_bundles || a->derived != b->derived ||
      a->sparse_slot != b->sparse_slot || a->n_slots != b->n_slots)
    return 0;
  return same(a->group, b->group, a->n_groups, sizeof *a->group) &&
         same(a->strip_beg, b->strip_beg, a->n_strips + 1, sizeof *a->strip_beg) &&
         same(a->place, b->place, a->n_features, sizeof *a->place) &&
         same(a->sparse_feat, b->sparse_feat, a->n_sparse, sizeof *a->sparse_feat) &&
         same(a->bundle_beg, b->bundle_beg, a->n_bundles + 1, sizeof *a->bundle_beg) &&
         same(a->bundle_feat, b->bundle_feat, a->bundle_beg[a->n_bundles], sizeof *a->bundle_feat);
}

gbt_status gbti_layout_fault(const gbt_mem *mem, const gbt_layout *stored, int32_t n_members, const gbt_cuts *cuts,
                             const char **fault, gbt_error *err) {
  const size_t n = (size_t)cuts->n_features;
  gbti_bundles bundles = {.n = stored->n_bundles};
  gbt_layout made = {.n_features = 0};
  uint8_t *sparse = NULL;
  gbt_status status;
  *fault = "its layout is invalid";
  if (stored->n_features != cuts->n_features || gbti_layout_check(cuts, NULL) != GBT_OK) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *bundles.of, &bundles.of, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, n, 1, &bundles.missing, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)stored->n_bundles, 1, &bundles.worth, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(mem, n, 1, &sparse, err), done);
  for (size_t f = 0; f < n; f++) bundles.of[f] = -1;
  if (!take_bundles(stored, n_members, cuts, &bundles) || !take_sparse(stored, cuts, &bundles, sparse)) goto done;
  GBT_TRY_GOTO(gbti_layout_make_as(mem, cuts, &bundles, sparse, &made, err), done);
  if (same_layout(stored, &made)) *fault = NULL;
done:
  gbti_layout_free(mem, &made);
  gbti_bundles_free(mem, &bundles);
  gbt_mem_free(mem, sparse);
  return status;
}

/* ---- what is known without a page ---- */

static int good_unseen(const gbti_page_info *info, size_t n_unseen, const gbt_schema *schema) {
  const size_t *beg = info->unseen_beg;
  const size_t n = (size_t)schema->n_features;
  if (beg == NULL) return n_unseen == 0;
  if (beg[0] != 0 || beg[n] != n_unseen) return 0;
  for (size_t f = 0; f < n; f++)
    if (beg[f + 1] < beg[f] || beg[f + 1] > n_unseen) return 0;
  for (size_t f = 0; f < n; f++) {
    int64_t last = -1;
    if (beg[f + 1] > beg[f] && schema->feat[f].type != GBT_CATEGORICAL) return 0;
    for (size_t i = beg[f]; i < beg[f + 1]; last = info->unseen_row[i++])
      if (info->unseen_row[i] <= last || info->unseen_row[i] >= info->n_rows) return 0;
  }
  return 1;
}

const char *gbti_known_fault(const gbti_page_info *info, size_t n_unseen, const gbt_schema *schema) {
  if (!good_unseen(info, n_unseen, schema)) return "its unseen levels are invalid";
  for (int32_t c = 0; c < schema->n_columns; c++)
    if (info->n_unseen[c] < 0 || info->n_unseen[c] > info->n_rows) return "its unseen levels are invalid";
  for (int32_t f = 0; info->level_id != NULL && f < schema->n_features; f++) {
    const uint32_t *id = info->level_id[f], n_levels = (uint32_t)schema->col[schema->feat[f].col].n_levels;
    uint32_t most = 0;
    for (int64_t r = 0; id != NULL && r < info->n_rows; r++) most = id[r] > most ? id[r] : most;
    if (most > n_levels + 1) return "a row has a level that its column does not have"; /* see level_ids.h */
  }
  return NULL;
}

size_t gbti_known_bytes(const gbti_page_info *info) {
  const gbt_layout *layout = &info->layout;
  const size_t n_rows = (size_t)info->n_rows;
  size_t words = 0, bytes = 0;
  for (int32_t s = 0; s < layout->n_strips; s++) bytes += n_rows * gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
  if (layout->n_sparse > 0) words += n_rows + (size_t)info->n_pages + (size_t)info->n_entries;
  if (info->unseen_beg != NULL) words += info->unseen_beg[layout->n_features];
  for (int32_t f = 0; info->level_id != NULL && f < layout->n_features; f++)
    if (info->level_id[f] != NULL) words += n_rows;
  return bytes + words * sizeof(uint32_t);
}

/* ---- pages ---- */

gbt_status gbti_page_limits_make(const gbt_mem *mem, const gbt_layout *layout, gbti_page_limits *out, gbt_error *err) {
  const uint32_t n_slots = layout->n_slots - layout->sparse_slot;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)layout->n_strips, GBTI_ROW_CODES * sizeof *out->most, &out->most, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)n_slots, sizeof *out->next, &out->next, err));
  for (int32_t s = 0; s < layout->n_strips; s++)
    for (int32_t g = layout->strip_beg[s]; g < layout->strip_beg[s + 1]; g++) {
      const gbt_group *group = &layout->group[g];
      uint16_t *most = out->most + (size_t)s * GBTI_ROW_CODES + group->lead;
      for (int32_t k = 0; k < group->n_feats; k++) most[k] = (uint16_t)(group->n_codes[k] - 1);
    }
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    const gbt_place *place = &layout->place[layout->sparse_feat[i]];
    const uint32_t beg = place->slot_beg - layout->sparse_slot, end = beg + place->n_slots;
    for (uint32_t slot = beg; slot < end; slot++) out->next[slot] = end;
  }
  return GBT_OK;
}

void gbti_page_limits_free(const gbt_mem *mem, gbti_page_limits *limits) {
  gbt_mem_free(mem, limits->most);
  gbt_mem_free(mem, limits->next);
}

/* The largest code of every place of a row. Codes of 16 rows are taken together: their number is a multiple of 32, so
 * that whole vectors are compared, however many codes a row has.
 *
 *   rows 0 .. 15     | a b c | a b c | a b c | ...      most | a b c | a b c | a b c | ...
 *   rows 16 .. 31    | a b c | a b c | a b c | ...      at the end the copies of a place are compared */
enum { TOGETHER = 16, VECTOR = 32 /* codes; loops of a known length become vectors */ };

#define LARGEST(code_type)                                                                                          \
  static void largest_##code_type(const code_type *restrict code, int64_t n_rows, int32_t stride, uint16_t *out) {  \
    code_type most[TOGETHER * GBTI_ROW_CODES] = {0};                                                                \
    const int64_t n = n_rows * stride;                                                                              \
    const int32_t period = TOGETHER * stride;                                                                       \
    int64_t at = 0;                                                                                                 \
    for (; at + period <= n; at += period)                                                                          \
      for (int32_t i = 0; i < period; i += VECTOR)                                                                  \
        for (int32_t j = i; j < i + VECTOR; j++) most[j] = code[at + j] > most[j] ? code[at + j] : most[j];         \
    for (int32_t i = 0; at + i < n; i++) most[i] = code[at + i] > most[i] ? code[at + i] : most[i];                 \
    for (int32_t i = 0; i < stride; i++) out[i] = 0;                                                                \
    for (int32_t k = 0; k < TOGETHER; k++)                                                                          \
      for (int32_t i = 0; i < stride; i++) out[i] = most[k * stride + i] > out[i] ? most[k * stride + i] : out[i];  \
  }
LARGEST(uint8_t)
LARGEST(uint16_t)

static const char *codes_fault(const gbt_layout *layout, const gbti_page_limits *limits, const gbt_page *page) {
  for (int32_t s = 0; s < layout->n_strips; s++) {
    const gbt_group *group = &layout->group[layout->strip_beg[s]];
    const uint16_t *allowed = limits->most + (size_t)s * GBTI_ROW_CODES;
    uint16_t most[GBTI_ROW_CODES];
    GBT_ASSERT(group->stride % 2 == 0); /* so 16 rows are whole vectors */
    if (group->wide)
      largest_uint16_t(page->strip[s], page->n_rows, group->stride, most);
    else
      largest_uint8_t(page->strip[s], page->n_rows, group->stride, most);
    for (int32_t i = 0; i < group->stride; i++)
      if (most[i] > allowed[i]) return "it has bins that its columns do not have";
  }
  return NULL;
}

/* Slots of a row ascend, one of a feature. */
static const char *lists_fault(const gbt_layout *layout, const gbti_page_limits *limits, const gbt_page *page) {
  const uint32_t *beg = page->sparse_beg, *slot = page->sparse_slots, n = beg[page->n_rows];
  uint32_t most = 0, falls = 0, least;
  for (int32_t r = 0; r < page->n_rows; r++) falls |= beg[r + 1] < beg[r];
  if (falls) return "its lists are invalid";
  for (uint32_t i = 0; i < n; i++) most = slot[i] > most ? slot[i] : most;
  if (n > 0 && most >= layout->n_slots - layout->sparse_slot) return "it has bins that its columns do not have";
  for (int32_t r = 0; r < page->n_rows; r++) {
    least = 0;
    for (uint32_t i = beg[r]; i < beg[r + 1]; i++) {
      falls |= slot[i] < least;
      least = limits->next[slot[i]];
    }
  }
  return falls ? "its lists are invalid" : NULL;
}

const char *gbti_page_fault(const gbt_layout *layout, const gbti_page_limits *limits, const gbt_page *page) {
  const char *fault = codes_fault(layout, limits, page);
  return fault == NULL && layout->n_sparse > 0 ? lists_fault(layout, limits, page) : fault;
}
