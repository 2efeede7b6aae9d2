/* Levels of categorical columns whose rows are shared out among ranks. The lists of all ranks do not go to every rank:
 * a text goes to the rank that its hash names, which adds up what all ranks say of it. Then all ranks get these lists,
 * which have every text once.
 *
 *   rank 0   a 3, b 1, c 2          to rank 0: a 3, c 2      rank 0 has a 3 + 4, c 2      all: a 7, c 2, b 1 + 5
 *   rank 1   b 5, a 4               to rank 0: a 4           rank 1 has b 1 + 5
 *
 * A list is a block of entries: count, first row among the rows of all ranks, text with its 0. */
#include <string.h>

#include "../base/rng.h"
#include "../base/sort.h"
#include "../schema/schema_impl.h"
#include "cuts_impl.h"
#include "job.h"

typedef struct list {
  char *block; /* owned */
  size_t bytes;
} list;

/* The entries of a list. */
typedef struct entries {
  int32_t n;
  const char **text; /* owned, as are count and first; the texts lie in the list */
  uint64_t *count, *first;
} entries;

enum { HEAD = 2 * sizeof(uint64_t) };

static char *put_entry(char *to, uint64_t count, uint64_t first, const char *text) {
  const size_t length = strlen(text) + 1;
  const uint64_t head[2] = {count, first};
  memcpy(to, head, HEAD);
  memcpy(to + HEAD, text, length);
  return to + HEAD + length;
}

/* The rank that a text goes to. */
static int32_t rank_of_text(const char *text, int size) {
  uint64_t h = 0;
  GBT_ASSERT(size > 0);
  for (; *text != 0; text++) h = gbt_mix64(h ^ (unsigned char)*text);
  return (int32_t)(h % (uint64_t)size);
}

/* ---- lists to entries ---- */

static void entries_free(const gbt_mem *mem, entries *e) {
  gbt_mem_free(mem, e->text);
  gbt_mem_free(mem, e->count);
  gbt_mem_free(mem, e->first);
}

static gbt_status read_list(const gbt_mem *mem, const list *l, entries *out, gbt_error *err) {
  const char *end = l->block + l->bytes;
  int64_t n = 0;
  for (const char *at = l->block; at < end; n++) at += HEAD + strlen(at + HEAD) + 1;
  if (n > INT32_MAX) return gbt_fail(err, GBT_E_UNSUPPORTED, "a factor has too many levels");
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof *out->text, &out->text, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof *out->count, &out->count, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)n, sizeof *out->first, &out->first, err));
  out->n = (int32_t)n;
  const char *at = l->block;
  for (int32_t i = 0; i < out->n; i++) {
    uint64_t head[2];
    memcpy(head, at, HEAD);
    out->count[i] = head[0];
    out->first[i] = head[1];
    out->text[i] = at + HEAD;
    at += HEAD + strlen(at + HEAD) + 1;
  }
  return GBT_OK;
}

/* Entries of one text become the first of them; the others count 0. Those of earlier ranks come first, and so do their
 * rows. */
static gbt_status merge(gbt_ctx *ctx, entries *e, gbt_error *err) {
  int32_t *twin;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)e->n, sizeof *twin, &twin, err));
  gbt_status status = gbt_match_many_texts(ctx, 0, e->text, e->n, e->text, e->n, twin, err);
  for (int32_t i = 0; i < e->n && status == GBT_OK; i++) {
    if (twin[i] == i) continue;
    e->count[twin[i]] += e->count[i];
    e->count[i] = 0;
  }
  gbt_mem_free(&ctx->mem, twin);
  return status;
}

/* ---- this rank's list, then its part of all lists, then all ---- */

/* The levels that occur, in the order of the ranks they go to; sends: bytes for each rank. */
static gbt_status list_own(gbt_ctx *ctx, const gbt_column *col, const gbti_tally *t, int64_t rows_before, list *out,
                           size_t *sends, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  const int size = gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  int32_t *rank = NULL;
  char **to = NULL;
  memset(sends, 0, (size_t)size * sizeof *sends);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)col->n_levels, sizeof *rank, &rank, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)size, sizeof *to, &to, err), done);
  for (int32_t i = 0; i < col->n_levels; i++) {
    if (t->count[i + 1] == 0) continue;
    rank[i] = rank_of_text(col->levels[i], size);
    sends[rank[i]] += HEAD + strlen(col->levels[i]) + 1;
  }
  for (int r = 0; r < size; r++) out->bytes += sends[r];
  GBT_TRY_GOTO(gbt_mem_array(mem, out->bytes, 1, &out->block, err), done);
  char *at = out->block;
  for (int r = 0; r < size; at += sends[r++]) to[r] = at;
  for (int32_t i = 0; i < col->n_levels; i++)
    if (t->count[i + 1] > 0)
      to[rank[i]] =
          put_entry(to[rank[i]], t->count[i + 1], t->first[i + 1] + (uint64_t)rows_before, col->levels[i]);
done:
  gbt_mem_free(mem, rank);
  gbt_mem_free(mem, to);
  return status;
}

/* The part of all ranks' lists that this rank adds up. work: room for a number of each rank. */
static gbt_status swap_lists(gbt_ctx *ctx, const list *own, const size_t *sends, size_t *work, list *out,
                             gbt_error *err) {
  GBT_TRY(gbt_comm_exchange_sizes(ctx, sends, work, err));
  for (int r = 0; r < gbt_comm_size(ctx); r++) out->bytes += work[r];
  GBT_TRY(gbt_mem_array(&ctx->mem, out->bytes, 1, &out->block, err));
  return gbt_comm_exchange(ctx, own->block, sends, out->block, work, err);
}

