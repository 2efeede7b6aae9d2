/* Gradients of objectives that look at all rows of a query: reference numbers, plain twins of every formula, and the
 * same bytes whatever the threads, the instruction set, the order of the rows and the way long queries are taken. */
#include "clock.h"
#include "fault.h"
#include "naive_queries.h"
#include "query_scene.h"
#include "test.h"

#include "../../src/gbt/joint/joint_impl.h"

#define OF(objective, ...) \
  { .kind = objective, .n_outputs = 1, .param = __VA_ARGS__ }

/* Gradients of a scene, into g and h. */
static int gradients(gbt_ctx *ctx, const gbt_objective *objective, const query_scene *s, double *g, double *h) {
  gbt_joint *joint;
  const double *its_g, *its_h;
  if (!CHECK_OK(gbt_joint_new(ctx, objective, &s->rows, 7, &joint, test_err))) return 0;
  const int ok = CHECK_OK(gbt_joint_gradients(ctx, joint, 3, s->score, &its_g, &its_h, test_err));
  if (ok && s->rows.n > 0) {
    memcpy(g, its_g, (size_t)s->rows.n * sizeof *g);
    memcpy(h, its_h, (size_t)s->rows.n * sizeof *h);
  }
  gbt_joint_free(joint);
  return ok;
}

/* ---- reference numbers ---- */

typedef struct reference {
  gbt_objective_kind kind;
  double param[GBT_OBJECTIVE_PARAMS];
  double g[4], h[4];
} reference;

static void check_reference(const reference *want, const double *label, const double *score, const double *weight) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_objective objective = {.kind = (int32_t)want->kind, .n_outputs = 1};
  query_scene s = query_scene_make(4);
  double g[4], h[4];
  memcpy(objective.param, want->param, sizeof objective.param);
  memcpy(s.label, label, sizeof g);
  memcpy(s.score, score, sizeof g);
  if (weight != NULL) {
    memcpy(s.weight, weight, sizeof g);
    s.rows.field[GBT_WEIGHT] = s.weight;
  }
  if (gradients(&ctx, &objective, &s, g, h))
    for (int i = 0; i < 4; i++) {
      CHECK_NEAR(g[i], want->g[i], 1e-12);
      CHECK_NEAR(h[i], want->h[i], 1e-12);
    }
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

/* ../shared/reference/ranking.md, section 9, B. */
static void pairs_have_the_reference_numbers(void) {
  static const double y[4] = {2, 0, 1, 0}, s[4] = {.2, .8, .4, -.3};
  static const reference want[] = {{GBT_OBJ_RANK_PAIRWISE,
                                    {0},
                                    {-1.573030972336, 1.244343966338, -.380665890632, .709352896630},
                                    {1.422609050740, .938089972396, 1.418980383493, .913433170989}},
                                   {GBT_OBJ_PAIR_LOGIT,
                                    {0},
                                    {-1.573030972336, 1.244343966338, -.380665890632, .709352896630},
                                    {1.422609050740, .938089972396, 1.418980383493, .913433170989}},
                                   {GBT_OBJ_RANK_NDCG,
                                    {0},
                                    {-.328009919112, .327586139726, -.039500902349, .039924681735},
                                    {.251651647384, .237872656665, .109000385669, .051376653517}},
                                   {GBT_OBJ_RANK_NDCG,
                                    {1},
                                    {-.322828153113, .396480753863, -.073652600750, 0},
                                    {.228784240457, .287899635549, .059115395092, 0}}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) check_reference(&want[i], y, s, NULL);
}

