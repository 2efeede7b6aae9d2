/* The paths of a tree, from the root to each leaf, and which players' splits rows fail on each: a bit for every row. */
#ifndef GBT_EXPLAIN_WAYS_H
#define GBT_EXPLAIN_WAYS_H

#include "game.h"

/* Players on a way are in slots, in the order in which they come. Arrays are the caller's, for n_words words of
 * rows. */
typedef struct gbti_ways {
  const gbti_game *plan;
  const uint64_t *went; /* by question, n_words each: which rows go left */
  size_t n_words;
  uint64_t *fail;  /* by slot, n_words each: which rows do not pass all of the player's splits */
  uint64_t *kept;  /* by depth, n_words each: what `fail` was above */
  int32_t *player; /* by slot */
  int32_t n_slots;
} gbti_ways;

/* fn is called for every leaf, left to right; leaf: its split times 2, plus the side. Not 0: to be stopped, which is
 * what comes back. The plan has a split. */
typedef int (*gbti_leaf_fn)(void *arg, const gbti_ways *ways, size_t leaf);
int gbti_ways_walk(gbti_ways *ways, gbti_leaf_fn fn, void *arg);

#endif
