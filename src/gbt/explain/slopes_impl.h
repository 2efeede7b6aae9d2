/* Shared by slopes.c, which goes through leaves and rows, and slopes_numbers.c, which has what leaves of numbers add.
 * A leaf is linear in X (tree/linear.h) or, of leaves of numbers, in the numbers themselves; NaN is missing. */
#ifndef GBT_EXPLAIN_SLOPES_IMPL_H
#define GBT_EXPLAIN_SLOPES_IMPL_H

#include "slopes.h"

enum { GBTI_SLOPE_SETS = 1 << GBT_LINEAR_MOST }; /* of players of terms; leaves of numbers have none */

/* A split on the way to a leaf. */
typedef struct gbti_slope_step {
  uint32_t node;
  int32_t slot; /* of its player */
  uint8_t side; /* 0: the way goes left */
} gbti_slope_step;

typedef struct gbti_slope_leaf {
  uint64_t tree;
  uint32_t leaf; /* its number among the linear ones */
  int32_t n;     /* players: first those of its terms, `inner` of them, then others on the way */
  int32_t inner;
  size_t slot;   /* the first one: by term the slot of its player */
  uint32_t n_steps;
  size_t step, player; /* the first ones */
  size_t back;         /* with a background: words, by player */
  double constant;     /* what the leaf adds where it is not linear */
  double base;         /* with a background: what its rows have above that, on average over all of them */
} gbti_slope_leaf;

/* A thread's numbers. */
typedef struct gbti_slope_work {
  uint64_t *pass;            /* by player of a leaf: a bit for each row of a block */
  uint8_t *passes, *also;    /* by player: of a row, and of one of the background */
  double *x;                 /* by grid: of the rows of a block */
  double *own, *other;       /* by term: of a row, and what is compared with it */
  double *acc;               /* by player, and pair: of a row */
  double *f;                 /* by player: its factor at a point; of numbers, what its terms differ by */
  int32_t *row_only, *back_only, *free; /* players: see gbti_slope_sides */
  double value[GBTI_SLOPE_SETS]; /* see fill_values */
} gbti_slope_work;

typedef struct gbti_slope_run {
  gbti_explain_run *run;
  const gbt_linear_view *linear;
  gbti_slope_leaf *leaf;
  gbti_slope_step *step;
  int32_t *player, *slot;
  double *share;  /* by player of a leaf: of the cover, how much passes */
  uint64_t *back; /* by leaf, player and word: which rows of the background pass */
  double *back_x;  /* by grid: of the background's rows */
  size_t n_leaves, n_steps, n_players, n_slots, n_back, cap_leaves, cap_steps, cap_players, cap_slots, cap_shares;
  size_t words;                  /* of the background's rows */
  uint32_t *parent;              /* by node of a tree */
  int32_t *number, most_players; /* by player: its slot, or -1; of a leaf */
  uint32_t most_terms;           /* of a leaf */
  int numbers;                   /* leaves are of numbers */
  double *point, *weight;        /* by cover: of quadratures */
  size_t *first;                 /* by number of points: 1 + the first one; 0: no leaf has so many */
  gbti_slope_work *work;
} gbti_slope_run;

/* Numbers of players that only the row passes, only the row of the background, and both where the leaf is linear in
 * their columns. */
typedef struct gbti_slope_sides {
  uint32_t n_row_only, n_back_only, n_free, known; /* known: bits of players of terms that only the row passes */
} gbti_slope_sides;

/* A player passes only with the numbers of all of its terms: without one of them the leaf is its constant. x: by
 * feature that trees use, `stride` apart, of 64 rows; pass: by player. */
void gbti_slope_numbers(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x, size_t stride,
                        uint64_t *pass);

/* The value of a leaf less its constant; x: by term, none missing. */
double gbti_slope_number(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x);

/* To w->acc what a row gets that is compared with one of the background, from what w has of both. */
void gbti_play_numbers(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const gbti_slope_sides *n,
                       gbti_slope_work *w);

#endif
