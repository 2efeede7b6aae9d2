/* Finding keys of projections: for each combination of columns a table from key to row.
 *
 *   few keys possible     place[key] = row + 1, or 0 where the projection lacks the key
 *   many                  open addressing, at most half full: place[hash & mask], the next, ... = row + 1, or 0 where
 *                         the search ends. Keys may come from a file from an attacker, so hashes are salted. */
#ifndef GBT_SCHEMA_KEY_INDEX_H
#define GBT_SCHEMA_KEY_INDEX_H

#include "../base/hd.h"
#include "../base/rng.h"
#include "schema.h"

#define GBT_NO_ROW UINT32_MAX   /* of a key that a projection lacks */
#define GBT_NO_KEY UINT64_MAX   /* of a row with a level that the schema lacks */
#define GBT_NO_LEVEL UINT32_MAX /* such a level */

struct gbt_key_index {
  uint32_t *place; /* NULL: projections of one column need none */
  uint64_t space;  /* not 0: places are keys, all below */
  uint64_t mask, salt;
};

/* The key of some columns' levels, and one column more. */
GBT_FN uint64_t gbt_key_with(uint64_t key, uint64_t radix, uint32_t level) {
  return key == GBT_NO_KEY || level == GBT_NO_LEVEL ? GBT_NO_KEY : key * radix + level;
}

GBT_FN uint64_t gbt_key_place(const gbt_key_index *index, uint64_t key) {
  return gbt_mix64(key ^ index->salt) & index->mask;
}

/* The row of one key by an index with places; known: the projection's keys. */
GBT_FN uint32_t gbt_find_key(const gbt_key_index *index, const uint64_t *known, uint64_t key) {
  if (index->space > 0) return key < index->space ? index->place[key] - 1 : GBT_NO_ROW;
  uint64_t at = gbt_key_place(index, key);
  uint32_t found = index->place[at];
  while (found != 0 && known[found - 1] != key) {
    at = (at + 1) & index->mask;
    found = index->place[at];
  }
  return found - 1;
}

/* Of n_keys ascending keys below `space` (not 0). ctx: polled for a stop; NULL: never stops. Free with
 * gbt_key_index_free, also after a failure. */
gbt_status gbt_key_index_make(const gbt_mem *mem, gbt_ctx *ctx, const uint64_t *known, int64_t n_keys, uint64_t space,
                              gbt_key_index *out, gbt_error *err) GBT_MUST_CHECK;
void gbt_key_index_free(const gbt_mem *mem, gbt_key_index *index);

/* row[i]: the place of key[i] among the known keys that the index was made of, or GBT_NO_ROW. */
void gbt_key_index_find(const gbt_key_index *index, const uint64_t *known, const uint64_t *key, int32_t n,
                        uint32_t *row);

/* Makes the index of all projections of a schema, for callers that look up many keys; once, before the schema is used
 * by several threads. Freed with the schema, also after a failure. */
gbt_status gbt_schema_index_keys(gbt_schema *schema, gbt_error *err) GBT_MUST_CHECK;

/* row[i]: the row of key[i] in the tables of a projection, or GBT_NO_ROW. key[i] may be GBT_NO_KEY. Without an index
 * by binary search. */
void gbt_find_keys(const gbt_schema *schema, int32_t projection, const uint64_t *key, int32_t n, uint32_t *row);

#endif
