#include "gather.h"

#include <string.h>

/* A block of `size` bytes for each row. */
static gbt_status gather(gbt_ctx *ctx, const gbti_gathered *g, const void *own, size_t size, void *all,
                         gbt_error *err) {
  for (int r = 0; r < gbt_comm_size(ctx); r++) g->bytes[r] = (size_t)g->n_of[r] * size;
  return gbt_comm_gather(ctx, own, g->bytes, all, err);
}

gbt_status gbti_gather_u32(gbt_ctx *ctx, const gbti_gathered *gathered, const uint32_t *own, uint32_t *all,
                           gbt_error *err) {
  if (gathered->n_of != NULL) return gather(ctx, gathered, own, sizeof *own, all, err);
  memcpy(all, own, (size_t)gathered->n_own * sizeof *own);
  return GBT_OK;
}

static gbt_status gather_field(gbt_ctx *ctx, gbti_gathered *g, const gbt_rows *own, gbt_field field, gbt_error *err) {
  const gbt_mem *mem = &g->mem;
  const double *mine = own->field[field];
  double *same = NULL;
  gbt_status status = GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)g->rows.n, sizeof(double), &g->field[field], err), done);
  if (mine == NULL) {
    GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)own->n, sizeof *same, &same, err), done);
    for (int64_t i = 0; i < own->n; i++) same[i] = field == GBT_WEIGHT ? 1.0 : 0.0;
    mine = same;
  }
  GBT_TRY_GOTO(gather(ctx, g, mine, sizeof *mine, g->field[field], err), done);
  g->rows.field[field] = g->field[field];
done:
  gbt_mem_free(mem, same);
  return status;
}

/* Rows of each rank, and where those of this one begin. */
static gbt_status gather_shares(gbt_ctx *ctx, gbti_gathered *g, gbt_error *err) {
  const int size = gbt_comm_size(ctx);
  GBT_TRY(gbt_mem_array(&g->mem, (size_t)size, sizeof *g->n_of, &g->n_of, err));
  GBT_TRY(gbt_mem_array(&g->mem, (size_t)size, sizeof *g->bytes, &g->bytes, err));
  GBT_TRY(gbt_comm_gather_i64(ctx, &g->n_own, 1, g->n_of, err));
  for (int r = 0; r < size; r++) {
    if (r < gbt_comm_rank(ctx)) g->before += g->n_of[r];
    g->rows.n += g->n_of[r];
  }
  return GBT_OK;
}

enum { GIVEN, LACKED = GBT_N_FIELDS, N_FLAGS = 2 * GBT_N_FIELDS };

/* For the maximum over ranks: whether a rank with rows gives a field, whether one lacks it. */
static void set_flags(const gbt_rows *own, int64_t *flags) {
  for (int f = 0; f < GBT_N_FIELDS; f++) {
    flags[GIVEN + f] = own->field[f] != NULL && own->n > 0;
    flags[LACKED + f] = own->field[f] == NULL && own->n > 0;
  }
}

static gbt_status check_given(const int64_t *flags, gbt_error *err) {
  for (int f = 0; f < GBT_N_FIELDS; f++) {
    if ((f != GBT_TIME && f != GBT_GROUP) || !flags[GIVEN + f] || !flags[LACKED + f]) continue;
    return gbt_fail_on(err, GBT_E_ARG, gbt_field_name(f), "%s: only some ranks have it; give it on all ranks",
                       gbt_field_name(f));
  }
  return GBT_OK;
}

static gbt_status check_size(int64_t n_rows, gbt_error *err) {
  if (n_rows <= UINT32_MAX) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "cat_method",
                     "statistics of categorical columns are possible for up to 2^32 - 1 rows, and all ranks together "
                     "have %lld; use cat_method = \"sets\"",
                     (long long)n_rows);
}

gbt_status gbti_gather_rows(gbt_ctx *ctx, const gbt_rows *own, gbti_gathered *out, gbt_error *err) {
  int64_t flags[N_FLAGS];
  memset(out, 0, sizeof *out);
  out->mem = ctx->mem;
  out->n_own = own->n;
  if (gbt_comm_is_single(ctx)) {
    out->rows = *own;
    return GBT_OK;
  }
  set_flags(own, flags);
  GBT_TRY(gbt_comm_max_i64(ctx, flags, N_FLAGS, err));
  GBT_TRY(check_given(flags, err));
  GBT_TRY(gather_shares(ctx, out, err));
  GBT_TRY(check_size(out->rows.n, err));
  for (int f = 0; f < GBT_N_FIELDS; f++)
    if (flags[GIVEN + f]) GBT_TRY(gather_field(ctx, out, own, (gbt_field)f, err));
  return GBT_OK;
}

void gbti_gathered_drop_fields(gbti_gathered *gathered) {
  for (int f = 0; f < GBT_N_FIELDS; f++) {
    gbt_mem_free(&gathered->mem, gathered->field[f]);
    gathered->field[f] = NULL;
    gathered->rows.field[f] = NULL;
  }
}

void gbti_gathered_free(gbti_gathered *gathered) {
  gbti_gathered_drop_fields(gathered);
  gbt_mem_free(&gathered->mem, gathered->n_of);
  gbt_mem_free(&gathered->mem, gathered->bytes);
  memset(gathered, 0, sizeof *gathered);
}
