/* The collective operations, on ranks that are threads; and what becomes of all when one fails. */
#include "ranks.h"
#include "ranks_count.h"

enum { SOME = 37 };

typedef struct outcome {
  gbt_status status;
  gbt_error err;
  int64_t sum[SOME], low[SOME], high[SOME], gathered[RANKS_MOST * 2], told;
  double least[SOME], most[SOME];
  uint32_t count[SOME];
  int64_t part[3], own[SOME];
  uint32_t own_count[SOME];
  char text[64], met[4 * RANKS_MOST];
  size_t takes[RANKS_MOST];
  double exact;
  int same, differ, moved;
} outcome;

typedef struct plan {
  outcome out[RANKS_MOST];
  int64_t n;
  int bad_rank, bad_step; /* who fails before which step */
  gbt_status how;
  size_t spare; /* bytes; 0: the operations are in no stretch */
  int halves;   /* the communicator offers moves in two halves */
} plan;

enum { SPARES = 3 }; /* no stretch; little memory, so that some operations do not fit; enough */
static const size_t spare_of[SPARES] = {0, 9000, 100000};


static int64_t number_of(int rank, int64_t i) { return (int64_t)(gbt_mix64((uint64_t)(100 * rank + i)) >> 20) - 4000; }

/* Whether it is this rank's time to fail. */
static gbt_status perhaps(const plan *p, int rank, int *step, gbt_error *err) {
  if (rank != p->bad_rank || (*step)++ != p->bad_step) return GBT_OK;
  return gbt_fail_host(err, p->how, "thing", "no such thing in row 12", "of the host");
}

static gbt_status reduce_all(gbt_ctx *ctx, const plan *p, int *step, outcome *o, gbt_error *err) {
  int r = gbt_comm_rank(ctx);
  size_t n = (size_t)p->n;
  for (size_t i = 0; i < n; i++) {
    o->sum[i] = o->low[i] = o->high[i] = number_of(r, (int64_t)i);
    o->least[i] = o->most[i] = (double)number_of(r, (int64_t)i) * 0x1p-40;
    o->count[i] = (uint32_t)(r + 1);
  }
  o->part[0] = o->part[1] = o->part[2] = r;
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_sum_i64(ctx, o->sum, n, err));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_min_i64(ctx, o->low, n, err));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_max_i64(ctx, o->high, n, err));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_min_f64(ctx, o->least, n, err));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_max_f64(ctx, o->most, n, err));
  GBT_TRY(perhaps(p, r, step, err));
  gbt_comm_part parts[] = {{o->count, n, GBT_COMM_U32}, {o->part, 3, GBT_COMM_I64}};
  return gbt_comm_sum_parts(ctx, parts, 2, err);
}

/* Numbers of rank r's block: some have nothing. */
static size_t block_of(const plan *p, int r) { return (size_t)(p->n * ((r + 1) % 3) / 3); }

static gbt_status scatter_all(gbt_ctx *ctx, const plan *p, int *step, outcome *o, gbt_error *err) {
  int r = gbt_comm_rank(ctx);
  size_t count[RANKS_MOST], n = 0;
  int64_t x[RANKS_MOST * SOME];
  uint32_t few[RANKS_MOST * SOME];
  for (int i = 0; i < gbt_comm_size(ctx); i++) n += count[i] = block_of(p, i);
  for (size_t i = 0; i < n; i++) {
    x[i] = number_of(r, (int64_t)i);
    few[i] = (uint32_t)x[i]; /* sums wrap around */
  }
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_sum_own(ctx, x, count, GBT_COMM_I64, o->own, err));
  GBT_TRY(perhaps(p, r, step, err));
  return gbt_comm_sum_own(ctx, few, count, GBT_COMM_U32, o->own_count, err);
}

/* Rank r sends (r + 2 s) % 4 letters to rank s: some nothing at all. */
static size_t n_letters(int from, int to) { return (size_t)((from + 2 * to) % 4); }

static gbt_status exchange_texts(gbt_ctx *ctx, const plan *p, int *step, outcome *o, gbt_error *err) {
  const int r = gbt_comm_rank(ctx), size = gbt_comm_size(ctx);
  size_t sends[RANKS_MOST];
  char text[4 * RANKS_MOST], *end = text;
  for (int to = 0; to < size; to++) {
    sends[to] = n_letters(r, to);
    for (size_t i = 0; i < sends[to]; i++) *end++ = (char)('a' + 8 * (to % 3) + r);
  }
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_exchange_sizes(ctx, sends, o->takes, err));
  GBT_TRY(perhaps(p, r, step, err));
  return gbt_comm_exchange(ctx, text, sends, o->met, o->takes, err);
}

