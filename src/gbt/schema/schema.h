/* The columns of a table (names, types, level texts), and the features that are made of them. Shared by the cuts, the
 * trainer and the model; immutable once built, counted by references.
 *
 *   columns       the columns that users give and see
 *   projections   categorical columns, one or several combined, whose levels are keys of tables
 *   features      numbered by cuts, pages, trees and importance: a column itself, a number by level of a column, or a
 *                 statistic of the training rows by key of a projection
 *
 * The feature map says of every feature what it is made of (feature_kinds.def). Without derived features it is the
 * identity: feature i is column i.
 *
 * A row's key in a projection of the columns c1 < c2 < ... is a number with mixed radix, key = 0, then for each column
 *
 *   key = key * (n_levels(c) + 1) + level        level: its position among the column's; n_levels for a missing value
 *
 * so a missing value is a level of its own. A row with a level that the schema does not have has no key. */
#ifndef GBT_SCHEMA_SCHEMA_H
#define GBT_SCHEMA_SCHEMA_H

#include "../base/ctx.h"

/* Levels of a categorical column that sets of levels distinguish: its first ones. A column may have more, which are
 * missing values where it is split by itself, and levels like the others in its statistics. */
#define GBT_MAX_LEVELS 65534

typedef enum gbt_feature_type {
  GBT_NUMERIC = 0,
  GBT_CATEGORICAL = 1, /* no order: split by sets of levels */
  GBT_ORDINAL = 2      /* levels in order: split as the numbers 0, 1, 2, ... */
} gbt_feature_type;

const char *gbt_feature_type_name(int type); /* "numeric", "categorical", "ordinal"; see gbt_status_name */

typedef struct gbt_schema_column {
  const char *name; /* UTF-8, unique, not empty */
  const char *tag;  /* free text of the host ("Date", "integer", ...); "" for none */
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

enum {
  GBT_MOST_COMBINED = 4, /* columns of a projection */
  GBT_DERIVED_BINS = 255 /* maximum number of bins of a feature that is read from a table */
};

/* Columns whose levels, combined, are keys. The product of (n_levels + 1) over the columns is below 2^63. */
typedef struct gbt_projection {
  int32_t n_cols;      /* 1 .. GBT_MOST_COMBINED */
  const int32_t *col;  /* n_cols columns of the schema, categorical, ascending */
  int64_t n_keys;      /* rows of its tables, up to 2^31 - 1 */
  const uint64_t *key; /* n_keys, ascending: row i of a table is for key[i]. NULL where row i is for key i: all keys of
                          one column, n_keys = n_levels + 1 */
} gbt_projection;

/* One entry of the feature map. Fields that a kind does not use are 0 or NULL, the projection -1. */
typedef struct gbt_feature {
  gbt_feature_kind kind;
  int32_t col;           /* of the schema; the first one of a projection */
  gbt_feature_type type; /* the column's for GBT_FEATURE_COLUMN; all others are numeric */
  const double *value;   /* GBT_FEATURE_LEVEL_COUNT: the number of each level of the column (n_levels) */
  /* Kinds with a table (gbt_feature_has_table): the feature reads as the number of a bin, 0 .. n_bins - 1. */
  int32_t projection;
  int32_t part;        /* GBT_FEATURE_TARGET_CLASS: the class, or the border, from 0 */
  double prior_weight; /* the weight of the prior, in rows, 0 or more */
  int32_t n_bins;      /* 1 .. GBT_DERIVED_BINS */
  uint8_t unknown;     /* the bin of rows without a key, and of keys that the table does not have */
  const uint8_t *bin;  /* by row of the projection's tables (n_keys): its bin */
  const double *shown; /* n_bins - 1 finite numbers, never falling: the largest value of each bin but the last, in units
                          of the response, a share or a number of rows: what users see for thresholds */
} gbt_feature;

typedef struct gbt_text_index gbt_text_index;
typedef struct gbt_key_index gbt_key_index;

typedef struct gbt_schema {
  int refs;
  gbt_mem mem;
  int32_t n_columns, n_features, n_projections;
  gbt_schema_column *col;      /* n_columns; like all below it lies in the schema's own block, or belongs to `base` */
  gbt_feature *feat;           /* n_features */
  gbt_projection *proj;        /* n_projections */
  struct gbt_schema *base;     /* the one that this one extends, with a reference to it; or NULL */
  gbt_text_index *level_index; /* n_columns: the position of a level by its text; NULL when no column has levels */
  gbt_key_index *key_index;    /* n_projections: see key_index.h; NULL when none was made */
} gbt_schema;

/* A schema of n_columns columns, which are copied; the feature map is the identity. GBT_E_DATA names a name that is
 * empty or occurs twice, or a level that does. Free by gbt_schema_unref. */
gbt_status gbt_schema_new(const gbt_mem *mem, int32_t n_columns, const gbt_schema_column *col, gbt_schema **out,
                          gbt_error *err) GBT_MUST_CHECK;

/* The name of a kind in files ("column", "level_count"); NULL where there is no such kind. */
const char *gbt_feature_kind_name(int kind);

/* Whether features of the kind are read from a table by key. */
static inline int gbt_feature_has_table(gbt_feature_kind kind) {
  return kind == GBT_FEATURE_TARGET_MEAN || kind == GBT_FEATURE_TARGET_CLASS || kind == GBT_FEATURE_KEY_COUNT;
}

/* The name of a feature for users: the column's name, "count(carrier)", or "mean(carrier x origin)". Writes at most
 * size bytes, NUL included, and returns the length of the whole. */
size_t gbt_feature_label(const gbt_schema *schema, int32_t feat, char *out, size_t size);

/* One more reference to the schema, which is returned; one less, and the last one frees it. Counts are not atomic: a
 * schema and what shares it are used by one thread at a time. */
gbt_schema *gbt_schema_ref(gbt_schema *schema);
void gbt_schema_unref(gbt_schema *schema); /* NULL allowed */

#endif
