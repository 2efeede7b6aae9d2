/* What the columns are: names, types and level texts. Shared by the cuts, the trainer and the model; immutable once
 * built, counted by references. */
#ifndef GBT_BASE_SCHEMA_H
#define GBT_BASE_SCHEMA_H

#include "ctx.h"

typedef enum gbt_feature_type {
  GBT_NUMERIC = 0,
  GBT_CATEGORICAL = 1, /* no order: split by sets of levels */
  GBT_ORDINAL = 2      /* levels in order: split as the numbers 0, 1, 2, ... of their ranks */
} gbt_feature_type;

const char *gbt_feature_type_name(int type); /* "numeric", "categorical", "ordinal"; see gbt_status_name */

typedef struct gbt_feature {
  const char *name;          /* UTF-8, unique, not empty */
  const char *tag;           /* free text of the host ("Date", "integer", ...); "" for none */
  gbt_feature_type type;
  int32_t n_levels;          /* 0 for numeric */
  const char *const *levels; /* UTF-8. categorical: the level of bin i at [i]; ordinal: by rank */
} gbt_feature;

typedef struct gbt_text_index gbt_text_index;

typedef struct gbt_schema {
  int refs;
  gbt_mem mem;
  int32_t n_features;
  gbt_feature *feat;            /* n_features; lies in the schema's own block, which the last unref frees as a whole */
  gbt_text_index *level_index; /* n_features; NULL when none is kept */
} gbt_schema;

/* Copies everything. Fails with GBT_E_DATA on an empty or doubled name or a doubled level, naming it. */
gbt_status gbt_schema_new(const gbt_mem *mem, int32_t n_features, const gbt_feature *feat, gbt_schema **out,
                          gbt_error *err) GBT_MUST_CHECK;
/* Keeps an index of every feature's levels, so that finding a few texts does not read all levels. Before the schema is
 * used by several threads. */
gbt_status gbt_schema_index(gbt_schema *schema, gbt_error *err) GBT_MUST_CHECK;

/* The position of a level's text, or -1. Only with an index. */
int32_t gbt_schema_level(const gbt_schema *schema, int32_t feat, const char *text);

gbt_schema *gbt_schema_ref(gbt_schema *schema);
void gbt_schema_unref(gbt_schema *schema); /* NULL allowed */

/* For every text of `from` its position among `to`, or -1. out: n_from ints. Hashed: linear in both. */
gbt_status gbt_match_texts(const gbt_mem *mem, const char *const *from, int32_t n_from, const char *const *to,
                           int32_t n_to, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

/* The same on a thread of ctx, for millions of texts: GBT_CANCELLED when asked to stop. */
gbt_status gbt_match_many_texts(gbt_ctx *ctx, int thread, const char *const *from, int32_t n_from,
                                const char *const *to, int32_t n_to, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
