/* Objectives by pairs of rows of a query: rank_ndcg, rank_map, rank_mrr, rank_pairwise (pairs.h).
 *
 *   rows by score -> sums of integers over pairs -> divided by what they add up to -> g and h
 *
 * The order is by score falling, and rows of equal score are in a random order (query_order.c): in the first round
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
    if (q % 1024 == 0 || gbt_rows_of_query(&joint->queries, q) > JOINT_TASK_COST / 8)
      GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
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
                         "the query of row %lld has %u rows; all pairs can be used for up to %d rows: set `rank_top`, "
                         "such as 32, or `rank_pairs`, such as 10",
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
static gbt_status order_ties(gbt_ctx *ctx, gbt_key32 key, joint_room *room, uint32_t beg, uint32_t end,
                             gbt_error *err) {
  for (uint32_t i = beg; i < end; i++) room->key[i] = gbt_hash32(key, i);
  GBT_TRY(joint_sort(ctx, room, room->place, beg, end, err));
  for (uint32_t i = beg; i < end; i++) room->tmp_row[i] = room->row[room->place[i]];
  for (uint32_t i = beg; i < end; i++) room->row[i] = room->tmp_row[i];
  for (uint32_t i = beg; i < end; i++) room->tmp_row[room->place[i]] = i;
  for (uint32_t i = beg; i < end; i++) room->place[i] = room->tmp_row[i];
  return GBT_OK;
}

/* Rows of equal scores and different labels come in a random order. ctx: as of joint_sort. */
static gbt_status mix_ties(gbt_ctx *ctx, const gbt_joint *joint, uint64_t round, uint32_t n, joint_room *room,
                           gbt_error *err) {
  gbt_key32 key = {0, 0};
  int known = 0;
  for (uint32_t i = 0; i < n; i++) room->place[i] = i;
  for (uint32_t beg = 0, end; beg < n; beg = end) {
    for (end = beg + 1; end < n && room->s[end] == room->s[beg];) end++;
    if (room->label[beg] == room->label[end - 1] && room->pos == NULL) continue; /* all alike */
    if (!known) key = gbt_key(joint->seed, GBT_FOR_TIES, round, joint_content(room, n));
    known = 1;
    GBT_TRY(order_ties(ctx, key, room, beg, end, err));
  }
  return GBT_OK;
}

