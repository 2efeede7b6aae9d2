/* Chooses the backend: the only place above backend/backend.h that depends on the backends. */
#ifndef GBT_BOOST_BACKENDS_H
#define GBT_BOOST_BACKENDS_H

#include "../backend/device_api.h"

/* Opens the backend of a device; the CPU's when `device` is NULL. number: which of its devices. On failure *out is
 * NULL: GBT_E_DEVICE when the device's library comes from another build, else the error of the backend. */
gbt_status gbt_backend_open(gbt_ctx *ctx, const gbt_device_api *device, int32_t number, const gbt_backend_spec *spec,
                            gbt_backend **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_backend_close(gbt_backend *be); /* NULL allowed */

#endif
