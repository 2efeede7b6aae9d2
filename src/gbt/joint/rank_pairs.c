/* Objectives by pairs of rows of a query: rank_ndcg, rank_map, rank_mrr, rank_pairwise (pairs.h).
 *
 *   rows by score -> sums of integers over pairs -> divided by what they add up to -> g and h
 *
 * The order is by score falling, and rows of equal score are in an order by chance (query_order.c): in the first round
 * all scores are equal, and by the order of the data rows that are sorted by label would be ranked ideally. */
#include "../base/bits.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "joint_impl.h"

/* ---- life ---- */

static gbt_pair_target target_of(const gbt_objective *objective) {
  switch ((gbt_objective_kind)objective->kind) {
  case GBT_OBJ_RANK_NDCG:
    return GBT_PAIRS_NDCG;
  case GBT_OBJ_RANK_MAP:
    return GBT_PAIRS_MAP;
  case GBT_OBJ_RANK_MRR:
    return GBT_PAIRS_MRR;
  default:
    break;
  }
  return GBT_PAIRS_PLAIN;
}

/* The parameters in the order of objectives.def. */
static void read_params(gbt_joint *joint) {
  joint_pairs *p = &joint->pairs;
  const double *param = joint->objective.param;
  p->target = target_of(&joint->objective);
  p->top = (uint32_t)param[0];
  p->partners = (uint32_t)param[1];
  p->norm = param[2] > 0.0;
  p->by_distance = param[3] > 0.0;
  p->linear = p->target == GBT_PAIRS_NDCG && param[4] > 0.0;
}

gbt_status joint_check_gains(const gbt_joint *joint, gbt_error *err) {
  const double *label = joint->rows.field[GBT_LABEL];
  for (int64_t i = 0; i < joint->rows.n; i++) {
    if (label[i] >= 0.0 && label[i] <= 31.0 && label[i] == (double)(int)label[i]) continue;
    return gbt_fail_on(err, GBT_E_DATA, "label",
                       "label of row %lld is %g; gains of 2^label - 1 need whole labels from 0 to 31: set "
                       "`rank_linear_gain = TRUE`, give `label_gain`, or give whole labels",
                       (long long)gbt_row_number(&joint->rows, i), label[i]);
  }
  return GBT_OK;
}

/* The gain of a row: given, or of its label. */
static double gain_of(const gbt_joint *joint, uint32_t row) {
  const double *gain = joint->rows.field[GBT_GAIN];
  return gain != NULL ? gain[row] : gbt_rank_gain(joint->rows.field[GBT_LABEL][row], joint->pairs.linear);
}

/* 1 / ideal of a query: its largest gains in the first places. gain: scratch of its rows. */
static double unit_of_gains(const gbt_joint *joint, uint32_t query, uint64_t *gain, uint64_t *tmp) {
  const gbt_queries *q = &joint->queries;
  const uint32_t n = gbt_rows_of_query(q, query), top = joint->pairs.top, last = top == 0 || top > n ? n : top;
  double ideal = 0.0;
  for (uint32_t i = 0; i < n; i++) gain[i] = gbt_order_key(gain_of(joint, q->row[q->start[query] + i]));
  gbt_sort_u64(gain, NULL, n, tmp, NULL);
  for (uint32_t place = 0; place < last; place++)
    ideal += gbt_order_value(gain[n - 1 - place]) * joint->pairs.discount[place];
  return ideal > 0.0 ? 1.0 / ideal : 0.0;
}

/* 1 / R of a query with R relevant rows. */
static double unit_of_relevant(const gbt_joint *joint, uint32_t query) {
  const gbt_queries *q = &joint->queries;
  uint32_t relevant = 0;
  for (uint32_t i = q->start[query]; i < q->start[query + 1]; i++) relevant += joint_label_of(joint, q->row[i]) > 0.0;
  return relevant > 0 ? 1.0 / (double)relevant : 0.0;
}

static gbt_status make_units(gbt_ctx *ctx, gbt_joint *joint, gbt_error *err) {
  gbt_status status = GBT_OK;
  const uint32_t longest = joint->queries.longest;
  uint64_t *gain = NULL, *tmp = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, longest, sizeof *gain, &gain, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, longest, sizeof *tmp, &tmp, err), done);
  for (uint32_t q = 0; q < joint->queries.n; q++) {
    if (q % 1024 == 0) GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    joint->pairs.unit[q] =
        joint->pairs.target == GBT_PAIRS_NDCG ? unit_of_gains(joint, q, gain, tmp) : unit_of_relevant(joint, q);
  }