/* Both norms together, and each alone: the sums S of section 9 are those that gradients are divided by. */
static void norms_have_the_reference_numbers(void) {
  static const double y[4] = {2, 0, 1, 0}, s[4] = {.2, .8, .4, -.3};
  static const double plain[4] = {-.328009919112, .327586139726, -.039500902349, .039924681735};
  static const double both[4] = {-.565264491923, .495248450496, .012367813084, .057648228343};
  const double factor = log2(1 + .814328745686) / .814328745686;
  const double back = 1.685385620393 / log2(1 + 1.685385620393);
  gbt_ctx ctx = test_ctx(NULL, 1);
  query_scene scene_ = query_scene_make(4);
  double its_g[4], its_h[4];
  memcpy(scene_.label, y, sizeof y);
  memcpy(scene_.score, s, sizeof s);
  for (int how = 0; how < 3; how++) {
    const gbt_objective objective = OF(GBT_OBJ_RANK_NDCG, {0, 0, how != 1, how != 0, 0});
    if (!gradients(&ctx, &objective, &scene_, its_g, its_h)) continue;
    for (int i = 0; i < 4; i++)
      CHECK_NEAR(its_g[i], how == 0 ? plain[i] * factor : how == 1 ? both[i] * back : both[i], 2e-12);
  }
  query_scene_free(&scene_);
  gbt_ctx_close(&ctx);
}

/* Section 9, D. The hessian of query_softmax has 0.01 T more than the numbers there. */
static void sums_have_the_reference_numbers(void) {
  static const double y[4] = {2, 0, 1, 0}, s[4] = {.2, .8, .4, -.3}, w[4] = {1, 2, 1, 1};
  static const reference rmse = {GBT_OBJ_QUERY_RMSE, {0}, {-1.58, 2.04 / 2, -.38, -.08}, {1, 1, 1, 1}};
  static const reference softmax = {
      GBT_OBJ_QUERY_SOFTMAX,
      {0},
      {-1.536477019635, 1.689187873873 / 2, -.433851753311, .311281140899},
      {.391905129256 + .03, .738069316126 / 2 + .03, .459306967612 + .03, .254794164029 + .03}};
  static const double g[4] = {-1.536477019635, 1.689187873873 / 2, -.433851753311, .281140899073};
  reference its = softmax;
  memcpy(its.g, g, sizeof g);
  check_reference(&rmse, y, s, w);
  check_reference(&its, y, s, w);
}

/* Section 9, C: of the twin, whose random numbers can be given. */
static void the_twin_of_xendcg_has_the_reference_numbers(void) {
  static const double y[4] = {2, 0, 1, 0}, s[4] = {.2, .8, .4, -.3}, u[4] = {.25, .5, .75, .125};
  static const double want[4] = {-.292410931160, .235750845698, .056662484558, -.000002399094};
  static const double want_h[4] = {.168804265992, .238303383932, .193671770332, .113421885402};
  static const double rho[4] = {.215051348471, .391849105099, .262664310169, .130435236260};
  static const double first[4] = {-.373183945646, .313417732550, .066585878796, -.006819665700};
  double g[4], h[4], gains = 0;
  naive_xendcg(y, s, u, 4, g, h);
  for (int i = 0; i < 4; i++) gains += exp2(y[i]) - u[i];
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(g[i], want[i], 1e-11);
    CHECK_NEAR(h[i], want_h[i], 1e-11);
    CHECK_NEAR(rho[i] * (1 - rho[i]), h[i], 1e-11);
    CHECK_NEAR(rho[i] - (exp2(y[i]) - u[i]) / gains, first[i], 1e-11); /* the other terms are added to it */
  }
}

/* Section 9, E. */
static void the_twin_of_yeti_rank_has_the_reference_numbers(void) {
  static const double y[4] = {2, 0, 1, 0}, s[4] = {.2, .8, .4, -.3}, u[4] = {.5, .1, .8, .6};
  static const double want[4] = {-.178747970140, 0, .082475099597, .096272870544};
  static const double half[4] = {.097053432518, 0, .037127485907, .059925946611};
  double g[4], h[4];
  naive_yeti(y, s, u, 4, 1, .85, g, h);
  for (int i = 0; i < 4; i++) {
    CHECK_NEAR(g[i], want[i], 1e-11);
    CHECK_NEAR(h[i], 2 * half[i], 1e-11);
  }
}

