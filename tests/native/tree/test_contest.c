/* How splits compete (tree/contest.h): deviates, noise that fades, who wins how often, handicaps; cuts
 * drawn by chance (tree/random_cut.h); penalties (boost/penalties.h). That trainings choose so is for the suites train
 * and random, whose twin has the formulas once more. */
#include "../../src/gbt/tree/contest.h"
#include "../../src/gbt/tree/random_cut.h"

#include "test.h"
#include "trained.h"

/* With noise and without handicaps. */
static gbt_contest contest_of(int64_t seed, double strength, double noise, uint64_t tree, uint64_t of, double before) {
  gbt_params params = gbt_params_default();
  params.random_strength = 1.0; /* strength: what is left of it */
  params.seed = seed;
  return gbt_contest_of(&params, NULL, strength, noise, tree, of, before);
}

/* The chance that a normal deviate is above z. */
static double tail(double z) { return 0.5 * erfc(z / sqrt(2.0)); }

static void deviates_are_normal(void) {
  enum { N = 1 << 18, CELLS = 64 };
  const gbt_key32 key = gbt_key(1, GBT_FOR_CONTEST, 2, 3);
  double sum = 0.0, square = 0.0;
  int64_t cell[CELLS] = {0};
  for (int i = 1; i <= 40000; i++) {
    const double q = (double)i / 80000.0, z = gbt_normal_above(q);
    if (!CHECK(tail(z + 0.00046) < q && q < tail(z - 0.00046))) return; /* as the formula's source promises */
  }
  for (int i = 0; i < N; i++) {
    const uint32_t bits = gbt_hash32(key, (uint64_t)i);
    const double z = gbt_normal_of(bits);
    CHECK_EQ_BITS(gbt_normal_of(~bits), -z);
    sum += z;
    square += z * z;
    cell[(int)((1.0 - tail(z)) * CELLS)]++;
  }
  CHECK(fabs(sum / N) < 5.0 / sqrt(N));
  CHECK(fabs(square / N - 1.0) < 5.0 * sqrt(2.0 / N));
  for (int c = 0; c < CELLS; c++) CHECK(fabs((double)cell[c] - N / CELLS) < 6.0 * sqrt(N / CELLS));
  const double end = gbt_normal_of(0);
  CHECK(end < -6.2 && end > -6.4);
  CHECK(gbt_normal_of(UINT32_MAX) == -end && gbt_normal_of(1) > end);
}

static void noise_fades(void) {
  static const int64_t rows[] = {1, 2, 3, 100, 4294967296, INT64_C(1) << 47};
  gbt_params params = gbt_params_default();
  CHECK_EQ_BITS(gbt_contest_noise(&params, 1000, 0, 0.1), 0.0);
  CHECK(!gbt_contests(&params, NULL));
  params.random_strength = 3.0;
  CHECK(gbt_contests(&params, NULL));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double n = (double)rows[i];
    double last = INFINITY;
    for (uint64_t t = 0; t < 20000; t = t < 10 ? t + 1 : t * 2) {
      const double noise = gbt_contest_noise(&params, rows[i], t, 0.1);
      const double f = 1.0 / (1.0 + exp(0.1 * (double)t - log(n)));
      CHECK(noise <= last && noise >= 0.0);
      CHECK(fabs(noise - 3.0 * f) <= 1e-9 * f + 1e-290); /* gbt_exp() ends at 3e-308 */
      last = noise;
    }
    CHECK(last < 1e-280); /* 20,000 rounds: none left */
  }
  CHECK(fabs(gbt_contest_noise(&params, 1000, 1, log(1000.0)) - 1.5) < 1e-12);
}

/* Of two features whose roots are `apart` standard deviations apart the worse one wins with the chance that a normal
 * deviate is above apart / sqrt(2). */
static void who_wins_how_often(void) {
  enum { NODES = 20000 };
  for (int k = 0; k < 4; k++) {
    const double apart = 0.7 * k, before = 5.0, strength = 0.5, noise = 4.0; /* the spread is 1 */
    const double low = 9.0, high = gbt_sqrt(before + low) + apart;
    const gbt_split worse = {.kind = GBT_SPLIT_NUMERIC, .feat = 3, .gain = low},
                    better = {.kind = GBT_SPLIT_ONEHOT, .feat = 70000, .gain = high * high - before},
                    none = {.kind = GBT_SPLIT_NONE};
    int64_t won = 0;
    for (uint64_t node = 0; node < NODES; node++) {
      const gbt_contest c = contest_of(1, strength, noise, 5, node, before);
      const int wins = gbt_contest_beats(&c, &worse, &better);
      CHECK(gbt_contest_beats(&c, &better, &worse) == !wins);
      won += wins;
      CHECK(gbt_contest_beats(&c, &worse, &none) && !gbt_contest_beats(&c, &none, &worse));
    }
    const double p = tail(apart / sqrt(2.0));
    CHECK(fabs((double)won - NODES * p) < 6.0 * sqrt(NODES * p * (1.0 - p)));
    const gbt_contest plain = gbt_contest_plain();
    CHECK(gbt_contest_beats(&plain, &better, &worse) == (k > 0));
  }
}