static gbt_status move_all(gbt_ctx *ctx, const plan *p, int *step, outcome *o, gbt_error *err) {
  int r = gbt_comm_rank(ctx), size = gbt_comm_size(ctx);
  int64_t two[2] = {r, 10 * r};
  size_t bytes[RANKS_MOST];
  char text[2 * RANKS_MOST];
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_gather_i64(ctx, two, 2, o->gathered, err));
  for (int i = 0; i < size; i++) bytes[i] = (size_t)((i * 2) % 5); /* some have nothing */
  memset(text, 'a' + r, sizeof text);
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_gather(ctx, text, bytes, o->text, err));
  o->told = r == size - 1 ? 77 : 0;
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_broadcast(ctx, &o->told, sizeof o->told, size - 1, err));
  GBT_TRY(exchange_texts(ctx, p, step, o, err));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_same(ctx, 0xfedcba9876543210u, &o->same, err));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_same(ctx, (uint64_t)r << 40, &o->differ, err));
  gbt_exact_sum exact[2];
  gbt_exact_zero(&exact[0]);
  gbt_exact_zero(&exact[1]);
  for (int i = 0; i < 50; i++) gbt_exact_add(&exact[1], (r % 2 ? -1.0 : 1.0) * ldexp(1.0 + r, 7 * i - 100));
  GBT_TRY(perhaps(p, r, step, err));
  GBT_TRY(gbt_comm_sum_exact(ctx, exact, 2, err));
  o->exact = gbt_exact_value(&exact[1]);
  return perhaps(p, r, step, err);
}

/* A move of all three kinds, at the same time. */
static gbt_status one_move(gbt_ctx *ctx, const plan *p, int *step, outcome *o, gbt_error *err) {
  const int r = gbt_comm_rank(ctx), size = gbt_comm_size(ctx);
  enum { MANY = 3000 }; /* in pieces */
  int64_t few = r, x[RANKS_MOST] = {0}, own = 0, *many = test_alloc(MANY * sizeof *many);
  size_t count[RANKS_MOST], bytes[RANKS_MOST];
  char text[2] = {(char)('a' + r), 0}, all[RANKS_MOST + 1] = {0};
  for (int i = 0; i < size; i++) x[i] = 100 * i + r, count[i] = bytes[i] = 1;
  for (int64_t i = 0; i < MANY; i++) many[i] = r * i;
  const gbt_comm_part parts[] = {{&few, 1, GBT_COMM_I64}, {many, MANY, GBT_COMM_I64}};
  const gbt_comm_block block = {x, count, GBT_COMM_I64, &own};
  const gbt_comm_move move = {.op = GBT_COMM_SUM,
                              .part = parts,
                              .n_parts = 2,
                              .block = &block,
                              .n_blocks = 1,
                              .mine = text,
                              .bytes = bytes,
                              .all = all};
  gbt_status status = perhaps(p, r, step, err);
  if (status == GBT_OK) status = gbt_comm_run(ctx, &move, err);
  if (status == GBT_OK) {
    const int64_t ranks = (int64_t)size * (size - 1) / 2;
    o->moved = few == ranks && own == 100 * (int64_t)size * r + ranks && (int)strlen(all) == size;
    for (int i = 0; i < size; i++) o->moved &= all[i] == 'a' + i;
    for (int64_t i = 0; i < MANY; i++) o->moved &= many[i] == ranks * i;
  }
  free(many);
  return status;
}

