/* CatBoost's statistics of categories (CTR): a number for each category, from counts of the training rows, which a
 * split compares with a border. Where it is of one column, such a split is one by a set of levels.
 *
 *   features_info.ctrs   type, elements (the columns), borders, prior, shift, scale; identifier
 *   ctr_data             by identifier: hash_map, records [hash, counts ...] of hash_stride values
 *
 *   number of a category = ((count + prior) / (total + the prior's total) + shift) * scale, in float32
 *
 * Count and total of a category without a record are 0. */
#ifndef GBT_EXCHANGE_CATBOOST_CTR_H
#define GBT_EXCHANGE_CATBOOST_CTR_H

#include "document.h"
#include "plant.h"

/* Hashes of categories in ascending order, each with its place in a list: hash << 32 | place. */
typedef struct gbti_hashes {
  uint64_t *key;
  size_t n;
} gbti_hashes;

typedef struct gbti_ctr_table {
  int type;         /* of its statistics: a row of ctr_types */
  int32_t category; /* the place of its column among the categories */
  size_t before;    /* 1 + the number of the column's table before it; 0: none */
  int64_t width;    /* numbers of a record */
  double all;       /* what counts of rows are divided by */
  uint64_t *hash;   /* n, ascending */
  uint32_t *record; /* by hash: the number of its record */
  double *number;   /* width of each record */
  size_t n;
} gbti_ctr_table;

/* A key of ctr_data, as it is in the file. */
typedef struct gbti_ctr_key {
  const uint8_t *text;
  size_t n, data; /* data: the key's value in the document */
  size_t table;   /* 1 + the number of the table that was read from it; 0: none */
} gbti_ctr_key;

typedef struct gbti_ctr {
  int type;         /* a row of ctr_types; below 0: not taken */
  int32_t category; /* the place of its column among the categories */
  int64_t part;     /* a class, or the one below a border between classes */
  float prior, prior_total, shift, scale;
  size_t table;
} gbti_ctr;

typedef struct gbti_ctr_border {
  double border;
  size_t ctr, set_beg, set_n; /* the codes above it, when they are known */
  int known;
} gbti_ctr_border;

typedef struct gbti_ctrs {
  gbti_document *doc;
  gbti_plant *plant;
  const char *refused; /* why no split by a statistic is taken; NULL */
  gbti_ctr *ctr;
  gbti_ctr_key *key; /* ascending */
  gbti_ctr_table *table;
  size_t *last;            /* by category: 1 + the number of its last table; 0: none */
  gbti_ctr_border *border; /* of all, in the order of the file */
  uint64_t *text_hash;     /* of the categories with texts, as tables have it; ascending */
  uint32_t *text;          /* their hashes in that order */
  size_t n, n_keys, n_tables, n_borders, n_texts, cap_tables, cap_borders;
  size_t n_looked; /* levels that were compared with borders */
} gbti_ctrs;

/* Fails: the file has a hash of a category without its text. */
gbt_status gbti_lacks_texts(const gbti_plant *plant) GBT_MUST_CHECK;

/* The statistics in features_info. c: zeros but doc and plant; after a failure too, gbti_ctrs_close() it. */
gbt_status gbti_ctrs_open(gbti_ctrs *c, size_t features, int64_t n_categories, int64_t n_outputs) GBT_MUST_CHECK;
void gbti_ctrs_close(gbti_ctrs *c);

/* The number of a split's border among those of all statistics, which are the last ones that split_index counts. */
gbt_status gbti_ctr_find(const gbti_ctrs *c, size_t split, int64_t n_before, size_t *out) GBT_MUST_CHECK;

/* The categories of the tables of a column, with places 0, 1, ... texts: the hashes whose texts are known, the same in
 * all calls; others are refused. out: empty, then owned, also after a failure. */
gbt_status gbti_ctr_levels(gbti_ctrs *c, int32_t category, const gbti_hashes *texts, gbti_hashes *out) GBT_MUST_CHECK;

/* A node whose left rows are those above a border. levels: of the column, whose places are its codes. */
gbt_status gbti_ctr_split(gbti_ctrs *c, size_t border, const gbti_hashes *levels, gbti_new_node *node) GBT_MUST_CHECK;

#endif
