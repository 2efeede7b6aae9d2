/* More rows than 32 bits count, of all ranks together. The communicator here plays ranks that all have the rows of this
 * one: what is added up is multiplied by their number, what is gathered comes as often. Labels are such that gradients
 * are exact in fixed point, whatever its scale, and the number of ranks is a power of two: so the tree must be that of
 * one process with these rows, its sums that many times as large. */
#include "../../src/gbt/base/comm.h"
#include "../../src/gbt/math/fixed.h"
#include "tables.h"
#include "trained.h"

enum { RANKS = 65536, ROWS = 131072 }; /* 2^33 rows */

/* What the functions of the communicator know. */
typedef struct played {
  int rank;
  int alone; /* what is exchanged went to this rank alone, so the others gather nothing */
} played;

/* Equal shares are gathered by a sum of one array for all ranks, in which a rank fills its part alone (base/comm.c):
 * the others' are the same here, or nothing. 1: that was it. */
static int gathers(const played *p, int64_t *x, size_t n) {
  const size_t part = n / RANKS, beg = part * (size_t)p->rank;
  if (part == 0 || n % RANKS != 0) return 0;
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0 && (i < beg || i >= beg + part)) return 0;
  for (size_t r = 0; r < RANKS && !p->alone; r++)
    if (r * part != beg) memcpy(x + r * part, x + beg, part * sizeof *x);
  return 1;
}

/* What the first rank knows of all of them and others add nothing to (cpu_leaf.c) is that many times too large to be
 * one rank's. A sum that overflows would be taken for it, and the tree would be another one. */
static int known(int rank, const int64_t *x, size_t n) {
  for (size_t i = 0; rank == 0 && i < n; i++)
    if (llabs(x[i]) > INT64_MAX / RANKS) return 1;
  return 0;
}

static void reduce_part(const played *p, void *x, size_t n, gbt_comm_type type, gbt_comm_op op) {
  if (op == GBT_COMM_SUM && type == GBT_COMM_I64 && (gathers(p, x, n) || known(p->rank, x, n))) return;
  for (size_t i = 0; op == GBT_COMM_SUM && i < n; i++) {
    if (type == GBT_COMM_I64) {
      CHECK(llabs(((int64_t *)x)[i]) <= INT64_MAX / RANKS); /* the sum is one of 64 bits */
      ((int64_t *)x)[i] *= RANKS;
    } else {
      CHECK(((uint32_t *)x)[i] <= UINT32_MAX / RANKS);
      ((uint32_t *)x)[i] *= RANKS;
    }
  }
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  (void)err;
  for (size_t i = 0; i < n_parts; i++) reduce_part(state, part[i].x, part[i].n, part[i].type, op);
  return GBT_OK;
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  played *p = state;
  char *to = all;
  (void)err;
  for (int r = 0; r < RANKS; to += bytes[r++]) {
    CHECK(bytes[r] == (p->alone && r != p->rank ? 0 : bytes[p->rank]));
    if (bytes[r] > 0) memcpy(to, mine, bytes[r]);
  }
  p->alone = 0;
  return GBT_OK;
}

/* Texts go to the rank that their hash names, and only a few of the ranks here get any. So this rank plays all of
 * these: it takes all that a rank sends, from all of them; then it alone has texts that are gathered. */
static gbt_status exchange(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                           gbt_error *err) {
  played *p = state;
  size_t all = 0, bytes = 0;
  char *to = in;
  int sizes = 1;
  (void)err;
  for (int r = 0; r < RANKS; r++) sizes &= sends[r] == sizeof *sends && takes[r] == sizeof *sends;
  for (int r = 0; r < RANKS; r++) bytes += sends[r];
  for (int r = 0; sizes && r < RANKS; r++) all += ((const size_t *)out)[r];
  for (int r = 0; r < RANKS; r++, to += takes[r - 1]) {
    CHECK(takes[r] == (sizes ? sizeof all : bytes));
    memcpy(to, sizes ? (const void *)&all : out, takes[r]);
  }
  p->alone = !sizes;
  return GBT_OK;
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  (void)state, (void)x, (void)bytes, (void)root, (void)err;
  return GBT_OK;
}

