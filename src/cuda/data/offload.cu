/* The objects that the device has open for a data set: see data.cuh. */
#include "data.cuh"

enum : int64_t {
  LEAST_ENTRIES = 32768, /* of a column below which the CPU is as good; unproven on hardware, as the next */
  LEAST_CELLS = 1 << 18,
  CHUNK = 1 << 20
};

static void cu_offload_close(gbt_offload *self) {
  cu_offload *o = static_cast<cu_offload *>(self);
  gbt_mem mem = o->mem;
  cu_cutter_close(o);
  cu_kept_close(o);
  cu_resident_drop(o);
  gbt_mem_free(&mem, o);
}

gbt_status cu_offload_open(gbt_ctx *ctx, int32_t device, gbt_offload **out, gbt_error *err) {
  cu_offload *o;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *o, &o, err));
  o->mem = ctx->mem;
  o->device = device;
  o->least_entries = LEAST_ENTRIES;
  o->least_cells = LEAST_CELLS;
  o->chunk = CHUNK;
  o->cut = cu_cut;
  o->count = cu_count;
  o->bin = cu_bin;
  o->close = cu_offload_close;
  *out = o;
  return GBT_OK;
}
