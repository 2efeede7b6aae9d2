/* Which features a node may use: draws by tree, layer and node, weights, interaction groups. */
#include "test.h"

#include "../../src/gbt/tree/features.h"

enum { MOST = 200 };

static gbt_feature_rules *make_rules(int32_t n, double by_tree, double by_layer, double by_node, const double *weight,
                                     uint64_t seed) {
  gbt_mem mem = gbt_mem_default();
  gbt_params params = gbt_params_default();
  gbt_feature_rules *rules = NULL;
  params.colsample_bytree = by_tree;
  params.colsample_bylevel = by_layer;
  params.colsample_bynode = by_node;
  params.seed = (int64_t)seed;
  CHECK_OK(gbt_feature_rules_new(&mem, n, NULL, &params, weight, NULL, NULL, 0, &rules, test_err));
  return rules;
}

/* The three draws for tree, depth and node, one within the other. */
typedef struct draws {
  int32_t n[3], feat[3][MOST];
} draws;

static draws draw_all(const gbt_feature_rules *rules, uint64_t tree, int32_t depth, int32_t node) {
  draws d;
  uint64_t scratch[MOST];
  d.n[0] = gbt_features_of_tree(rules, tree, d.feat[0], scratch);
  d.n[1] = gbt_features_of_layer(rules, tree, depth, d.feat[0], d.n[0], d.feat[1], scratch);
  d.n[2] = gbt_features_of_node(rules, tree, node, d.feat[1], d.n[1], d.feat[2], scratch);
  return d;
}

static int holds(const int32_t *feat, int32_t n, int32_t f) {
  for (int32_t i = 0; i < n; i++)
    if (feat[i] == f) return 1;
  return 0;
}

static int32_t share_of(double share, int32_t n) {
  int32_t k = (int32_t)floor(share * n + 0.5);
  return k < 1 ? 1 : k > n ? n : k;
}

static void draws_are_nested_and_of_the_right_size(void) {
  test_rng rng = {1};
  for (int c = 0; c < 300; c++) {
    int32_t n = 1 + (int32_t)test_below(&rng, MOST);
    double share[3];
    for (int k = 0; k < 3; k++) share[k] = test_below(&rng, 3) ? 1e-3 + test_unit(&rng) * 0.999 : 1.0;
    gbt_feature_rules *rules = make_rules(n, share[0], share[1], share[2], NULL, test_u(&rng) >> 12);
    REQUIRE(rules != NULL);
    draws d = draw_all(rules, test_u(&rng) >> 40, c % 7, c);
    int32_t above = n;
    for (int k = 0; k < 3; k++) {
      CHECK_EQ_I64(d.n[k], share_of(share[k], above));
      for (int32_t i = 0; i < d.n[k]; i++) {
        CHECK(i == 0 || d.feat[k][i] > d.feat[k][i - 1]);
        CHECK(d.feat[k][i] >= 0 && d.feat[k][i] < n);
        CHECK(k == 0 || holds(d.feat[k - 1], d.n[k - 1], d.feat[k][i]));
      }
      above = d.n[k];
    }
    CHECK_EQ_I64(gbt_features_uniform(rules), share[1] == 1.0 && share[2] == 1.0);
    gbt_feature_rules_free(rules);
  }
}

/* The same question gets the same answer, in any order, in place or not; other questions get others. */
static void draws_are_stateless(void) {
  gbt_feature_rules *rules = make_rules(60, 0.5, 0.5, 0.5, NULL, 9), *other = make_rules(60, 0.5, 0.5, 0.5, NULL, 10);
  REQUIRE(rules != NULL && other != NULL);
  draws a = draw_all(rules, 3, 2, 5), b = draw_all(rules, 4, 2, 5), again = draw_all(rules, 3, 2, 5);
  for (int k = 0; k < 3; k++) {
    size_t bytes = (size_t)a.n[k] * sizeof(int32_t);
    CHECK_EQ_BYTES(again.feat[k], a.feat[k], bytes);
  }
  CHECK(memcmp(a.feat[0], b.feat[0], 30 * sizeof(int32_t)) != 0);
  b = draw_all(other, 3, 2, 5);
  CHECK(memcmp(a.feat[0], b.feat[0], 30 * sizeof(int32_t)) != 0);
  b = draw_all(rules, 3, 1, 5);
  CHECK_EQ_BYTES(a.feat[0], b.feat[0], 30 * sizeof(int32_t));
  CHECK(memcmp(a.feat[1], b.feat[1], 15 * sizeof(int32_t)) != 0);
  b = draw_all(rules, 3, 2, 6);
  CHECK_EQ_BYTES(a.feat[1], b.feat[1], 15 * sizeof(int32_t));
  CHECK(memcmp(a.feat[2], b.feat[2], 8 * sizeof(int32_t)) != 0);
  uint64_t scratch[MOST];
  int32_t in_place[MOST];
  memcpy(in_place, a.feat[0], sizeof in_place);
  int32_t n = gbt_features_of_layer(rules, 3, 2, in_place, 30, in_place, scratch);
  CHECK_EQ_I64(n, a.n[1]);
  CHECK_EQ_BYTES(in_place, a.feat[1], (size_t)n * sizeof(int32_t));
  gbt_feature_rules_free(rules);
  gbt_feature_rules_free(other);
}