done:
  gbt_mem_free(&ctx->mem, tmp);
  gbt_mem_free(&ctx->mem, gain);
  return status;
}

/* All pairs of a query of more rows, over 10^9, would take seconds a round. */
enum { MOST_ROWS_OF_ALL_PAIRS = 46000 };

static gbt_status check_sizes(const gbt_joint *joint, gbt_error *err) {
  const gbt_queries *q = &joint->queries;
  if (joint->pairs.top > 0 || joint->pairs.partners > 0 || q->longest <= MOST_ROWS_OF_ALL_PAIRS) return GBT_OK;
  for (uint32_t k = 0; k < q->n; k++)
    if (gbt_rows_of_query(q, k) == q->longest)
      return gbt_fail_on(err, GBT_E_DATA, "rank_top",
                         "the query of row %lld has %u rows, and all pairs of more than %d are too many: set "
                         "`rank_top`, such as 32, or `rank_pairs`, such as 10",
                         (long long)gbt_row_number(&joint->rows, q->row[q->start[k]]), (unsigned)q->longest,
                         (int)MOST_ROWS_OF_ALL_PAIRS);
  return GBT_OK;
}

gbt_status joint_pairs_open(gbt_ctx *ctx, gbt_joint *joint, gbt_error *err) {
  const uint32_t longest = joint->queries.longest;
  read_params(joint);
  GBT_TRY(check_sizes(joint, err));
  if (joint->pairs.target == GBT_PAIRS_NDCG && !joint->pairs.linear && joint->rows.field[GBT_GAIN] == NULL)
    GBT_TRY(joint_check_gains(joint, err));
  GBT_TRY(gbt_queries_check_weights(&joint->queries, &joint->rows, gbt_objective_info_of(joint->objective.kind)->name,
                                    err));
  GBT_TRY(gbt_mem_array(&joint->mem, longest, sizeof *joint->pairs.discount, &joint->pairs.discount, err));
  GBT_TRY(gbt_mem_array(&joint->mem, joint->queries.n, sizeof *joint->pairs.unit, &joint->pairs.unit, err));
  for (uint32_t place = 0; place < longest; place++) joint->pairs.discount[place] = gbt_rank_discount(place);
  return make_units(ctx, joint, err);
}

/* ---- the order ---- */

/* Rows of equal scores, places [beg, end), by hashes of their places. */
static void order_ties(gbt_key32 key, joint_room *room, uint32_t beg, uint32_t end) {
  for (uint32_t i = beg; i < end; i++) room->key[i] = gbt_hash32(key, i);
  gbt_sort_u64(room->key + beg, room->place + beg, end - beg, room->tmp_key + beg, room->tmp_row + beg);
  for (uint32_t i = beg; i < end; i++) room->tmp_row[i] = room->row[room->place[i]];
  for (uint32_t i = beg; i < end; i++) room->row[i] = room->tmp_row[i];
  for (uint32_t i = beg; i < end; i++) room->tmp_row[room->place[i]] = i;
  for (uint32_t i = beg; i < end; i++) room->place[i] = room->tmp_row[i];
}

/* The rest of the order, once rows are sorted by the keys of their scores. Returns whether all scores are equal. */
static int finish_order(const gbt_joint *joint, uint64_t round, uint32_t n, const double *score, joint_room *room) {
  gbt_key32 key = {0, 0};
  int known = 0;
  joint_order_finish(joint, n, score, room);
  for (uint32_t i = 0; i < n; i++) room->place[i] = i;
  for (uint32_t beg = 0, end; beg < n; beg = end) {
    for (end = beg + 1; end < n && room->s[end] == room->s[beg];) end++;
    if (room->label[beg] == room->label[end - 1] && room->pos == NULL) continue; /* all alike */
    if (!known) key = gbt_key(joint->seed, GBT_FOR_TIES, round, joint_content(room, n));
    known = 1;
    order_ties(key, room, beg, end);
  }
  return n > 0 && room->s[0] == room->s[n - 1];
}

/* ---- places ---- */

static void fill_map(uint32_t n, joint_room *room) {
  double precisions = 0.0, relevant = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    room->gain[i] = precisions;
    if (room->label[i] > 0.0) {
      relevant += 1.0;
      precisions += 1.0 / ((double)i + 1.0);
    }
    room->weight[i] = relevant / ((double)i + 1.0);
  }
}

