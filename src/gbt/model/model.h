/* The frozen model: one block of bytes, used in place, never trusted.
 *
 * Layout, little-endian, every section 8-byte aligned:
 *   header   magic "gbtmodel", version, total size, checksum of all that follows it, section table (offset, bytes)
 *   forest   numbers, base scores, trees, nodes, sets, gain, cover, count   (tree/forest.h)
 *   schema   features: type, name, tag, levels as offsets into one text blob of NUL-ended UTF-8
 *   meta     named vectors of texts, doubles or ints: what the host keeps with a model (classes, objective, log, ...)
 *
 * The bytes are a function of the model alone: no time, path, thread, device or page. Opening checks magic, version,
 * size, checksum and every offset, index and range, so that whatever passes can be used without further checks. */
#ifndef GBT_MODEL_MODEL_H
#define GBT_MODEL_MODEL_H

#include "../base/ctx.h"
#include "../base/schema.h"
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

/* Writes a model. *out is allocated from mem (free with gbt_mem_free). Meta entries are written in the order given;
 * names unique. */
gbt_status gbt_model_write(const gbt_mem *mem, const gbt_forest_view *forest, const gbt_schema *schema,
                           const gbt_meta *meta, int32_t n_meta, uint8_t **out, size_t *n_bytes,
                           gbt_error *err) GBT_MUST_CHECK;

typedef struct gbt_model {
  gbt_mem mem;
  gbt_forest_view forest;   /* points into the bytes */
  gbt_schema *schema;       /* owned: pointer tables; texts point into the bytes */
  int32_t n_meta;
  gbt_meta *meta;           /* owned: pointer tables; payload points into the bytes */
  void *own_bytes;          /* a copy when the caller's bytes were not 8-byte aligned; else NULL */
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
