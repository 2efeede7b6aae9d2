/* Rows of ranks on each of them: what one process has of all rows. */
#include "../../src/gbt/encode/gather.h"
#include "../../src/gbt/encode/target.h"
#include "ranks.h"

enum { N = 200, SIZE = 3 };

typedef struct case_of_ranks {
  gbt_rows all;
  double x[GBT_N_FIELDS][N];
  uint32_t table_row[N], number[N];
  int64_t beg[SIZE + 1];
  int masked;
  gbt_field lacked; /* by rank 1 */
  gbt_status status[SIZE];
  gbt_error err[SIZE];
  int64_t bad[SIZE];
} case_of_ranks;

static void make_case(case_of_ranks *c, int masked) {
  test_rng rng = {3};
  memset(c, 0, sizeof *c);
  c->all.n = N;
  c->masked = masked;
  c->lacked = GBT_N_FIELDS;
  c->beg[1] = c->beg[2] = 90; /* rank 1 has no rows */
  c->beg[SIZE] = N;
  for (uint32_t i = 0; i < N; i++) {
    c->table_row[i] = 2 * i + (i > 90);
    c->number[i] = (uint32_t)test_u(&rng);
    for (int f = 0; f < GBT_N_FIELDS; f++) c->x[f][i] = 1.0 + (double)test_below(&rng, 50);
  }
  c->all.table_row = masked ? c->table_row : NULL;
  for (int f = 0; f < GBT_N_FIELDS; f++) c->all.field[f] = f == GBT_TIME ? NULL : c->x[f];
}

/* The rows of a rank; a mask counts from the first row of its table. */
static gbt_rows rows_of(const case_of_ranks *c, int rank, uint32_t *table_row) {
  const int64_t beg = c->beg[rank], n = c->beg[rank + 1] - beg;
  gbt_rows rows = {.n = n, .before = beg, .table_before = c->masked ? 2 * beg : beg};
  for (int f = 0; f < GBT_N_FIELDS; f++)
    if (c->all.field[f] != NULL && n > 0 && !(rank == 2 && f == (int)c->lacked)) rows.field[f] = c->all.field[f] + beg;
  for (int64_t i = 0; c->masked && i < n; i++) table_row[i] = c->table_row[beg + i] - (uint32_t)rows.table_before;
  rows.table_row = c->masked && n > 0 ? table_row : NULL;
  return rows;
}

static int same_visit(gbt_ctx *ctx, const gbt_rows *a, const gbt_rows *b) {
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  gbti_visit x = {0}, y = {0};
  gbti_target s = {0}, t = {0};
  int same = gbti_visit_make(ctx, a, 1, 4, &x, NULL) == GBT_OK && gbti_visit_make(ctx, b, 1, 4, &y, NULL) == GBT_OK &&
             gbti_target_make(ctx, &objective, a, &x, 1, 10.0, &s, NULL) == GBT_OK &&
             gbti_target_make(ctx, &objective, b, &y, 1, 10.0, &t, NULL) == GBT_OK;
  same = same && memcmp(x.row, y.row, N * sizeof *x.row) == 0 && memcmp(s.label, t.label, N * sizeof *s.label) == 0 &&
         memcmp(s.weight, t.weight, N * sizeof *s.weight) == 0 && s.n_parts == t.n_parts;
  gbti_visit_free(&x);
  gbti_visit_free(&y);
  gbti_target_free(&s);
  gbti_target_free(&t);
  return same;
}

static void on_a_rank(void *arg, const gbt_comm *comm) {
  case_of_ranks *c = arg;
  const int r = comm->rank;
  uint32_t table_row[N], number[N];
  gbti_gathered g;
  gbt_ctx ctx;
  c->status[r] = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &c->err[r]);
  ctx.comm = comm;
  const gbt_rows own = rows_of(c, r, table_row);
  c->status[r] = gbti_gather_rows(&ctx, &own, &g, &c->err[r]);
  if (c->status[r] == GBT_OK) c->status[r] = gbti_gather_u32(&ctx, &g, c->number + c->beg[r], number, &c->err[r]);
  if (c->status[r] == GBT_OK) {
    c->bad[r] += g.rows.n != N || g.before != c->beg[r] || g.n_own != own.n;
    c->bad[r] += memcmp(number, c->number, sizeof number) != 0;
    for (int f = 0; f < GBT_N_FIELDS; f++) {
      c->bad[r] += (g.rows.field[f] == NULL) != (c->all.field[f] == NULL);
      for (int64_t i = 0; g.rows.field[f] != NULL && i < N; i++) {
        const int lacks = f == (int)c->lacked && i >= c->beg[2];
        c->bad[r] += g.rows.field[f][i] != (lacks ? (f == GBT_WEIGHT) : c->all.field[f][i]);
      }
    }
    if (c->lacked == GBT_N_FIELDS) c->bad[r] += !same_visit(&ctx, &g.rows, &c->all);
  }
  gbti_gathered_free(&g);
  c->status[r] = gbt_comm_agree(&ctx, c->status[r], &c->err[r]);
  gbt_ctx_close(&ctx);
}

static void check_case(case_of_ranks *c, gbt_status want) {
  ranks_run(SIZE, on_a_rank, c);
  for (int r = 0; r < SIZE; r++) {
    CHECK_EQ_I64(c->status[r], want);
    CHECK_EQ_I64(c->bad[r], 0);
    if (want != GBT_OK) CHECK(strstr(c->err[r].msg, "only some ranks have it") != NULL);
  }
}

static void rows_of_all(void) {
  case_of_ranks c;
  for (int masked = 0; masked < 2; masked++) {
    make_case(&c, masked);
    check_case(&c, GBT_OK);
    make_case(&c, masked);
    c.lacked = GBT_WEIGHT;
    check_case(&c, GBT_OK);
  }
}

static void group_of_some(void) {
  case_of_ranks c;
  make_case(&c, 0);
  c.lacked = GBT_GROUP;
  check_case(&c, GBT_E_ARG);
}

static void alone(void) {
  case_of_ranks c;
  uint32_t number[N];
  gbti_gathered g;
  make_case(&c, 1);
  gbt_ctx ctx = test_ctx(NULL, 1);
  CHECK_OK(gbti_gather_rows(&ctx, &c.all, &g, test_err));
  CHECK_OK(gbti_gather_u32(&ctx, &g, c.number, number, test_err));
  CHECK_EQ_BYTES(&g.rows, &c.all, sizeof g.rows);
  CHECK_EQ_BYTES(number, c.number, sizeof number);
  CHECK_EQ_I64(g.before, 0);
  gbti_gathered_free(&g);
  gbt_ctx_close(&ctx);
}

void suite_gather(void) {
  RUN(rows_of_all);
  RUN(group_of_some);
  RUN(alone);
}
