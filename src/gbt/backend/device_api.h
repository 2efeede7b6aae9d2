/* The functions of a device's library. The library holds its own copies of the engine's stateless functions; objects
 * that cross the door (data sets, forests) carry their gbt_mem with them, so either side may free them. `abi` and
 * `layout` must be those of this header: a library of another build is refused. */
#ifndef GBT_BACKEND_DEVICE_API_H
#define GBT_BACKEND_DEVICE_API_H

#include "../data/dataset_impl.h"
#include "../tree/forest.h"
#include "backend.h"
#include "device.h"

#define GBT_DEVICE_ABI 2u

/* Changes when a struct that crosses the door changes its size. GBT_DEVICE_ABI is for what keeps it: another order of
 * fields, another meaning. */
#define GBT_DEVICE_LAYOUT                                                                                          \
  ((uint32_t)(sizeof(gbt_ctx) + 3 * sizeof(gbt_params) + 5 * sizeof(gbt_dataset) + 7 * GBT_PAGE_STORE_VERSION +    \
              11 * sizeof(gbt_cuts) + 13 * sizeof(gbt_forest) + 17 * sizeof(gbt_backend_spec) +                    \
              19 * sizeof(gbt_device_api) + 23 * sizeof(gbt_layout) + 29 * sizeof(gbt_error) +                     \
              31 * sizeof(gbt_backend) + 37 * sizeof(gbt_backend_ops) + 41 * sizeof(gbt_tree_task) +               \
              43 * sizeof(gbt_feature_rules) + 47 * sizeof(gbt_feature_cuts) + 53 * sizeof(gbt_schema) +           \
              59 * sizeof(gbt_feature) + 61 * sizeof(gbt_page) + 67 * sizeof(gbt_group) + 71 * sizeof(gbt_place) + \
              73 * sizeof(gbt_table) + 79 * sizeof(gbt_column) + 83 * sizeof(gbt_forest_view) +                    \
              89 * sizeof(gbt_tree) + 97 * sizeof(gbt_node) + 101 * sizeof(gbt_device_info) +                      \
              103 * sizeof(gbt_binding)))

struct gbt_device_api {
  uint32_t abi, layout;
  const char *name; /* "cuda" */

  /* Device `device` (0-based). GBT_E_DEVICE says in the user's words what is missing: no driver, a driver that is too
   * old, no device, no such device, a forked process. */
  gbt_status (*info)(int32_t device, gbt_device_info *out, gbt_error *err);

  /* Training; see backend.h. */
  gbt_status (*open)(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err);

  /* As gbt_cuts_build and gbt_pages_build: the same bytes, made on the device. NULL: not offered. Parts of a
   * gbt_data_device (data/dataset_impl.h). own_cuts: the cuts were made from this very table. */
  gbt_status (*cuts)(gbt_ctx *ctx, int32_t device, const gbt_table *table, const double *weight, int32_t max_bin,
                     gbt_cuts **out, gbt_error *err);
  gbt_status (*pages)(gbt_ctx *ctx, int32_t device, const gbt_binding *binding, const gbt_cuts *cuts, int32_t page_rows,
                      int own_cuts, gbt_page_store **out, gbt_error *err);

  /* As gbt_predict_scores and gbt_predict_leaves: the same bits. first, n: trees. NULL: not offered. */
  gbt_status (*scores)(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                       uint64_t first, uint64_t n, const double *offset, double *out, gbt_error *err);
  gbt_status (*leaves)(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                       uint64_t first, uint64_t n, int32_t *out, gbt_error *err);
};

#endif
