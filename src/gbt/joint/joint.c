/* Queries are put into tasks of about equal cost when the data are known. A long query is a task of its own, cut into
 * rows, so that it does not hold up the others: all threads work on it together, before the tasks of the rest. */
#include "joint_impl.h"

#include "../base/parallel.h"
#include "../objective/aft_scale.h"

static joint_kind kind_of(const gbt_objective *objective) {
  switch ((gbt_objective_kind)objective->kind) {
  case GBT_OBJ_QUERY_RMSE:
    return JOINT_RMSE;
  case GBT_OBJ_QUERY_SOFTMAX:
    return JOINT_SOFTMAX;
  case GBT_OBJ_RANK_XENDCG:
    return JOINT_XENDCG;
  case GBT_OBJ_YETI_RANK:
    return JOINT_YETI;
  case GBT_OBJ_COX:
  case GBT_OBJ_FINE_GRAY:
    return JOINT_RISK;
  case GBT_OBJ_AFT:
    return JOINT_TIMES;
  case GBT_OBJ_HAZARD:
    return JOINT_INTERVALS;
  default:
    break;
  }
  return gbt_is_distribution(objective) ? JOINT_DISTRIBUTION : JOINT_PAIRS;
}

/* The cost of a query: pairs, or rows where an objective has none. */
static uint64_t cost_of(const gbt_joint *joint, uint32_t query) {
  const uint64_t n = gbt_rows_of_query(&joint->queries, query), top = joint->pairs.top;
  switch (joint->kind) {
  case JOINT_PAIRS:
    if (joint->pairs.partners > 0) return n * joint->pairs.partners;
    return n * (top == 0 || top > n ? n : top);
  case JOINT_YETI:
    return n * (uint64_t)joint->objective.param[0] * 16;
  case JOINT_RMSE:
  case JOINT_SOFTMAX:
  case JOINT_XENDCG:
  case JOINT_TIMES:
  case JOINT_RISK:
  case JOINT_INTERVALS:
  case JOINT_DISTRIBUTION:
    break;
  }
  return n * 4;
}

static int is_long(const gbt_joint *joint, uint32_t query) {
  return (joint->kind == JOINT_PAIRS || joint->kind == JOINT_YETI) && cost_of(joint, query) > JOINT_LONG_COST;
}

/* ---- life ---- */

/* Queries to tasks; start: room for the first query of each, or NULL to count. */
static uint32_t cut_tasks(const gbt_joint *joint, uint32_t *start) {
  uint32_t n = 0;
  uint64_t cost = 0;
  for (uint32_t q = 0; q < joint->queries.n; q++) {
    const int alone = is_long(joint, q) || (q > 0 && is_long(joint, q - 1));
    if (q == 0 || alone || cost >= JOINT_TASK_COST) {
      if (start != NULL) start[n] = q;
      n++;
      cost = 0;
    }
    cost += cost_of(joint, q);
  }
  if (start != NULL) start[n] = joint->queries.n;
  return n;
}

/* n_sums: rows of the sums, at least n. */
static gbt_status open_room(const gbt_joint *joint, uint32_t n, uint32_t n_sums, joint_room *room, gbt_error *err) {
  const gbt_mem *mem = &joint->mem;
  room->n = n;
  if (joint->positions.ratio) GBT_TRY(gbt_mem_array(mem, n, sizeof *room->pos, &room->pos, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->row, &room->row, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->tmp_row, &room->tmp_row, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->place, &room->place, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->key, &room->key, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->tmp_key, &room->tmp_key, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->s, &room->s, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->label, &room->label, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->gain, &room->gain, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *room->weight, &room->weight, err));
  GBT_TRY(gbt_mem_array(mem, n_sums, sizeof *room->g, &room->g, err));
  return gbt_mem_array(mem, n_sums, sizeof *room->h, &room->h, err);
}