/* Without weights every feature comes equally often; with weights the first one in proportion to its weight. */
static void draws_have_the_right_frequencies(void) {
  enum { N = 6, TREES = 20000 };
  const double weight[N] = {0.0, 1.0, 2.0, 3.0, 4.0, 0.0};
  for (int weighted = 0; weighted <= 1; weighted++) {
    gbt_feature_rules *rules = make_rules(N, 1.0 / N, 1.0, 1.0, weighted ? weight : NULL, 77);
    REQUIRE(rules != NULL);
    int32_t hits[N] = {0};
    for (uint64_t t = 0; t < TREES; t++) {
      uint64_t scratch[N];
      int32_t feat[N];
      if (!CHECK_EQ_I64(gbt_features_of_tree(rules, t, feat, scratch), 1)) break;
      hits[feat[0]]++;
    }
    for (int f = 0; f < N; f++) {
      double p = weighted ? weight[f] / 10.0 : 1.0 / N, want = TREES * p, sd = sqrt(TREES * p * (1.0 - p));
      CHECK(fabs(hits[f] - want) <= 4.0 * sd); /* for weight 0: exactly never */
    }
    gbt_feature_rules_free(rules);
  }
}

/* Of two draws from the same features the order of the ranks is the same: the smaller draw is part of the larger. */
static void larger_shares_hold_smaller_ones(void) {
  test_rng rng = {2};
  double weight[MOST];
  for (int f = 0; f < MOST; f++) weight[f] = test_below(&rng, 4) ? test_unit(&rng) * 5.0 : 0.0;
  for (int c = 0; c < 40; c++) {
    const double *w = c % 2 ? weight : NULL;
    gbt_feature_rules *small = make_rules(MOST, 0.2, 1, 1, w, (uint64_t)c),
                      *large = make_rules(MOST, 0.6, 1, 1, w, (uint64_t)c);
    REQUIRE(small != NULL && large != NULL);
    uint64_t scratch[MOST];
    int32_t a[MOST], b[MOST];
    int32_t n = gbt_features_of_tree(small, 5, a, scratch), m = gbt_features_of_tree(large, 5, b, scratch);
    CHECK_EQ_I64(n, 40);
    for (int32_t i = 0; i < n; i++) CHECK(holds(b, m, a[i]));
    gbt_feature_rules_free(small);
    gbt_feature_rules_free(large);
  }
}

static void weight_zero_is_never_drawn(void) {
  enum { N = 40 };
  double weight[N];
  for (int f = 0; f < N; f++) weight[f] = f % 4 == 1 ? 1e-200 * (f + 1) : f % 4 == 3 ? 1e200 : 0.0; /* 20 of 40 */
  for (int c = 0; c < 60; c++) {
    double share = c % 3 == 0 ? 1.0 : c % 3 == 1 ? 0.7 : 0.2;
    gbt_feature_rules *rules = make_rules(N, share, share, share, weight, (uint64_t)c);
    REQUIRE(rules != NULL);
    draws d = draw_all(rules, (uint64_t)c, c % 5, c);
    int32_t want = share_of(share, N) < N / 2 ? share_of(share, N) : N / 2;
    for (int k = 0; k < 3; k++) {
      CHECK_EQ_I64(d.n[k], want);
      want = share_of(share, d.n[k]);
      for (int32_t i = 0; i < d.n[k]; i++) CHECK(weight[d.feat[k][i]] > 0.0);
    }
    gbt_feature_rules_free(rules);
  }
}

/* Weights so small that all ranks are infinite: the first features win. */
static void equal_ranks_go_by_number(void) {
  enum { N = 20 };
  double weight[N];
  for (int f = 0; f < N; f++) weight[f] = f == 11 ? 1.0 : 1e-310;
  gbt_feature_rules *rules = make_rules(N, 0.3, 1.0, 1.0, weight, 3);
  REQUIRE(rules != NULL);
  uint64_t scratch[N];
  int32_t feat[N];
  const int32_t want[] = {0, 1, 2, 3, 4, 11};
  if (CHECK_EQ_I64(gbt_features_of_tree(rules, 0, feat, scratch), 6)) CHECK_EQ_BYTES(feat, want, sizeof want);
  gbt_feature_rules_free(rules);
}