static void all_operations(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  gbt_ctx ctx;
  gbt_comm plain = *comm;
  int step = 0;
  void *spare = test_alloc(p->spare);
  memset(&o->err, 0, sizeof o->err);
  o->status = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &o->err);
  if (!p->halves) plain.start = NULL, plain.finish = NULL;
  ctx.comm = &plain;
  if (o->status == GBT_OK && p->spare > 0) o->status = gbt_comm_enter(&ctx, 7, spare, p->spare, &o->err);
  if (o->status == GBT_OK) o->status = one_move(&ctx, p, &step, o, &o->err);
  if (o->status == GBT_OK) o->status = reduce_all(&ctx, p, &step, o, &o->err);
  if (o->status == GBT_OK) o->status = scatter_all(&ctx, p, &step, o, &o->err);
  if (o->status == GBT_OK) o->status = move_all(&ctx, p, &step, o, &o->err);
  o->status = gbt_comm_agree(&ctx, o->status, &o->err);
  if (o->status != GBT_OK && p->how != GBT_E_DEVICE) { /* the next step finds the ranks together again */
    int64_t one = 1;
    gbt_error err;
    gbt_status again = gbt_comm_agree(&ctx, gbt_comm_sum_i64(&ctx, &one, 1, &err), &err);
    if (again != GBT_OK || one != comm->size) o->status = GBT_E_INTERNAL;
  }
  free(spare);
  gbt_ctx_close(&ctx);
}

static void check_own(const plan *p, int size, int rank, const outcome *o) {
  int64_t beg = 0;
  for (int r = 0; r < rank; r++) beg += (int64_t)block_of(p, r);
  for (int64_t i = 0; i < (int64_t)block_of(p, rank); i++) {
    int64_t sum = 0;
    for (int r = 0; r < size; r++) sum += number_of(r, beg + i);
    CHECK_EQ_I64(o->own[i], sum);
    CHECK_EQ_I64(o->own_count[i], (uint32_t)sum);
  }
}

static void check_exchange(int size, int rank, const outcome *o) {
  const char *at = o->met;
  for (int from = 0; from < size; from++) {
    CHECK_EQ_I64(o->takes[from], n_letters(from, rank));
    for (size_t i = 0; i < n_letters(from, rank); i++) CHECK_EQ_I64(*at++, 'a' + 8 * (rank % 3) + from);
  }
}

static void check_outcome(const plan *p, int size, int rank, const outcome *o) {
  int64_t ranks = (int64_t)size * (size - 1) / 2;
  char text[64] = "";
  gbt_exact_sum exact;
  gbt_exact_zero(&exact);
  for (int64_t i = 0; i < p->n; i++) {
    int64_t sum = 0, low = INT64_MAX, high = INT64_MIN;
    for (int r = 0; r < size; r++) {
      int64_t x = number_of(r, i);
      sum += x;
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    CHECK(o->sum[i] == sum && o->low[i] == low && o->high[i] == high);
    CHECK(o->least[i] == (double)low * 0x1p-40 && o->most[i] == (double)high * 0x1p-40);
    CHECK_EQ_I64(o->count[i], ranks + size);
  }
  for (int r = 0, at = 0; r < size; r++) {
    CHECK(o->gathered[2 * r] == r && o->gathered[2 * r + 1] == 10 * r);
    for (int i = 0; i < (r * 2) % 5; i++) text[at++] = (char)('a' + r);
    for (int i = 0; i < 50; i++) gbt_exact_add(&exact, (r % 2 ? -1.0 : 1.0) * ldexp(1.0 + r, 7 * i - 100));
  }
  check_own(p, size, rank, o);
  check_exchange(size, rank, o);
  CHECK(o->moved == 1);
  CHECK(o->part[0] == ranks && o->part[2] == ranks);
  CHECK_EQ_TEXT(o->text, text);
  CHECK(o->told == 77 && o->same == 1 && o->differ == (size == 1));
  CHECK_EQ_BITS(o->exact, gbt_exact_value(&exact));
}

static void operations_equal_their_twins(void) {
  for (int size = 1; size <= RANKS_MOST; size++)
    for (int64_t n = 0; n <= SOME; n += n < 4 ? 1 : 11) {
      plan p = {.n = n, .bad_rank = -1, .spare = spare_of[(size + n) % SPARES], .halves = n != 2};
      ranks_run(size, all_operations, &p);
      for (int r = 0; r < size; r++)
        if (CHECK_EQ_I64(p.out[r].status, GBT_OK)) check_outcome(&p, size, r, &p.out[r]);
    }
}

static void a_single_process_needs_no_communicator(void) {
  gbt_ctx ctx;
  plan p = {.n = 5, .bad_rank = -1};
  int step = 0;
  ctx = test_ctx(NULL, 1);
  CHECK(gbt_comm_is_single(&ctx) && gbt_comm_rank(&ctx) == 0);
  CHECK_OK(one_move(&ctx, &p, &step, &p.out[0], test_err));
  CHECK_OK(reduce_all(&ctx, &p, &step, &p.out[0], test_err));
  CHECK_OK(scatter_all(&ctx, &p, &step, &p.out[0], test_err));
  CHECK_OK(move_all(&ctx, &p, &step, &p.out[0], test_err));
  check_outcome(&p, 1, 0, &p.out[0]);
  CHECK_FAILS(gbt_comm_agree(&ctx, gbt_fail(test_err, GBT_E_IO, "the disk is full"), test_err), GBT_E_IO, "the disk");
  gbt_ctx_close(&ctx);
}

/* Before every operation in turn, on every rank in turn: all get the failure, and go on together afterwards. */
static void all_fail_when_one_fails(void) {
  const gbt_status how[] = {GBT_E_DATA, GBT_E_MEM, GBT_CANCELLED};
  for (int size = 2; size <= 5; size += 1 + (size == 3))
    for (int bad = 0; bad < size; bad++)
      for (int k = 0; k < 18 * (SPARES + 1); k++) {
        const int step = k / (SPARES + 1), spare = k % (SPARES + 1);
        plan p = {.n = 3, .bad_rank = bad, .bad_step = step, .how = how[(bad + step) % 3], .halves = spare < SPARES};
        p.spare = spare < SPARES ? spare_of[spare] : spare_of[2];
        char want[80];
        snprintf(want, sizeof want, "rank %d of %d: no such thing in row 12", bad, size);
        ranks_run(size, all_operations, &p);
        for (int r = 0; r < size; r++) {
          CHECK_EQ_I64(p.out[r].status, p.how);
          CHECK_EQ_I64(p.out[r].err.code, p.how);
          CHECK_EQ_TEXT(p.out[r].err.msg, want);
          CHECK_EQ_TEXT(p.out[r].err.subject, "thing");
          CHECK_EQ_TEXT(p.out[r].err.host, "of the host");
        }
      }
}

static void all_at_once(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  gbt_ctx ctx;
  o->status = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &o->err);
  ctx.comm = comm;
  o->status = gbt_comm_agree(&ctx, gbt_fail(&o->err, GBT_E_IO, "disk %d is full", comm->rank), &o->err);
  gbt_ctx_close(&ctx);
}