static void close_room(const gbt_mem *mem, joint_room *room) {
  void *blocks[] = {room->row,   room->tmp_row, room->place,  room->key, room->tmp_key, room->s,
                    room->label, room->gain,    room->weight, room->g,   room->h,       room->pos};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(mem, blocks[i]);
  *room = (joint_room){.n = 0};
}

/* Rooms of n threads; they stay until a call has more threads. The first one is that of long queries. */
static gbt_status make_rooms(gbt_joint *joint, int32_t n_threads, gbt_error *err) {
  const int32_t n = n_threads + 1;
  if (n <= joint->n_rooms) return GBT_OK;
  const int32_t had = joint->n_rooms;
  joint_room *more;
  GBT_TRY(gbt_mem_zeros(&joint->mem, (size_t)n, sizeof *more, &more, err));
  for (int32_t i = 0; i < had; i++) more[i] = joint->room[i];
  gbt_mem_free(&joint->mem, joint->room);
  joint->room = more;
  for (int32_t i = had; i < n; i++) {
    const uint32_t rows = i == 0 ? joint->long_rows : joint->room_rows;
    const uint32_t sums = joint_own_sums(joint) && joint->long_rows > rows ? joint->long_rows : rows;
    const gbt_status status = open_room(joint, rows, sums, &more[i], err);
    if (status != GBT_OK) close_room(&joint->mem, &more[i]);
    GBT_TRY(status);
    joint->n_rooms = i + 1;
  }
  return GBT_OK;
}

static gbt_status needs_events(const gbt_joint *joint, gbt_error *err) {
  if (joint->rows.field[GBT_EVENT] == NULL && joint->rows.n > 0)
    return gbt_fail_on(err, GBT_E_DATA, "event",
                       "the objective \"%s\" needs `event`: whether the time of a row is that of an event",
                       gbt_objective_info_of(joint->objective.kind)->name);
  return GBT_OK;
}

/* Cox's partial likelihood needs the events of rows. */
static gbt_status joint_risk_open(gbt_ctx *ctx, gbt_joint *joint, gbt_error *err) {
  GBT_TRY(needs_events(joint, err));
  return gbt_cox_make_for(ctx, &joint->objective, &joint->rows, &joint->cox, err);
}

static gbt_status fill(gbt_ctx *ctx, gbt_joint *joint, gbt_error *err) {
  const size_t n = (size_t)joint->rows.n, cells = n * (size_t)joint->objective.n_outputs;
  GBT_TRY(gbt_mem_array(&joint->mem, cells, sizeof *joint->g, &joint->g, err));
  GBT_TRY(gbt_mem_array(&joint->mem, cells, sizeof *joint->h, &joint->h, err));
  if (joint->kind == JOINT_RISK) return joint_risk_open(ctx, joint, err);
  if (joint->kind == JOINT_INTERVALS) return needs_events(joint, err);
  if (joint->kind == JOINT_DISTRIBUTION) return GBT_OK;
  if (joint->kind == JOINT_TIMES) return gbt_aft_check_ends(ctx, &joint->rows, err);
  if (joint->rows.field[GBT_GROUP] == NULL && n > 0)
    return gbt_fail_on(err, GBT_E_DATA, "group", "the objective \"%s\" needs `group`: the query of every row",
                       gbt_objective_info_of(joint->objective.kind)->name);
  GBT_TRY(gbt_queries_make(ctx, &joint->rows, &joint->queries, err));
  GBT_TRY(joint_positions_open(ctx, &joint->objective, &joint->rows, &joint->positions, err));
  if (joint->kind == JOINT_PAIRS) GBT_TRY(joint_pairs_open(ctx, joint, err));
  if (joint->kind == JOINT_XENDCG) GBT_TRY(joint_check_gains(joint, err));
  joint->n_tasks = cut_tasks(joint, NULL);
  GBT_TRY(gbt_mem_array(&joint->mem, (size_t)joint->n_tasks + 1, sizeof *joint->task, &joint->task, err));
  (void)cut_tasks(joint, joint->task);
  for (uint32_t q = 0; q < joint->queries.n; q++) {
    const uint32_t rows = gbt_rows_of_query(&joint->queries, q);
    uint32_t *most = is_long(joint, q) ? &joint->long_rows : &joint->room_rows;
    if (rows > *most) *most = rows;
  }
  if (joint->kind == JOINT_YETI && joint->long_rows > joint->room_rows) /* a thread orders all rows */
    joint->room_rows = joint->long_rows;
  return GBT_OK;
}

