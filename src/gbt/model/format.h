/* The byte layout of a model. Little-endian; offsets are counted in bytes from the model's first byte.
 *
 *   head | section 0 | section 1 | ... | section 12 |        each section begins on a multiple of 8, zeros in between
 *
 * Sections follow one another in the order of gbti_model_part without gaps, and texts, levels, trees, sets and meta
 * values lie in the order in which they are referred to. So a model has one form only, equal models have equal bytes,
 * and a check of every reference is linear: each must point at where the one before it ended. */
#ifndef GBT_MODEL_FORMAT_H
#define GBT_MODEL_FORMAT_H

#include <string.h>

#include "../base/rng.h"
#include "../tree/forest.h"

#define GBTI_MODEL_MAGIC "gbtmodel" /* 8 bytes, no NUL */
#define GBTI_MODEL_VERSION 1u
#define GBTI_MODEL_NO_TEXT UINT64_MAX /* a missing text among meta values */

typedef enum gbti_model_part {
  GBTI_PART_NUMBERS = 0, /* one gbti_model_numbers */
  GBTI_PART_BASE,        /* n_outputs doubles */
  GBTI_PART_TREES,       /* n_trees gbt_tree */
  GBTI_PART_NODES,       /* n_nodes gbt_node */
  GBTI_PART_SETS,        /* n_words uint32 */
  GBTI_PART_GAIN,        /* n_nodes doubles */
  GBTI_PART_COVER,       /* n_nodes doubles */
  GBTI_PART_COUNT,       /* n_nodes uint32 */
  GBTI_PART_FEATURES,    /* n_features gbti_model_feature */
  GBTI_PART_LEVELS,      /* positions in the text part, uint64, feature by feature */
  GBTI_PART_META,        /* n_meta gbti_model_entry */
  GBTI_PART_VALUES,      /* values of the entries, each on a multiple of 8: doubles, int32 or positions of texts */
  GBTI_PART_TEXTS,       /* UTF-8 texts, each with its NUL */
  GBTI_N_PARTS
} gbti_model_part;

typedef struct gbti_model_section {
  uint64_t beg, bytes; /* bytes: without the zeros behind */
} gbti_model_section;

typedef struct gbti_model_head {
  char magic[8];
  uint32_t version, n_parts;
  uint64_t n_bytes;  /* of the whole model, a multiple of 8 */
  uint64_t checksum; /* of all bytes behind it */
  gbti_model_section part[GBTI_N_PARTS];
} gbti_model_head;

typedef struct gbti_model_numbers {
  int32_t n_features, n_outputs, n_parallel, n_meta;
  uint64_t n_trees, n_nodes, n_words;
} gbti_model_numbers;

typedef struct gbti_model_feature {
  uint64_t name, tag; /* in the text part */
  uint32_t type;      /* gbt_feature_type */
  int32_t n_levels;
} gbti_model_feature;

typedef struct gbti_model_entry {
  uint64_t name;       /* in the text part */
  uint32_t kind, zero; /* gbt_meta_kind; 0 */
  uint64_t n, beg;     /* values; where they begin in the values part */
} gbti_model_entry;

_Static_assert(sizeof(gbti_model_head) == 32 + 16 * GBTI_N_PARTS, "the head has no gaps");
_Static_assert(sizeof(gbti_model_numbers) == 40 && sizeof(gbti_model_feature) == 24 && sizeof(gbti_model_entry) == 32 &&
                   sizeof(gbt_tree) == 24 && sizeof(gbt_node) == 16,
               "records have no gaps");

/* What the checksum covers begins here. */
#define GBTI_MODEL_SUMMED 32

GBT_FN int gbti_little_endian(void) {
  const uint32_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first == 1;
}

GBT_FN uint64_t gbti_align8(uint64_t n) { return (n + 7u) & ~(uint64_t)7u; }

GBT_FN uint64_t gbti_hash_step(uint64_t lane, uint64_t word) {
  uint64_t x = (lane ^ word) * 0x9fb21c651e98df25u; /* odd: a change of one word always changes its lane */
  return (x << 29) | (x >> 35);
}

/* Hash of n bytes, a multiple of 8: words go round four lanes, so that the multiplications overlap; the lanes are mixed
 * into one at the end. Guards against damage, not against malice. */
GBT_FN uint64_t gbti_model_checksum(const uint8_t *bytes, uint64_t n) {
  uint64_t a = 1, b = 2, c = 3, d = 4, i = 0, w[4];
  for (; n - i >= 32; i += 32) {
    memcpy(w, bytes + i, 32);
    a = gbti_hash_step(a, w[0]);
    b = gbti_hash_step(b, w[1]);
    c = gbti_hash_step(c, w[2]);
    d = gbti_hash_step(d, w[3]);
  }
  for (; n - i >= 8; i += 8) {
    memcpy(w, bytes + i, 8);
    a = gbti_hash_step(a, w[0]);
  }
  return gbt_mix64(gbt_mix64(gbt_mix64(gbt_mix64(a ^ n) ^ b) ^ c) ^ d);
}

#endif
