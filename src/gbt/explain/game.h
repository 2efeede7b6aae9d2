/* A tree made ready for contributions: its splits, parents first, the steps that visit them, and what does not depend
 * on a row. Private to explain/.
 *
 *   step    a split's number times 4, plus what is done
 *             ENTER    on the way down: into its left child
 *             TURN     from the left child to the right one, which is a split
 *             LEAVE    on the way up: both children are known
 *             BOTTOM   all at once, where both children are leaves
 *   ask     questions: where a tree has few different splits, such as one a layer, equal ones ask the same question;
 *           else every split has its own
 *
 * A row has two bits at every split: `went`, whether it goes left, and `met`, whether it has passed all splits by the
 * same player above in the way that leads here. */
#ifndef GBT_EXPLAIN_GAME_H
#define GBT_EXPLAIN_GAME_H

#include "../tree/forest.h"

enum { GBTI_ENTER, GBTI_TURN, GBTI_LEAVE, GBTI_BOTTOM };

/* The first factors of every plan, times its points: those of z = 1 (three), and psi of rows that have left the way. */
enum { GBTI_Z_ONE = 0, GBTI_PSI_GONE = 3, GBTI_N_COMMON = 4 };
enum { GBTI_MOST_ASKS = 16 }; /* different questions that are looked for */

typedef struct gbti_split {
  uint32_t node;      /* its number in the tree */
  uint32_t depth;     /* the root has 0 */
  int32_t player;     /* its number in the plan */
  int32_t above;      /* the nearest split above by the same player, or -1 */
  uint32_t ask;       /* its question */
  int32_t slot;       /* of its player: how many others the way has before it */
  uint8_t above_side; /* into which of its children the way leads: 0 left, 1 right */
  uint8_t side;       /* which child of its parent it is */
  uint8_t leaf[2];    /* which of its children are leaves */
} gbti_split;

/* The shares of others at a split, by cover. */
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
  uint32_t n_asks;
  int32_t n_players;
  int32_t n_points;    /* by cover, else 0, as are mix, point, weight and factor */
  int32_t most_on_way; /* players on a way down the tree */
  size_t n_outputs;    /* of a leaf */
  gbti_split *split;
  gbti_mix *mix;
  uint32_t *ask; /* n_asks: the first split that asks it */
  uint32_t *step;
  int32_t *player;        /* n_players: by number in the plan, the player */
  double *value;          /* by output of a leaf, then by split and side: the leaf's value, 0 where there is none */
  double *mean;           /* by output of a leaf: what the tree is worth with no player known; not by cover: 0 */
  double *point, *weight; /* n_points: of the quadrature */
  double *factor;
  size_t n_factors;
  size_t n_bytes; /* of all that it points to */
} gbti_game;

typedef struct gbti_game_spec {
  const gbt_forest_view *forest;
  const int32_t *player;
  int by_cover;
  int interactions;
} gbti_game_spec;

/* Scratch by player of the whole, for gbti_game_new: all -1, and so again afterwards. */
typedef struct gbti_game_scratch {
  int32_t *last, *number;
} gbti_game_scratch;

/* Of the cover of two children, how much is the left one's. left: its number among the forest's nodes. */
double gbti_share_left(const gbt_forest_view *forest, uint64_t left);

gbt_status gbti_game_new(const gbt_mem *mem, const gbti_game_spec *spec, const gbti_game_scratch *scratch,
                         uint64_t tree, gbti_game **out, gbt_error *err) GBT_MUST_CHECK;
void gbti_game_free(gbti_game *plan); /* NULL allowed */

#endif
