/* Models that somebody crafted: mutations that know the format (model/format.h), checksums put right.
 *
 *   draft     a model as its 13 parts, each in a buffer of its own, to be edited part by part; the bytes that come of
 *             one have every part, text and tree where it must be, so most of them are models or nearly so
 *   raw       edits of the bytes themselves: fields, the table of parts, sizes; most of these are refused
 *
 * Everything follows from the rng's seed and the bytes. Any bytes will do; what is no model is mutated as bytes. */
#ifndef GBT_TEST_MUTATE_H
#define GBT_TEST_MUTATE_H

#include "../../src/gbt/model/format.h"
#include "test.h"

enum { MUTATE_PART = 8192 }; /* bytes of a part that is edited at most */

typedef struct draft {
  _Alignas(8) uint8_t part[GBTI_N_PARTS][MUTATE_PART];
  size_t n[GBTI_N_PARTS];
} draft;

/* 0 when the bytes have no table of parts that lie within them, or a part is too large. */
int draft_read(draft *d, const uint8_t *bytes, size_t n);

/* The model of a draft, sealed. Returns its size, 0 when that is above `most`. */
size_t draft_write(draft *d, uint8_t *out, size_t most);

/* One edit of a draft: of a tree, a set, a feature, a level, a meta entry, a text, a count. */
void draft_edit(test_rng *rng, draft *d);

/* Takes schema, forest and meta of either draft, or appends the trees of `from`. */
void draft_merge(test_rng *rng, draft *d, const draft *from);

/* Gives every text its place again, as features, levels and meta entries refer to them. */
void draft_relay(draft *d);

/* Makes size and checksum right. */
void mutate_seal(uint8_t *bytes, size_t n);

/* Mutates n bytes in place; there is room for `most`. Returns the new size. */
size_t mutate_model(test_rng *rng, uint8_t *bytes, size_t n, size_t most);

/* A model of parts of two; returns its size, 0 when nothing came of it. */
size_t mutate_merge(test_rng *rng, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out,
                    size_t most);

/* Numbers at the edge of something in a model of n bytes. */
uint64_t mutate_edge(test_rng *rng, size_t n);

#endif
