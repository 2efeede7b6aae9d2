/* Labels as whole numbers, for statistics by category: sums of them do not depend on the order, so any number of
 * threads, blocks and devices gives the same bits.
 *
 * A label is y in [0, 2^20), weights are whole numbers whose sum is 2^42 at most, so a sum of weight times y stays
 * below 2^62. What y is:
 *
 *   objective                    y
 *   labels BINARY or SHARE       the label, 0 to 1
 *   labels CLASS                 for each class: 1 for its rows, 0 for others
 *   response MEAN                counts and amounts: the rate label / exp(offset), with weight * exp(offset) for a
 *                                weight, so that means are rates; cut at the 0.999 quantile of those above 0
 *   others                       the number, less the offset where the base score is computed from residuals, cut at
 *                                its 0.001 and 0.999 quantiles; so for custom objectives with labels
 *
 * Quantiles are weighted, and those of the integers and doubles themselves, without interpolation. */
#ifndef GBT_ENCODE_TARGET_H
#define GBT_ENCODE_TARGET_H

#include "../base/hd.h"
#include "../objective/objective.h"
#include "visit.h"

enum {
  GBTI_VALUE_BITS = 20,
  GBTI_N_VALUES = 1 << GBTI_VALUE_BITS, /* y and statistics are below */
  GBTI_MOST_PARTS = 8,
  GBTI_TARGET_CLASSES = 8, /* more classes: those with the most rows, the lower ones of equals */
  GBTI_TARGET_BORDERS = 3
};

/* The numbers of which a mean is taken. A row's y is scale * ((label & mask) | (label - from < span)), see
 * gbti_part_code(). */
typedef enum gbti_part_kind {
  GBTI_PART_NUMBER, /* the label */
  GBTI_PART_CLASS,  /* 1 for rows of class `number`, 0 for others */
  GBTI_PART_ABOVE   /* 1 for rows whose label is above a quartile: the first, second or third for `number` 0, 1, 2 */
} gbti_part_kind;

typedef struct gbti_part {
  gbti_part_kind kind;
  int32_t number;
  uint32_t mask, from, span;
  uint32_t most;    /* the largest code there may be */
  uint32_t scale;   /* y of code 1 */
  uint32_t prior;   /* the mean y of all rows, rounded down */
  double low, unit; /* what y stands for: low + unit * y */
} gbti_part;

typedef struct gbti_target {
  gbt_mem mem;
  int64_t n;
  int32_t n_parts; /* 0: there are no labels (custom objectives) */
  gbti_part part[GBTI_MOST_PARTS];
  uint32_t *label;  /* n, base order: y, or 0 and 1 where all labels are, or the class */
  uint32_t *weight; /* n, base order; NULL: `one` each */
  int64_t one;      /* the mean weight of the rows that have any: what a prior weight of 1 stands for; at least 1 */
} gbti_target;

/* Whether labels are numbers or rates, which have quartiles; not shares or classes. */
int gbti_target_has_quartiles(const gbt_objective *objective, const gbt_rows *rows);

/* Labels have passed gbt_labels_check, weights and offsets the rules of row_fields.def. borders: not 0 adds the parts
 * ABOVE to numbers and rates: as many as have different quartiles below the largest label. prior: the most rows that
 * gbti_prior_weight() will be asked for. Free with gbti_target_free, also after a failure. */
gbt_status gbti_target_make(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const gbti_visit *visit,
                            int borders, double prior, gbti_target *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_target_free(gbti_target *target);

/* y / scale of a row. */
GBT_FN uint32_t gbti_part_code(const gbti_part *part, uint32_t label) {
  return (label & part->mask) | (uint32_t)(label - part->from < part->span);
}

/* The prior weight of `rows` rows, rounded to 1 / 256 of a row and at least that, in units of the target: what
 * gbti_statistic holds. The same share of all weights for weights that are all the same and none. 1 .. 2^42, which more
 * rows than the target was made for may be cut to. */
int64_t gbti_prior_weight(const gbti_target *target, double rows);

/* The real number that values up to `upper` stay below: what users are shown as a threshold. */
double gbti_part_threshold(const gbti_part *part, uint32_t upper);

#endif