static void check_twin(const gbt_objective *o, query_scene *s, int n_queries) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const size_t bytes = (size_t)s->rows.n * sizeof(double);
  double *g = test_alloc(bytes), *h = test_alloc(bytes), *twin_g = test_alloc(bytes), *twin_h = test_alloc(bytes);
  int64_t *row = test_alloc((size_t)s->rows.n * sizeof *row);
  if (gradients(&ctx, o, s, g, h))
    for (int q = 0; q < n_queries; q++) {
      const int n = query_scene_rows(s, q, row);
      naive_query(o, s, 7, 3, row, n, twin_g, twin_h);
      for (int i = 0; i < n; i++) {
        CHECK_NEAR(g[row[i]], twin_g[row[i]], 1e-9);
        CHECK_NEAR(h[row[i]], twin_h[row[i]], 1e-9);
      }
    }
  void *blocks[] = {g, h, twin_g, twin_h, row};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
  gbt_ctx_close(&ctx);
}

static void objectives_equal_their_twins(void) {
  static const int size[] = {1, 2, 3, 5, 8, 17, 31, 32, 33, 64, 1, 40};
  static const gbt_objective all[] = {OF(GBT_OBJ_RANK_NDCG, {0}),
                                      OF(GBT_OBJ_RANK_NDCG, {5, 0, 1, 0}),
                                      OF(GBT_OBJ_RANK_NDCG, {32, 0, 1, 1}),
                                      OF(GBT_OBJ_RANK_MAP, {0}),
                                      OF(GBT_OBJ_RANK_MAP, {7, 0, 1, 0}),
                                      OF(GBT_OBJ_RANK_MRR, {0}),
                                      OF(GBT_OBJ_RANK_MRR, {3, 0, 0, 1}),
                                      OF(GBT_OBJ_RANK_PAIRWISE, {4}),
                                      OF(GBT_OBJ_RANK_PAIRWISE, {0, 0, 1, 0}),
                                      OF(GBT_OBJ_YETI_RANK, {10, .85}),
                                      OF(GBT_OBJ_YETI_RANK, {1, 1}),
                                      OF(GBT_OBJ_RANK_XENDCG, {0})};
  test_rng rng = {1};
  for (int mode = 0; mode < 8; mode++)
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      query_scene s = query_scene_draw(&rng, size, (int)(sizeof size / sizeof *size), mode);
      check_twin(&all[k], &s, (int)(sizeof size / sizeof *size));
      query_scene_free(&s);
    }
}

/* ---- the same bytes ---- */

static void check_same(const gbt_objective *o, query_scene *s, gbt_ctx *ctx, const double *g, const double *h) {
  const size_t n = (size_t)s->rows.n;
  double *its_g = test_alloc(n * sizeof *its_g), *its_h = test_alloc(n * sizeof *its_h);
  if (gradients(ctx, o, s, its_g, its_h)) {
    CHECK_EQ_BYTES(its_g, g, n * sizeof *g);
    CHECK_EQ_BYTES(its_h, h, n * sizeof *h);
  }
  free(its_g);
  free(its_h);
}

/* T4 of section 8, as partners are drawn. Every objective by 1 to 4 threads and all instruction sets. Queries of more
 * than JOINT_LONG_COST pairs are cut. */