/* Other trees, nodes and seeds have other deviates, and a node keeps its own whatever its number is. */
static void what_deviates_are_of(void) {
  gbt_grow_node a = gbt_grow_empty(-1, 3), b = gbt_grow_empty(7, 3);
  a.sum = b.sum = (gbt_sum){-12345, 678};
  a.number = 4, b.number = -1, b.order_beg = 99;
  CHECK_EQ_U64(gbt_node_identity(&a), gbt_node_identity(&b));
  b.sum.h++;
  CHECK(gbt_node_identity(&a) != gbt_node_identity(&b));
  b = a, b.sum.g++;
  CHECK(gbt_node_identity(&a) != gbt_node_identity(&b));
  b = a, b.depth++;
  CHECK(gbt_node_identity(&a) != gbt_node_identity(&b));
  b.sum.g--; /* depth and sum are not mixed up */
  b = a, b.sum.g = a.sum.h, b.sum.h = a.sum.g;
  CHECK(gbt_node_identity(&a) != gbt_node_identity(&b));
  const gbt_split s = {.kind = GBT_SPLIT_NUMERIC, .feat = 1, .gain = 4.0};
  const gbt_contest c = contest_of(1, 1.0, 1.0, 5, 6, 0.0);
  const gbt_contest others[] = {contest_of(2, 1.0, 1.0, 5, 6, 0.0), contest_of(1, 1.0, 1.0, 6, 6, 0.0),
                                contest_of(1, 1.0, 1.0, 5, 7, 0.0)};
  for (int i = 0; i < 3; i++) CHECK(gbt_standing(&c, &s) != gbt_standing(&others[i], &s));
  const gbt_contest lost = contest_of(1, 0.0, 1.0, 5, 6, -9.0); /* constraints can do this */
  CHECK_EQ_BITS(gbt_standing(&lost, &s), 0.0);
}

/* Handicaps: what they leave of gains, and who may enter. */
static void gains_with_handicaps(void) {
  const double of[] = {0.0, 6.0, 100.0};
  const gbt_params params = gbt_params_default();
  CHECK(gbt_contests(&params, of));
  const gbt_contest c = gbt_contest_of(&params, of, 0.0, 3.0, 1, 2, 50.0), plain = gbt_contest_plain();
  gbt_split s[3];
  for (int f = 0; f < 3; f++) s[f] = (gbt_split){.kind = GBT_SPLIT_NUMERIC, .feat = f, .gain = 10.0};
  CHECK(gbt_contest_gain(&c, &s[0]) == 10.0 && gbt_contest_gain(&c, &s[1]) == 4.0);
  CHECK(gbt_contest_admits(&c, &s[1], 3.9) && !gbt_contest_admits(&c, &s[1], 4.0));
  CHECK(!gbt_contest_admits(&c, &s[2], 0.0) && gbt_contest_admits(&plain, &s[2], 0.0));
  CHECK(gbt_contest_beats(&c, &s[0], &s[1]) && !gbt_contest_beats(&c, &s[1], &s[0]));
  s[1].gain = 16.0; /* as much as the first one is left with: the lower feature wins */
  CHECK(gbt_contest_beats(&c, &s[0], &s[1]) && !gbt_contest_beats(&c, &s[1], &s[0]));
  s[1].gain = 16.1;
  CHECK(gbt_contest_beats(&c, &s[1], &s[0]) && !gbt_contest_beats(&c, &s[0], &s[1]));
  s[0].kind = GBT_SPLIT_NONE;
  CHECK(!gbt_contest_admits(&c, &s[0], -1.0) && !gbt_contest_admits(&plain, &s[0], -1.0));
}

/* ---- cuts drawn by chance ---- */

