/* What ranks say to each other for one tree: rounds of latency, operations and bytes, counted. They follow from the
 * data and the parameters, whatever the machine, so a table pins them: they must not grow. The table is also in
 * docs/ranks.md. */
#include "ranks_job.h"
#include "stores.h"

#include "../../src/gbt/math/sampling.h"

enum { ROWS = 6000, COLS = 12, SQUARED = GBT_OBJ_SQUARED_ERROR, ABSOLUTE = GBT_OBJ_ABSOLUTE_ERROR };

typedef struct cost_how {
  int loss, policy, depth, leaves;
  int kind; /* of the columns from the seventh on */
  int sampling;
} cost_how;

typedef struct cost_case {
  const char *name;
  cost_how how;
  ranks_counts tree; /* of one tree */
} cost_case;

static const cost_case cases[] = {
    {"depthwise, depth 8", {SQUARED, GBT_DEPTHWISE, 8, 0, MADE_BELL, GBT_SAMPLE_UNIFORM}, {20, 28, 874816}},
    {"symmetric, depth 8", {SQUARED, GBT_SYMMETRIC, 8, 0, MADE_BELL, GBT_SAMPLE_UNIFORM}, {20, 28, 852192}},
    {"leaf-wise, 255 leaves", {SQUARED, GBT_LOSSGUIDE, 0, 255, MADE_BELL, GBT_SAMPLE_UNIFORM}, {28, 40, 1878760}},
    {"sparse columns", {SQUARED, GBT_DEPTHWISE, 8, 0, MADE_ZEROS, GBT_SAMPLE_UNIFORM}, {20, 28, 858784}},
    {"factors", {SQUARED, GBT_DEPTHWISE, 8, 0, MADE_LEVELS, GBT_SAMPLE_UNIFORM}, {20, 29, 1063104}},
    {"symmetric, factors", {SQUARED, GBT_SYMMETRIC, 8, 0, MADE_LEVELS, GBT_SAMPLE_UNIFORM}, {20, 28, 1031648}},
    {"rows by gradients", {SQUARED, GBT_DEPTHWISE, 8, 0, MADE_BELL, GBT_SAMPLE_GOSS}, {23, 31, 808328}},
    {"leaves that are quantiles", {ABSOLUTE, GBT_DEPTHWISE, 8, 0, MADE_BELL, GBT_SAMPLE_UNIFORM}, {28, 36, 8263248}},
};

/* Of all `rounds` rounds, on the first of four ranks. */
static ranks_counts count_rounds(const train_job *job, int64_t rounds, size_t *n_nodes) {
  enum { SIZE = 4 };
  train_job some = *job;
  ranks_counts counts[SIZE] = {{0}};
  rank_how hows[SIZE];
  ranked out[RANKS_MOST];
  some.rounds = rounds;
  shares *s = shares_new(&some, SIZE, 5, 0);
  for (int r = 0; r < SIZE; r++) {
    hows[r] = rank_how_make(1, 0);
    hows[r].counts = &counts[r];
  }
  shares_train(s, hows, out);
  for (int r = 0; r < SIZE; r++) {
    CHECK_EQ_I64(out[r].status, GBT_OK);
    CHECK_EQ_I64(counts[r].rounds, counts[0].rounds);
    CHECK_EQ_I64(counts[r].operations, counts[0].operations); /* bytes differ where levels go to ranks by hash */
    *n_nodes = out[r].forest->n_nodes;
    ranked_free(&out[r]);
  }
  shares_free(s);
  return counts[0];
}

static void check_case(const cost_case *c) {
  made_kind kinds[COLS];
  for (int i = 0; i < COLS; i++) kinds[i] = i < 6 ? MADE_BELL : (made_kind)c->how.kind;
  made *data = made_new(11, ROWS, COLS, kinds);
  made_response(data, (gbt_objective_kind)c->how.loss, 1, 3);
  train_job job = job_make(data, (gbt_objective_kind)c->how.loss, 1, 1);
  job.spec.params.grow_policy = c->how.policy;
  job.spec.params.max_depth = c->how.depth;
  job.spec.params.max_leaves = c->how.leaves;
  job.spec.params.min_child_weight = 0.0;
  job.spec.params.sampling_method = c->how.sampling;
  job.spec.params.max_cat_onehot = 4;
  job.spec.params.cat_noise = job.spec.params.cat_l2 = 0.0; /* so that sets of levels win */
  job.spec.params.cat_smooth = 1.0;
  job.spec.params.min_data_per_group = 5;
  job.max_bin = 63;
  size_t n_two, n_three;
  const ranks_counts two = count_rounds(&job, 2, &n_two), three = count_rounds(&job, 3, &n_three);
  const ranks_counts tree = {three.rounds - two.rounds, three.operations - two.operations, three.bytes - two.bytes};
  if (!CHECK_EQ_BYTES(&tree, &c->tree, sizeof tree))
    test_note("%s: {%lld, %lld, %lld}, %d nodes", c->name, (long long)tree.rounds, (long long)tree.operations,
              (long long)tree.bytes, (int)(n_three - n_two));
  made_free(data);
}

/* Of pages in memory: where pages come by, a tree takes another number of rounds. */
static void a_tree_costs_so_many_rounds_and_bytes(void) {
  const store_kind before = stores_use(STORE_MEMORY);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
  stores_use(before);
}

void suite_ranks_cost(void) { RUN(a_tree_costs_so_many_rounds_and_bytes); }