static void of_several_failures_the_first_ranks_is_told(void) {
  plan p = {.n = 1};
  ranks_run(4, all_at_once, &p);
  for (int r = 0; r < 4; r++) {
    CHECK_EQ_I64(p.out[r].status, GBT_E_IO);
    CHECK_EQ_TEXT(p.out[r].err.msg, "rank 0 of 4: disk 0 is full");
  }
}

/* bad_step 0: another operation; 1: another size; 2: one operation less. */
static void different_operations(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  gbt_ctx ctx;
  int64_t x[2] = {1, 2};
  int odd = comm->rank == p->bad_rank;
  o->status = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &o->err);
  ctx.comm = comm;
  if (odd && p->bad_step == 0) o->status = gbt_comm_max_i64(&ctx, x, 1, &o->err);
  else if (odd && p->bad_step == 1) o->status = gbt_comm_sum_i64(&ctx, x, 2, &o->err);
  else if (!odd || p->bad_step != 2) o->status = gbt_comm_sum_i64(&ctx, x, 1, &o->err);
  o->status = gbt_comm_agree(&ctx, o->status, &o->err);
  gbt_ctx_close(&ctx);
}

static void different_operations_are_an_error_on_all(void) {
  for (int step = 0; step < 3; step++)
    for (int bad = 0; bad < 3; bad++) {
      plan p = {.bad_rank = bad, .bad_step = step};
      ranks_run(3, different_operations, &p);
      for (int r = 0; r < 3; r++) {
        CHECK_EQ_I64(p.out[r].status, GBT_E_INTERNAL);
        CHECK(strstr(p.out[r].err.msg, "different operations") != NULL);
      }
    }
}

static void one_dies(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  gbt_ctx ctx;
  int64_t x = 1;
  o->status = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &o->err);
  ctx.comm = comm;
  if (comm->rank == p->bad_rank) ranks_die(comm);
  else o->status = gbt_comm_agree(&ctx, gbt_comm_sum_i64(&ctx, &x, 1, &o->err), &o->err);
  gbt_ctx_close(&ctx);
}

