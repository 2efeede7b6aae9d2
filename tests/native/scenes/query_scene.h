/* Made queries: labels, scores, groups and weights of rows, for objectives by queries. */
#ifndef GBT_TEST_QUERY_SCENE_H
#define GBT_TEST_QUERY_SCENE_H

#include "../../src/gbt/base/rows.h"
#include "test.h"

typedef struct query_scene {
  gbt_rows rows; /* with labels and groups; the weights are not yet in it */
  double *label, *group, *weight, *score, *position; /* positions are not yet in it */
} query_scene;

/* One query of n rows of weight 1; the rest is to be filled. */
query_scene query_scene_make(int64_t n);
void query_scene_free(query_scene *s);

/* Queries of these sizes; labels of few values. mode: 1: rows are mixed; 2: all scores are 0; 4: scores have ties. */
query_scene query_scene_draw(test_rng *rng, const int *size, int n_queries, int mode);

/* The rows of the q-th of these queries; returns their number. */
int query_scene_rows(const query_scene *s, int q, int64_t *row);

#endif
