/* A tree made ready for contributions: its splits, parents first, the steps that visit them, and what does not depend
 * on a row. Private to explain/.
 *
 *   step    a split's number times 4, plus what is done
 *             ENTER    on the way down: into its left child
 *             TURN     from the left child to the right one, which is a split
 *             LEAVE    on the way up: both children are known
 *             BOTTOM   all at once, where both children are leaves
 *
 * Of a row two bits are asked at every split: `went`, whether it goes left, and `met`, whether it has passed all splits
 * by the same player above in the way that leads here. */
#ifndef GBT_EXPLAIN_GAME_H
#define GBT_EXPLAIN_GAME_H

#include "../tree/forest.h"

enum { GBTI_ENTER, GBTI_TURN, GBTI_LEAVE, GBTI_BOTTOM };

/* The first factors of every plan, times its points: those of z = 1 and of z = 0 (three each), psi of rows that have
 * left the way, of z = 1 and of z = 0. */
enum { GBTI_Z_ONE = 0, GBTI_Z_ZERO = 3, GBTI_PSI_GONE = 6, GBTI_PSI_ONE = 7, GBTI_PSI_ZERO = 8, GBTI_N_COMMON = 9 };

typedef struct gbti_split {
  uint32_t node;      /* its number in the tree */
  uint32_t depth;     /* the root has 0 */
  int32_t player;     /* its number in the plan */
  int32_t above;      /* the nearest split above by the same player, or -1 */
  uint8_t above_side; /* into which of its children the way leads: 0 left, 1 right */
  uint8_t side;       /* which child of its parent it is */
  uint8_t leaf[2];    /* which of its children are leaves */
} gbti_split;

/* What others do at a split: the part of a plan that a row of the background changes. */
typedef struct gbti_mix {
  double share;  /* of those that come by: how much goes left */
  double left;   /* what a row that goes left changes, for each unit that the children differ by */
  double right;  /* what one that goes right does */
  size_t factor; /* factors[factor ..]: three numbers for each point (step.h); 0: no split above is by the player */
  size_t psi[2]; /* interactions: a number for each point, of either child */
} gbti_mix;

typedef struct gbti_game {
  gbt_mem mem;
  uint64_t tree;
  uint32_t n_splits, n_steps, n_depths; /* n_depths: depths of splits */
  int32_t n_players, n_points;
  gbti_split *split;
  gbti_mix *mix;
  uint32_t *step;
  int32_t *player; /* n_players: by number in the plan, the player */
  double *value;   /* by output of a leaf, then by split and side: the leaf's value, 0 where there is none */
  double *mean;    /* by output of a leaf: what the tree is worth with no player known */
  double *point, *weight; /* n_points: of the quadrature */
  double *factor;
  size_t n_factors;
  size_t n_bytes; /* of all that it points to */
} gbti_game;

typedef struct gbti_game_spec {
  const gbt_forest_view *forest;
  const int32_t *player;
  int by_cover;     /* else gbti_game_mix() is called before the plan is used */
  int interactions;
  int32_t *last;    /* by player, all -1, and so again afterwards */
  int32_t *number;  /* by player, all -1, and so again afterwards */
} gbti_game_spec;

gbt_status gbti_game_new(const gbt_mem *mem, const gbti_game_spec *spec, uint64_t tree, gbti_game **out,
                         gbt_error *err) GBT_MUST_CHECK;
void gbti_game_free(gbti_game *plan); /* NULL allowed */

/* A plan's mix for one row of the background, which goes left at split i when left[i / 64] has bit i % 64. mix:
 * n_splits; merged: n_splits, scratch. */
void gbti_game_mix(const gbti_game *plan, const uint64_t *left, gbti_mix *mix, double *merged);

#endif
