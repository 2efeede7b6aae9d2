/* Slow, plain twins of objectives by queries, written from their definitions (joint/). */
#ifndef GBT_TEST_NAIVE_QUERIES_H
#define GBT_TEST_NAIVE_QUERIES_H

#include "../../src/gbt/objective/objective.h"
#include "query_scene.h"

/* Gradients of the rows row[0 .. n - 1], a query, by any objective that draws or has pairs; into g and h, which have a
 * place for every row of the scene. */
void naive_query(const gbt_objective *o, const query_scene *s, uint64_t seed, uint64_t round, const int64_t *row, int n,
                 double *g, double *h);

/* xendcg of a query whose random numbers are u; yeti_rank by orders whose random numbers are u[t * n + i]. */
void naive_xendcg(const double *y, const double *s, const double *u, int n, double *g, double *h);
void naive_yeti(const double *y, const double *s, const double *u, int n, int n_orders, double decay, double *g,
                double *h);

#endif
