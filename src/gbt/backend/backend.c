#include "backend.h"

#include <string.h>

#include "../cpu/cpu.h"

gbt_status gbt_backend_open(gbt_ctx *ctx, const char *name, const gbt_backend_spec *spec, gbt_backend **out,
                            gbt_error *err) {
  *out = NULL;
  if (strcmp(name, "cpu") == 0) return gbt_cpu_open(ctx, spec, out, err);
  return gbt_fail_on(err, GBT_E_DEVICE, "device", "device '%s' is not built into this engine; use device = \"cpu\"",
                     name);
}

void gbt_backend_close(gbt_backend *be) {
  if (be) be->ops->destroy(be);
}
