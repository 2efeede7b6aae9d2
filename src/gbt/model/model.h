/* The frozen model: one block of bytes, used in place, never trusted.
 *
 *   head       magic "gbtmodel", version, total size, checksum of all that follows it
 *   sections   a table of names and places, and the sections: sections.def, format.h, docs/model-format.md
 *
 * A model has parts: the forest (tree/forest.h), the objective that it was trained for, the schema of the columns, and
 * meta values, named vectors of texts, doubles or ints that the host keeps with a model (classes, log, ...).
 *
 * The bytes are a function of the parts alone: no time, path, thread, device or page. Opening checks magic, version,
 * size, checksum and every offset, index and range, so that whatever passes can be used without further checks. */
#ifndef GBT_MODEL_MODEL_H
#define GBT_MODEL_MODEL_H

#include "../base/ctx.h"
#include "../base/schema.h"
#include "../objective/objective.h"
#include "../tree/forest.h"

typedef enum gbt_meta_kind { GBT_META_TEXT = 0, GBT_META_DOUBLE = 1, GBT_META_INT = 2 } gbt_meta_kind;

typedef struct gbt_meta {
  const char *name;
  gbt_meta_kind kind;
  int64_t n;
  const char *const *text; /* by kind, one of these; a text may be NULL (missing) */
  const double *num;
  const int32_t *ints;
} gbt_meta;

/* What a model is made of. Borrowed pointers. */
typedef struct gbt_model_parts {
  gbt_forest_view forest;
  gbt_objective objective; /* of the forest's n_outputs */
  const gbt_schema *schema;
  const gbt_meta *meta; /* n_meta, names unique; may be NULL when there are none */
  int32_t n_meta;
} gbt_model_parts;

/* Writes a model. *out is allocated from mem (free with gbt_mem_free). Meta entries are written in the order given.
 * A view of some of a forest's trees gives the model of just these. GBT_E_DATA or GBT_E_ARG when a text is not UTF-8 or
 * a meta entry is wrong. */
gbt_status gbt_model_write(const gbt_mem *mem, const gbt_model_parts *parts, uint8_t **out, size_t *n_bytes,
                           gbt_error *err) GBT_MUST_CHECK;

typedef struct gbt_model {
  gbt_mem mem;
  gbt_model_parts parts; /* forest, texts and values point into the bytes */
  int32_t n_skipped;     /* sections of a later version that need not be understood; writing the parts drops them */
  gbt_schema *schema;    /* owned, that of the parts: pointer tables */
  gbt_meta *meta;        /* owned, those of the parts: pointer tables */
  void *own_bytes;       /* a copy when the caller's bytes were not 8-byte aligned; else NULL */
} gbt_model;

/* What the head of a model tells, looked at before the rest is read: n_bytes is the size of the whole, bytes are the
 * first of it (n: GBT_MODEL_HEAD, or all that there are). GBT_E_FORMAT for what is no model, of another version or of
 * another size than the head says. */
enum { GBT_MODEL_HEAD = 24 };
gbt_status gbt_model_check_head(const void *bytes, size_t n, uint64_t n_bytes, gbt_error *err) GBT_MUST_CHECK;

/* Borrows bytes: they must outlive the model and not change. GBT_E_FORMAT says what is wrong with them. */
gbt_status gbt_model_open(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_model **out,
                          gbt_error *err) GBT_MUST_CHECK;
void gbt_model_close(gbt_model *model); /* NULL allowed */

/* NULL when there is no such entry. */
const gbt_meta *gbt_model_meta(const gbt_model *model, const char *name);

#endif