static gbt_status add_up(gbt_ctx *ctx, const list *l, list *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  entries e = {0, NULL, NULL, NULL};
  GBT_TRY_GOTO(read_list(&ctx->mem, l, &e, err), done);
  GBT_TRY_GOTO(merge(ctx, &e, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, l->bytes, 1, &out->block, err), done);
  char *to = out->block;
  for (int32_t i = 0; i < e.n; i++)
    if (e.count[i] > 0) to = put_entry(to, e.count[i], e.first[i], e.text[i]);
  out->bytes = (size_t)(to - out->block);
done:
  entries_free(&ctx->mem, &e);
  return status;
}

/* The lists of all ranks. bytes, work: room for a number of each rank. */
static gbt_status gather_lists(gbt_ctx *ctx, const list *mine, size_t *bytes, int64_t *work, list *out,
                               gbt_error *err) {
  const int64_t own = (int64_t)mine->bytes;
  GBT_TRY(gbt_comm_gather_i64(ctx, &own, 1, work, err));
  for (int r = 0; r < gbt_comm_size(ctx); r++) out->bytes += bytes[r] = (size_t)work[r];
  GBT_TRY(gbt_mem_array(&ctx->mem, out->bytes, 1, &out->block, err));
  return gbt_comm_gather(ctx, mine->block, bytes, out->block, err);
}

/* The list of all ranks' levels, each text once. */
static gbt_status list_all(gbt_ctx *ctx, const gbt_column *col, const gbti_tally *t, int64_t rows_before, list *out,
                           gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  const size_t size = (size_t)gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  list own = {NULL, 0}, part = own, mine = own;
  size_t *bytes = NULL, *takes = NULL;
  int64_t *numbers = NULL;
  GBT_TRY_GOTO(gbt_mem_array(mem, size, sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, size, sizeof *takes, &takes, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, size, sizeof *numbers, &numbers, err), done);
  GBT_TRY_GOTO(list_own(ctx, col, t, rows_before, &own, bytes, err), done);
  GBT_TRY_GOTO(swap_lists(ctx, &own, bytes, takes, &part, err), done);
  GBT_TRY_GOTO(add_up(ctx, &part, &mine, err), done);
  GBT_TRY_GOTO(gather_lists(ctx, &mine, bytes, numbers, out, err), done);
done:
  gbt_mem_free(mem, own.block);
  gbt_mem_free(mem, part.block);
  gbt_mem_free(mem, mine.block);
  gbt_mem_free(mem, bytes);
  gbt_mem_free(mem, takes);
  gbt_mem_free(mem, numbers);
  return status;
}

/* ---- entries to levels ---- */

/* As gbti_order_levels, of numbers that 32 bits need not hold: by first rows, then stably by counts. */
static gbt_status order_texts(const gbt_mem *mem, int32_t n, const uint64_t *count, const uint64_t *first,
                              uint32_t *order, gbt_error *err) {
  gbt_status status = GBT_OK;
  uint64_t *key = NULL, *tmp = NULL;
  uint32_t *order_tmp = NULL;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *key, &key, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *order_tmp, &order_tmp, err), done);
  for (int32_t i = 0; i < n; i++) order[i] = (uint32_t)i;
  for (int32_t i = 0; i < n; i++) key[i] = first[i];
  gbt_sort_u64(key, order, (size_t)n, tmp, order_tmp);
  for (int32_t i = 0; i < n; i++) key[i] = UINT64_MAX - count[order[i]];
  gbt_sort_u64(key, order, (size_t)n, tmp, order_tmp);
done:
  gbt_mem_free(mem, key);
  gbt_mem_free(mem, tmp);
  gbt_mem_free(mem, order_tmp);
  return status;
}

static gbt_status take_levels(const gbt_mem *mem, list *all, gbti_levels *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  entries e = {0, NULL, NULL, NULL};
  uint32_t *order = NULL;
  GBT_TRY_GOTO(read_list(mem, all, &e, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)e.n, sizeof *order, &order, err), done);
  GBT_TRY_GOTO(order_texts(mem, e.n, e.count, e.first, order, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)e.n, sizeof *out->text, &out->text, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)e.n, sizeof *out->count, &out->count, err), done);
  out->n = e.n;
  for (int32_t i = 0; i < e.n; i++) {
    out->text[i] = e.text[order[i]];
    out->count[i] = (double)e.count[order[i]];
  }
  out->block = all->block;
  all->block = NULL;
done:
  entries_free(mem, &e);
  gbt_mem_free(mem, order);
  return status;
}

gbt_status gbti_levels_gather(gbt_ctx *ctx, const gbt_table *table, const gbt_column *col, const gbti_tally *tally,
                              gbti_job *job, gbt_share share, gbti_levels *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbti_tally own = {NULL, NULL, NULL, 0};
  list all = {NULL, 0};
  memset(out, 0, sizeof *out);
  if (tally == NULL) {
    GBT_TRY_GOTO(gbti_tally_make(&ctx->mem, table, col, job, 0, &own, err), done);
    tally = &own;
  }
  int64_t n_given = tally->n_given;
  GBT_TRY_GOTO(list_all(ctx, col, tally, share.beg, &all, err), done);
  GBT_TRY_GOTO(gbt_comm_sum_i64(ctx, &n_given, 1, err), done);
  out->has_missing = n_given < share.all;
  GBT_TRY_GOTO(take_levels(&ctx->mem, &all, out, err), done);
done:
  gbti_tally_free(&ctx->mem, &own);
  gbt_mem_free(&ctx->mem, all.block);
  if (status != GBT_OK) gbti_levels_free(&ctx->mem, out);
  return status;
}
