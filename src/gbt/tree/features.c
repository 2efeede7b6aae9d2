#include "features.h"

#include <string.h>

#include "../base/order.h"
#include "draw.h"

static gbt_status copy_array(const gbt_mem *mem, const void *from, size_t n, size_t size, void *out, gbt_error *err) {
  GBT_TRY(gbt_mem_array(mem, n, size, out, err));
  memcpy(*(void **)out, from, n * size);
  return GBT_OK;
}

gbt_status gbt_feature_rules_new(const gbt_mem *mem, int32_t n_features, const uint8_t *unused,
                                 const gbt_params *params, const double *weight, const int32_t *group_beg,
                                 const int32_t *group_feat, int32_t n_groups, gbt_feature_rules **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_feature_rules *r = NULL;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *r, &r, err));
  r->mem = *mem;
  r->n_features = n_features;
  r->seed = (uint64_t)params->seed;
  r->by_tree = params->colsample_bytree;
  r->by_layer = params->colsample_bylevel;
  r->by_node = params->colsample_bynode;
  r->n_words = (n_features + 31) / 32;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_features, sizeof *r->used, &r->used, err), done);
  for (int32_t f = 0; f < n_features; f++)
    if (!unused || !unused[f]) r->used[r->n_used++] = f;
  if (weight) GBT_TRY_GOTO(copy_array(mem, weight, (size_t)n_features, sizeof *weight, &r->weight, err), done);
  if (n_groups > 0) {
    r->n_groups = n_groups;
    GBT_TRY_GOTO(copy_array(mem, group_beg, (size_t)n_groups + 1, sizeof *group_beg, &r->group_beg, err), done);
    GBT_TRY_GOTO(copy_array(mem, group_feat, (size_t)group_beg[n_groups], sizeof *group_feat, &r->group_feat, err),
                 done);
  }
done:
  if (status == GBT_OK) *out = r;
  else gbt_feature_rules_free(r);
  return status;
}

void gbt_feature_rules_free(gbt_feature_rules *rules) {
  if (!rules) return;
  gbt_mem mem = rules->mem;
  gbt_mem_free(&mem, rules->used);
  gbt_mem_free(&mem, (void *)rules->weight);
  gbt_mem_free(&mem, rules->group_beg);
  gbt_mem_free(&mem, rules->group_feat);
  gbt_mem_free(&mem, rules);
}

int gbt_features_uniform(const gbt_feature_rules *rules) {
  return rules->by_layer >= 1.0 && rules->by_node >= 1.0 && rules->n_groups == 0;
}

/* The k-th smallest (0-based) of n values; reorders them. Hoare's selection. */
static uint64_t kth_smallest(uint64_t *x, int32_t n, int32_t k) {
  GBT_ASSERT(k >= 0 && k < n);
  int32_t lo = 0, hi = n - 1;
  while (lo < hi) {
    uint64_t pivot = x[lo + (hi - lo) / 2];
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (x[i] < pivot) i++;
      while (pivot < x[j]) j--;
      if (i <= j) {
        uint64_t t = x[i];
        x[i++] = x[j];
        x[j--] = t;
      }
    }
    if (k <= j) hi = j;
    else if (k >= i) lo = i;
    else break;
  }
  return x[k];
}

static int32_t draw(const gbt_feature_rules *rules, gbt_key32 key, double share, const int32_t *from, int32_t n,
                    int32_t *out, uint64_t *scratch) {
  const double *weight = rules->weight;
  const int32_t k = gbt_draw_size(share, n);
  if (n == 0) return 0; /* no feature of the layer's draw is allowed here */
  if (k >= n && !weight) {
    memmove(out, from, (size_t)n * sizeof *out);
    return n;
  }
  for (int32_t i = 0; i < n; i++) scratch[i] = gbt_draw_number(key, weight, from[i]);
  uint64_t limit = kth_smallest(scratch, n, k < n ? k - 1 : n - 1);
  /* all below the limit are in; of those at the limit the first by index, until k are drawn; weight 0 never is */
  GBT_ASSERT(gbt_ascend_i32(from, (size_t)n));
  int32_t below = 0, taken = 0;
  for (int32_t i = 0; i < n; i++) below += gbt_draw_number(key, weight, from[i]) < limit;
  int32_t at_limit = k - below;
  for (int32_t i = 0; i < n; i++) {
    int32_t feat = from[i];
    uint64_t number = gbt_draw_number(key, weight, feat);
    if (number == GBT_NEVER_DRAWN) continue;
    if (number < limit || (number == limit && at_limit-- > 0)) out[taken++] = feat;
  }
  GBT_ASSERT(taken <= k && gbt_ascend_i32(out, (size_t)taken));
  return taken;
}

int32_t gbt_features_of_tree(const gbt_feature_rules *rules, uint64_t tree, int32_t *out, uint64_t *scratch) {
  memcpy(out, rules->used, (size_t)rules->n_used * sizeof *out);
  gbt_key32 key = gbt_key(rules->seed, GBT_FOR_TREE_COLS, tree, 0);
  return draw(rules, key, rules->by_tree, out, rules->n_used, out, scratch);
}

int32_t gbt_features_of_layer(const gbt_feature_rules *rules, uint64_t tree, int32_t depth, const int32_t *from,
                              int32_t n, int32_t *out, uint64_t *scratch) {
  gbt_key32 key = gbt_draw_layer_key(rules->seed, tree, depth);
  return draw(rules, key, rules->by_layer, from, n, out, scratch);
}

int32_t gbt_features_of_node(const gbt_feature_rules *rules, uint64_t tree, int32_t node, const int32_t *from,
                             int32_t n, int32_t *out, uint64_t *scratch) {
  gbt_key32 key = gbt_draw_node_key(rules->seed, tree, node);
  return draw(rules, key, rules->by_node, from, n, out, scratch);
}

static int has_bit(const uint32_t *words, int32_t i) { return (words[i >> 5] >> (i & 31)) & 1u; }

/* Features are marked in their own list, as ~feature, which is below 0. */
static int32_t named(int32_t feat) { return feat < 0 ? ~feat : feat; }

/* Marks a feature among n ascending ones, if it is there. */
static void mark(int32_t *feats, int32_t n, int32_t feat) {
  int32_t low = 0, high = n;
  while (low < high) {
    int32_t mid = low + (high - low) / 2;
    if (named(feats[mid]) < feat) low = mid + 1;
    else high = mid;
  }
  if (low < n && feats[low] == feat) feats[low] = ~feat;
}

int32_t gbt_features_allowed(const gbt_feature_rules *rules, const uint32_t *path, int32_t *feats, int32_t n) {
  int32_t n_used = 0;
  GBT_ASSERT(gbt_ascend_i32(feats, (size_t)n));
  if (rules->n_groups == 0) return n;
  for (int32_t w = 0; w < rules->n_words; w++) n_used += __builtin_popcount(path[w]);
  if (n_used == 0) return n;
  for (int32_t s = 0; s < rules->n_groups; s++) {
    int32_t beg = rules->group_beg[s], end = rules->group_beg[s + 1], held = 0;
    GBT_ASSERT(beg <= end);
    for (int32_t j = beg; j < end; j++) held += has_bit(path, rules->group_feat[j]);
    for (int32_t j = beg; j < end && held == n_used; j++) mark(feats, n, rules->group_feat[j]);
  }
  int32_t kept = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t feat = named(feats[i]);
    if (feats[i] < 0 || has_bit(path, feat)) feats[kept++] = feat;
  }
  return kept;
}