/* Whether pairs are divided by distances of scores: not where all scores are equal. */
static int divides(const gbt_joint *joint, uint32_t n, const joint_room *room) {
  return joint->pairs.by_distance && n > 0 && room->s[0] != room->s[n - 1];
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

/* A query whose rows draw partners. */
typedef struct partner_job {
  const gbt_joint *joint;
  gbt_key32 key;
  const gbt_pair_query *query;
  int by_distance;
  double up;
  const joint_room *room; /* tmp_row: the places in the order of label; key: their labels in this order */
  uint32_t n;
} partner_job;

/* Pairs of row i with partners that a hash draws among the rows of other labels. beg, end: those of the rows of i's
 * label; i: its place in the order of label. */
static void draw_partners(const partner_job *j, const gbt_pair_rows *rows, uint32_t i, uint32_t beg, uint32_t end) {
  const uint32_t *by_label = j->room->tmp_row, others = j->n - (end - beg);
  for (uint32_t t = 0; t < j->joint->pairs.partners && others > 0; t++) {
    const uint64_t drawn = gbt_hash32((gbt_key32){j->key.k0 + t * 0x9e3779b9u, j->key.k1}, i);
    uint32_t at = (uint32_t)(drawn * others >> 32);
    if (at >= beg) at += end - beg;
    const uint32_t x = by_label[i], y = by_label[at], a = x < y ? x : y, b = x < y ? y : x;
    const gbt_pair_row row_a = gbt_pair_row_at(rows, a), row_b = gbt_pair_row_at(rows, b);
    const gbt_pair_term term = gbt_pair_of(j->joint->pairs.target, j->by_distance, j->query, j->up, row_a,
                                           1.0 / ((double)a + 1.0), row_b);
    const int64_t by = row_a.label > row_b.label ? term.g : -term.g;
    rows->g[a] -= by;
    rows->g[b] += by;
    rows->h[a] += term.h;
    rows->h[b] += term.h;
  }
}

/* The end of the rows of the label of place i in the order of label: the first place from i on with another one. */
static uint32_t label_end(const partner_job *j, uint32_t i) {
  uint32_t low = i + 1, high = j->n;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (j->room->key[mid] == j->room->key[i])
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* Its first place. */
static uint32_t label_begin(const partner_job *j, uint32_t i) {
  uint32_t low = 0, high = i;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (j->room->key[mid] == j->room->key[i])
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

/* Rows [first, last) in the order of label, each with its partners. rows: with g and h to add to. */
static void sum_partners(const partner_job *j, const gbt_pair_rows *rows, uint32_t first, uint32_t last) {
  for (uint32_t i = first, end; i < last; i = end) {
    const uint32_t beg = label_begin(j, i), all = label_end(j, i);
    end = all < last ? all : last;
    for (uint32_t k = i; k < end; k++) draw_partners(j, rows, k, beg, all);
  }
}

/* The order of labels and what else a draw of partners needs. ctx: as of joint_sort. */
static gbt_status begin_partners(gbt_ctx *ctx, uint64_t round, partner_job *j, joint_room *room, gbt_error *err) {
  uint32_t *by_label = (uint32_t *)(void *)room->g; /* not yet in use */
  j->key = gbt_key(j->joint->seed, GBT_FOR_PARTNERS, round, joint_content(room, j->n));
  for (uint32_t i = 0; i < j->n; i++) {
    by_label[i] = i;
    room->key[i] = gbt_order_key(room->label[i]);
  }
  GBT_TRY(joint_sort(ctx, room, by_label, 0, j->n, err));
  for (uint32_t i = 0; i < j->n; i++) room->tmp_row[i] = by_label[i];
  for (uint32_t i = 0; i < j->n; i++) room->g[i] = room->h[i] = 0;
  return GBT_OK;
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

/* The same on the calling thread, whose query is short: nothing can fail. */
static void partners_of_query(const gbt_joint *joint, uint64_t round, const gbt_pair_rows *rows,
                              const gbt_pair_query *query, int by_distance, double up, joint_room *room) {
  partner_job j = {.joint = joint, .query = query, .by_distance = by_distance, .up = up, .room = room, .n = rows->n};
  (void)begin_partners(NULL, round, &j, room, NULL);
  sum_partners(&j, rows, 0, rows->n);
}

void joint_pairs_query(const gbt_joint *joint, gbt_simd simd, uint64_t round, uint32_t query, const double *score,
                       joint_room *room, int thread) {
  const gbt_pair_kernels kernels = gbt_pair_kernels_of(simd);
  const uint32_t n = gbt_rows_of_query(&joint->queries, query);
  const int exp = exp_of(joint, n);
  const double up = gbt_pow2(exp);
  const gbt_pair_rows rows = rows_of(joint, n, room);
  wrong_sum wrong = {0, 0};
  joint_order_query(joint, query, score, room);
  (void)mix_ties(NULL, joint, round, n, room, NULL);
  const int by_distance = divides(joint, n, room);
  const gbt_pair_query its = fill_places(joint, query, n, room);
  if (joint->pairs.partners > 0) {
    partners_of_query(joint, round, &rows, &its, by_distance, up, room);
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

/* ---- long queries ---- */

typedef struct long_job {
  const gbt_joint *joint;
  gbt_pair_kernels kernels;
  gbt_pair_rows rows;
  gbt_pair_query query;
  partner_job partners;
  int by_distance;
  double up;
  uint32_t task_rows;
  joint_room *room;
} long_job;

static uint32_t task_end(const long_job *j, uint32_t beg) {
  return j->rows.n - beg < j->task_rows ? j->rows.n : beg + j->task_rows;
}

/* The rows with sums of the thread's own. */
static gbt_pair_rows own_rows(const long_job *j, int thread) {
  gbt_pair_rows rows = j->rows;
  rows.g = j->joint->room[thread + 1].g;
  rows.h = j->joint->room[thread + 1].h;
  return rows;
}

/* Sums of some rows. Those of q D go where keys were. */
static void long_task(void *arg, int64_t task, int thread) {
  const long_job *j = arg;
  const uint32_t beg = (uint32_t)task * j->task_rows, end = task_end(j, beg);
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

/* The same for all pairs, each met once. */
static void long_all_task(void *arg, int64_t task, int thread) {
  const long_job *j = arg;
  const uint32_t beg = (uint32_t)task * j->task_rows, end = task_end(j, beg);
  const gbt_pair_rows rows = own_rows(j, thread);
  for (uint32_t a = beg; a < end; a++) {
    const gbt_pair_sum sum = j->kernels.after(j->joint->pairs.target, j->by_distance, &rows, &j->query, j->up, a);
    rows.g[a] += sum.g;
    rows.h[a] += sum.h;
    j->room->key[a] = (uint64_t)sum.wrong;
  }
}

static void long_partners_task(void *arg, int64_t task, int thread) {
  const long_job *j = arg;
  const uint32_t beg = (uint32_t)task * j->task_rows, end = task_end(j, beg);
  const gbt_pair_rows rows = own_rows(j, thread);
  sum_partners(&j->partners, &rows, beg, end);
}

/* Sums of all rows into the room; *wrong: of q D, where gradients are divided by it. */
static gbt_status sum_long(gbt_ctx *ctx, uint64_t round, long_job *j, wrong_sum *wrong, gbt_error *err) {
  const gbt_joint *joint = j->joint;
  const uint32_t n = j->rows.n, cost = joint->pairs.partners > 0 ? joint->pairs.partners : n;
  j->task_rows = 1 + JOINT_TASK_COST / (cost > 0 ? cost : 1);
  const int64_t n_tasks = (n + j->task_rows - 1) / j->task_rows;
  if (joint->pairs.partners > 0) {
    j->partners = (partner_job){.joint = joint, .query = &j->query, .by_distance = j->by_distance, .up = j->up,
                                .room = j->room, .n = n};
    GBT_TRY(begin_partners(ctx, round, &j->partners, j->room, err));
    return joint_sum_long(ctx, joint, n, n_tasks, long_partners_task, j, j->room, err);
  }
  if (joint_all_pairs(joint))
    GBT_TRY(joint_sum_long(ctx, joint, n, n_tasks, long_all_task, j, j->room, err));
  else
    GBT_TRY(gbt_parallel(ctx, n_tasks, long_task, j, err));
  for (uint32_t i = 0; i < n; i++) add_wrong(wrong, (int64_t)j->room->key[i]);
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
                .room = room};
  wrong_sum wrong = {0, 0};
  GBT_TRY(joint_order_long(ctx, joint, query, score, room, err));
  GBT_TRY(mix_ties(ctx, joint, round, n, room, err));
  j.by_distance = divides(joint, n, room);
  GBT_TRY(gbt_ctx_poll(ctx, err));
  j.query = fill_places(joint, query, n, room);
  GBT_TRY(sum_long(ctx, round, &j, &wrong, err));
  const outcome how = outcome_of(joint, exp, wrong);
  joint_write_alike(joint, room, n, room->place, how.down, how.factor);
  return GBT_OK;
}
