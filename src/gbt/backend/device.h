/* Access to a device: one struct of functions, made by a separate library (gpu/gbt_cuda.so). A host opens this library
 * only when a device is asked for. The engine has no other access to CUDA. The struct is in device_api.h. */
#ifndef GBT_BACKEND_DEVICE_H
#define GBT_BACKEND_DEVICE_H

#include "../data/dataset.h"
#include "../tree/view.h"

typedef struct gbt_device_api gbt_device_api;

/* The library's one exported function; what it returns lasts as long as the library is open. */
typedef const gbt_device_api *(*gbt_device_api_fn)(void);
#define GBT_DEVICE_SYMBOL "gbt_cuda_api"

/* Whether the library was built together with this engine. A library that was not must not be used. */
int gbt_device_fits(const gbt_device_api *api);

typedef struct gbt_device_info {
  char name[160];
  int32_t n_devices;
  int32_t major, minor; /* compute capability */
  int32_t n_units;      /* multiprocessors */
  uint64_t total_bytes, free_bytes; /* of the device's memory */
  int32_t driver, runtime; /* versions: 1000 * major + 10 * minor; 0 for none */
  int32_t emulated;        /* runs on the CPU, for tests */
} gbt_device_info;

/* Device `number` (from 0). GBT_E_DEVICE: what is missing, for the user: no driver, a driver that is too old, no
 * device, no such device, a forked process. *out has what could be found out before. */
gbt_status gbt_device_about(const gbt_device_api *api, int32_t number, gbt_device_info *out,
                            gbt_error *err) GBT_MUST_CHECK;

/* Whether NCCL is installed, which moves data between devices that train together: 1 with its version in `text`, 0 with
 * the reason. Without it data go through the host's memory. */
int gbt_device_nccl(const gbt_device_api *api, char *text, size_t n_text);

/* The work that a library can do; the CPU does the rest. */
typedef enum gbt_device_work {
  GBT_WORK_TRAIN = 0, /* see gbt_trainer_spec.device */
  GBT_WORK_DATA,      /* cuts and binning */
  GBT_WORK_SCORES,
  GBT_WORK_LEAVES,
  GBT_WORK_CONTRIBUTIONS
} gbt_device_work;

/* "train", "data", "scores", "leaves", "contributions"; see gbt_status_name */
const char *gbt_device_work_name(int work);

/* Whether the library does this work. */
int gbt_device_offers(const gbt_device_api *api, gbt_device_work work);

/* Help with cuts and bins, for one call of gbt_dataset_make (gbt_dataset_spec.help); *out is NULL where the library
 * offers none. Owned by the caller: gbt_device_help_close. */
gbt_status gbt_device_help(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, gbt_offload **out,
                           gbt_error *err) GBT_MUST_CHECK;
void gbt_device_help_close(gbt_offload *help); /* NULL allowed; within the call of the context */

/* Help with statistics of categories, for one training (encode/statistics_help.h); *out is NULL where the library
 * offers none. limit: bytes of the device's memory, 0 for all there is. Owned by the caller: its own `close`. */
struct gbti_statistics_help;
gbt_status gbt_device_statistics(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, size_t limit,
                                 struct gbti_statistics_help **out, gbt_error *err) GBT_MUST_CHECK;

/* As gbt_predict_scores and gbt_predict_leaves (model/predict.h): the same bits. Only where that work is offered. */
gbt_status gbt_device_scores(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_forest_view *forest,
                             const gbt_binding *binding, gbt_tree_range trees, const double *offset, double *out,
                             gbt_error *err) GBT_MUST_CHECK;
gbt_status gbt_device_leaves(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_forest_view *forest,
                             const gbt_binding *binding, gbt_tree_range trees, int32_t *out,
                             gbt_error *err) GBT_MUST_CHECK;

/* As gbt_explain (explain/explain.h): the same bits. Only where that work is offered. */
struct gbt_explain_spec;
gbt_status gbt_device_explain(gbt_ctx *ctx, const gbt_device_api *api, int32_t number, const gbt_forest_view *forest,
                              const gbt_binding *binding, const struct gbt_explain_spec *spec, const double *offset,
                              double *out, gbt_error *err) GBT_MUST_CHECK;

#endif