static void nothing_is_drawn_from_nothing(void) {
  const double weight[3] = {1.0, 2.0, 3.0};
  uint64_t scratch[1] = {0};
  int32_t none[1] = {7};
  for (int c = 0; c < 4; c++) {
    gbt_feature_rules *rules = make_rules(3, 1.0, c & 1 ? 0.5 : 1.0, c & 1 ? 0.5 : 1.0, c & 2 ? weight : NULL, 1);
    REQUIRE(rules != NULL);
    CHECK_EQ_I64(gbt_features_of_layer(rules, 0, 0, none, 0, none, scratch), 0);
    CHECK_EQ_I64(gbt_features_of_node(rules, 0, 0, none, 0, none, scratch), 0);
    gbt_feature_rules_free(rules);
  }
}

/* ---- interaction groups ---- */

typedef struct made_groups {
  int32_t n, beg[8], feat[7 * MOST];
} made_groups;

static made_groups make_groups(test_rng *rng, int32_t n_features) {
  made_groups m = {.n = 1 + (int32_t)test_below(rng, 7)};
  for (int32_t s = 0; s < m.n; s++) {
    m.beg[s + 1] = m.beg[s];
    for (int32_t f = 0; f < n_features; f++)
      if (test_below(rng, 3) == 0) m.feat[m.beg[s + 1]++] = f;
  }
  return m;
}

/* The rule of the header, feature by feature. */
static int allowed(const made_groups *m, const int *used, int32_t n_features, int32_t feat) {
  int any = 0;
  for (int32_t f = 0; f < n_features; f++) any |= used[f];
  if (!any || used[feat]) return 1;
  for (int32_t s = 0; s < m->n; s++) {
    int here = holds(m->feat + m->beg[s], m->beg[s + 1] - m->beg[s], feat);
    for (int32_t f = 0; f < n_features; f++)
      if (used[f]) here &= holds(m->feat + m->beg[s], m->beg[s + 1] - m->beg[s], f);
    if (here) return 1;
  }
  return 0;
}

static void interaction_groups_allow_what_they_should(void) {
  test_rng rng = {3};
  gbt_mem mem = gbt_mem_default();
  gbt_params params = gbt_params_default();
  for (int c = 0; c < 400; c++) {
    int32_t n = 1 + (int32_t)test_below(&rng, 70), n_feats = 0, n_want = 0, feats[MOST], want[MOST];
    made_groups groups = make_groups(&rng, n);
    gbt_feature_rules *rules = NULL;
    REQUIRE_OK(
        gbt_feature_rules_new(&mem, n, NULL, &params, NULL, groups.beg, groups.feat, groups.n, &rules, test_err));
    CHECK(!gbt_features_uniform(rules));
    int used[MOST] = {0};
    uint32_t path[8] = {0};
    int32_t n_used = (int32_t)test_below(&rng, 4);
    int32_t from = (int32_t)test_below(&rng, groups.n), size = groups.beg[from + 1] - groups.beg[from];
    for (int32_t i = 0; i < n_used; i++) {
      int32_t f = size > 0 && test_below(&rng, 4) ? groups.feat[groups.beg[from] + test_below(&rng, size)]
                                                  : (int32_t)test_below(&rng, n);
      used[f] = 1;
      path[f / 32] |= 1u << (f % 32);
    }
    for (int32_t f = 0; f < n; f++) {
      if (test_below(&rng, 5) == 0) continue; /* not drawn */
      feats[n_feats++] = f;
      if (allowed(&groups, used, n, f)) want[n_want++] = f;
    }
    CHECK_EQ_I64(gbt_features_allowed(rules, path, feats, n_feats), n_want);
    CHECK_EQ_BYTES(feats, want, (size_t)n_want * sizeof *want);
    gbt_feature_rules_free(rules);
  }
}

void suite_features(void) {
  RUN(draws_are_nested_and_of_the_right_size);
  RUN(draws_are_stateless);
  RUN(draws_have_the_right_frequencies);
  RUN(larger_shares_hold_smaller_ones);
  RUN(weight_zero_is_never_drawn);
  RUN(equal_ranks_go_by_number);
  RUN(nothing_is_drawn_from_nothing);
  RUN(interaction_groups_allow_what_they_should);
}
