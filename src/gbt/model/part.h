/* What the parts of a model share: how they are written and read (sections.def). Private to model/.
 *
 *   writing   measure_... of all parts, then every section gets its place, then put_... of all parts
 *   reading   the table of sections, then read_... of all parts
 *
 * Texts lie in the order in which parts refer to them, so both sides only know where the next one is. */
#ifndef GBT_MODEL_PART_H
#define GBT_MODEL_PART_H

#include "format.h"
#include "model_impl.h"
#include "utf8.h"

#include "../schema/schema_impl.h"
#include "../tree/check.h"

typedef struct gbti_writer {
  gbt_mem mem;
  const gbt_model_parts *parts;
  uint64_t n[GBTI_N_SECTIONS]; /* records: what measure_... counts */
  uint64_t beg[GBTI_N_SECTIONS];
  uint8_t *out;
  uint64_t text_at; /* where the next text goes */
  gbt_error *err;
} gbti_writer;

typedef struct gbti_reader {
  gbt_mem mem;
  const void *at[GBTI_N_SECTIONS]; /* never NULL */
  uint64_t n[GBTI_N_SECTIONS];     /* whole records; 0 where there is no such section */
  uint64_t text_at;                /* where the next text must begin */
  uint64_t *keys;                  /* room of the schema for the keys of all projections */
  gbt_model *model;
  gbt_error *err;
} gbti_reader;

#define GBT_PART(part)                                           \
  gbt_status gbti_measure_##part(gbti_writer *w) GBT_MUST_CHECK; \
  void gbti_put_##part(gbti_writer *w);                          \
  gbt_status gbti_read_##part(gbti_reader *r) GBT_MUST_CHECK;
#include "sections.def"

/* How many projections and keys a schema needs room for. */
gbt_status gbti_measure_projections(const gbti_reader *r, gbt_schema_room *room) GBT_MUST_CHECK;

/* ---- writing ---- */

#define GBTI_TOO_LARGE ((uint64_t)1 << 62)

/* sum + n * size; stays at GBTI_TOO_LARGE once it got there. */
GBT_FN uint64_t gbti_add(uint64_t sum, uint64_t n, uint64_t size) {
  if (sum >= GBTI_TOO_LARGE || n > (GBTI_TOO_LARGE - sum) / size) return GBTI_TOO_LARGE;
  return sum + n * size;
}

GBT_FN void *gbti_out(const gbti_writer *w, gbti_section_id id) { return w->out + w->beg[id]; }

GBT_FN void gbti_copy(void *to, const void *from, uint64_t bytes) {
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
}

/* Counts a text, and fails with `code` when it is not UTF-8: the text belongs to the `what` of a name. */
gbt_status gbti_measure_text(gbti_writer *w, const char *text, gbt_status code, const char *what,
                             const char *name) GBT_MUST_CHECK;

/* Writes a text behind those before it; returns its position. */
uint64_t gbti_put_text(gbti_writer *w, const char *text);

/* ---- reading ---- */

/* GBT_E_FORMAT; what: the fault, a clause of the message. Always fails. */
gbt_status gbti_damaged(const gbti_reader *r, const char *what);

/* The text at a position. It must be the next one. */
gbt_status gbti_take_text(gbti_reader *r, uint64_t at, const char **out) GBT_MUST_CHECK;

/* Fails with `what` when two of the texts are equal. */
gbt_status gbti_check_unique(const gbti_reader *r, const char *const *text, int32_t n, const char *what) GBT_MUST_CHECK;

/* Whether the bytes [beg, end) are zeros. */
int gbti_is_zeros(const void *bytes, uint64_t beg, uint64_t end);

#endif
