/* A model as the engine sees it. */
#ifndef GBT_MODEL_MODEL_IMPL_H
#define GBT_MODEL_MODEL_IMPL_H

#include "../bytes/sections.h"
#include "model.h"

#define GBTI_MODEL_MAGIC "gbtmodel" /* 8 bytes, no NUL */
#define GBTI_MODEL_VERSION 2u

extern const gbti_kind gbti_model_kind;

/* The parts of a model. Borrowed pointers. */
typedef gbti_contents gbt_model_parts;

/* Writes a model. *out is allocated from mem (free with gbt_mem_free). Meta entries are written in the order given.
 * A view of some of a forest's trees gives the model of just these. GBT_E_DATA or GBT_E_ARG when a text is not UTF-8 or
 * a meta entry is wrong. */
gbt_status gbt_model_write(const gbt_mem *mem, const gbt_model_parts *parts, uint8_t **out, size_t *n_bytes,
                           gbt_error *err) GBT_MUST_CHECK;

struct gbt_model {
  gbt_mem mem;
  gbt_model_parts parts; /* forest, texts and values point into the bytes */
  int32_t n_skipped;     /* sections of a later version that need not be understood; writing the parts drops them */
  int32_t n_defaults;    /* parameters of the objective that the bytes do not have; writing the parts adds them */
  gbt_schema *schema;    /* owned, that of the parts: pointer tables */
  gbt_meta *meta;        /* owned, those of the parts: pointer tables */
  void *own_bytes;       /* a copy when the caller's bytes were not 8-byte aligned; else NULL */
};

#endif