static void fill_mrr(uint32_t n, joint_room *room, gbt_pair_query *query) {
  for (uint32_t i = 0; i < n; i++) {
    room->gain[i] = 0.0;
    room->weight[i] = 1.0 / ((double)i + 1.0);
    if (room->label[i] == 0.0 || query->second > 0.0) continue;
    *(query->first > 0.0 ? &query->second : &query->first) = room->weight[i];
  }
}

/* Labels, gains and weights of the rows at their places. */
static gbt_pair_query fill_places(const gbt_joint *joint, uint32_t query, uint32_t n, joint_room *room) {
  gbt_pair_query its = {joint->pairs.unit[query], 0.0, 0.0};
  for (uint32_t i = 0; i < n; i++) room->label[i] = joint_label_of(joint, room->row[i]);
  for (uint32_t i = 0; room->pos != NULL && i < n; i++) room->pos[i] = (uint32_t)joint->positions.of[room->row[i]];
  switch (joint->pairs.target) {
  case GBT_PAIRS_NDCG:
    for (uint32_t i = 0; i < n; i++) {
      room->gain[i] = gain_of(joint, room->row[i]);
      room->weight[i] = joint->pairs.discount[i];
    }
    break;
  case GBT_PAIRS_MAP:
    fill_map(n, room);
    break;
  case GBT_PAIRS_MRR:
    fill_mrr(n, room, &its);
    break;
  case GBT_PAIRS_PLAIN:
    for (uint32_t i = 0; i < n; i++) room->gain[i] = room->weight[i] = 0.0;
    break;
  }
  return its;
}

/* ---- sums ---- */

/* Sums of q D in two halves, as those of all rows need not fit into 64 bits. */
typedef struct wrong_sum {
  int64_t high, low;
} wrong_sum;

static void add_wrong(wrong_sum *sum, int64_t by) {
  sum->high += by >> 32;
  sum->low += by & 0xffffffff;
}

/* Factors that turn integers into gradients. */
typedef struct outcome {
  double down, factor;
} outcome;

static outcome outcome_of(const gbt_joint *joint, int exp, wrong_sum wrong) {
  const double down = gbt_pow2(-exp);
  const double sum = 2.0 * (((double)wrong.high * 4294967296.0 + (double)wrong.low) * down);
  if (joint->pairs.partners > 0) return (outcome){down, 1.0 / (double)joint->pairs.partners};
  return (outcome){down, joint->pairs.norm ? gbt_pair_norm(sum) : 1.0};
}

/* Pairs of row i with partners that a hash draws among the rows of other labels. by_label: places in the order of
 * label; beg, end: those of the rows of i's label; i: its place in by_label. */
static void draw_partners(const gbt_joint *joint, gbt_key32 key, const gbt_pair_rows *rows, const gbt_pair_query *query,
                          int by_distance, double up, const joint_room *room, uint32_t i, uint32_t beg, uint32_t end,
                          wrong_sum *wrong) {
  const uint32_t *by_label = room->tmp_row, others = rows->n - (end - beg);
  for (uint32_t t = 0; t < joint->pairs.partners && others > 0; t++) {
    const uint64_t drawn = gbt_hash32((gbt_key32){key.k0 + t * 0x9e3779b9u, key.k1}, i);
    uint32_t at = (uint32_t)(drawn * others >> 32);
    if (at >= beg) at += end - beg;
    const uint32_t x = by_label[i], y = by_label[at], a = x < y ? x : y, b = x < y ? y : x;
    const gbt_pair_row row_a = gbt_pair_row_at(rows, a), row_b = gbt_pair_row_at(rows, b);
    const gbt_pair_term term =
        gbt_pair_of(joint->pairs.target, by_distance, query, up, row_a, 1.0 / ((double)a + 1.0), row_b);
    const int64_t by = row_a.label > row_b.label ? term.g : -term.g;
    rows->g[a] -= by;
    rows->g[b] += by;
    rows->h[a] += term.h;
    rows->h[b] += term.h;
    add_wrong(wrong, term.g);
  }
}

