/* The frozen model: one block of bytes, used in place, never trusted.
 *
 *   head       magic "gbtmodel", version, total size, checksum of all that follows it
 *   sections   a table of names and places, and the sections: bytes/, docs/model-format.md
 *
 * A model has parts: the forest (tree/forest.h), the objective that it was trained for, the schema of the columns, and
 * meta values, named vectors of texts, doubles or ints that the host keeps with a model (classes, log, ...).
 *
 * The bytes depend only on the parts: not on time, path, threads, device or pages. Opening checks magic, version, size,
 * checksum and every offset, index and range, so that whatever passes can be used without further checks. */
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

/* The bytes of a model, without tables that its trees do not use: later features get lower numbers. *out is allocated
 * from mem (free with gbt_mem_free). Meta entries are written in the order given. GBT_E_DATA or GBT_E_ARG when a text
 * is not UTF-8 or a meta entry is wrong; GBT_E_INTERNAL when the forest does not have these trees; GBT_E_UNSUPPORTED on
 * machines that store numbers high byte first, also when a model is opened. */
gbt_status gbt_model_make(const gbt_mem *mem, const gbt_model_spec *spec, uint8_t **out, size_t *n_bytes,
                          gbt_error *err) GBT_MUST_CHECK;

/* Reads the head of a model, before the rest is read: n_bytes is the size of the whole, bytes are the first of it (n:
 * GBT_MODEL_HEAD, or all that there are). GBT_E_FORMAT for what is no model, of another version or of another size than
 * the head says. */
enum { GBT_MODEL_HEAD = 24 };
gbt_status gbt_model_check_head(const void *bytes, size_t n, uint64_t n_bytes, gbt_error *err) GBT_MUST_CHECK;

/* Borrows bytes: they must outlive the model and not change. They may be anywhere; only those that begin on a multiple
 * of 8 are used without a copy. *out: free by gbt_model_close. GBT_E_FORMAT says what is wrong with them. */
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
