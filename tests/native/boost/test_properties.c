/* What must hold between trainings of related data, to the bit: rows or columns in another order, weights for repeated
 * rows, a response on another scale. */
#include "trained.h"

static const train_how plain = {2, 0, GBT_SIMD_AUTO, NULL};

static const made_kind numbers[] = {MADE_BELL, MADE_HOLES, MADE_FEW, MADE_ORDERED, MADE_EXTREME, MADE_ZEROS};
enum { N_NUMBERS = sizeof numbers / sizeof numbers[0], ROWS = 400 };

static train_job numbers_job(const made *m, int variant) {
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 6);
  job.spec.params.grow_policy = variant / 4;
  job.spec.params.max_leaves = variant / 4 == GBT_LOSSGUIDE ? 15 : 0;
  job.spec.params.lambda = variant & 2 ? 0.0 : 1.0;
  job.max_bin = variant & 1 ? 16 : 1000;
  return job;
}

/* With 32 bits rounding knows no row numbers, so that rows may come in any order. (With 16 bits it must know them.) */
static void the_order_of_rows_does_not_show(void) {
  test_rng rng = {1};
  made *m = made_new(2, ROWS, N_NUMBERS, numbers);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
  made_weights(m, 4);
  for (int variant = 0; variant < 12; variant++) {
    int64_t *rows = test_permutation(&rng, ROWS);
    made *other = made_rows(m, rows, ROWS);
    train_job job = numbers_job(m, variant), twin = numbers_job(other, variant);
    job.spec.params.grad_bits = twin.spec.params.grad_bits = GBT_GRAD_32;
    trained *a = train(&job, &plain), *b = train(&twin, &plain);
    if (a == NULL || b == NULL) break;
    CHECK(a->forest->n_nodes > 80);
    same_forests(a->forest, b->forest);
    int same = 1;
    for (int r = 0; r < ROWS; r++) same &= gbt_bits(b->score[0][r]) == gbt_bits(a->score[0][rows[r]]);
    CHECK(same);
    trained_free(a);
    trained_free(b);
    made_free(other);
    free(rows);
  }
  made_free(m);
}

/* Gradients that are short binary fractions lose nothing in 32 bits: then nodes, values, gains and covers are the same.
 * Counts, and with them the side of most rows, are of rows. */
static void rows_may_stand_for_several(void) {
  const double base = 0.0;
  made *m = made_new(5, ROWS, N_NUMBERS, numbers);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 6);
  int64_t *rows = test_alloc(3 * ROWS * sizeof *rows), n = 0;
  m->weight = test_alloc(ROWS * sizeof *m->weight);
  for (int64_t r = 0; r < ROWS; r++) {
    m->label[r] = rint(m->label[r] * 1024.0) / 1024.0;
    m->weight[r] = (double)(1 + r % 3);
    for (int k = 0; k < 1 + r % 3; k++) rows[n++] = r;
  }
  made *repeated = made_rows(m, rows, n);
  free(repeated->weight);
  repeated->weight = NULL;
  for (int variant = 0; variant < 12; variant++) {
    train_job job = numbers_job(m, variant), twin = numbers_job(repeated, variant);
    job.rounds = twin.rounds = 1;
    job.spec.base = twin.spec.base = &base;
    job.spec.params.grad_bits = twin.spec.params.grad_bits = GBT_GRAD_32;
    trained *a = train(&job, &plain), *b = train(&twin, &plain);
    if (a == NULL || b == NULL) break;
    size_t n_nodes = a->forest->n_nodes;
    CHECK(n_nodes > 20);
    if (CHECK_EQ_I64(n_nodes, b->forest->n_nodes))
      for (size_t i = 0; i < n_nodes; i++) {
        const gbt_node *x = &a->forest->nodes[i], *y = &b->forest->nodes[i];
        CHECK_EQ_I64(x->feat & ~GBT_NODE_BULK_LEFT, y->feat & ~GBT_NODE_BULK_LEFT);
        CHECK_EQ_I64(x->left, y->left);
        CHECK_EQ_BITS(x->arg.value, y->arg.value);
        CHECK_EQ_BITS(a->forest->gain[i], b->forest->gain[i]);
        CHECK_EQ_BITS(a->forest->cover[i], b->forest->cover[i]);
      }
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
  made_free(repeated);
  free(rows);
}