gbt_status gbt_joint_new(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, uint64_t seed,
                         gbt_joint **out, gbt_error *err) {
  gbt_joint *joint;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *joint, &joint, err));
  joint->mem = ctx->mem;
  joint->objective = *objective;
  joint->kind = kind_of(objective);
  joint->estimates = gbt_aft_estimates(objective);
  joint->rows = *rows;
  joint->seed = seed;
  joint->queries.mem = ctx->mem;
  joint->positions.mem = ctx->mem;
  joint->cox = (gbt_cox){.mem = ctx->mem, .risk = {.mem = ctx->mem}};
  gbt_status status = fill(ctx, joint, err);
  if (status == GBT_OK)
    *out = joint;
  else
    gbt_joint_free(joint);
  return status;
}

void gbt_joint_free(gbt_joint *joint) {
  if (joint == NULL) return;
  const gbt_mem mem = joint->mem;
  for (int32_t i = 0; i < joint->n_rooms; i++) close_room(&mem, &joint->room[i]);
  gbt_queries_free(&joint->queries);
  joint_positions_free(&joint->positions);
  gbt_cox_free(&joint->cox);
  gbt_mem_free(&mem, joint->room);
  gbt_mem_free(&mem, joint->task);
  gbt_mem_free(&mem, joint->pairs.unit);
  gbt_mem_free(&mem, joint->pairs.discount);
  gbt_mem_free(&mem, joint->g);
  gbt_mem_free(&mem, joint->h);
  gbt_mem_free(&mem, joint);
}

/* ---- a round ---- */

typedef struct job {
  const gbt_joint *joint;
  gbt_simd simd;
  uint64_t round;
  const double *score;
} job;

static void queries_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_joint *joint = j->joint;
  for (uint32_t q = joint->task[task]; q < joint->task[task + 1]; q++) {
    if (is_long(joint, q)) continue; /* done before */
    joint_room *room = &joint->room[thread + 1];
    switch (joint->kind) {
    case JOINT_PAIRS:
      joint_pairs_query(joint, j->simd, j->round, q, j->score, room, thread);
      break;
    case JOINT_YETI:
      joint_yeti_query(joint, j->round, q, j->score, room);
      break;
    case JOINT_RMSE:
    case JOINT_SOFTMAX:
    case JOINT_XENDCG:
      joint_sums_query(joint, j->round, q, j->score, room);
      break;
    case JOINT_TIMES:
    case JOINT_RISK:
    case JOINT_INTERVALS:
    case JOINT_DISTRIBUTION:
      GBT_ASSERT(0); /* has no queries */
      break;
    }
  }
}

gbt_status joint_sum_long(gbt_ctx *ctx, const gbt_joint *joint, uint32_t n, int64_t n_tasks, gbt_task_fn task,
                          void *arg, joint_room *room, gbt_error *err) {
  const joint_room *own = joint->room + 1;
  for (int32_t t = 0; t < ctx->n_threads; t++) {
    GBT_TRY(gbt_ctx_poll(ctx, err));
    for (uint32_t i = 0; i < n; i++) own[t].g[i] = own[t].h[i] = 0;
  }
  GBT_TRY(gbt_parallel(ctx, n_tasks, task, arg, err));
  for (uint32_t i = 0; i < n; i++) {
    int64_t g = 0, h = 0;
    for (int32_t t = 0; t < ctx->n_threads; t++) {
      g += own[t].g[i];
      h += own[t].h[i];
    }
    room->g[i] = g;
    room->h[i] = h;
  }
  return gbt_ctx_poll(ctx, err);
}

