/* What the columns of a table are (names, types, level texts), and the features that are made of them. Shared by the
 * cuts, the trainer and the model; immutable once built, counted by references.
 *
 *   columns    what a user hands in and is shown
 *   features   what cuts, pages, trees and importance number: a column itself, or a statistic of a column
 *
 * The feature map says of every feature what it is made of (feature_kinds.def). Without derived features it is the
 * identity: feature i is column i. */
#ifndef GBT_BASE_SCHEMA_H
#define GBT_BASE_SCHEMA_H

#include "ctx.h"

/* Levels of a categorical column that sets of levels tell apart: its first ones. A column may have more, which are
 * missing values where it is split by itself, and levels like the others in its statistics. */
#define GBT_MAX_LEVELS 65534

typedef enum gbt_feature_type {
  GBT_NUMERIC = 0,
  GBT_CATEGORICAL = 1, /* no order: split by sets of levels */
  GBT_ORDINAL = 2      /* levels in order: split as the numbers 0, 1, 2, ... */
} gbt_feature_type;

const char *gbt_feature_type_name(int type); /* "numeric", "categorical", "ordinal"; see gbt_status_name */

typedef struct gbt_schema_column {
  const char *name;          /* UTF-8, unique, not empty */
  const char *tag;           /* free text of the host ("Date", "integer", ...); "" for none */
  gbt_feature_type type;
  int32_t n_levels;          /* 0 for numeric */
  const char *const *levels; /* UTF-8. categorical: the level of bin i at [i], then those beyond GBT_MAX_LEVELS;
                                ordinal: in order */
} gbt_schema_column;

typedef enum gbt_feature_kind {
#define GBT_FEATURE_KIND(ID, NAME, LABEL, TEXT) GBT_FEATURE_##ID,
#include "feature_kinds.def"
#undef GBT_FEATURE_KIND
  GBT_N_FEATURE_KINDS
} gbt_feature_kind;

/* One entry of the feature map. */
typedef struct gbt_feature {
  gbt_feature_kind kind;
  int32_t col;           /* of the schema */
  gbt_feature_type type; /* the column's for GBT_FEATURE_COLUMN; statistics are numeric */
  const double *value;   /* statistics: the number of each level of the column (n_levels); else NULL */
} gbt_feature;

typedef struct gbt_text_index gbt_text_index;

typedef struct gbt_schema {
  int refs;
  gbt_mem mem;
  int32_t n_columns, n_features;
  gbt_schema_column *col;      /* n_columns; like all below it lies in the schema's own block */
  gbt_feature *feat;           /* n_features */
  gbt_text_index *level_index; /* n_columns: the position of a level by its text; NULL when no column has levels */
} gbt_schema;

/* Copies everything; the feature map is the identity. Fails with GBT_E_DATA on an empty or doubled name or a doubled
 * level, naming it. */
gbt_status gbt_schema_new(const gbt_mem *mem, int32_t n_columns, const gbt_schema_column *col, gbt_schema **out,
                          gbt_error *err) GBT_MUST_CHECK;

/* The name of a kind in files ("column", "level_count"); NULL where there is no such kind. */
const char *gbt_feature_kind_name(int kind);

/* What users are shown: the column's name, or "count(carrier)". Writes at most size bytes, NUL included, and returns
 * the length of the whole. */
size_t gbt_feature_label(const gbt_schema *schema, int32_t feat, char *out, size_t size);

gbt_schema *gbt_schema_ref(gbt_schema *schema);
void gbt_schema_unref(gbt_schema *schema); /* NULL allowed */

#endif
