/* Position bias: reference numbers, twins of both forms, and the same bytes whatever the threads and the order of rows.
 */
#include "fault.h"
#include "query_scene.h"
#include "test.h"

#include "../../src/gbt/joint/joint_impl.h"

enum { ADDITIVE, RATIO };

static gbt_objective objective_of(gbt_objective_kind kind, int how, double reg) {
  gbt_objective o = gbt_objective_make(kind, 1);
  const gbt_objective_param *param = gbt_objective_info_of((int32_t)kind)->param;
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS && param[i].name != NULL; i++) {
    if (strcmp(param[i].name, "position_bias") == 0) o.param[i] = how;
    if (strcmp(param[i].name, "position_reg") == 0) o.param[i] = reg;
    if (strcmp(param[i].name, "rank_norm") == 0) o.param[i] = 0;
    if (strcmp(param[i].name, "rank_score_norm") == 0) o.param[i] = 0;
    if (strcmp(param[i].name, "rank_top") == 0) o.param[i] = 0;
  }
  return o;
}

/* Gradients of so many rounds at the same scores; the biases after them. g, h, bias: room for them, or NULL. */
static void run(gbt_ctx *ctx, const gbt_objective *o, query_scene *s, int rounds, double *g, double *h, double *bias) {
  gbt_joint *joint;
  const double *its_g = NULL, *its_h = NULL;
  const size_t n = (size_t)s->rows.n;
  s->rows.field[GBT_POSITION] = s->position;
  REQUIRE_OK(gbt_joint_new(ctx, o, &s->rows, 7, &joint, test_err));
  for (int r = 0; r < rounds; r++) {
    REQUIRE_OK(gbt_joint_gradients(ctx, joint, (uint64_t)r, s->score, &its_g, &its_h, test_err));
    REQUIRE_OK(gbt_joint_move_biases(ctx, joint, 0.5, test_err));
  }
  if (g != NULL) memcpy(g, its_g, n * sizeof *g);
  if (h != NULL) memcpy(h, its_h, n * sizeof *h);
  if (bias != NULL) memcpy(bias, gbt_joint_biases(joint), gbt_joint_n_biases(joint) * sizeof *bias);
  gbt_joint_free(joint);
}