/* A query that all threads share. */
static gbt_status gradients_of_long(gbt_ctx *ctx, gbt_joint *joint, uint64_t round, uint32_t query, const double *score,
                                    gbt_error *err) {
  joint_room *room = &joint->room[0];
  if (joint->kind == JOINT_YETI) return joint_yeti_long(ctx, joint, round, query, score, room, err);
  return joint_pairs_long(ctx, joint, round, query, score, room, err);
}

gbt_status gbt_joint_gradients(gbt_ctx *ctx, gbt_joint *joint, uint64_t round, const double *score, const double **g,
                               const double **h, gbt_error *err) {
  job j = {joint, ctx->simd, round, score};
  *g = joint->g;
  *h = joint->h;
  if (joint->kind == JOINT_RISK) {
    GBT_TRY(gbt_cox_hazards(ctx, &joint->cox, score, err));
    return gbt_cox_gradients(ctx, &joint->cox, score, joint->g, joint->h, err);
  }
  if (joint->kind == JOINT_TIMES) return joint_times_gradients(ctx, joint, score, err);
  if (joint->kind == JOINT_INTERVALS) return joint_intervals_gradients(ctx, joint, score, err);
  if (joint->kind == JOINT_DISTRIBUTION) return joint_distribution_gradients(ctx, joint, score, err);
  GBT_TRY(make_rooms(joint, ctx->n_threads, err));
  GBT_TRY(joint_positions_begin(ctx, &joint->positions, &joint->rows, score, &score, err));
  j.score = score;
  for (uint32_t t = 0; t < joint->n_tasks; t++)
    if (is_long(joint, joint->task[t]))
      GBT_TRY(gradients_of_long(ctx, joint, round, joint->task[t], score, err));
  return gbt_parallel(ctx, joint->n_tasks, queries_task, &j, err);
}

void gbt_joint_set_base(gbt_joint *joint, const double *base) {
  if (joint->kind != JOINT_DISTRIBUTION) return;
  joint->base[0] = base[0];
  joint->base[1] = base[1];
}

uint32_t gbt_joint_n_biases(const gbt_joint *joint) { return joint_positions_state(&joint->positions); }

const double *gbt_joint_biases(const gbt_joint *joint) { return joint->positions.bias; }

int gbt_joint_biases_fit(const gbt_joint *joint, const double *bias) {
  const double low = joint->positions.ratio ? 0x1p-10 : -1e300, high = joint->positions.ratio ? 0x1p10 : 1e300;
  for (uint32_t i = 0; i < gbt_joint_n_biases(joint); i++)
    if (!(bias[i] >= low && bias[i] <= high)) return 0;
  return 1;
}

void gbt_joint_set_biases(gbt_joint *joint, const double *bias) {
  for (uint32_t i = 0; i < gbt_joint_n_biases(joint); i++) joint->positions.bias[i] = bias[i];
}

gbt_status gbt_joint_move_biases(gbt_ctx *ctx, gbt_joint *joint, double eta, gbt_error *err) {
  return joint_positions_move(ctx, &joint->positions, &joint->rows, joint->g, joint->h, eta, err);
}

gbt_cox *gbt_joint_risk(gbt_joint *joint) {
  return joint != NULL && joint->kind == JOINT_RISK ? &joint->cox : NULL;
}

gbt_status gbt_joint_hazards(gbt_ctx *ctx, gbt_joint *joint, const double *score, const gbt_cox **out, gbt_error *err) {
  GBT_ASSERT(joint->kind == JOINT_RISK);
  GBT_TRY(gbt_cox_hazards(ctx, &joint->cox, score, err));
  *out = &joint->cox;
  return GBT_OK;
}
