/* Groups of equal scores on their way to the ranks that have their ranges. The borders of the ranges come from a
 * sample: any borders give the same metric, and good ones give each rank as much to do.
 *
 *   rank 0   a b c | d e | f        a rank's groups are ascending, so what goes to a rank is a block of them
 *   rank 1   a c   | d   | g h      rank 0 has a b c a c, rank 1 has d e d, rank 2 has f g h */
#include "../base/comm.h"
#include "../base/rng.h"
#include "../base/sort.h"
#include "ranking.h"

enum { SAMPLE = 4096, LEAST_SAMPLE = 16 }; /* keys of all ranks; of one */

/* The numbers of a rank's sample: how many groups it has, then keys from all over them. Their places differ between
 * ranks, which may all have the same groups. */
static void take_sample(const gbt_ranking_group *own, int64_t n, int rank, int32_t n_keys, int64_t *out) {
  GBT_ASSERT(n_keys > 0);
  const int64_t offset = (int64_t)((uint64_t)n * (gbt_mix64((uint64_t)rank) >> 32) >> 32);
  out[0] = n;
  for (int32_t i = 0; i < n_keys; i++) out[i + 1] = n > 0 ? (int64_t)own[(i * n + offset) / n_keys].key : 0;
}

/* border[r]: the highest key of rank r's range; the last rank has all above. sample: n_keys + 1 numbers of each rank;
 * key, weight: room for all its keys. */
static void choose_borders(const int64_t *sample, int size, int32_t n_keys, uint64_t *key, uint32_t *from,
                           uint64_t *tmp, uint32_t *tmp_from, uint64_t *border) {
  uint64_t total = 0, sum = 0;
  size_t m = 0;
  int r = 0;
  GBT_ASSERT(size > 0 && n_keys > 0);
  for (int k = 0; k < size; k++) {
    const int64_t *its = sample + (int64_t)k * (n_keys + 1);
    for (int32_t i = 0; i < n_keys && its[0] > 0; i++) {
      key[m] = (uint64_t)its[i + 1];
      from[m++] = (uint32_t)k;
    }
    total += (uint64_t)its[0];
  }
  gbt_sort_u64(key, from, m, tmp, tmp_from);
  for (size_t i = 0; i < m; i++) { /* a key weighs as many groups as its rank has, all keys n_keys times too many */
    sum += (uint64_t)sample[(int64_t)from[i] * (n_keys + 1)];
    const uint64_t groups = sum / (uint64_t)n_keys;
    for (; r < size - 1 && groups >= total * (uint64_t)(r + 1) / (uint64_t)size; r++) border[r] = key[i];
  }
  for (; r < size - 1; r++) border[r] = UINT64_MAX;
}

/* The first group from `beg` on with a key above `key`. */
static int64_t end_of(const gbt_ranking_group *own, int64_t beg, int64_t n, uint64_t key) {
  int64_t end = n;
  while (beg < end) {
    int64_t mid = beg + (end - beg) / 2;
    if (own[mid].key > key)
      end = mid;
    else
      beg = mid + 1;
  }
  return beg;
}

/* sends: by rank, bytes of this rank's groups in its range. */
static gbt_status share_out(gbt_ctx *ctx, const gbt_ranking_group *own, int64_t n, size_t *sends, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  const int size = gbt_comm_size(ctx);
  GBT_ASSERT(size > 0);
  const int32_t n_keys = SAMPLE / size > LEAST_SAMPLE ? SAMPLE / size : LEAST_SAMPLE;
  const size_t n_all = (size_t)size * (size_t)n_keys;
  gbt_status status = GBT_OK;
  int64_t *mine = NULL, *sample = NULL;
  uint64_t *key = NULL, *tmp = NULL, *border = NULL;
  uint32_t *from = NULL, *tmp_from = NULL;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_keys + 1, sizeof *mine, &mine, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_all + (size_t)size, sizeof *sample, &sample, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_all, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_all, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_all, sizeof *from, &from, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n_all, sizeof *tmp_from, &tmp_from, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)size, sizeof *border, &border, err), done);
  take_sample(own, n, gbt_comm_rank(ctx), n_keys, mine);
  GBT_TRY_GOTO(gbt_comm_gather_i64(ctx, mine, (size_t)n_keys + 1, sample, err), done);
  choose_borders(sample, size, n_keys, key, from, tmp, tmp_from, border);
  int64_t beg = 0;
  for (int r = 0; r < size; r++) {
    const int64_t end = r < size - 1 ? end_of(own, beg, n, border[r]) : n;
    sends[r] = (size_t)(end - beg) * sizeof *own;
    beg = end;
  }
