/* Whether a combination of columns is worth its features. Ordered statistics of a row are made without the row's label,
 * so they show without bias how well they predict labels (Dawid 1984, prequential statistics). */
#ifndef GBT_ENCODE_WORTH_H
#define GBT_ENCODE_WORTH_H

#include "target.h"

/* An ordered statistic of one part of the target for the rows: bin[place] in base order, below n_bins (at most 256).
 * Borrowed. */
typedef struct gbti_forecast {
  const uint8_t *bin;
  int32_t n_bins;
} gbti_forecast;

/* By how much forecasts by the combination miss the labels less than others do. A bin foretells the mean label of its
 * rows, as a leaf does, so that a statistic which says nothing foretells the prior;
 *
 *   whole            against            first + second - prior, within the range of values
 *                                       first
 *                                       second
 *
 * in squares. *gain: the least of the three differences; 0 where one of them is not above GBTI_WORTH_SIGMAS standard
 * deviations of what chance would make of it. (Halves that say the same count twice in their sum, which then misses by
 * more than either.) In whole numbers of rows, whatever these weigh: the same for any number of threads. No rows: 0. */
enum { GBTI_WORTH_SIGMAS = 4 };
gbt_status gbti_worth(gbt_ctx *ctx, const gbti_target *target, int32_t part, gbti_forecast whole, gbti_forecast first,
                      gbti_forecast second, int64_t *gain, gbt_error *err) GBT_MUST_CHECK;

/* The error that a forecast explains: the squared error of the mean label of all rows less that of the forecast, in the
 * same squares; 0 or more. */
gbt_status gbti_explained(gbt_ctx *ctx, const gbti_target *target, int32_t part, gbti_forecast forecast, int64_t *gain,
                          gbt_error *err) GBT_MUST_CHECK;

#endif