static void a_lost_rank_is_an_error_on_the_others(void) {
  for (int bad = 0; bad < 3; bad++) {
    plan p = {.bad_rank = bad};
    ranks_run(3, one_dies, &p);
    for (int r = 0; r < 3; r++) {
      if (r == bad) continue;
      CHECK_EQ_I64(p.out[r].status, GBT_E_DEVICE);
      CHECK(strstr(p.out[r].err.msg, "is lost") != NULL);
    }
  }
}

/* Ranks whose bit is in bad_step leave at once; the others are at an operation first, and leave after it. */
static void some_leave(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  int64_t x = 1;
  const int goes = p->bad_step >> comm->rank & 1;
  gbt_ctx ctx;
  o->status = gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, &o->err);
  ctx.comm = comm;
  if (!goes) o->status = gbt_comm_agree(&ctx, gbt_comm_sum_i64(&ctx, &x, 1, &o->err), &o->err);
  else o->status = gbt_comm_leave(&ctx, &o->err);
  gbt_ctx_close(&ctx);
  if (o->status == GBT_OK && goes) return; /* all have left */
  ctx = test_ctx(NULL, 1);
  ctx.comm = comm;
  if (o->status != GBT_OK && gbt_comm_leave(&ctx, NULL) != GBT_OK) o->status = GBT_E_INTERNAL;
  gbt_ctx_close(&ctx);
}

static void ranks_that_leave_are_named_to_those_that_go_on(void) {
  enum { SIZE = 3, ALL = 7 };
  for (int leave = 0; leave <= ALL; leave++) {
    plan p = {.bad_step = leave};
    const int first = leave & 1 ? 0 : leave & 2 ? 1 : 2;
    char want[80];
    snprintf(want, sizeof want, "rank %d of %d has ended its R session", first, SIZE);
    ranks_run(SIZE, some_leave, &p);
    for (int r = 0; r < SIZE; r++) {
      const int together = leave == 0 || leave == ALL;
      CHECK_EQ_I64(p.out[r].status, together ? GBT_OK : GBT_E_DEVICE);
      if (!together) CHECK(strstr(p.out[r].err.msg, want) != NULL && p.out[r].err.ranks_know == 1);
    }
  }
}

/* In a stretch one rank is at something else. bad_step 0: it leaves; 1: at the end of the stretch; 2: at another
 * operation, and nobody completes what was started; 3: the same, and the rank after it has failed before. Where an
 * operation stays open no rank waits for another one afterwards, whatever each of them knows by itself: told is the
 * status of the next operation. */
static void apart_in_a_stretch(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  const int odd = comm->rank == p->bad_rank;
  int64_t x[2] = {1, 2};
  char spare[20000];
  gbt_ctx ctx = test_ctx(NULL, 1);
  ctx.comm = comm;
  memset(&o->err, 0, sizeof o->err);
  o->status = gbt_comm_enter(&ctx, 1, spare, sizeof spare, &o->err);
  if (o->status == GBT_OK && odd && p->bad_step == 0) {
    ctx.comm_spare = NULL; /* the process ends elsewhere */
    o->status = gbt_comm_leave(&ctx, &o->err);
  } else if (o->status == GBT_OK && p->bad_step == 3 && comm->rank == (p->bad_rank + 1) % comm->size) {
    o->status = gbt_fail(&o->err, GBT_E_ARG, "by itself");
  } else if (o->status == GBT_OK && !(odd && p->bad_step == 1)) {
    o->status = gbt_comm_sum_i64(&ctx, x, odd ? 2 : 1, &o->err);
  }
  if (o->status != GBT_OK || !odd || p->bad_step == 1) o->status = gbt_comm_agree(&ctx, o->status, &o->err);
  gbt_ctx_close(&ctx);
  ctx = test_ctx(NULL, 1);
  ctx.comm = comm;
  if (p->bad_step > 0) o->told = gbt_comm_agree(&ctx, gbt_comm_sum_i64(&ctx, x, 1, NULL), NULL);
  gbt_ctx_close(&ctx);
}