/* All rows of a query with theirs. tmp_key and tmp_row of the room are scratch. */
static wrong_sum sum_partners(const gbt_joint *joint, uint64_t round, const gbt_pair_rows *rows,
                              const gbt_pair_query *query, int by_distance, double up, joint_room *room) {
  const gbt_key32 key = gbt_key(joint->seed, GBT_FOR_PARTNERS, round, joint_content(room, rows->n));
  wrong_sum wrong = {0, 0};
  for (uint32_t i = 0; i < rows->n; i++) {
    room->tmp_row[i] = i;
    room->key[i] = gbt_order_key(room->label[i]);
  }
  uint32_t *spare = (uint32_t *)(void *)rows->g; /* not yet in use */
  gbt_sort_u64(room->key, room->tmp_row, rows->n, room->tmp_key, spare);
  for (uint32_t i = 0; i < rows->n; i++) rows->g[i] = rows->h[i] = 0;
  for (uint32_t beg = 0, end; beg < rows->n; beg = end) {
    for (end = beg + 1; end < rows->n && room->key[end] == room->key[beg];) end++;
    for (uint32_t i = beg; i < end; i++)
      draw_partners(joint, key, rows, query, by_distance, up, room, i, beg, end, &wrong);
  }
  return wrong;
}

/* ---- queries ---- */

static uint32_t top_of(const gbt_joint *joint, uint32_t n) {
  return joint->pairs.top == 0 || joint->pairs.top > n ? n : joint->pairs.top;
}

/* The most pairs of a row. */
static int exp_of(const gbt_joint *joint, uint32_t n) {
  const uint64_t most = joint->pairs.partners > 0 ? 2 * (uint64_t)n * joint->pairs.partners : n;
  return gbt_pair_exp(most, joint->pairs.by_distance) - joint_ratio_bits(&joint->positions);
}

/* A place with all its partners, where positions have ratios. All rows of a query weigh the same. */
static gbt_pair_sum ratio_around(const gbt_joint *joint, int by_distance, const gbt_pair_rows *rows,
                                 const gbt_pair_query *query, double up, const joint_room *room, uint32_t i,
                                 int thread) {
  const joint_positions *p = &joint->positions;
  return joint_ratio_around(p, joint->pairs.target, by_distance, rows, query, room->pos, up,
                            gbt_weight_of(&joint->rows, room->row[i]), i, p->cost + (size_t)thread * 2 * p->n);
}

static gbt_pair_rows rows_of(const gbt_joint *joint, uint32_t n, const joint_room *room) {
  return (gbt_pair_rows){n, top_of(joint, n), room->s, room->label, room->gain, room->weight, room->g, room->h};
}

void joint_pairs_query(const gbt_joint *joint, gbt_simd simd, uint64_t round, uint32_t query, const double *score,
                       joint_room *room, int thread) {
  const gbt_pair_kernels kernels = gbt_pair_kernels_of(simd);
  const uint32_t n = gbt_rows_of_query(&joint->queries, query);
  const int exp = exp_of(joint, n);
  const double up = gbt_pow2(exp);
  const gbt_pair_rows rows = rows_of(joint, n, room);
  wrong_sum wrong = {0, 0};
  joint_order_keys(joint, query, score, room);
  gbt_sort_u64(room->key, room->row, n, room->tmp_key, room->tmp_row);
  const int equal = finish_order(joint, round, n, score, room), by_distance = joint->pairs.by_distance && !equal;
  const gbt_pair_query its = fill_places(joint, query, n, room);
  if (joint->pairs.partners > 0) {
    wrong = sum_partners(joint, round, &rows, &its, by_distance, up, room);
  } else if (joint->positions.ratio) {
    for (uint32_t i = 0; i < n; i++) {
      const gbt_pair_sum sum = ratio_around(joint, by_distance, &rows, &its, up, room, i, thread);
      room->g[i] = sum.g;
      room->h[i] = sum.h;
      add_wrong(&wrong, sum.wrong);
    }
  } else {
    for (uint32_t i = 0; i < n; i++) room->g[i] = room->h[i] = 0;
    for (uint32_t a = 0; a < rows.top; a++) {
      const gbt_pair_sum sum = kernels.after(joint->pairs.target, by_distance, &rows, &its, up, a);
      room->g[a] += sum.g;
      room->h[a] += sum.h;
      add_wrong(&wrong, sum.wrong);
    }
  }
  const outcome how = outcome_of(joint, exp, wrong);
  joint_write_alike(joint, room, n, room->place, how.down, how.factor);
}

typedef struct long_job {
  const gbt_joint *joint;
  gbt_pair_kernels kernels;
  gbt_pair_rows rows;
  gbt_pair_query query;
  int by_distance;
  double up;
  uint32_t task_rows;
  joint_room *room;
  outcome how;
} long_job;

