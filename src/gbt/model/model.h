/* The model as one block of bytes, which is used in place, and checked when it is opened.
 *
 *   head       magic "gbtmodel", version, total size, checksum of all that follows it
 *   sections   a table of names and places, and the sections: bytes/, docs/model-format.md
 *
 * A model has parts: the forest (tree/forest.h), the objective that it was trained for, the schema of the columns, and
 * meta values, named vectors of texts, doubles or ints that the host keeps with a model (classes, log, ...).
 *
 * The bytes depend only on the parts: not on time, path, threads, device or pages. Opening checks magic, version, size,
 * checksum and every offset, index and range, so that an open model needs no further checks. */
#ifndef GBT_MODEL_MODEL_H
#define GBT_MODEL_MODEL_H

#include "../base/ctx.h"
#include "../bytes/values.h"
#include "../objective/objective.h"
#include "../schema/schema.h"
#include "../tree/view.h"

typedef struct gbt_model gbt_model;

/* The parts of a new model. Borrowed for the call. */
typedef struct gbt_model_spec {
  const gbt_forest_view *forest;
  gbt_tree_range trees;    /* of the forest: those of whole rounds */
  gbt_objective objective; /* of the forest's n_outputs */
  const gbt_schema *schema;
  const gbt_meta *meta; /* n_meta, names unique; may be NULL when there are none */
  int32_t n_meta;
} gbt_model_spec;

/* The bytes of a model. Tables that its trees do not use are left out, so later features get lower numbers. *out is
 * allocated from mem (free with gbt_mem_free). Meta entries are written in the given order. GBT_E_DATA or GBT_E_ARG: a
 * text is not UTF-8, or a meta entry is wrong; GBT_E_INTERNAL: the forest does not have these trees; GBT_E_UNSUPPORTED:
 * the machine is big-endian (also when a model is opened). */
gbt_status gbt_model_make(const gbt_mem *mem, const gbt_model_spec *spec, uint8_t **out, size_t *n_bytes,
                          gbt_error *err) GBT_MUST_CHECK;

/* Checks the head of a model, before the rest is read: n_bytes is the size of the whole, bytes are its first n bytes
 * (GBT_MODEL_HEAD, or all if there are fewer). GBT_E_FORMAT: no model, another version, or another size than in the
 * head. */
enum { GBT_MODEL_HEAD = 24 };
gbt_status gbt_model_check_head(const void *bytes, size_t n, uint64_t n_bytes, gbt_error *err) GBT_MUST_CHECK;

/* Borrows bytes: they must outlive the model and not change. Bytes whose address is not a multiple of 8 are copied.
 * *out: free by gbt_model_close. GBT_E_FORMAT says what is wrong with them. */
gbt_status gbt_model_open(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_model **out,
                          gbt_error *err) GBT_MUST_CHECK;
void gbt_model_close(gbt_model *model); /* NULL allowed */

/* The parts of a model. Borrowed, as long as the model is open. */
const gbt_forest_view *gbt_model_forest(const gbt_model *model);
const gbt_objective *gbt_model_objective(const gbt_model *model);
const gbt_schema *gbt_model_schema(const gbt_model *model);
const gbt_meta *gbt_model_metas(const gbt_model *model, int32_t *n);      /* in the order written */
const gbt_meta *gbt_model_meta(const gbt_model *model, const char *name); /* NULL when there is no such entry */

#endif
