/* The byte layout of a block of sections; docs/model-format.md describes it, of models, for readers in other languages.
 * Little-endian; offsets are counted in bytes from the block's first byte.
 *
 *   head | table of sections | section | section | ...    each section begins on a multiple of 8, zeros in between
 * sections.def lists the sections; a section of no bytes is left out. Sections follow one another without gaps, known
 * ones in the order of sections.def, and texts, levels, trees, sets, vectors and meta values lie in the order in which
 * they are referred to. So a block has one form only, equal contents have equal bytes, and a check of every reference
 * is linear: each must point at where the one before it ended. */
#ifndef GBT_BYTES_FORMAT_H
#define GBT_BYTES_FORMAT_H

#include <string.h>

#include "../base/checksum.h"
#include "../data/page.h"
#include "../tree/forest.h"

#define GBTI_MODEL_NO_TEXT UINT64_MAX /* a missing text among meta values */

enum { GBTI_MOST_SECTIONS = 64 };

typedef struct gbti_model_head {
  char magic[8];
  uint32_t version, n_sections;
  uint64_t n_bytes;  /* of the whole block, a multiple of 8 */
  uint64_t checksum; /* of all bytes after the head */
} gbti_model_head;

/* A row of the table of sections. */
typedef struct gbti_section {
  char name[16];        /* lower-case letters, digits and '_'; padded with zeros */
  uint32_t flags, zero; /* GBTI_SECTION_...; 0 */
  uint64_t beg, bytes;  /* bytes: without padding, above 0 */
} gbti_section;

/* The properties of a section, by its id. */
typedef struct gbti_section_info {
  char name[17];
  uint32_t flags;
  uint64_t record; /* bytes of a record */
} gbti_section_info;

/* A reader that does not know the section must refuse the model. Others it may skip. */
#define GBTI_SECTION_NEEDED 1u

typedef struct gbti_model_numbers {
  int32_t n_features, n_outputs, n_leaf_outputs, n_parallel;
} gbti_model_numbers;

typedef struct gbti_model_sums {
  uint32_t rule, zero; /* gbt_sum_rule, not GBT_SUM_PLAIN; 0 */
  double scale;        /* 0 where the rule has none */
} gbti_model_sums;

typedef struct gbti_model_parameter {
  uint64_t name; /* in the texts */
  double value;
} gbti_model_parameter;

typedef struct gbti_model_column {
  uint64_t name, tag; /* in the texts */
  uint32_t type;      /* gbt_feature_type */
  int32_t n_levels;
} gbti_model_column;

typedef struct gbti_model_feature {
  uint32_t kind; /* its place among the feature kinds */
  int32_t col;
} gbti_model_feature;

typedef struct gbti_model_projection {
  int32_t n_cols, n_keys;
} gbti_model_projection;

typedef struct gbti_model_table {
  int32_t projection, part;
  double prior_weight;
  int32_t n_bins, unknown;
} gbti_model_table;

typedef struct gbti_model_entry {
  uint64_t name;       /* in the texts */
  uint32_t kind, zero; /* gbt_meta_kind; 0 */
  uint64_t n, beg;     /* values; the byte among the meta values where they begin */
} gbti_model_entry;

typedef struct gbti_cuts_record {
  int64_t n_filled;
  int32_t n_bins, has_missing, zero_bin, onehot;
} gbti_cuts_record;

/* The fields of an index that are in no other section. */
typedef struct gbti_data_record {
  uint64_t id; /* of the data set: in the name of its pages */
  int64_t n_rows, n_entries, page_bytes, cut_rows;
  int32_t page_rows, derived, absent_missing, n_files;
  uint32_t sparse_slot, n_slots;
} gbti_data_record;

/* Where a page is, in file number page % n_files: the pages of a span are in as many files as there are. */
typedef struct gbti_page_record {
  uint64_t beg, stored; /* in the file; the stored bytes are padded with zeros to a multiple of 8 */
  uint64_t bytes;       /* of the page, when it is unpacked */
  uint64_t n_entries;   /* of its sparse lists */
  uint64_t checksum;    /* of the stored bytes with their zeros */
  uint64_t codec;       /* gbt_codec; GBT_CODEC_NONE: stored == bytes */
} gbti_page_record;

typedef enum gbti_section_id {
#define GBT_SECTION(ID, name, flags, record) GBTI_SEC_##ID,
#include "sections.def"
  GBTI_N_SECTIONS
} gbti_section_id;

extern const gbti_section_info gbti_sections[GBTI_N_SECTIONS];

_Static_assert((int)GBTI_N_SECTIONS <= (int)GBTI_MOST_SECTIONS, "all sections have room");
_Static_assert(sizeof(gbti_model_head) == 32 && sizeof(gbti_section) == 40, "the head has no gaps");
_Static_assert(sizeof(gbti_model_numbers) == 16 && sizeof(gbti_model_sums) == 16 &&
                   sizeof(gbti_model_parameter) == 16 &&
                   sizeof(gbti_model_column) == 24 && sizeof(gbti_model_feature) == 8 &&
                   sizeof(gbti_model_entry) == 32 && sizeof(gbti_model_projection) == 8 &&
                   sizeof(gbti_model_table) == 24 && sizeof(gbt_tree) == 24 && sizeof(gbt_node) == 16 &&
                   sizeof(gbt_linear_grid) == 16 && sizeof(gbt_linear_leaf) == 40 && sizeof(gbt_linear_term) == 16 &&
                   sizeof(gbti_cuts_record) == 24 && sizeof(gbti_data_record) == 64 && sizeof(gbti_page_record) == 48 &&
                   sizeof(gbt_place) == 24 && sizeof(gbt_group) == 4 * (7 + 3 * GBT_GROUP_MAX),
               "records have no gaps");

GBT_FN uint64_t gbti_align8(uint64_t n) { return (n + 7u) & ~(uint64_t)7u; }

#endif