/* Sums of some rows. Those of q D go where keys were. */
static void long_task(void *arg, int64_t task, int thread) {
  const long_job *j = arg;
  const uint32_t beg = (uint32_t)task * j->task_rows;
  const uint32_t end = j->rows.n - beg < j->task_rows ? j->rows.n : beg + j->task_rows;
  for (uint32_t i = beg; i < end; i++) {
    const gbt_pair_sum sum =
        j->joint->positions.ratio
            ? ratio_around(j->joint, j->by_distance, &j->rows, &j->query, j->up, j->room, i, thread)
            : j->kernels.around(j->joint->pairs.target, j->by_distance, &j->rows, &j->query, j->up, i);
    j->room->g[i] = sum.g;
    j->room->h[i] = sum.h;
    j->room->key[i] = (uint64_t)sum.wrong;
  }
}

/* The same for all pairs, each met once: a thread adds to its own sums of all rows. */
static void long_all_task(void *arg, int64_t task, int thread) {
  const long_job *j = arg;
  const joint_room *own = &j->joint->room[thread + 1];
  const uint32_t beg = (uint32_t)task * j->task_rows;
  const uint32_t end = j->rows.n - beg < j->task_rows ? j->rows.n : beg + j->task_rows;
  gbt_pair_rows rows = j->rows;
  rows.g = own->g;
  rows.h = own->h;
  for (uint32_t a = beg; a < end; a++) {
    const gbt_pair_sum sum = j->kernels.after(j->joint->pairs.target, j->by_distance, &rows, &j->query, j->up, a);
    rows.g[a] += sum.g;
    rows.h[a] += sum.h;
    j->room->key[a] = (uint64_t)sum.wrong;
  }
}

/* The sums of all pairs of a long query, in n_tasks tasks. */
static gbt_status sum_all(gbt_ctx *ctx, long_job *j, int64_t n_tasks, gbt_error *err) {
  const joint_room *rooms = j->joint->room + 1;
  const uint32_t n = j->rows.n;
  for (int32_t t = 0; t < ctx->n_threads; t++)
    for (uint32_t i = 0; i < n; i++) rooms[t].g[i] = rooms[t].h[i] = 0;
  GBT_TRY(gbt_parallel(ctx, n_tasks, long_all_task, j, err));
  for (uint32_t i = 0; i < n; i++) {
    int64_t g = 0, h = 0;
    for (int32_t t = 0; t < ctx->n_threads; t++) {
      g += rooms[t].g[i];
      h += rooms[t].h[i];
    }
    j->room->g[i] = g;
    j->room->h[i] = h;
  }
  return GBT_OK;
}

gbt_status joint_pairs_long(gbt_ctx *ctx, const gbt_joint *joint, uint64_t round, uint32_t query, const double *score,
                            joint_room *room, gbt_error *err) {
  const uint32_t n = gbt_rows_of_query(&joint->queries, query);
  const int exp = exp_of(joint, n);
  long_job j = {.joint = joint,
                .kernels = gbt_pair_kernels_of(ctx->simd),
                .rows = rows_of(joint, n, room),
                .up = gbt_pow2(exp),
                .task_rows = 1 + JOINT_TASK_COST / (n > 0 ? n : 1),
                .room = room};
  wrong_sum wrong = {0, 0};
  joint_order_keys(joint, query, score, room);
  GBT_TRY(gbt_sort_u64_parallel(ctx, room->key, room->row, n, room->tmp_key, room->tmp_row, err));
  j.by_distance = !finish_order(joint, round, n, score, room) && joint->pairs.by_distance;
  j.query = fill_places(joint, query, n, room);
  if (joint->pairs.partners > 0) {
    wrong = sum_partners(joint, round, &j.rows, &j.query, j.by_distance, j.up, room);
  } else {
    const int64_t n_tasks = (n + j.task_rows - 1) / j.task_rows;
    GBT_TRY(joint_all_pairs(joint) ? sum_all(ctx, &j, n_tasks, err)
                                   : gbt_parallel(ctx, n_tasks, long_task, &j, err));
    for (uint32_t i = 0; i < n; i++) add_wrong(&wrong, (int64_t)room->key[i]);
  }
  const outcome how = outcome_of(joint, exp, wrong);
  joint_write_alike(joint, room, n, room->place, how.down, how.factor);
  return GBT_OK;
}