/* Columns may change places where no two splits gain the same: real responses, larger nodes. */
static void the_order_of_columns_does_not_show(void) {
  made_kind kinds[20];
  for (int c = 0; c < 20; c++) kinds[c] = c % 3 ? MADE_BELL : MADE_HOLES;
  made *m = made_new(7, ROWS, 20, kinds), *other = made_new(7, ROWS, 20, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 8);
  made_response(other, GBT_OBJ_SQUARED_ERROR, 1, 8);
  gbt_column *cols = (gbt_column *)other->table.cols;
  for (int c = 0; c < 10; c++) { /* the other way round */
    gbt_column t = cols[c];
    cols[c] = cols[19 - c];
    cols[19 - c] = t;
  }
  for (int variant = 0; variant < 6; variant++) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 5), twin = job_make(other, GBT_OBJ_SQUARED_ERROR, 1, 5);
    gbt_params *params[] = {&job.spec.params, &twin.spec.params};
    for (int i = 0; i < 2; i++) {
      params[i]->grow_policy = variant / 2;
      params[i]->max_leaves = variant / 2 == GBT_LOSSGUIDE ? 15 : 0;
      params[i]->grad_bits = variant & 1 ? GBT_GRAD_16 : GBT_GRAD_32;
      params[i]->min_child_weight = 8.0;
      params[i]->subsample = 0.8;
    }
    trained *a = train(&job, &plain), *b = train(&twin, &plain);
    if (a == NULL || b == NULL) break;
    CHECK(a->forest->n_nodes > 50);
    CHECK_EQ_BYTES(a->score[0], b->score[0], ROWS * sizeof(double));
    size_t same = 0, n_splits = 0;
    for (size_t i = 0; i < a->forest->n_nodes && i < b->forest->n_nodes; i++) {
      if (a->forest->nodes[i].left == 0) continue;
      n_splits++;
      same += (a->forest->nodes[i].feat & GBT_NODE_FEATURE) == 19 - (b->forest->nodes[i].feat & GBT_NODE_FEATURE);
    }
    CHECK_EQ_I64(same, n_splits);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
  made_free(other);
}

/* Squared error in units of a power of two: the same splits, all leaf values times that power. */
static void the_scale_of_the_response_does_not_show(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FACTOR, MADE_LEVELS, MADE_FEW};
  for (int bits = GBT_GRAD_AUTO; bits <= GBT_GRAD_32; bits++)
    for (int power = -300; power <= 300; power += 75) {
      made *m = made_new(9, ROWS, 5, kinds), *other = made_new(9, ROWS, 5, kinds);
      double scale = ldexp(1.0, power);
      made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 10);
      made_response(other, GBT_OBJ_SQUARED_ERROR, 1, 10);
      for (int r = 0; r < ROWS; r++) other->label[r] *= scale;
      train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 4), twin = job_make(other, GBT_OBJ_SQUARED_ERROR, 1, 4);
      job.spec.params.grad_bits = twin.spec.params.grad_bits = bits;
      trained *a = train(&job, &plain), *b = train(&twin, &plain);
      if (a == NULL || b == NULL) break;
      CHECK(a->forest->n_nodes > 60);
      CHECK_EQ_BITS(a->forest->base[0] * scale, b->forest->base[0]);
      if (CHECK_EQ_I64(a->forest->n_nodes, b->forest->n_nodes))
        for (size_t i = 0; i < a->forest->n_nodes; i++) {
          gbt_node x = a->forest->nodes[i];
          if (x.left == 0) x.arg.value *= scale;
          CHECK_EQ_BYTES(&x, &b->forest->nodes[i], sizeof x);
          CHECK_EQ_BITS(a->forest->gain[i] * scale * scale, b->forest->gain[i]);
        }
      for (int r = 0; r < ROWS; r++) CHECK_EQ_BITS(a->score[0][r] * scale, b->score[0][r]);
      trained_free(a);
      trained_free(b);
      made_free(m);
      made_free(other);
    }
}

void suite_properties(void) {
  RUN(the_order_of_rows_does_not_show);
  RUN(rows_may_stand_for_several);
  RUN(the_order_of_columns_does_not_show);
  RUN(the_scale_of_the_response_does_not_show);
}
