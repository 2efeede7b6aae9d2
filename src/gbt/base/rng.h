/* Every random choice of the engine: a hash of what the choice is about, never a stream. The same row gets the same
 * number on any thread, page, device or rank.
 *
 *   key  = gbt_key(seed, purpose, a, b)      once per tree, round or layer
 *   u32  = gbt_hash32(key, id)               per row or feature
 */
#ifndef GBT_BASE_RNG_H
#define GBT_BASE_RNG_H

#include <stdint.h>

#include "hd.h"

/* The purpose of a key; numbers are part of the model's definition and never change. */
enum gbt_purpose {
  GBT_FOR_ROUNDING = 1, /* stochastic rounding of gradients: a = round, b = class */
  GBT_FOR_ROWS = 2,     /* row sampling: a = tree */
  GBT_FOR_TREE_COLS = 3,
  GBT_FOR_LAYER_COLS = 4, /* a = tree, b = depth */
  GBT_FOR_NODE_COLS = 5,  /* a = tree, b = node */
  GBT_FOR_SPLIT = 6,      /* holding out a validation part */
  GBT_FOR_VISIT = 7,      /* orders of rows: a = 0: rows; a = 1 + variant, b = block */
  GBT_FOR_FACTORS = 8,    /* rows by their gradients, or random weights: a = round; b = 1: ties at GOSS's border */
  GBT_FOR_CONTEST = 9,    /* noise by which splits compete: a = tree, b = node or layer, see tree/contest.h */
  GBT_FOR_CUTS = 10,      /* cuts drawn at random: a = tree, b = node or layer, see tree/random_cut.h */
  GBT_FOR_CONTRAST = 11,    /* direction of a round's contrast of outputs: a = round; see boost/shared_splits.h */
  GBT_FOR_TIES = 12,        /* order of a query's rows of equal scores: a = round, b = query: joint/query_order.c */
  GBT_FOR_PARTNERS = 13,    /* partners of a row in its query: a = round, b = query */
  GBT_FOR_GAINS = 14,       /* gains of rank_xendcg: a = round, b = query */
  GBT_FOR_PERMUTATION = 15, /* orders of yeti_rank: a = round, b = query and number of the order */
  GBT_FOR_DRAWS = 16        /* draws from predicted distributions: a = draw, b = which half of the bits */
};

typedef struct gbt_key32 {
  uint32_t k0, k1;
} gbt_key32;

/* Bijective 64-bit mixer: multiply-xorshift with odd constants (the SplitMix construction, Steele et al. 2014). */
GBT_FN uint64_t gbt_mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

GBT_FN gbt_key32 gbt_key(uint64_t seed, uint64_t purpose, uint64_t a, uint64_t b) {
  uint64_t x = gbt_mix64(seed ^ gbt_mix64(purpose));
  x = gbt_mix64(x ^ a);
  x = gbt_mix64(x ^ (b + 0x632be59bd9b4e019u));
  gbt_key32 key = {(uint32_t)x, (uint32_t)(x >> 32)};
  return key;
}

/* 32 random bits for item id. Only 32-bit multiplies, so that compilers vectorise it. Ids above 2^32 are folded in. */
GBT_FN uint32_t gbt_hash32(gbt_key32 key, uint64_t id) {
  uint32_t x = (uint32_t)id ^ key.k0;
  x ^= (uint32_t)(id >> 32) * 0x85ebca77u;
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x += key.k1;
  x *= 0xd35a2d97u;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/* An item is drawn with probability `share`, 0 to 1, when its hash is below this. */
GBT_FN uint64_t gbt_hash_limit(double share) { return (uint64_t)(share * 4294967296.0); }

#endif