static void bytes_depend_on_neither_threads_nor_instructions(void) {
  static const int size[] = {1, 2, 31, 32, 33, 2047, 2, 2048, 2049, 5000, 1};
  static const gbt_objective all[] = {OF(GBT_OBJ_RANK_NDCG, {32, 0, 1, 0}), OF(GBT_OBJ_RANK_NDCG, {0, 0, 1, 1}),
                                      OF(GBT_OBJ_RANK_MAP, {0, 0, 1, 0}),   OF(GBT_OBJ_RANK_MRR, {0, 0, 1, 0}),
                                      OF(GBT_OBJ_PAIR_LOGIT, {0}),          OF(GBT_OBJ_RANK_NDCG, {0, 3, 0, 0}),
                                      OF(GBT_OBJ_RANK_XENDCG, {0}),         OF(GBT_OBJ_YETI_RANK, {10, .85}),
                                      OF(GBT_OBJ_QUERY_RMSE, {0}),          OF(GBT_OBJ_QUERY_SOFTMAX, {0})};
  test_rng rng = {2};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    query_scene s = query_scene_draw(&rng, size, (int)(sizeof size / sizeof *size), k % 2 ? 5 : 1);
    const size_t n = (size_t)s.rows.n;
    double *g = test_alloc(n * sizeof *g), *h = test_alloc(n * sizeof *h);
    gbt_ctx first = test_ctx(NULL, 1);
    first.simd = GBT_SIMD_SCALAR;
    if (gradients(&first, &all[k], &s, g, h))
      for (int simd = test_few() ? (int)gbt_simd_best() : GBT_SIMD_SCALAR; simd <= (int)gbt_simd_best(); simd++) {
        gbt_ctx ctx = test_ctx(NULL, 2 + simd);
        ctx.simd = (gbt_simd)simd;
        check_same(&all[k], &s, &ctx, g, h);
        gbt_ctx_close(&ctx);
      }
    gbt_ctx_close(&first);
    free(g);
    free(h);
    query_scene_free(&s);
  }
}

/* A long query has the sums of a short one: pairs that are met from both sides, or by several threads. */
static void check_long(gbt_ctx *ctx, const gbt_objective *o, const query_scene *s) {
  const size_t n = (size_t)s->rows.n;
  double *short_g = test_alloc(n * sizeof *short_g), *short_h = test_alloc(n * sizeof *short_h);
  gbt_joint *joint = NULL;
  const double *g, *h;
  if (CHECK_OK(gbt_joint_new(ctx, o, &s->rows, 7, &joint, test_err)) &&
      CHECK_OK(gbt_joint_gradients(ctx, joint, 3, s->score, &g, &h, test_err))) {
    memcpy(short_g, g, n * sizeof *g);
    memcpy(short_h, h, n * sizeof *h);
    if (o->kind == GBT_OBJ_YETI_RANK)
      CHECK_OK(joint_yeti_long(ctx, joint, 3, 0, s->score, &joint->room[1], test_err));
    else
      CHECK_OK(joint_pairs_long(ctx, joint, 3, 0, s->score, &joint->room[1], test_err));
    CHECK_EQ_BYTES(g, short_g, n * sizeof *g);
    CHECK_EQ_BYTES(h, short_h, n * sizeof *h);
  }
  gbt_joint_free(joint);
  free(short_g);
  free(short_h);
}

static void long_queries_have_the_sums_of_short_ones(void) {
  static const int sizes[] = {1, 2, 3, 31, 32, 33, 127, 128, 500};
  test_rng rng = {3};
  gbt_ctx ctx = test_ctx(NULL, 3);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int top = 0; top <= 40; top += 8) {
      const gbt_objective all[] = {OF(GBT_OBJ_RANK_NDCG, {top, 0, 1, 0}),
                                   OF(GBT_OBJ_RANK_MAP, {0, 1 + top, 1, 0}),
                                   OF(GBT_OBJ_YETI_RANK, {1 + top / 4, .85})};
      for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        query_scene s = query_scene_draw(&rng, &sizes[i], 1, 4);
        check_long(&ctx, &all[k], &s);
        query_scene_free(&s);
      }
    }
  gbt_ctx_close(&ctx);
}

/* ---- a stop ---- */