static void places_are_drawn_evenly(void) {
  static const int32_t sizes[] = {1, 2, 3, 5, 255, 256, 65535, INT32_MAX};
  enum { N = 30000 };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int32_t n = sizes[i], cells = n < 16 ? n : 16;
    int64_t cell[16] = {0};
    for (int f = 0; f < N; f++) {
      const int32_t at = gbt_random_place(gbt_cut_key(7, (uint64_t)f / 100, 5), f % 100, n);
      if (!CHECK(at >= 0 && at < n)) return;
      cell[(int64_t)at * cells / n]++;
    }
    for (int32_t c = 0; c < cells; c++) {
      const double share = (ceil((c + 1.0) * n / cells) - ceil((double)c * n / cells)) / n;
      CHECK(fabs((double)cell[c] - N * share) < 6.0 * sqrt(N * share));
    }
  }
  for (int32_t low = 0; low < 6; low++)
    for (int32_t high = low; high < 6; high++)
      for (int missing = 0; missing < 2; missing++) {
        uint32_t seen = 0;
        for (int32_t f = 0; f < 200; f++) {
          const int32_t cut = gbt_random_cut(gbt_cut_key(7, 1, 2), f, low, high, missing);
          CHECK(cut == -1 || (cut >= low && cut < high + missing));
          if (cut >= 0) seen |= 1u << cut;
        }
        CHECK_EQ_U64(seen, ((1u << (high + missing)) - 1u) & ~((1u << low) - 1u)); /* each of them */
      }
}

static void the_next_candidate_is_taken(void) {
  static const uint8_t tried[] = {0, 1, 0, 0, 2, 0, /* the other end */ 0, 0, 3, 0, 0, 0};
  static const int32_t next[] = {1, 1, 4, 4, 4, -1, 8, 8, 8, -1, -1, -1};
  for (int32_t i = 0; i < 12; i++) CHECK_EQ_I64(gbt_first_tried(tried, 6, i), next[i]);
}

/* ---- trainings ---- */

static made *two_columns(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL};
  made *m = made_new(4, 400, 2, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
  return m;
}

static int32_t feature_of(const gbt_forest_view *trees, uint64_t tree) {
  return (int32_t)(trees->nodes[trees->trees[tree].node_beg].feat & GBT_NODE_FEATURE);
}

/* What a column costs is asked for until a round has used it, and then never again. */
static void a_column_costs_once(void) {
  made *m = two_columns();
  memcpy((double *)m->table.cols[1].values, m->table.cols[0].values, 400 * sizeof(double));
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  for (int policy = 0; policy < 3; policy++) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 6);
    job.spec.params.grow_policy = policy;
    job.spec.params.max_depth = 2;
    double cost[] = {1.0, 0.0};
    job.spec.first_use_penalty = cost;
    trained *dear = train(&job, &how);
    cost[0] = 0.0;
    trained *free_of_cost = train(&job, &how);
    cost[0] = cost[1] = 1e6; /* nothing is worth that: trees are leaves */
    trained *none = train(&job, &how);
    if (CHECK(dear && free_of_cost && none)) {
      const gbt_forest_view a = gbt_forest_view_of(dear->forest), b = gbt_forest_view_of(free_of_cost->forest);
      CHECK_EQ_U64(gbt_forest_view_of(none->forest).n_nodes, 6);
      CHECK_EQ_U64(a.n_nodes, b.n_nodes);
      for (uint64_t t = 0; t < 6; t++) CHECK(feature_of(&a, t) == 1 && feature_of(&b, t) == 0);
      for (uint64_t i = 0; i < a.n_nodes && i < b.n_nodes; i++) CHECK_EQ_BITS(a.gain[i], b.gain[i]);
    }
    trained_free(dear);
    trained_free(free_of_cost);
    trained_free(none);
  }
  made_free(m);
}

/* A column twice: without noise the first one wins always, with noise both win. Every gain stays what it is where cuts
 * of a feature do not compete, too. */
static void copies_of_a_column_take_turns(void) {
  for (int policy = 0; policy < 3; policy++) {
    made *m = two_columns();
    memcpy((double *)m->table.cols[1].values, m->table.cols[0].values, 400 * sizeof(double));
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 40);
    job.spec.params.grow_policy = policy;
    job.spec.params.max_depth = 3;
    const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
    trained *plain = train(&job, &how);
    job.spec.params.random_strength = 1.0;
    trained *noisy = train(&job, &how);
    if (CHECK(plain != NULL && noisy != NULL)) {
      const gbt_forest_view a = gbt_forest_view_of(plain->forest), b = gbt_forest_view_of(noisy->forest);
      int64_t first = 0, n = 0;
      CHECK_EQ_U64(a.n_nodes, b.n_nodes); /* the same rows on either side */
      for (uint64_t i = 0; i < a.n_nodes && i < b.n_nodes; i++) {
        if (policy != GBT_SYMMETRIC) CHECK_EQ_BITS(a.gain[i], b.gain[i]);
        if (a.nodes[i].left == 0) continue;
        CHECK_EQ_U64(a.nodes[i].feat & GBT_NODE_FEATURE, 0);
        first += (b.nodes[i].feat & GBT_NODE_FEATURE) == 0;
        n++;
      }
      CHECK(fabs((double)first - 0.5 * (double)n) < 3.0 * sqrt((double)n) * (policy == GBT_SYMMETRIC ? 2.0 : 1.0));
    }
    trained_free(plain);
    trained_free(noisy);
    made_free(m);
  }
}

