/* Histograms made by hand, and what the CPU backend finds in them: the twin of a device's search.
 *
 * A case is the features, parameters and limits of a search; a step is some fresh nodes of it with their histograms.
 * Histograms are summed up from a few rows, each of which stands for `weight` rows. The larger one of two siblings may
 * be given as their parent's, to have the other one taken off. No rows are kept, so nothing here needs data sets. */
#ifndef GBT_TEST_SPLIT_CASE_H
#define GBT_TEST_SPLIT_CASE_H

#include "../../src/gbt/data/page.h"
#include "../../src/gbt/tree/search.h"

typedef struct split_case {
  gbt_params params;
  gbt_cuts cuts;     /* n_bins, has_missing, zero_bin; a schema with types */
  gbt_layout layout; /* places */
  int8_t *monotone;  /* NULL: none */
  int8_t *counts;    /* by feature: slots are counted; as all backends decide it */
  int any_counts;
  int32_t *like; /* by feature: one before it that holds the same codes, or -1 */
  gbt_units unit;
  double noise;
  int32_t n_tree_feats, *tree_feats;
  uint8_t *allowed; /* n_features: for all nodes */
  int gradients;    /* SPLIT_ */
  uint64_t seed;
} split_case;

typedef struct split_step {
  int32_t fresh_beg, n_fresh;
  gbt_grow_node *node; /* n_fresh; hist: the place of its histogram, -1 for none */
  int32_t n_search;
  int32_t *searched, *minus; /* n_search: fresh node (0 .. n_fresh), and what is to be taken off, -1: nothing */
  int32_t n_hists;
  gbt_sum *before, *after; /* n_hists x n_slots: as the device gets them, as they are to be */
  uint32_t *count_before, *count_after;
} split_step;

/* How rows get their gradients. */
enum split_gradients {
  SPLIT_ANY = 0, /* anything */
  SPLIT_TIES,    /* -1, 0, 1; hessian 1 */
  SPLIT_LIGHT,   /* hessians are 0, or nearly all of them */
  SPLIT_HUGE,    /* sums above 2^53, which doubles round */
  SPLIT_EQUAL,   /* all the same */
  SPLIT_NOTHING  /* all 0 */
};

/* n_feats features drawn from the seed. */
split_case *split_case_new(uint64_t seed, int32_t n_feats, int symmetric);

/* One feature of n_levels levels, each of which some row has. */
split_case *split_case_levels(uint64_t seed, int32_t n_levels, int symmetric);

/* One numeric feature of n_bins bins, all of its codes in slots. */
split_case *split_case_numeric(uint64_t seed, int32_t n_bins);
void split_case_free(split_case *c);

/* fresh_beg: the number of the first node. pairs: nodes are siblings, and the second one of a pair is to be computed by
 * subtraction. */
split_step *split_step_new(const split_case *c, uint64_t seed, int32_t fresh_beg, int32_t n_fresh, int32_t n_rows,
                           int pairs);
void split_step_free(split_step *s);

/* ---- what the CPU finds ---- */

typedef struct split_cpu split_cpu;

split_cpu *split_cpu_open(const split_case *c);
void split_cpu_close(split_cpu *cpu);

/* The best split of a fresh node that uses feature `feat` alone, and its set, of which words[] has room. */
gbt_split split_cpu_find(split_cpu *cpu, const split_step *s, int32_t fresh, int32_t feat, uint32_t *words);

/* Searches and decides a layer, all fresh nodes of s; steps of a tree in their order, the root first. node: n_fresh,
 * with their splits; words: the layer's set. */
void split_cpu_layer(split_cpu *cpu, const split_step *s, gbt_grow_node *node, uint32_t *words);

#endif
