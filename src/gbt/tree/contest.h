/* How splits compete for a node or, in symmetric growth, for a layer. The same source text for all backends.
 *
 * A feature enters with the best split that it has there; the largest gain wins (gbt_split_beats), unless noise is
 * asked for (`random_strength`). Then a feature's standing is
 *
 *   sqrt(before + gain) + s z
 *
 *   before   the score of the node as it is (symmetric: of the root, and what the layers above have gained), so that
 *            the root is that of what its children, or the leaves so far, score: sum G^2 / (H + lambda)
 *   z        a normal deviate by the hash of the tree, the node and the feature
 *   s        random_strength * f * sqrt(sum g^2 / sum h) over the rows of the tree's output
 *   f        n / (n + exp(eta t)), n rows, t rounds before: noise fades once eta t comes near log(n)
 *
 * In symmetric growth every candidate of a layer, not only the best one of each feature, has a standing of its own: z
 * by the hash of the tree, the layer and the candidate. There is one choice for a whole layer, so noise costs little,
 * and cuts that are nearly as good take turns, which makes the sum of trees a smoother function of numbers. There z is
 * a sum of four uniform numbers, which is near enough to a normal deviate and quick.
 *
 * CatBoost does so for its score "Cosine", which is such a root, on a CPU with a deviate for every candidate and on a
 * GPU with one for every feature; s and f are taken from its sources
 * (catboost/private/libs/algo/greedy_tensor_search.cpp, cuda/methods/random_score_helper.h; its rows weigh 1 in sum h).
 * At random_strength 1 the noise is about the error that the root has because the rows are a sample.
 *
 * Where features have handicaps (penalties on what the model does not use yet: boost/penalties.h), these are taken off
 * gains, and what is left must exceed what gains must.
 *
 * In other trees cuts and sets within a feature compete only by their gains. What a split gains is what is reported and
 * tested, and without noise and handicaps nothing of this is computed. A node is identified by its depth and its sums,
 * which are whole numbers: the same on every device, and before best-first growth has come to it and given it a
 * number. */
#ifndef GBT_TREE_CONTEST_H
#define GBT_TREE_CONTEST_H

#include "../base/rng.h"
#include "grow_node.h"

typedef struct gbt_contest {
  int on;        /* 0: the largest gain wins, and the rest is not set */
  int noisy;     /* else the next three are unused */
  double before; /* see above */
  double spread; /* s */
  gbt_key32 key;
  const double *handicap; /* by feature, borrowed; or NULL */
} gbt_contest;

/* random_strength * f, for all trees of a round; rows: of all ranks. */
GBT_FN double gbt_contest_noise(const gbt_params *params, int64_t n_rows, uint64_t rounds_before, double eta) {
  if (!(params->random_strength > 0.0)) return 0.0;
  const double left = (double)n_rows * gbt_exp(-(eta * (double)rounds_before));
  return params->random_strength * (left / (1.0 + left));
}

/* Whether there is one for every node. */
GBT_FN int gbt_contests(const gbt_params *params, const double *handicap) {
  return params->random_strength > 0.0 || handicap != NULL;
}

/* To be asked for where there is one. strength: gbt_contest_noise; noise: gbt_noise of the output; of: identifies the
 * node or layer within the tree. */
GBT_FN gbt_contest gbt_contest_of(const gbt_params *params, const double *handicap, double strength, double noise,
                                  uint64_t tree, uint64_t of, double before) {
  gbt_contest c;
  c.on = 1;
  c.noisy = params->random_strength > 0.0;
  c.before = before;
  c.spread = strength * gbt_sqrt(noise);
  c.key = gbt_key((uint64_t)params->seed, GBT_FOR_CONTEST, tree, of);
  c.handicap = handicap;
  return c;
}

GBT_FN gbt_contest gbt_contest_plain(void) {
  gbt_contest c = {0, 0, 0.0, 0.0, {0, 0}, NULL};
  return c;
}