/* Symmetric growth: cuts of one feature take turns. Next to no noise changes nothing, and the best cut has the largest
 * gain. */
static void cuts_of_a_layer_take_turns(void) {
  made *m = two_columns();
  for (int i = 0; i < 400; i++) ((double *)m->table.cols[1].values)[i] = 7.0;
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 40);
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  job.spec.params.grow_policy = GBT_SYMMETRIC;
  job.spec.params.max_depth = 1;
  trained *plain = train(&job, &how);
  job.spec.params.random_strength = 1e-9;
  trained *quiet = train(&job, &how);
  job.spec.params.random_strength = 1.0;
  trained *noisy = train(&job, &how);
  if (CHECK(plain != NULL && quiet != NULL && noisy != NULL)) {
    const gbt_forest_view a = gbt_forest_view_of(plain->forest), b = gbt_forest_view_of(noisy->forest);
    const gbt_forest_view c = gbt_forest_view_of(quiet->forest);
    int64_t other_cut = 0;
    CHECK_EQ_U64(a.n_nodes, c.n_nodes);
    CHECK_EQ_BYTES(a.nodes, c.nodes, a.n_nodes * sizeof *a.nodes);
    CHECK(b.gain[0] <= a.gain[0]); /* the first trees have the same gradients */
    for (uint64_t t = 0; t < a.n_trees && t < b.n_trees; t++) {
      const gbt_node *x = &a.nodes[a.trees[t].node_beg], *y = &b.nodes[b.trees[t].node_beg];
      CHECK_EQ_U64(y->feat & GBT_NODE_FEATURE, 0);
      other_cut += x->left && y->left && x->arg.value != y->arg.value;
    }
    CHECK(other_cut > 20);
  }
  trained_free(plain);
  trained_free(quiet);
  trained_free(noisy);
  made_free(m);
}

/* Deviates of candidates: variance 1, above 0, and a hash of all that tells candidates apart. */
static void deviates_of_candidates(void) {
  enum { N = 1 << 18 };
  const gbt_contest c = contest_of(1, 1.0, 1.0, 5, 6, 0.0);
  double sum = 0.0, square = 0.0;
  for (int i = 0; i < N; i++) {
    const double z = gbt_candidate_deviate(gbt_hash32(c.key, gbt_candidate(i % 64, 0, 0, i / 64)));
    sum += z;
    square += z * z;
  }
  const double mean = 511.0 * 0.0067659159;
  CHECK(fabs(sum / N - mean) < 5.0 / sqrt(N));
  CHECK(fabs(square / N - mean * mean - 1.0) < 5.0 * sqrt(2.0 / N));
  for (uint32_t bits = 0; bits < 32; bits++)
    CHECK(gbt_candidate_deviate(UINT32_C(1) << bits) > gbt_candidate_deviate(0));
  CHECK(gbt_candidate_deviate(0) > 0.0 && gbt_candidate_deviate(UINT32_MAX) == 1021.0 * 0.0067659159);
  const gbt_split s[] = {{.kind = GBT_SPLIT_SET, .feat = 1, .gain = 4.0, .bin = 1},
                         {.kind = GBT_SPLIT_SET, .feat = 2, .gain = 4.0, .bin = 1},
                         {.kind = GBT_SPLIT_SET, .feat = 1, .gain = 4.0, .bin = 2},
                         {.kind = GBT_SPLIT_SET, .feat = 1, .gain = 4.0, .bin = 1, .from_top = 1},
                         {.kind = GBT_SPLIT_SET, .feat = 1, .gain = 4.0, .bin = 1, .missing_left = 1}};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < i; j++) CHECK(gbt_layer_standing(&c, &s[i], 0.0) != gbt_layer_standing(&c, &s[j], 0.0));
  CHECK(gbt_layer_standing(&c, &s[0], 3.9) > 2.0);
  CHECK_EQ_BITS(gbt_layer_standing(&c, &s[0], 4.0), 0.0);
}

void suite_contest(void) {
  RUN(deviates_are_normal);
  RUN(noise_fades);
  RUN(who_wins_how_often);
  RUN(what_deviates_are_of);
  RUN(gains_with_handicaps);
  RUN(places_are_drawn_evenly);
  RUN(the_next_candidate_is_taken);
  RUN(a_column_costs_once);
  RUN(copies_of_a_column_take_turns);
  RUN(cuts_of_a_layer_take_turns);
  RUN(deviates_of_candidates);
}
