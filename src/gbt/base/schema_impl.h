/* What the engine alone does with schemas: readers fill one in place, texts are matched by hashes. */
#ifndef GBT_BASE_SCHEMA_IMPL_H
#define GBT_BASE_SCHEMA_IMPL_H

#include "schema.h"

/* A schema's block with room for these, for readers that fill it themselves; freed as a whole by the last unref. */
typedef struct gbt_schema_room {
  int32_t n_columns, n_features;
  size_t n_levels, n_values, n_chars; /* of all columns; of all statistics; of all texts, NULs included */
} gbt_schema_room;

typedef struct gbt_schema_block {
  gbt_schema *schema; /* col and feat are zero */
  const char **level; /* n_levels */
  double *value;      /* n_values */
  char *text;         /* n_chars */
} gbt_schema_block;

gbt_status gbt_schema_alloc(const gbt_mem *mem, gbt_schema_room room, gbt_schema_block *out,
                            gbt_error *err) GBT_MUST_CHECK;

/* For every text of `from` its position among `to`, or -1. out: n_from ints. Hashed: linear in both. */
gbt_status gbt_match_texts(const gbt_mem *mem, const char *const *from, int32_t n_from, const char *const *to,
                           int32_t n_to, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

/* The same on a thread of ctx, for millions of texts: GBT_CANCELLED when asked to stop. */
gbt_status gbt_match_many_texts(gbt_ctx *ctx, int thread, const char *const *from, int32_t n_from,
                                const char *const *to, int32_t n_to, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
