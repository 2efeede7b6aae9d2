/* Opens the CPU backend. */
#ifndef GBT_CPU_CPU_OPEN_H
#define GBT_CPU_CPU_OPEN_H

#include "../backend/backend.h"

/* See gbt_backend_spec for what is borrowed and what is shared. On failure *out is NULL. */
gbt_status gbt_cpu_open(gbt_ctx *ctx, const gbt_backend_spec *spec, gbt_backend **out, gbt_error *err) GBT_MUST_CHECK;

#endif