/* Asks whether to stop so often at least in one round, and ends when told so by half of them. */
static void check_asks(const gbt_objective *o, const query_scene *s, int64_t least) {
  asker a = {0, 0};
  gbt_ctx ctx;
  gbt_joint *joint = NULL;
  const double *g, *h;
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, asker_ask, &a, test_err));
  if (CHECK_OK(gbt_joint_new(&ctx, o, &s->rows, 7, &joint, test_err))) {
    a.n_asked = 0;
    CHECK_OK(gbt_joint_gradients(&ctx, joint, 0, s->score, &g, &h, test_err));
    if (!CHECK(a.n_asked >= least)) test_note("objective %d asked %d times", (int)o->kind, (int)a.n_asked);
    a = (asker){0, (least + 1) / 2};
    CHECK_FAILS(gbt_joint_gradients(&ctx, joint, 0, s->score, &g, &h, test_err), GBT_CANCELLED, "stopped");
  }
  gbt_joint_free(joint);
  gbt_ctx_close(&ctx);
}

/* T5 of section 8 and Ctrl-C: a query of 50,000 rows, of equal scores as in the first round. A look for every 2^19
 * pairs, or for an order with noise; at least one where a round takes a few passes over the rows. */
static void long_queries_ask_whether_to_stop(void) {
  static const struct {
    int rows;
    int64_t least;
    gbt_objective o;
  } all[] = {{50000, 50000 * 32 >> 19, OF(GBT_OBJ_RANK_NDCG, {32, 0, 1, 1})},
             {50000, 50000 * 32 >> 19, OF(GBT_OBJ_RANK_MAP, {32, 0, 1, 1})},
             {50000, 50000 * 32 >> 19, OF(GBT_OBJ_RANK_MRR, {32, 0, 1, 0})},
             {50000, 50000 * 32 >> 19, OF(GBT_OBJ_RANK_PAIRWISE, {32, 0, 1, 0})},
             {50000, 50000 * 32 >> 19, OF(GBT_OBJ_RANK_NDCG, {0, 32, 0, 0})},
             {4000, 4000 * 2000 >> 19, OF(GBT_OBJ_PAIR_LOGIT, {0})},
             {50000, 10, OF(GBT_OBJ_YETI_RANK, {10, .85})},
             {50000, 1, OF(GBT_OBJ_RANK_XENDCG, {0})},
             {50000, 1, OF(GBT_OBJ_QUERY_RMSE, {0})},
             {50000, 1, OF(GBT_OBJ_QUERY_SOFTMAX, {0})}};
  test_rng rng = {8};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    query_scene s = query_scene_draw(&rng, &all[k].rows, 1, 2);
    clock_jump(20000000);
    check_asks(&all[k].o, &s, all[k].least);
    clock_jump(0);
    query_scene_free(&s);
  }
}

/* T3 of section 8. Rows may come in any order, queries in any order and under other numbers, ties or not. */
static void the_order_of_rows_plays_no_part(void) {
  static const int size[] = {3, 40, 7, 1, 25};
  static const gbt_objective all[] = {OF(GBT_OBJ_RANK_NDCG, {32, 0, 1, 0}),
                                      OF(GBT_OBJ_RANK_NDCG, {5, 0, 1, 1}),
                                      OF(GBT_OBJ_RANK_NDCG, {0, 3, 0, 0}),
                                      OF(GBT_OBJ_RANK_MAP, {4, 0, 1, 0}),
                                      OF(GBT_OBJ_RANK_MRR, {4, 0, 1, 0}),
                                      OF(GBT_OBJ_RANK_XENDCG, {0}),
                                      OF(GBT_OBJ_RANK_PAIRWISE, {6, 0, 1, 0}),
                                      OF(GBT_OBJ_YETI_RANK, {10, .85}),
                                      OF(GBT_OBJ_QUERY_RMSE, {0}),
                                      OF(GBT_OBJ_QUERY_SOFTMAX, {0})};
  test_rng rng = {4};
  gbt_ctx ctx = test_ctx(NULL, 2);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    for (int mode = 0; mode < 5; mode += 2) {
      query_scene s = query_scene_draw(&rng, size, 5, mode), t = query_scene_make(s.rows.n);
      const int64_t n = s.rows.n;
      int64_t *to = test_permutation(&rng, n);
      double g[100], h[100], g2[100], h2[100];
      for (int64_t i = 0; i < n; i++) {
        t.label[to[i]] = s.label[i];
        t.group[to[i]] = 5.0 - s.group[i];
        t.score[to[i]] = s.score[i];
      }
      if (gradients(&ctx, &all[k], &s, g, h) && gradients(&ctx, &all[k], &t, g2, h2))
        for (int64_t i = 0; i < n; i++) {
          CHECK_EQ_BITS(g2[to[i]], g[i]);
          CHECK_EQ_BITS(h2[to[i]], h[i]);
        }
      free(to);
      query_scene_free(&s);
      query_scene_free(&t);
    }
  gbt_ctx_close(&ctx);
}