done:
  gbt_mem_free(mem, mine);
  gbt_mem_free(mem, sample);
  gbt_mem_free(mem, key);
  gbt_mem_free(mem, tmp);
  gbt_mem_free(mem, from);
  gbt_mem_free(mem, tmp_from);
  gbt_mem_free(mem, border);
  return status;
}

gbt_status gbti_ranking_swap(gbt_ctx *ctx, const gbt_ranking_group *own, int64_t n, gbt_ranking_group **out,
                             int64_t *n_out, gbt_error *err) {
  const size_t size = (size_t)gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  size_t *sends = NULL, *takes = NULL, bytes = 0;
  *out = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *sends, &sends, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *takes, &takes, err), done);
  GBT_TRY_GOTO(share_out(ctx, own, n, sends, err), done);
  GBT_TRY_GOTO(gbt_comm_exchange_sizes(ctx, sends, takes, err), done);
  for (size_t r = 0; r < size; r++) bytes += takes[r];
  *n_out = (int64_t)(bytes / sizeof **out);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)*n_out, sizeof **out, out, err), done);
  GBT_TRY_GOTO(gbt_comm_exchange(ctx, own, sends, *out, takes, err), done);
done:
  gbt_mem_free(&ctx->mem, sends);
  gbt_mem_free(&ctx->mem, takes);
  return status;
}

gbt_status gbti_ranking_before(gbt_ctx *ctx, gbt_ranking_pair *all, gbt_ranking_pair *before, gbt_error *err) {
  const int64_t own[2] = {(int64_t)all->gain, (int64_t)all->base}; /* below 2^62 */
  int64_t *every;
  GBT_TRY(gbt_mem_array(&ctx->mem, 2 * (size_t)gbt_comm_size(ctx), sizeof *every, &every, err));
  gbt_status status = gbt_comm_gather_i64(ctx, own, 2, every, err);
  all->gain = all->base = before->gain = before->base = 0;
  for (int r = 0; r < gbt_comm_size(ctx) && status == GBT_OK; r++) {
    if (r == gbt_comm_rank(ctx)) *before = *all;
    *all = gbt_ranking_plus(*all, (gbt_ranking_pair){(uint64_t)every[2 * r], (uint64_t)every[2 * r + 1]});
  }
  gbt_mem_free(&ctx->mem, every);
  return status;
}

gbt_status gbti_ranking_sum(gbt_ctx *ctx, gbt_wide *area, gbt_exact_sum *precisions, gbt_error *err) {
  int64_t limb[4] = {(int64_t)(area->lo & UINT32_MAX), (int64_t)(area->lo >> 32), (int64_t)(area->hi & UINT32_MAX),
                     (int64_t)(area->hi >> 32)};
  GBT_TRY(gbt_comm_sum_i64(ctx, limb, 4, err));
  GBT_TRY(gbt_comm_sum_exact(ctx, precisions, 1, err));
  for (int i = 0; i < 3; i++) {
    limb[i + 1] += limb[i] >> 32;
    limb[i] &= UINT32_MAX;
  }
  area->lo = (uint64_t)limb[1] << 32 | (uint64_t)limb[0];
  area->hi = (uint64_t)limb[3] << 32 | (uint64_t)limb[2];
  return GBT_OK;
}
