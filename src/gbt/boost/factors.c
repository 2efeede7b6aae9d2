#include "factors.h"

#include <string.h>

#include "../base/parallel.h"
#include "../base/rng.h"
#include "trainer_state.h"

enum { POLL_DRAWS = 1 << 20 };

int gbti_rescales(const gbt_params *params) {
  return params->boosting == GBT_BOOSTING_DART || params->model_shrink_rate > 0.0 || params->tail_rounds > 1;
}

/* ---- which rounds are dropped ---- */

/* Of the n rounds before: every one with the chance rate_drop. */
static gbt_status draw(const gbt_trainer *tr, gbt_key32 key, uint64_t before, int64_t n, gbti_round_plan *plan,
                       gbt_error *err) {
  const uint64_t limit = gbt_hash_limit(tr->params.rate_drop);
  for (int64_t r = 0; r < n; r++) {
    const uint32_t hash = gbt_hash32(key, before + (uint64_t)r);
    if (hash >= limit) continue;
    const size_t need = (size_t)plan->n_drop + 1;
    GBT_TRY(gbt_mem_grow(&tr->mem, &plan->drop, &plan->cap_drop, need, sizeof *plan->drop, err));
    GBT_TRY(gbt_mem_grow(&tr->mem, &plan->hash, &plan->cap_hash, need, sizeof *plan->hash, err));
    plan->drop[plan->n_drop] = r;
    plan->hash[plan->n_drop++] = hash;
  }
  return GBT_OK;
}

/* How many of them have a hash up to this one. */
static int64_t count_to(const gbti_round_plan *plan, uint32_t most) {
  int64_t n = 0;
  for (int64_t i = 0; i < plan->n_drop; i++) n += plan->hash[i] <= most;
  return n;
}

/* Keeps those of the smallest hashes, of equal ones the first. */
static void keep_smallest(gbti_round_plan *plan, int64_t n) {
  uint32_t low = 0, high = UINT32_MAX; /* the least hash up to which there are n */
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (count_to(plan, middle) >= n) high = middle;
    else low = middle + 1;
  }
  int64_t ties = n - (low > 0 ? count_to(plan, low - 1) : 0), kept = 0;
  for (int64_t i = 0; i < plan->n_drop; i++) {
    if (plan->hash[i] > low || (plan->hash[i] == low && ties-- <= 0)) continue;
    plan->drop[kept] = plan->drop[i];
    plan->hash[kept++] = plan->hash[i];
  }
  GBT_ASSERT(kept == n);
  plan->n_drop = kept;
}

/* ---- a round ---- */

static double shrink_of(const gbt_trainer *tr, int64_t round, uint64_t before) {
  const uint64_t so_far = before + (uint64_t)round;
  const double rate = tr->params.model_shrink_rate;
  if (so_far == 0 || !(rate > 0.0)) return 1.0;
  return 1.0 - (tr->params.model_shrink_mode == GBT_SHRINK_DECREASING ? rate / (double)so_far
                                                                      : rate * gbti_eta_of(tr, round));
}

/* Chen and Guestrin's xgboost scales so; with eta = 1 "tree" is what Rashmi and Gilad-Bachrach (2015) do. */
static void normalise(const gbt_trainer *tr, int64_t round, gbti_round_plan *plan) {
  const double eta = gbti_eta_of(tr, round), k = (double)plan->n_drop;
  plan->entry = plan->dropped = 1.0;
  if (plan->n_drop == 0) return;
  if (tr->params.normalize_type == GBT_NORMALIZE_FOREST) {
    plan->entry = plan->dropped = 1.0 / (1.0 + eta);
    return;
  }
  plan->dropped = k / (k + eta);
  plan->entry = 1.0 / (k + eta);
}

gbt_status gbti_plan_round(const gbt_trainer *tr, int64_t round, gbti_round_plan *plan, gbt_error *err) {
  const gbt_params *p = &tr->params;
  const uint64_t before = gbti_rounds_before(tr), number = before + (uint64_t)round;
  const gbt_key32 key = gbt_key((uint64_t)p->seed, GBT_FOR_DROPS, number, 0);
  const gbt_key32 skip = gbt_key((uint64_t)p->seed, GBT_FOR_DROPS, number, 1);
  plan->n_drop = 0;
  plan->shrink = shrink_of(tr, round, before);
  if (p->boosting == GBT_BOOSTING_DART && gbt_hash32(skip, 0) >= gbt_hash_limit(p->skip_drop))
    GBT_TRY(draw(tr, key, before, round, plan, err));
  if (p->max_drop > 0 && plan->n_drop > p->max_drop) keep_smallest(plan, p->max_drop);
  normalise(tr, round, plan);
  return GBT_OK;
}

