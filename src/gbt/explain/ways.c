/* Walks by a plan's steps: see ways.h. */
#include "ways.h"

static void take_side(gbti_ways *w, uint32_t i, int side) {
  const gbti_split *split = &w->plan->split[i];
  const uint64_t *went = w->went + (size_t)split->ask * w->n_words;
  const uint64_t *kept = w->kept + (size_t)split->depth * w->n_words;
  uint64_t *fail = w->fail + (size_t)split->slot * w->n_words;
  const uint64_t flip = side == 0 ? ~(uint64_t)0 : 0;
  for (size_t k = 0; k < w->n_words; k++) fail[k] = kept[k] | (went[k] ^ flip);
}

static void enter(gbti_ways *w, uint32_t i) {
  const gbti_split *split = &w->plan->split[i];
  uint64_t *kept = w->kept + (size_t)split->depth * w->n_words;
  if (split->above < 0) w->player[w->n_slots++] = split->player;
  const uint64_t *fail = w->fail + (size_t)split->slot * w->n_words;
  for (size_t k = 0; k < w->n_words; k++) kept[k] = split->above < 0 ? 0 : fail[k];
  take_side(w, i, 0);
}

static void leave(gbti_ways *w, uint32_t i) {
  const gbti_split *split = &w->plan->split[i];
  const uint64_t *kept = w->kept + (size_t)split->depth * w->n_words;
  uint64_t *fail = w->fail + (size_t)split->slot * w->n_words;
  for (size_t k = 0; k < w->n_words; k++) fail[k] = kept[k];
  if (split->above < 0) w->n_slots--;
}

int gbti_ways_walk(gbti_ways *w, gbti_leaf_fn fn, void *arg) {
  int stop = 0;
  w->n_slots = 0;
  for (uint32_t at = 0; at < w->plan->n_steps && !stop; at++) {
    const uint32_t i = w->plan->step[at] / 4, what = w->plan->step[at] % 4;
    const gbti_split *split = &w->plan->split[i];
    const size_t leaf = 2 * (size_t)i;
    if (what == GBTI_ENTER || what == GBTI_BOTTOM) {
      enter(w, i);
      if (split->leaf[0]) stop = fn(arg, w, leaf);
    } else if (what == GBTI_TURN) {
      take_side(w, i, 1);
    }
    if (what != GBTI_LEAVE && what != GBTI_BOTTOM) continue;
    if (split->leaf[1] && !stop) {
      take_side(w, i, 1);
      stop = fn(arg, w, leaf + 1);
    }
    leave(w, i);
  }
  return stop;
}
