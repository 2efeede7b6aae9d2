/* Crafted models: mutations that know the format (bytes/format.h), checksums put right.
 *
 *   draft     a model as its sections, each in its own buffer, to be edited one by one. The resulting bytes of
 *             one have every section, text and tree where it must be, so most of them are models or nearly so
 *   raw       edits of the bytes themselves: fields, the table of sections, sizes; most of these are refused
 *
 * Everything follows from the rng's seed and the bytes. Any bytes will do; what is no model is mutated as bytes. */
#ifndef GBT_TEST_MUTATE_H
#define GBT_TEST_MUTATE_H

#include "../../src/gbt/model/model_impl.h"
#include "test.h"

enum { MUTATE_SECTION = 8192 }; /* bytes of a section that is edited at most */

/* A section that drafts alone have: where the levels of all columns are among the texts, a uint64_t each. */
#define DRAFT_LEVELS ((gbti_section_id)GBTI_N_SECTIONS)

typedef struct draft {
  _Alignas(8) uint8_t section[GBTI_N_SECTIONS + 1][MUTATE_SECTION];
  size_t n[GBTI_N_SECTIONS + 1]; /* bytes; 0: not there */
} draft;

/* Of a block that is sound: where a section's row lies, 0 where it has no such section; and the row, or zeros. */
size_t section_row(const uint8_t *bytes, gbti_section_id id);
gbti_section section_of(const uint8_t *bytes, gbti_section_id id);

/* 0 when the bytes have no table of sections that lie within them, or a section is too large. Unknown ones are left
 * out. */
int draft_read(draft *d, const uint8_t *bytes, size_t n);

/* The model of a draft, sealed. Returns its size, 0 when that is above `most`. */
size_t draft_write(draft *d, uint8_t *out, size_t most);

/* One edit of a draft: of a tree, a set, a vector, the objective, a column, a level, a meta entry, a text, a number. */
void draft_edit(test_rng *rng, draft *d);

/* Takes schema, forest and meta of either draft, or appends the trees of `from`. */
void draft_merge(test_rng *rng, draft *d, const draft *from);

/* Gives every text its place again, as the objective, columns, levels and meta entries refer to them, and every vector,
 * as leaves do. */
void draft_relay(draft *d);

/* Puts a text after the others; its place until texts are laid again. */
uint64_t draft_add_text(draft *d, const char *text);

/* Inserts a section of a name, flags and bytes in front of row `place` of the table of sections, or after the last
 * one; there is room for `most`. Returns the new size; the checksum is to be made right. */
size_t mutate_add_section(uint8_t *bytes, size_t n, size_t most, const gbti_section *like, uint32_t place);

/* Keeps the first bytes of a section of a block that is sound, a multiple of 8; the checksum is to be made right.
 * Returns the new size. */
size_t mutate_cut_section(uint8_t *bytes, size_t n, gbti_section_id id, uint64_t kept);

/* Makes size and checksum right. */
void mutate_seal(uint8_t *bytes, size_t n);

/* Mutates n bytes in place; there is room for `most`. Returns the new size. */
size_t mutate_model(test_rng *rng, uint8_t *bytes, size_t n, size_t most);

/* A model of sections of two; returns its size, 0 when that failed. */
size_t mutate_merge(test_rng *rng, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *out,
                    size_t most);

/* Numbers at the edge of something in a model of n bytes. */
uint64_t mutate_edge(test_rng *rng, size_t n);

#endif