/* Two columns of four numbers and four levels; labels of halves whose mean is 2.5. */
typedef struct world {
  tables *t;
  made m; /* borrows from t */
  double *label;
} world;

static void world_open(world *w) {
  static const char *const levels[] = {"b", "d", "a", "c"};
  double *x = test_alloc(ROWS * sizeof *x);
  int32_t *code = test_alloc(ROWS * sizeof *code);
  w->label = test_alloc(ROWS * sizeof *w->label);
  w->t = tables_new(ROWS);
  for (int32_t r = 0; r < ROWS; r++) {
    x[r] = r % 4;
    code[r] = 1 + r / 4 % 4;
    w->label[r] = x[r] + (code[r] == 3 ? 4.0 : 0.0);
  }
  tables_dense(w->t, "x", x, GBT_I32);
  tables_codes(w->t, "f", GBT_CATEGORICAL, code, levels, 4);
  memset(&w->m, 0, sizeof w->m);
  w->m.table = w->t->table;
  w->m.label = w->label;
  free(x);
  free(code);
}

static void world_close(world *w) {
  tables_free(w->t);
  free(w->label);
}

static train_job exact_job(const world *w) {
  train_job job = job_make(&w->m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  job.spec.params.lambda = job.spec.params.min_child_weight = 0.0;
  job.spec.params.min_data_in_leaf = 1;
  job.spec.params.max_cat_onehot = 4;
  job.spec.params.max_depth = 4;
  return job;
}

static void copy_trees(gbt_ctx *ctx, gbt_trainer *tr, gbt_forest **out) {
  const gbt_forest_view view = *gbt_trainer_trees(tr);
  REQUIRE_OK(gbt_forest_new(&ctx->mem, view.n_features, view.n_outputs, view.n_parallel, out, test_err));
  memcpy((*out)->base, view.base, sizeof *(*out)->base);
  CHECK_OK(gbt_forest_append(*out, &view, test_err));
}

/* rank < 0: one process. NULL after a failure, whose status is in *failed. */
static gbt_forest *grow(const train_job *job, int rank, gbt_status *failed) {
  played state = {rank, 0};
  const gbt_comm comm = {.rank = rank,
                         .size = RANKS,
                         .state = &state,
                         .reduce = reduce,
                         .gather = gather,
                         .broadcast = broadcast,
                         .exchange = exchange};
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_forest *out = NULL;
  gbt_stop_reason why;
  gbt_error err = {0};
  if (rank >= 0) ctx.comm = &comm;
  *failed = GBT_E_INTERNAL;
  if (!CHECK(job_open(&ctx, job, 0, &spec))) return NULL;
  if (rank >= 0) CHECK_EQ_I64(spec.train->all_rows, (int64_t)RANKS * ROWS);
  if (rank >= 0) CHECK_EQ_I64(spec.train->rows.before, (int64_t)rank * ROWS);
  *failed = gbt_trainer_new(&ctx, &spec, &tr, &err);
  if (*failed == GBT_OK) *failed = gbt_trainer_run(&ctx, tr, job->rounds, &why, &err);
  if (*failed == GBT_OK)
    copy_trees(&ctx, tr, &out);
  else
    CHECK(*failed == GBT_E_UNSUPPORTED && strstr(err.msg, "min_data_in_leaf") != NULL);
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return out;
}

static void same_tree(const gbt_forest *one, const gbt_forest *many) {
  CHECK(one->n_nodes > 9 && one->n_nodes == many->n_nodes && one->base[0] == many->base[0] && one->base[0] == 2.5);
  for (size_t i = 0; i < one->n_nodes && i < many->n_nodes; i++) {
    const uint64_t count = (uint64_t)one->count[i] * RANKS;
    CHECK(memcmp(&one->nodes[i], &many->nodes[i], sizeof one->nodes[i]) == 0);
    CHECK(one->cover[i] * RANKS == many->cover[i] && one->gain[i] * RANKS == many->gain[i]);
    CHECK(many->count[i] == (count < UINT32_MAX ? count : UINT32_MAX));
  }
}

static void trees_of_more_than_2_to_the_32_rows(void) {
  world w;
  gbt_status failed;
  world_open(&w);
  for (int policy = 0; policy < 3; policy++) {
    train_job job = exact_job(&w);
    job.spec.params.grow_policy = policy;
    gbt_forest *one = grow(&job, -1, &failed);
    for (int rank = policy == 2 ? RANKS - 1 : 0; rank >= 0; rank -= RANKS - 1) {
      gbt_forest *many = grow(&job, rank, &failed);
      REQUIRE(one != NULL && many != NULL);
      same_tree(one, many);
      gbt_forest_free(many);
    }
    gbt_forest_free(one);
  }
  world_close(&w);
}

/* Sums over rows of every kind stay within their bits; leaves are finite. */
static void other_trainings(void) {
  static const gbt_objective_kind kinds[] = {GBT_OBJ_LOGISTIC, GBT_OBJ_QUANTILE, GBT_OBJ_POISSON, GBT_OBJ_HUBER};
  world w;
  gbt_status failed;
  world_open(&w);
  for (int k = 0; k < 4; k++) {
    train_job job = exact_job(&w);
    job.spec.objective = gbt_objective_make(kinds[k], 1);
    for (int32_t r = 0; r < ROWS; r++) w.label[r] = k == 0 ? r % 4 > 1 : r % 4 + r / 4 % 4;
    job.rounds = 3;
    job.spec.params.subsample = k % 2 ? 1.0 : 0.5;
    gbt_forest *forest = grow(&job, 0, &failed);
    REQUIRE(forest != NULL);
    double sum = 0.0;
    for (size_t i = 0; i < forest->n_nodes; i++) sum += forest->nodes[i].left == 0 ? forest->nodes[i].arg.value : 0.0;
    CHECK(isfinite(sum) && forest->n_nodes > 9);
    gbt_forest_free(forest);
  }
  world_close(&w);
}

static void counts_of_bins_are_refused(void) {
  world w;
  gbt_status failed;
  world_open(&w);
  train_job job = exact_job(&w);
  job.spec.params.min_data_in_leaf = 5;
  CHECK(grow(&job, 0, &failed) == NULL && failed == GBT_E_UNSUPPORTED);
  job = exact_job(&w);
  job.spec.params.max_cat_onehot = 3; /* sets */
  CHECK(grow(&job, 0, &failed) == NULL && failed == GBT_E_UNSUPPORTED);
  world_close(&w);
}

static void scales_leave_room(void) {
  static const int64_t rows[] = {1, INT32_MAX, INT64_C(1) << 31, (INT64_C(1) << 31) + 1, INT64_C(1) << 32,
                                 (INT64_C(1) << 32) + 1, (INT64_C(1) << 47) - 1};
  static const int spare[] = {0, 0, 0, 1, 1, 2, 16};
  for (int i = 0; i < 7; i++) {
    CHECK_EQ_I64(gbt_scale_spare(rows[i]), spare[i]);
    for (int k = 0; k < 200; k++) {
      const double max = ldexp(1.0 + k / 200.0, k - 100);
      const gbt_scale s = gbt_scale_less(max, max, gbt_scale_spare(rows[i]));
      const gbt_gh32 q = gbt_fix32(max, max, s.up_g, s.up_h);
      CHECK((double)q.g * (double)rows[i] < 0x1p63 && (double)q.h * (double)rows[i] < 0x1p63);
      CHECK(q.g > 0x3000 && (int64_t)q.g * 65536 > (int64_t)q.g);
    }
  }
}

void suite_many_rows(void) {
  RUN(trees_of_more_than_2_to_the_32_rows);
  RUN(other_trainings);
  RUN(counts_of_bins_are_refused);
  RUN(scales_leave_room);
}