void gbti_round_plan_free(const gbt_mem *mem, gbti_round_plan *plan) {
  gbt_mem_free(mem, plan->drop);
  gbt_mem_free(mem, plan->hash);
}

/* ---- factors ---- */

gbt_status gbti_factors_reserve(const gbt_mem *mem, gbti_factors *f, int64_t round, gbt_error *err) {
  return gbt_mem_grow(mem, &f->of, &f->cap_of, (size_t)round + 1, sizeof *f->of, err);
}

void gbti_factors_step(gbti_factors *f, int64_t round, const gbti_round_plan *plan) {
  GBT_ASSERT((size_t)round < f->cap_of);
  if (plan->shrink != 1.0)
    for (int64_t r = 0; r < round; r++) f->of[r] *= plan->shrink;
  f->init *= plan->shrink;
  for (int64_t i = 0; i < plan->n_drop; i++) f->of[plan->drop[i]] *= plan->dropped;
  f->of[round] = 1.0;
  f->entry = plan->entry;
}

void gbti_factors_start(gbti_factors *f) { f->init = f->entry = 1.0; }

void gbti_factors_free(const gbt_mem *mem, gbti_factors *f) { gbt_mem_free(mem, f->of); }

/* sum: NULL, or what factors were at the ends of rounds `from` and later are added to it. */
static gbt_status go_through(gbt_ctx *ctx, const gbt_trainer *tr, int64_t n_rounds, gbti_factors *out,
                             gbti_factors *sum, int64_t from, gbti_round_plan *plan, gbt_error *err) {
  int64_t draws = 0;
  gbti_factors_start(out);
  if (n_rounds > 0) GBT_TRY(gbti_factors_reserve(&tr->mem, out, n_rounds - 1, err));
  for (int64_t round = 0; round < n_rounds; round++) {
    if ((draws += round) > POLL_DRAWS) {
      GBT_TRY(gbt_ctx_poll(ctx, err));
      draws = 0;
    }
    GBT_TRY(gbti_plan_round(tr, round, plan, err));
    gbti_factors_step(out, round, plan);
    if (sum == NULL || round < from) continue;
    for (int64_t r = 0; r <= round; r++) sum->of[r] += out->of[r];
    sum->init += out->init;
  }
  return GBT_OK;
}

gbt_status gbti_factors_at(gbt_ctx *ctx, const gbt_trainer *tr, int64_t n_rounds, gbti_factors *out, gbt_error *err) {
  gbti_round_plan plan = {.n_drop = 0};
  const gbt_status status = go_through(ctx, tr, n_rounds, out, NULL, n_rounds, &plan, err);
  gbti_round_plan_free(&tr->mem, &plan);
  return status;
}

gbt_status gbti_factors_of_model(gbt_ctx *ctx, const gbt_trainer *tr, int64_t n_rounds, gbti_factors *out,
                                 gbt_error *err) {
  const int64_t tail = tr->params.tail_rounds < n_rounds ? tr->params.tail_rounds : n_rounds;
  if (tail <= 1) return gbti_factors_at(ctx, tr, n_rounds, out, err);
  gbti_round_plan plan = {.n_drop = 0};
  gbti_factors at = {.of = NULL};
  GBT_TRY(gbti_factors_reserve(&tr->mem, out, n_rounds - 1, err));
  memset(out->of, 0, (size_t)n_rounds * sizeof *out->of);
  out->init = 0.0;
  const gbt_status status = go_through(ctx, tr, n_rounds, &at, out, n_rounds - tail, &plan, err);
  for (int64_t r = 0; r < n_rounds; r++) out->of[r] /= (double)tail;
  out->init /= (double)tail;
  gbti_factors_free(&tr->mem, &at);
  gbti_round_plan_free(&tr->mem, &plan);
  return status;
}
