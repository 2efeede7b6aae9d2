/* The functions of a device's library. The library holds its own copies of the engine's stateless functions; objects
 * that engine and library exchange (data sets, forests) carry their gbt_mem with them, so either side may free them. */
#ifndef GBT_BACKEND_DEVICE_API_H
#define GBT_BACKEND_DEVICE_API_H

#include "../data/dataset_impl.h"
#include "../tree/forest.h"
#include "backend.h"
#include "device.h"

/* A number for the text of all headers of the engine and what changes their meaning, from configure. A library with
 * another one is refused: its structs may be others. Where the engine and the library are linked into one program, as
 * in the native tests, there is no need of it. */
#if !defined(GBT_BUILD_ID)
#define GBT_BUILD_ID 0u
#endif

struct gbt_device_api {
  uint32_t build;   /* GBT_BUILD_ID; the first field in every build */
  const char *name; /* "cuda" */

  /* Device `device` (0-based). GBT_E_DEVICE says in the user's words what is missing: no driver, a driver that is too
   * old, no device, no such device, a forked process. */
  gbt_status (*info)(int32_t device, gbt_device_info *out, gbt_error *err);

  /* Whether NCCL connects several devices: 1 with its version in `text`, 0 with what is missing. */
  int (*nccl)(char *text, size_t n_text);

  /* Training; see backend.h. */
  gbt_status (*open)(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err);

  /* Help with the cuts and pages of a data set (data/offload.h), to be closed by the caller. NULL: not offered. */
  gbt_status (*data)(gbt_ctx *ctx, int32_t device, struct gbt_offload **out, gbt_error *err);

  /* Help with statistics of categories (encode/statistics_help.h), to be closed by the caller. limit: bytes of the
   * device's memory, 0 for all there is. NULL: not offered. */
  gbt_status (*statistics)(gbt_ctx *ctx, int32_t device, size_t limit, struct gbti_statistics_help **out,
                           gbt_error *err);

  /* As gbt_predict_scores and gbt_predict_leaves: the same bits. first, n: trees. NULL: not offered. */
  gbt_status (*scores)(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                       uint64_t first, uint64_t n, const double *offset, double *out, gbt_error *err);
  gbt_status (*leaves)(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                       uint64_t first, uint64_t n, int32_t *out, gbt_error *err);

  /* As gbt_explain: the same bits. NULL: not offered. */
  gbt_status (*explain)(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                        const struct gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err);
};

#endif