/* Keys of a node, and of a layer. */
GBT_FN uint64_t gbt_node_identity(const gbt_grow_node *node) {
  return gbt_mix64(gbt_mix64((uint64_t)node->sum.g + (uint64_t)node->depth) ^ (uint64_t)node->sum.h);
}
GBT_FN uint64_t gbt_layer_identity(int32_t depth) { return (uint64_t)depth; }

/* A normal deviate of 32 random bits. */
GBT_FN double gbt_normal_of(uint32_t bits) {
  const double u = ((double)bits + 0.5) / 4294967296.0;
  return u < 0.5 ? -gbt_normal_above(u) : gbt_normal_above(1.0 - u);
}

/* The gain of a split less the handicap of its feature. */
GBT_FN double gbt_contest_gain(const gbt_contest *c, const gbt_split *s) {
  return c->handicap ? s->gain - c->handicap[s->feat] : s->gain;
}

/* Whether a feature's best split, whose gain exceeds `least`, does so with its handicap. */
GBT_FN int gbt_contest_admits(const gbt_contest *c, const gbt_split *s, double least) {
  return s->kind != GBT_SPLIT_NONE && (!c->on || gbt_contest_gain(c, s) > least);
}

GBT_FN double gbt_standing(const gbt_contest *c, const gbt_split *s) {
  const double gain = gbt_contest_gain(c, s), score = c->before + gain; /* constraints can make it fall below 0 */
  if (!c->noisy) return gain;
  return (score > 0.0 ? gbt_sqrt(score) : 0.0) + c->spread * gbt_normal_of(gbt_hash32(c->key, (uint64_t)s->feat));
}

/* Whether the best split of one feature beats that of another one. */
GBT_FN int gbt_contest_beats(const gbt_contest *c, const gbt_split *a, const gbt_split *b) {
  if (!c->on || a->kind == GBT_SPLIT_NONE || b->kind == GBT_SPLIT_NONE) return gbt_split_beats(a, b);
  GBT_ASSERT(a->feat != b->feat);
  const double x = gbt_standing(c, a), y = gbt_standing(c, b);
  return x != y ? x > y : a->feat < b->feat;
}

/* ---- candidates of a layer, where there is noise ---- */

/* The number that a candidate's deviate is a hash of. Candidates that differ only in their bin have consecutive
 * numbers. */
GBT_FN uint64_t gbt_candidate(int32_t feat, int missing_left, int from_top, int32_t bin) {
  return (uint64_t)(uint32_t)feat << 32 | (uint64_t)missing_left << 31 | (uint64_t)from_top << 30 | (uint32_t)bin;
}

/* A deviate of variance 1 and a mean that is the same for all: the sum of the four bytes, each of variance
 * (2^16 - 1) / 12. Above 0. */
GBT_FN double gbt_candidate_deviate(uint32_t bits) {
  const uint32_t pairs = (bits & 0x00ff00ffu) + (bits >> 8 & 0x00ff00ffu);
  return (double)(int32_t)((pairs & 0xffffu) + (pairs >> 16) + 1u) * 0.0067659159;
}

/* By what is left of a gain; above 0 unless the score is not and there is no spread. */
GBT_FN double gbt_candidate_standing(const gbt_contest *c, double count, uint64_t candidate) {
  const double score = c->before + count;
  return gbt_sqrt(score > 0.0 ? score : 0.0) + c->spread * gbt_candidate_deviate(gbt_hash32(c->key, candidate));
}

/* Where a candidate is in a noisy contest of a layer; 0: nowhere, as it does not gain more than `least`. */
GBT_FN double gbt_layer_standing(const gbt_contest *c, const gbt_split *s, double least) {
  const double count = gbt_contest_gain(c, s);
  if (!(count > least)) return 0.0;
  return gbt_candidate_standing(c, count, gbt_candidate(s->feat, s->missing_left, s->from_top, s->bin));
}

#endif
