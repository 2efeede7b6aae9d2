/* The statistics of categories that a device computes: those of the rows before and those over all rows (ordered.h), to
 * the bit. Cheap passes over keys and bins (cuts of values, tables, counts) are always done on the host. */
#ifndef GBT_ENCODE_STATISTICS_HELP_H
#define GBT_ENCODE_STATISTICS_HELP_H

#include "ordered.h"

typedef struct gbti_statistics_help gbti_statistics_help;

/* Calls are made on the entering thread and outside gbt_parallel. GBT_E_MEM: the device has no room, and the caller
 * goes on without it; begin and keys may be called again all the same. */
struct gbti_statistics_help {
  int64_t least_rows; /* of a training that is worth the way */

  /* The rows of a training; visit and target are borrowed until `close`. Once. */
  gbt_status (*begin)(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_visit *visit, const gbti_target *target,
                      gbt_error *err);

  /* Keys of the rows, id[n] by place in base order, below n_ids: what the calls below are about. */
  gbt_status (*keys)(gbti_statistics_help *self, gbt_ctx *ctx, const uint32_t *id, int64_t n_ids, gbt_error *err);

  /* As gbti_ordered_count, for one statistic. */
  gbt_status (*count)(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_statistic *stat, int32_t variant,
                      uint32_t *count, gbt_error *err);

  /* As gbti_ordered_bins, for one statistic and one variant. */
  gbt_status (*bins)(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_statistic *stat, int32_t variant,
                     const uint8_t *bin_of, uint8_t *bin, gbt_error *err);

  /* As gbti_full_values, for one statistic. */
  gbt_status (*full)(gbti_statistics_help *self, gbt_ctx *ctx, const gbti_statistic *stat, uint32_t *value,
                     gbt_error *err);

  void (*close)(gbti_statistics_help *self);
};

#endif