/* A query's gradients by pairs add up to exactly 0 before weights, where nothing scales them. */
static void gradients_of_a_query_cancel(void) {
  static const int size[] = {30, 100};
  const gbt_objective o = OF(GBT_OBJ_RANK_NDCG, {0});
  test_rng rng = {5};
  gbt_ctx ctx = test_ctx(NULL, 1);
  query_scene s = query_scene_draw(&rng, size, 2, 1);
  double g[130], h[130], sum[2] = {0, 0};
  if (gradients(&ctx, &o, &s, g, h)) {
    for (int64_t i = 0; i < s.rows.n; i++) sum[s.group[i] > -7.0] += ldexp(g[i], 40); /* exact: few bits */
    CHECK(fabs(sum[0]) < 1.0 && fabs(sum[1]) < 1.0);
  }
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

/* ---- errors ---- */

static void data_that_do_not_suit_are_refused(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_joint *joint;
  gbt_objective o = OF(GBT_OBJ_RANK_NDCG, {32, 0, 1, 0});
  query_scene s = query_scene_make(3);
  for (int i = 0; i < 3; i++) s.label[i] = i;
  s.rows.field[GBT_GROUP] = NULL;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_DATA, "needs `group`");
  s.rows.field[GBT_GROUP] = s.group;
  s.label[1] = 0.5;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_DATA, "label of row 2 is 0.5");
  s.label[1] = 32;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_DATA, "label of row 2 is 32");
  o.param[4] = 1;
  CHECK_OK(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err));
  gbt_joint_free(joint);
  s.rows.field[GBT_WEIGHT] = s.weight;
  s.weight[2] = 2;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &s.rows, 1, &joint, test_err), GBT_E_DATA, "rows 1 and 3 belong to one query");
  query_scene_free(&s);
  gbt_ctx_close(&ctx);
}

static gbt_status gradients_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const query_scene *s = arg;
  const gbt_objective o = OF(GBT_OBJ_RANK_NDCG, {0, 0, 1, 0});
  const double *g, *h;
  gbt_joint *joint = NULL;
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = gbt_joint_new(&ctx, &o, &s->rows, 1, &joint, err);
  if (status == GBT_OK) status = gbt_joint_gradients(&ctx, joint, 0, s->score, &g, &h, err);
  gbt_joint_free(joint);
  gbt_ctx_close(&ctx);
  return status;
}

static void memory_may_run_out(void) {
  static const int size[] = {3, 40, 2000};
  test_rng rng = {6};
  query_scene s = query_scene_draw(&rng, size, 3, 1);
  CHECK(fault_sweep(gradients_op, &s) > 30);
  query_scene_free(&s);
}

void suite_joint(void) {
  RUN(pairs_have_the_reference_numbers);
  RUN(norms_have_the_reference_numbers);
  RUN(sums_have_the_reference_numbers);
  RUN(the_twin_of_xendcg_has_the_reference_numbers);
  RUN(the_twin_of_yeti_rank_has_the_reference_numbers);
  RUN(objectives_equal_their_twins);
  RUN(bytes_depend_on_neither_threads_nor_instructions);
  RUN(long_queries_have_the_sums_of_short_ones);
  RUN(long_queries_ask_whether_to_stop);
  RUN(the_order_of_rows_plays_no_part);
  RUN(gradients_of_a_query_cancel);
  RUN(data_that_do_not_suit_are_refused);
  RUN(memory_may_run_out);
}