/* ../shared/reference/ranking.md, section 5: data B with labels 1, 0, 1, 0, every row in a position of its own. */
static void ratios_have_the_reference_numbers(void) {
  static const double y[4] = {1, 0, 1, 0}, v[4] = {.2, .8, .4, -.3};
  const gbt_objective o = objective_of(GBT_OBJ_RANK_NDCG, RATIO, 0);
  gbt_ctx ctx = test_ctx(NULL, 2);
  query_scene s = query_scene_make(4);
  double bias[8];
  for (int i = 0; i < 4; i++) s.label[i] = y[i], s.score[i] = v[i], s.position[i] = i;
  run(&ctx, &o, &s, 1, NULL, NULL, bias);
  CHECK_NEAR(bias[2], .87020, 5e-6);
  CHECK_EQ_BITS(bias[0], 1.0);
  CHECK_EQ_BITS(bias[1], 1.0); /* no row is the better one there: nothing is known */
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

/* Rows of a training that goes on may have other positions than the first: ratios are those to the next one. */
static void ratios_need_no_row_of_the_first_position(void) {
  static const double y[4] = {1, 0, 1, 0}, v[4] = {.2, .8, .4, -.3};
  const gbt_objective o = objective_of(GBT_OBJ_RANK_NDCG, RATIO, 0);
  gbt_ctx ctx = test_ctx(NULL, 2);
  query_scene s = query_scene_make(4);
  double bias[2][10];
  for (int later = 0; later < 2; later++) {
    for (int i = 0; i < 4; i++) s.label[i] = y[i], s.score[i] = v[i], s.position[i] = i % 3 + later;
    run(&ctx, &o, &s, 2, NULL, NULL, bias[later]);
  }
  CHECK(bias[0][2] < 0.99);
  for (int i = 0; i < 3; i++) { /* t+ of 3 and of 4 positions, then t- */
    CHECK_EQ_BITS(bias[1][i + 1], bias[0][i]);
    CHECK_EQ_BITS(bias[1][4 + i + 1], bias[0][3 + i]);
  }
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

/* The biases of two rounds by the definition, from gradients of the engine without positions; of one round where draws
 * follow from all bits of the scores. */
static void additive_biases_equal_their_twin(void) {
  static const int size[] = {7, 30, 12};
  static const gbt_objective_kind kinds[] = {GBT_OBJ_RANK_NDCG,   GBT_OBJ_RANK_PAIRWISE, GBT_OBJ_QUERY_RMSE,
                                             GBT_OBJ_RANK_XENDCG, GBT_OBJ_YETI_RANK,     GBT_OBJ_QUERY_SOFTMAX};
  gbt_ctx ctx = test_ctx(NULL, 2);
  test_rng rng = {21};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    query_scene s = query_scene_draw(&rng, size, 3, 1);
    const gbt_objective o = objective_of(kinds[k], ADDITIVE, 0.25);
    const int rounds = kinds[k] == GBT_OBJ_RANK_XENDCG || kinds[k] == GBT_OBJ_YETI_RANK ? 1 : 2;
    double bias[7], want[7] = {0}, own[49];
    const int n = (int)s.rows.n;
    double *kept = s.score;
    for (int i = 0; i < n; i++) s.weight[i] = s.group[i] < -3 ? 2.0 : 1.0;
    s.rows.field[GBT_WEIGHT] = s.weight;
    for (int round = 0; round < rounds; round++) {
      const double *g, *h;
      gbt_joint *joint;
      double sum[3][7] = {{0}};
      for (int i = 0; i < n; i++) own[i] = kept[i] + want[(int)s.position[i]];
      s.rows.field[GBT_POSITION] = NULL;
      REQUIRE_OK(gbt_joint_new(&ctx, &o, &s.rows, 7, &joint, test_err));
      REQUIRE_OK(gbt_joint_gradients(&ctx, joint, (uint64_t)round, own, &g, &h, test_err));
      for (int i = 0; i < n; i++) {
        const int p = (int)s.position[i];
        sum[0][p] += g[i] * s.weight[i], sum[1][p] += h[i] * s.weight[i], sum[2][p] += s.weight[i];
      }
      for (int p = 0; p < 7; p++)
        want[p] += 0.5 * (-sum[0][p] - 0.25 * sum[2][p] * want[p]) / (sum[1][p] + 0.25 * sum[2][p] + 0.001);
      gbt_joint_free(joint);
    }
    run(&ctx, &o, &s, rounds, NULL, NULL, bias);
    for (int p = 0; p < 7; p++) CHECK_NEAR(bias[p], want[p], 1e-9);
    query_scene_free(&s);
  }
  gbt_ctx_close(&ctx);
}

/* Gradients of pairs and costs of a second round by the definition; scores are all different. */
static void ratios_equal_their_twin(void) {
  static const int size[] = {5, 40};
  const gbt_objective o = objective_of(GBT_OBJ_RANK_PAIRWISE, RATIO, 0);
  gbt_ctx ctx = test_ctx(NULL, 2);
  test_rng rng = {22};
  query_scene s = query_scene_draw(&rng, size, 2, 0);
  enum { N = 45 };
  double g[N], h[N], bias[14], t[14], want_g[N] = {0};
  for (int i = 0; i < 14; i++) t[i] = 1.0;
  for (int round = 0; round < 2; round++) {
    double L[14] = {0};
    for (int i = 0; i < N; i++) want_g[i] = 0.0;
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        if (s.group[i] != s.group[j] || !(s.label[i] > s.label[j])) continue;
        const int p = (int)s.position[i], q = (int)s.position[j];
        const double x = s.score[i] - s.score[j], wrong = 1 / (1 + exp(x)) / (t[p] * t[7 + q]);
        want_g[i] -= wrong, want_g[j] += wrong;
        L[p] += log1p(exp(-x)) / t[7 + q], L[7 + q] += log1p(exp(-x)) / t[p];
      }
    for (int p = 0; p < 14; p++)
      if (L[p] > 0.0) t[p] = sqrt(L[p] / L[p < 7 ? 0 : 7]);
  }
  run(&ctx, &o, &s, 2, g, h, bias);
  for (int p = 0; p < 14; p++) CHECK_NEAR(bias[p], t[p], 1e-9);
  for (int i = 0; i < N; i++) CHECK_NEAR(g[i], want_g[i], 1e-7);
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

/* Threads, instructions, the order of rows, ties; the last query is cut into tasks. */
static void bytes_depend_on_the_data_alone(void) {
  static const int size[] = {1, 2, 33, 50, 1030};
  test_rng rng = {23};
  for (int how = ADDITIVE; how <= RATIO; how++)
    for (int mode = 0; mode < 5; mode += 4) {
      const gbt_objective o = objective_of(GBT_OBJ_RANK_NDCG, how, 0.1);
      query_scene s = query_scene_draw(&rng, size, 5, mode), t = query_scene_make(s.rows.n);
      const size_t n = (size_t)s.rows.n;
      int64_t *to = test_permutation(&rng, s.rows.n);
      double *g = test_alloc(4 * n * sizeof *g), *h = g + n, *g2 = h + n, *h2 = g2 + n, bias[14], bias2[14];
      const size_t n_bias = how == RATIO ? 14 : 7;
      for (size_t i = 0; i < n; i++) {
        t.label[to[i]] = s.label[i];
        t.group[to[i]] = s.group[i];
        t.score[to[i]] = s.score[i];
        t.position[to[i]] = s.position[i];
      }
      gbt_ctx one = test_ctx(NULL, 1), three = test_ctx(NULL, 3);
      one.simd = GBT_SIMD_SCALAR;
      run(&one, &o, &s, 2, g, h, bias);
      run(&three, &o, &t, 2, g2, h2, bias2);
      CHECK_EQ_BYTES(bias, bias2, n_bias * sizeof *bias);
      for (size_t i = 0; i < n; i++) {
        CHECK_EQ_BITS(g[i], g2[to[i]]);
        CHECK_EQ_BITS(h[i], h2[to[i]]);
      }
      gbt_ctx_close(&one);
      gbt_ctx_close(&three);
      free(g);
      free(to);
      query_scene_free(&s);
      query_scene_free(&t);
    }
}

static void data_that_do_not_suit_are_refused(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_objective o = objective_of(GBT_OBJ_RANK_NDCG, RATIO, 0);
  query_scene s = query_scene_make(3);
  gbt_joint *joint;
  for (int i = 0; i < 3; i++) s.label[i] = s.score[i] = i;
  s.rows.field[GBT_POSITION] = s.position;
  s.position[1] = 0.5;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_DATA, "`position` of row 2 is 0.5");
  s.position[1] = 10000;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_DATA, "whole numbers from 0 to 9999");
  s.position[1] = 1;
  o.param[1] = 3;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_UNSUPPORTED, "with `rank_pairs`");
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

