/* The bins of a numeric feature in a node that hold something, with the sums up to each of them: the cuts after these
 * bins are all that there is to choose from (cpu_split_num.c). Compiled once per instruction set, see cpu_kernels.h. */
#ifndef GBT_CPU_CPU_CUT_LIST_H
#define GBT_CPU_CPU_CUT_LIST_H

#include "../base/hd.h"
#include "../math/fixed.h"
#include "../tree/split.h"
#include "cpu_layer_gains.h"

enum { CPU_LIST_SLACK = 8 }; /* elements behind the last bin that may be written */

typedef struct cpu_cut_list {
  const gbt_sum *sum;  /* by bin */
  const int64_t *both; /* packed, instead of sum; or NULL */
  gbt_units unit;
  uint32_t *level;          /* bins */
  gbt_sum *run;             /* sums so far, of the bin too */
  double *g, *h;            /* the same as real numbers */
  int64_t *part_g, *part_h; /* scratch of the same length; packed: g only */
} cpu_cut_list;

/* Lists those of n_bins > 0 bins that hold something, and bin 0. Returns how many they are. */
GBT_FN int32_t cpu_list_cuts(int32_t n_bins, const cpu_cut_list *to, int packed) {
  int32_t n = 0;
  gbt_sum run = {0, 0};
  for (int32_t i = 0; i < n_bins; i++) { /* an empty bin's place is taken by the next one */
    const gbt_sum v = packed ? cpu_unpack(to->both[i]) : to->sum[i];
    run.g += v.g;
    run.h += v.h;
    to->level[n] = (uint32_t)i;
    to->run[n] = run;
    to->g[n] = (double)run.g * to->unit.g;
    to->h[n] = (double)run.h * to->unit.h;
    n += ((v.g != 0) | (v.h != 0)) | (i == 0);
  }
  return n;
}

#endif
