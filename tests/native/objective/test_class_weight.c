/* Weights of classes: those that balance them, and the products with the weights of rows. Weights here are whole
 * multiples of 2^-10, so that plain sums are exact. */
#include "made.h"
#include "fault.h"
#include "test.h"

#include "../../src/gbt/objective/class_weight.h"

typedef struct class_case {
  gbt_rows rows;
  int32_t n_classes;
  double *label, *weight;
} class_case;

static class_case draw_case(test_rng *rng, int64_t n, int32_t n_classes, int weighted) {
  class_case c = {.n_classes = n_classes};
  c.label = test_alloc((size_t)n * sizeof *c.label);
  c.weight = test_alloc((size_t)n * sizeof *c.weight);
  for (int64_t i = 0; i < n; i++) {
    c.label[i] = i < n_classes ? (double)i : (double)test_below(rng, test_below(rng, n_classes) + 1);
    c.weight[i] = (double)(1 + test_below(rng, 4096)) / 1024.0;
  }
  c.rows = test_rows(n, c.label, weighted ? c.weight : NULL, NULL);
  return c;
}

static void free_case(class_case *c) {
  free(c->label);
  free(c->weight);
}

static void check_balance(const class_case *c, int threads) {
  gbt_ctx ctx = test_ctx(NULL, threads);
  double *out = test_alloc((size_t)c->n_classes * sizeof *out),
         *total = test_alloc((size_t)c->n_classes * sizeof *total);
  double *rows = test_alloc((size_t)c->rows.n * sizeof *rows), all = 0.0;
  for (int32_t k = 0; k < c->n_classes; k++) total[k] = 0.0;
  for (int64_t i = 0; i < c->rows.n; i++) total[(int32_t)c->label[i]] += gbt_weight_of(&c->rows, i);
  for (int32_t k = 0; k < c->n_classes; k++) all += total[k];
  if (CHECK_OK(gbt_class_balance(&ctx, &c->rows, c->n_classes, out, test_err)))
    for (int32_t k = 0; k < c->n_classes; k++) CHECK_EQ_BITS(out[k], all / ((double)c->n_classes * total[k]));
  if (CHECK_OK(gbt_class_weigh(&ctx, &c->rows, c->n_classes, out, rows, test_err)))
    for (int64_t i = 0; i < c->rows.n; i++)
      CHECK_EQ_BITS(rows[i], gbt_weight_of(&c->rows, i) * out[(int32_t)c->label[i]]);
  gbt_ctx_close(&ctx);
  free(out);
  free(total);
  free(rows);
}

static void balanced_as_defined(void) {
  static const int64_t sizes[] = {1, 2, 3, 64, 255, 65535, 65536, 65537, 131073, 200000};
  static const int32_t classes[] = {1, 2, 3, 17, 300};
  test_rng rng = {1};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
      if (sizes[s] < classes[k]) continue;
      class_case c = draw_case(&rng, sizes[s], classes[k], (s + k) % 2);
      check_balance(&c, 1 + (int)(s % 3));
      free_case(&c);
    }
}

static gbt_status balance_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const class_case *c = arg;
  gbt_ctx ctx;
  double out[8];
  gbt_status status = gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = gbt_class_balance(&ctx, &c->rows, c->n_classes, out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static int stop_at_once(void *user) {
  (void)user;
  return 1;
}

static void failures(void) {
  test_rng rng = {2};
  double out[8];
  class_case c = draw_case(&rng, 200000, 8, 1);
  CHECK(fault_sweep(balance_op, &c) >= 1);
  fault f;
  fault_start(&f, 0, 0);
  gbt_ctx ctx;
  REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, stop_at_once, NULL, test_err));
  ctx.next_poll_ns = 0;
  CHECK_FAILS(gbt_class_balance(&ctx, &c.rows, 8, out, test_err), GBT_CANCELLED, "stop");
  gbt_ctx_close(&ctx);
  for (int64_t i = 0; i < c.rows.n; i++)
    if (c.label[i] == 3.0) c.weight[i] = 0.0;
  gbt_ctx plain = test_ctx(NULL, 1);
  CHECK_FAILS(gbt_class_balance(&plain, &c.rows, 8, out, test_err), GBT_E_DATA, "all rows of class 4 have weight 0");
  gbt_ctx_close(&plain);
  free_case(&c);
}

void suite_class_weight(void) {
  RUN(balanced_as_defined);
  RUN(failures);
}
