/* Operations on schemas for the engine only, not for hosts: setting feature maps, filling a schema in place, matching
 * texts by hashes. */
#ifndef GBT_SCHEMA_SCHEMA_IMPL_H
#define GBT_SCHEMA_SCHEMA_IMPL_H

#include "schema.h"

/* gbt_schema_new() with these features, none with a table. Their types and projections are set here. ctx: asked now and
 * then whether to stop, NULL: never. GBT_E_INTERNAL when the map has a fault. */
gbt_status gbt_schema_new_mapped(const gbt_mem *mem, gbt_ctx *ctx, int32_t n_columns, const gbt_schema_column *col,
                                 int32_t n_features, const gbt_feature *feat, gbt_schema **out,
                                 gbt_error *err) GBT_MUST_CHECK;

/* The columns and features of `base` (shared: *out has a reference to it, texts are not copied), followed by these
 * projections and features with tables; base's own projections come first. Features are in the order of their
 * projections, each of which has one at least; feat[i].projection counts from the first of `proj`; col and type are set
 * here. Everything in proj and feat is copied. GBT_E_INTERNAL when the map would have a fault. */
gbt_status gbt_schema_extend(const gbt_mem *mem, gbt_schema *base, int32_t n_projections, const gbt_projection *proj,
                             int32_t n_features, const gbt_feature *feat, gbt_schema **out,
                             gbt_error *err) GBT_MUST_CHECK;

/* How many of the features are read from tables; they are the last ones. */
int32_t gbt_schema_n_tables(const gbt_schema *schema);

/* `now`, followed by those features of `old` that are read from tables: the schema of a model that continues another
 * one. Both have the same columns in the same order. Tables are translated to the levels of `now`, which are matched by
 * text; a level that is only in `old` is dropped, and a level that is only in `now` makes a key unknown. *out is `now`
 * itself where `old` has no tables. GBT_E_ARG names a column that has no levels now. */
gbt_status gbt_schema_join(const gbt_mem *mem, gbt_schema *now, const gbt_schema *old, gbt_schema **out,
                           gbt_error *err) GBT_MUST_CHECK;

/* `schema` without the features that are read from tables and have keep[f] = 0, and without projections of which no
 * feature is left. keep: n_features; others are kept in any case. For a writer: *out has the texts and tables of
 * `schema`, which must outlive it, and finds no levels. */
gbt_status gbt_schema_keep(const gbt_mem *mem, const gbt_schema *schema, const uint8_t *keep, gbt_schema **out,
                           gbt_error *err) GBT_MUST_CHECK;

/* How many keys the columns of a projection can have, or 0 where that is 2^63 or more. */
uint64_t gbt_projection_space(const gbt_schema *schema, const gbt_projection *proj);

/* The fault of the map, or NULL: a kind, a column, a type, a key or a number that is impossible. */
const char *gbt_feature_map_fault(const gbt_schema *schema);

/* 1 when feature i is column i, for all of them. */
int gbt_feature_map_is_identity(const gbt_schema *schema);

/* The kind of a name, or -1. */
int gbt_feature_kind_find(const char *name);

/* Two levels of a column that have the same text; col = -1: there are none. */
typedef struct gbt_level_twins {
  int32_t col, first, again;
} gbt_level_twins;

/* Makes the index of every column's levels, for readers that fill a schema themselves; once, before the schema is
 * shared. The index is useless when there are twins. Freed with the schema, also after a failure. */
gbt_status gbt_schema_index(gbt_schema *schema, gbt_ctx *ctx, gbt_level_twins *twins, gbt_error *err) GBT_MUST_CHECK;

/* The positions of n texts among the levels of a column, -1 for texts that are not among them and for NULL. */
void gbt_schema_levels(const gbt_schema *schema, int32_t col, const char *const *text, int32_t n, int32_t *out);

/* A schema's block with room for these, for readers that fill it themselves; freed as a whole by the last unref. */
typedef struct gbt_schema_room {
  int32_t n_columns, n_features, n_projections;
  size_t n_levels, n_values, n_chars; /* of all columns; of all features; of all texts, NULs included */
  size_t n_keys, n_bins;              /* of all projections; of all tables */
} gbt_schema_room;

typedef struct gbt_schema_block {
  gbt_schema *schema; /* col, feat and proj are zero */
  const char **level; /* n_levels */
  double *value;      /* n_values */
  uint64_t *key;      /* n_keys */
  int32_t *col;       /* GBT_MOST_COMBINED for each projection */
  uint8_t *bin;       /* n_bins */
  char *text;         /* n_chars */
} gbt_schema_block;

/* The caller fills what *out points to and has the one reference. */
gbt_status gbt_schema_alloc(const gbt_mem *mem, gbt_schema_room room, gbt_schema_block *out,
                            gbt_error *err) GBT_MUST_CHECK;

/* A hash of the text: the same for the same salt and text. */
uint64_t gbt_text_hash(uint64_t salt, const char *text);

/* For every text of `from` its position among `to`, or -1. out: n_from ints. Hashed: linear in both. */
gbt_status gbt_match_texts(const gbt_mem *mem, const char *const *from, int32_t n_from, const char *const *to,
                           int32_t n_to, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

/* The same on a thread of ctx, for millions of texts: GBT_CANCELLED when asked to stop. */
gbt_status gbt_match_many_texts(gbt_ctx *ctx, int thread, const char *const *from, int32_t n_from,
                                const char *const *to, int32_t n_to, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
