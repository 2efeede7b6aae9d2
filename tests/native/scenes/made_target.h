/* Rows with keys, labels and weights in base order, for tests of ordered statistics. */
#ifndef GBT_TEST_MADE_TARGET_H
#define GBT_TEST_MADE_TARGET_H

#include "../../src/gbt/encode/ordered.h"
#include "test.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_STATS = 6, ONE_Y = GBTI_N_VALUES - 1 };

/* Rows with ids and labels in base order. */
typedef struct made_target {
  gbti_visit visit;
  gbti_target target;
  uint32_t *id;
  int64_t n_ids;
  gbti_statistic stat[MOST_STATS];
  int32_t n_stats;
} made_target;

typedef enum tie { NOT_TIED, BY_GROUP, BY_TIME } tie;

/* Three parts (a number, a class, above a border), six statistics of them. Ids below n_ids, the low ones more often. */
made_target make_target(uint64_t seed, int64_t n, int64_t n_ids, int32_t n_variants, tie tied, int weighted);
void target_free(made_target *m);
gbti_ordered ask_of(const made_target *m);

#ifdef __cplusplus
}
#endif

#endif
