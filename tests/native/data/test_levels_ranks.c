/* Levels of factors whose rows are shared out among ranks: those of one process, and what joining them costs. */
#include "naive_cuts.h"
#include "ranks.h"
#include "sweep.h"

enum { TEXT = 24 };

/* A factor shared out, and what the ranks made of it. Each rank has the levels in an order of its own, with those that
 * do not occur there and some texts twice. */
typedef struct world {
  int64_t n_rows, beg[RANKS_MOST + 1];
  int32_t n_levels, *code; /* code: by row, 0 for missing */
  char (*text)[TEXT];      /* n_levels */
  gbt_status status[RANKS_MOST];
  gbt_cuts *cuts[RANKS_MOST];
  ranks_traffic traffic[RANKS_MOST];
} world;

static world *world_new(int64_t n_rows, int32_t n_levels) {
  world *w = test_alloc(sizeof *w);
  memset(w, 0, sizeof *w);
  w->n_rows = n_rows;
  w->n_levels = n_levels;
  w->code = test_alloc(((size_t)n_rows + 1) * sizeof *w->code);
  w->text = test_alloc(((size_t)n_levels + 1) * sizeof *w->text);
  w->text[0][0] = 0;
  for (int32_t i = 1; i < n_levels; i++) snprintf(w->text[i], TEXT, "t\xc3\xb6wn %d", (int)i);
  return w;
}

static void world_free(world *w) {
  free(w->code);
  free(w->text);
  free(w);
}

/* Rows [beg, end) with levels from number `turn` on, and, where twice is 1, some of them under a second code. */
static tables *table_of(const world *w, int64_t beg, int64_t end, int32_t turn, int twice) {
  const int32_t n = w->n_levels, n_all = n + (twice ? n / 2 : 0);
  tables *t = tables_new(end - beg);
  const char **level = test_alloc(((size_t)n_all + 1) * sizeof *level);
  int32_t *code = test_alloc(((size_t)(end - beg) + 1) * sizeof *code);
  for (int32_t i = 0; i < n; i++) level[(i + turn) % n] = w->text[i];
  for (int32_t i = n; i < n_all; i++) level[i] = level[i - n];
  for (int64_t i = beg; i < end; i++) {
    int32_t at = w->code[i] == 0 ? -1 : (w->code[i] - 1 + turn) % n;
    if (at >= 0 && at + n < n_all && i % 3 == 0) at += n;
    code[i - beg] = at + 1;
  }
  tables_codes(t, "f", GBT_CATEGORICAL, code, level, n_all);
  t->cols[0].derive = 1u << GBT_FEATURE_LEVEL_COUNT;
  free(level);
  free(code);
  return t;
}

static void rank_cuts(void *arg, const gbt_comm *comm) {
  world *w = arg;
  const int r = comm->rank;
  gbt_ctx ctx = test_ctx(NULL, 1 + r % 2);
  gbt_error err;
  tables *t = table_of(w, w->beg[r], w->beg[r + 1], r, r % 2);
  ctx.comm = comm;
  w->status[r] = gbt_cuts_build(&ctx, &t->table, NULL, 255, &w->cuts[r], &err);
  w->traffic[r] = ranks_traffic_of(comm);
  tables_free(t);
  gbt_ctx_close(&ctx);
}

static void check_world(world *w, int size) {
  tables *t = table_of(w, 0, w->n_rows, 0, 0);
  gbt_cuts *single = test_cuts_of(t, NULL, 255, 1);
  ranks_run(size, rank_cuts, w);
  for (int r = 0; r < size; r++) {
    if (CHECK_EQ_I64(w->status[r], GBT_OK)) same_all_cuts(w->cuts[r], single);
    gbt_cuts_unref(w->cuts[r]);
    w->cuts[r] = NULL;
  }
  gbt_cuts_unref(single);
  tables_free(t);
}

static void share_out(test_rng *rng, world *w, int size, int any) {
  w->beg[0] = 0;
  w->beg[size] = w->n_rows;
  for (int r = 1; r < size; r++) {
    const int64_t rest = w->n_rows - w->beg[r - 1];
    w->beg[r] = w->beg[r - 1] + (any ? test_below(rng, 2) * test_below(rng, rest + 1) : w->n_rows / size);
  }
}

/* Levels on all ranks or on one only, rare and common ones, missing ones, empty shares. */
static void levels_of_shares_are_those_of_all_rows(void) {
  test_rng rng = {1};
  for (uint64_t rep = 0; rep < test_cases(120); rep++) {
    const int size = 1 + (int)(rep % RANKS_MOST);
    world *w = world_new(test_below(&rng, rep % 3 ? 80 : 1500), 1 + (int32_t)test_below(&rng, 200));
    for (int64_t i = 0; i < w->n_rows; i++) {
      int64_t code = test_below(&rng, w->n_levels + 1) * test_below(&rng, 2);
      if (rep % 4 == 1) code = i * w->n_levels / w->n_rows + 1; /* a level's rows are neighbours */
      w->code[i] = (int32_t)code;
    }
    share_out(&rng, w, size, rep % 5 > 0);
    check_world(w, size);
    world_free(w);
  }
}

static void n_levels(int64_t n) {
  test_rng rng = {(uint64_t)n};
  world *w = world_new(2 * n, (int32_t)n);
  for (int64_t i = 0; i < 2 * n; i++) w->code[i] = (int32_t)(i % n + 1);
  share_out(&rng, w, 3, (int)(n % 2));
  check_world(w, 3);
  world_free(w);
}

static void every_number_of_levels(void) {
  const sweep_range range = {.low = 1, .high = 20000, .dense = 40};
  sweep(n_levels, &range);
}

/* A rank takes its part of all lists and the joined list: with the same levels on all ranks twice a list, however many
 * ranks there are. The lists of all ranks would be 8 times a list. */
static void lists_do_not_go_to_every_rank(void) {
  enum { LEVELS = 2000, ROWS = 4000 };
  for (int size = 2; size <= RANKS_MOST; size *= 2) {
    test_rng rng = {3};
    world *w = world_new((int64_t)ROWS * size, LEVELS);
    int64_t bytes = 0;
    for (int64_t i = 0; i < w->n_rows; i++) w->code[i] = (int32_t)(i % LEVELS + 1);
    for (int32_t i = 0; i < LEVELS; i++) bytes += 16 + (int64_t)strlen(w->text[i]) + 1;
    share_out(&rng, w, size, 0);
    check_world(w, size);
    for (int r = 0; r < size; r++) {
      CHECK(w->traffic[r].sent < bytes + 3 * bytes / (2 * size));
      CHECK(w->traffic[r].taken < 2 * bytes + bytes / 4);
    }
    world_free(w);
  }
}

void suite_levels_ranks(void) {
  RUN(levels_of_shares_are_those_of_all_rows);
  RUN(every_number_of_levels);
  RUN(lists_do_not_go_to_every_rank);
}
