#include "key_index.h"

#include "../base/clock.h"
#include "../base/parallel.h"
#include "schema_impl.h"

#if defined(__GNUC__)
#define PREFETCH(at) __builtin_prefetch(at)
#else
#define PREFETCH(at) ((void)(at))
#endif

enum {
  ASK_EVERY = 1 << 16, /* keys between two looks whether to stop */
  SPARE = 4,           /* places for each key where places are keys: no more than a hashed index would take */
  SMALL = 1024,        /* and so many in any case */
  AT_ONCE = 128        /* keys that are looked for side by side, so that their waits for memory overlap */
};

static gbt_status add_keys(gbt_ctx *ctx, gbt_key_index *index, const uint64_t *known, uint64_t n, gbt_error *err) {
  for (uint64_t i = 0; i < n; i++) {
    uint64_t at = index->space > 0 ? known[i] : gbt_key_place(index, known[i]);
    if (ctx != NULL && i % ASK_EVERY == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (index->space == 0)
      while (index->place[at] != 0) at = (at + 1) & index->mask;
    index->place[at] = (uint32_t)i + 1;
  }
  return GBT_OK;
}

gbt_status gbt_key_index_make(const gbt_mem *mem, gbt_ctx *ctx, const uint64_t *known, int64_t n_keys, uint64_t space,
                              gbt_key_index *out, gbt_error *err) {
  const uint64_t n = (uint64_t)n_keys;
  uint64_t size = 8;
  *out = (gbt_key_index){.place = NULL};
  if (space <= SPARE * n + SMALL) {
    size = out->space = space;
  } else {
    while (size < 2 * n) size *= 2;
    out->mask = size - 1;
  }
  GBT_TRY(gbt_mem_zeros(mem, (size_t)size, sizeof *out->place, &out->place, err));
  if (out->space == 0) out->salt = gbt_salt(out->place);
  return add_keys(ctx, out, known, n, err);
}

void gbt_key_index_free(const gbt_mem *mem, gbt_key_index *index) {
  gbt_mem_free(mem, index->place);
  index->place = NULL;
}

gbt_status gbt_schema_index_keys(gbt_schema *schema, gbt_error *err) {
  const size_t n = (size_t)schema->n_projections;
  GBT_ASSERT(schema->key_index == NULL);
  if (n == 0) return GBT_OK;
  GBT_TRY(gbt_mem_zeros(&schema->mem, n, sizeof *schema->key_index, &schema->key_index, err));
  for (size_t p = 0; p < n; p++) {
    const gbt_projection *proj = &schema->proj[p];
    if (proj->n_cols == 1) continue;
    const uint64_t space = gbt_projection_space(schema, proj);
    GBT_ASSERT(space > 0);
    GBT_TRY(gbt_key_index_make(&schema->mem, NULL, proj->key, proj->n_keys, space, &schema->key_index[p], err));
  }
  return GBT_OK;
}

static void find_hashed(const gbt_key_index *index, const uint64_t *known, const uint64_t *key, int32_t n,
                        uint32_t *row) {
  uint64_t at[AT_ONCE];
  uint32_t first[AT_ONCE];
  for (int32_t i = 0; i < n; i++) {
    at[i] = gbt_key_place(index, key[i]);
    PREFETCH(&index->place[at[i]]);
  }
  for (int32_t i = 0; i < n; i++) {
    first[i] = index->place[at[i]];
    if (first[i] != 0) PREFETCH(&known[first[i] - 1]);
  }
  for (int32_t i = 0; i < n; i++) {
    uint32_t found = first[i];
    while (found != 0 && known[found - 1] != key[i]) {
      at[i] = (at[i] + 1) & index->mask;
      found = index->place[at[i]];
    }
    row[i] = found - 1;
  }
}

void gbt_key_index_find(const gbt_key_index *index, const uint64_t *known, const uint64_t *key, int32_t n,
                        uint32_t *row) {
  if (index->space > 0) {
    for (int32_t i = 0; i < n; i++) row[i] = gbt_find_key(index, known, key[i]);
    return;
  }
  for (int32_t i = 0; i < n; i += AT_ONCE)
    find_hashed(index, known, key + i, n - i < AT_ONCE ? n - i : AT_ONCE, row + i);
}

static uint32_t search(const gbt_projection *proj, uint64_t key) {
  int64_t low = 0, high = proj->n_keys;
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    if (proj->key[mid] < key)
      low = mid + 1;
    else
      high = mid;
  }
  return low < proj->n_keys && proj->key[low] == key ? (uint32_t)low : GBT_NO_ROW;
}

void gbt_find_keys(const gbt_schema *schema, int32_t projection, const uint64_t *key, int32_t n, uint32_t *row) {
  const gbt_projection *proj = &schema->proj[projection];
  const gbt_key_index *index = schema->key_index != NULL ? &schema->key_index[projection] : NULL;
  if (proj->n_cols == 1) {
    for (int32_t i = 0; i < n; i++) row[i] = key[i] < (uint64_t)proj->n_keys ? (uint32_t)key[i] : GBT_NO_ROW;
  } else if (index == NULL) {
    for (int32_t i = 0; i < n; i++) row[i] = search(proj, key[i]);
  } else {
    gbt_key_index_find(index, proj->key, key, n, row);
  }
}