static gbt_status move_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  query_scene *s = arg;
  const gbt_objective o = objective_of(GBT_OBJ_RANK_NDCG, s->rows.n > 40 ? RATIO : ADDITIVE, 0);
  const double *g, *h;
  gbt_joint *joint = NULL;
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = gbt_joint_new(&ctx, &o, &s->rows, 1, &joint, err);
  if (status == GBT_OK) status = gbt_joint_gradients(&ctx, joint, 0, s->score, &g, &h, err);
  if (status == GBT_OK) status = gbt_joint_move_biases(&ctx, joint, 0.1, err);
  gbt_joint_free(joint);
  gbt_ctx_close(&ctx);
  return status;
}

static void memory_may_run_out(void) {
  static const int small[] = {3, 30}, more[] = {3, 40};
  test_rng rng = {24};
  for (int k = 0; k < 2; k++) {
    query_scene s = query_scene_draw(&rng, k == 0 ? small : more, 2, 1);
    s.rows.field[GBT_POSITION] = s.position;
    CHECK(fault_sweep(move_op, &s) > 20);
    query_scene_free(&s);
  }
}

void suite_positions(void) {
  RUN(ratios_have_the_reference_numbers);
  RUN(ratios_need_no_row_of_the_first_position);
  RUN(additive_biases_equal_their_twin);
  RUN(ratios_equal_their_twin);
  RUN(bytes_depend_on_the_data_alone);
  RUN(data_that_do_not_suit_are_refused);
  RUN(memory_may_run_out);
}
