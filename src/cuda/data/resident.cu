/* See resident.cuh. */
#include "resident.cuh"

#include "data.cuh"

#include <unistd.h>

enum { RESIDENT_SHARE = 8 /* of free memory */ };

/* Also the mark by which cu_resident_of recognises its own structs. In a forked process CUDA may not be called, and the
 * memory is its parent's. */
static void resident_free(gbti_resident *self) {
  cu_resident *r = static_cast<cu_resident *>(self);
  const gbt_mem mem = r->mem;
  int before = r->device;
  if (r->process == (long)getpid()) {
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(r->device);
    for (int32_t s = 0; r->strip != NULL && s < r->n_strips; s++) cu_drop(&r->memory, &r->strip[s]);
    if (before != r->device) (void)cudaSetDevice(before);
    (void)cudaGetLastError();
  }
  gbt_mem_free(&mem, r->strip);
  gbt_mem_free(&mem, r);
}

/* Whether the device makes all codes of the strip: bundles are filled in by the host. */
static int is_whole(const gbt_layout *layout, int32_t strip) {
  for (int32_t g = layout->strip_beg[strip]; g < layout->strip_beg[strip + 1]; g++)
    for (int32_t k = 0; k < layout->group[g].n_feats; k++)
      if (layout->group[g].feat[k] < 0) return 0;
  return 1;
}

static gbt_status make_strips(cu_resident *r, const gbt_layout *layout, int64_t n_rows, gbt_error *err) {
  size_t free_bytes = 0, total = 0;
  CU_TRY(cudaMemGetInfo(&free_bytes, &total));
  r->memory.limit = free_bytes / RESIDENT_SHARE + 1;
  for (int32_t s = 0; s < r->n_strips; s++) {
    const size_t row_bytes = gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
    if (is_whole(layout, s)) GBT_TRY(cu_new(&r->memory, &r->strip[s], (size_t)n_rows * row_bytes, err));
  }
  return GBT_OK;
}

static gbt_status make_resident(const gbt_mem *mem, int32_t device, const gbti_page_info *info, cu_resident **out,
                                gbt_error *err) {
  cu_resident *r;
  gbt_error no_room;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *r, &r, err));
  r->free = resident_free;
  r->mem = *mem;
  r->device = device;
  r->process = (long)getpid();
  r->n_strips = info->layout.n_strips;
  gbt_status status = gbt_mem_zeros(mem, (size_t)r->n_strips, sizeof *r->strip, &r->strip, err);
  if (status == GBT_OK) {
    status = make_strips(r, &info->layout, info->n_rows, &no_room);
    if (status == GBT_OK && r->memory.bytes > 0) *out = r;
    if (status == GBT_E_MEM) status = GBT_OK; /* of the device: codes do not stay */
    if (status != GBT_OK) *err = no_room;
  }
  if (*out == NULL) resident_free(r);
  return status;
}

void cu_resident_drop(cu_offload *o) {
  if (o->resident != NULL) o->resident->free(o->resident);
  o->resident = NULL;
}

gbt_status cu_resident_begin(cu_offload *o, const gbti_pages *pages, gbti_row_range range, gbt_error *err) {
  if (range.beg != o->resident_rows || range.beg == 0) cu_resident_drop(o); /* the host has made some */
  if (range.beg > 0) return GBT_OK;
  o->resident_rows = 0;
  return make_resident(&pages->mem, o->device, &pages->info, &o->resident, err);
}

void cu_resident_end(cu_offload *o, gbti_pages *pages, gbti_row_range range) {
  o->resident_rows = range.end;
  if (range.end < pages->info.n_rows) return;
  pages->resident = o->resident;
  o->resident = NULL;
}

cu_resident *cu_resident_of(const gbt_page_store *pages, int32_t device) {
  gbti_resident *resident = pages->inner != NULL ? pages->inner->resident : pages->resident;
  if (resident == NULL || resident->free != resident_free) return NULL;
  cu_resident *r = static_cast<cu_resident *>(resident);
  return r->device == device && r->process == (long)getpid() ? r : NULL;
}

const unsigned char *cu_resident_strip(const cu_resident *resident, const gbt_page_store *pages, int32_t strip) {
  const int32_t its = pages->inner != NULL ? pages->shared[strip] : strip;
  return resident != NULL && its >= 0 ? resident->strip[its].at : NULL;
}

int cu_resident_release(gbt_page_store *pages, int32_t device) {
  cu_resident *r = cu_resident_of(pages, device);
  if (r == NULL || r->users > 0) return 0;
  gbt_page_store *owner = pages->inner != NULL ? pages->inner : pages;
  owner->resident = NULL;
  r->free(r);
  return 1;
}
