/* Codes that a device has made and still has: strips of a data set's pages, in its memory as in the host's. A training
 * on that device makes its tiles of them, and they need not go up.
 *
 * The pages are in the host's memory all the same, where a device that is lost, a forked process or a training on the
 * CPU find them. Nothing depends on a resident part: where there is none, or it is not this device's, pages go up. */
#pragma once

#include "../base/mem.cuh"

extern "C" {
#include "../../gbt/data/page_store_impl.h"
}

struct cu_resident : gbti_resident {
  gbt_mem mem;
  cu_memory memory;
  int32_t device;
  long process; /* that made it */
  int users;    /* who read it now, or poll in the midst of that */
  int32_t n_strips;
  cu_array<unsigned char> *strip; /* n_strips, all rows; empty: strips with codes that the host made, too */
};

/* The copy of these pages on the device, or of those whose strips they share; NULL: none. */
cu_resident *cu_resident_of(const gbt_page_store *pages, int32_t device);

/* A strip of the pages, all rows, when it is there (resident: of these pages, or NULL); else NULL. */
const unsigned char *cu_resident_strip(const cu_resident *resident, const gbt_page_store *pages, int32_t strip);

/* Gives back its memory, unless it is being read: 1; 0: there is nothing to give. The pages go up from then on. */
int cu_resident_release(gbt_page_store *pages, int32_t device);
