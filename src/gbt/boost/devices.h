/* One training on several devices of this process: each has a run of the rows, and they grow the same trees. */
#ifndef GBT_BOOST_DEVICES_H
#define GBT_BOOST_DEVICES_H

#include "../backend/device_api.h"

/* Opens the backend of spec->devices, which looks like one device with all rows. GBT_E_UNSUPPORTED: there
 * are other ranks or too many devices, or this build has no threads. Else as the device's own. */
gbt_status gbti_devices_open(gbt_ctx *ctx, const gbt_device_api *device, const gbt_backend_spec *spec,
                             gbt_backend **out, gbt_error *err) GBT_MUST_CHECK;

#endif