static void ranks_that_are_apart_in_a_stretch_all_fail(void) {
  static const gbt_status want[] = {GBT_E_DEVICE, GBT_E_INTERNAL, GBT_E_INTERNAL, GBT_E_ARG};
  static const char *const text[] = {"has ended its R session", "different operations", "different operations",
                                     "by itself"};
  for (int step = 0; step < 4; step++)
    for (int bad = 0; bad < 3; bad++) {
      plan p = {.bad_rank = bad, .bad_step = step};
      ranks_run(3, apart_in_a_stretch, &p);
      for (int r = 0; r < 3; r++) {
        CHECK_EQ_I64(p.out[r].status, want[step]);
        CHECK(strstr(p.out[r].err.msg, text[step]) != NULL);
        if (step > 0) CHECK_EQ_I64(p.out[r].told, step == 1 ? GBT_OK : GBT_E_DEVICE);
      }
    }
}

static void *no_spare(void *state, size_t bytes) {
  (void)state, (void)bytes;
  return NULL;
}

/* Ranks that were asked for different numbers of rounds, say (bad_step 0), or one without memory (1). */
static void enter_apart(void *arg, const gbt_comm *comm) {
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  gbt_comm its = *comm;
  gbt_ctx ctx = test_ctx(NULL, 1);
  ctx.comm = &its;
  if (p->bad_step == 1 && comm->rank == p->bad_rank) its.spare = no_spare;
  o->status = gbt_comm_enter(&ctx, p->bad_step == 0 && comm->rank == p->bad_rank, NULL, 0, &o->err);
  o->status = gbt_comm_agree(&ctx, o->status, &o->err);
  gbt_ctx_close(&ctx);
}

static void a_stretch_is_the_same_on_all_ranks(void) {
  for (int bad = -1; bad < 3; bad++)
    for (int step = 0; step < 2; step++) {
      plan p = {.bad_rank = bad, .bad_step = step};
      ranks_run(3, enter_apart, &p);
      for (int r = 0; r < 3; r++)
        CHECK_EQ_I64(p.out[r].status, bad < 0 ? GBT_OK : step == 0 ? GBT_E_INTERNAL : GBT_E_MEM);
    }
}

/* A block that fits into the spare memory as it has 32 bits a number; the same of 64 bits does not, and takes a round
 * more. */
static void one_block(void *arg, const gbt_comm *comm) {
  enum { N = 3000, BYTES = 20000 };
  plan *p = arg;
  outcome *o = &p->out[comm->rank];
  ranks_counter counter;
  ranks_counts counts = {0};
  int64_t *x = test_alloc(N * sizeof *x), *own = test_alloc(N * sizeof *own);
  void *spare = test_alloc(BYTES);
  const size_t count[2] = {N / 2, N / 2};
  gbt_ctx ctx = test_ctx(NULL, 1);
  ctx.comm = ranks_counted(&counter, comm, &counts);
  memset(x, 0, N * sizeof *x);
  o->status = gbt_comm_enter(&ctx, 1, spare, BYTES, &o->err);
  const int64_t before = counts.rounds;
  const gbt_comm_type type = p->n == 32 ? GBT_COMM_U32 : GBT_COMM_I64;
  if (o->status == GBT_OK) o->status = gbt_comm_sum_own(&ctx, x, count, type, own, &o->err);
  o->told = counts.rounds - before;
  o->status = gbt_comm_agree(&ctx, o->status, &o->err);
  free(spare);
  free(own);
  free(x);
  gbt_ctx_close(&ctx);
}

static void blocks_that_fit_take_one_round(void) {
  for (int64_t bits = 32; bits <= 64; bits += 32) {
    plan p = {.n = bits};
    ranks_run(2, one_block, &p);
    for (int r = 0; r < 2; r++) CHECK(p.out[r].status == GBT_OK && p.out[r].told == bits / 32);
  }
}

void suite_comm(void) {
  RUN(blocks_that_fit_take_one_round);
  RUN(ranks_that_are_apart_in_a_stretch_all_fail);
  RUN(a_stretch_is_the_same_on_all_ranks);
  RUN(operations_equal_their_twins);
  RUN(a_single_process_needs_no_communicator);
  RUN(all_fail_when_one_fails);
  RUN(of_several_failures_the_first_ranks_is_told);
  RUN(different_operations_are_an_error_on_all);
  RUN(a_lost_rank_is_an_error_on_the_others);
  RUN(ranks_that_leave_are_named_to_those_that_go_on);
}
