/* Passes over a table: what is the same for all of them. */
#include "feed.h"

#include <string.h>

#include "binding.h"

static gbt_status too_many_rows(int64_t n, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA,
                  "the data have %lld rows; up to %lld can be used in a process, and more by ranks that share them",
                  (long long)n, (long long)UINT32_MAX - 1);
}

/* ---- passes ---- */

static gbt_status begin_pass(gbti_feed *feed, gbt_error *err) {
  if (feed->probed != NULL) return GBT_OK; /* it has begun */
  GBT_TRY(gbt_ctx_poll(feed->ctx, err));
  return feed->source.rewind(feed->source.state, feed->ctx, err);
}

static gbt_status next_chunk(gbti_feed *feed, const gbt_table **chunk, gbt_error *err) {
  *chunk = feed->probed;
  feed->probed = NULL;
  if (*chunk != NULL) return GBT_OK;
  GBT_TRY(gbt_ctx_poll(feed->ctx, err));
  return feed->source.next(feed->source.state, feed->ctx, chunk, err);
}

static gbt_status wrong_rows(const gbti_feed *feed, int64_t n, const char *than, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA,
                  "the source yields %s%lld rows, but %s %lld; every pass must yield all rows, in the same order", than,
                  (long long)n, feed->counted ? "in its first pass it had" : "it said that it has",
                  (long long)feed->table.n_rows);
}

/* With more rows nothing is read of the chunk that is too much. */
static gbt_status check_rows(const gbti_feed *feed, int64_t beg, int64_t n, gbt_error *err) {
  if (feed->table.n_rows >= 0 && n > feed->table.n_rows - beg) return wrong_rows(feed, beg + n, "at least ", err);
  if (n > (int64_t)UINT32_MAX - 1 - beg) return too_many_rows(beg + n, err);
  return GBT_OK;
}

gbt_status gbti_feed_pass(gbti_feed *feed, gbti_chunk_fn fn, void *arg, gbt_error *err) {
  if (feed->in_memory) return fn(arg, feed, &feed->table, 0, err);
  const gbt_table *next;
  int64_t beg = 0, number = 0;
  GBT_TRY(begin_pass(feed, err));
  for (;;) {
    GBT_TRY(next_chunk(feed, &next, err));
    if (next == NULL) break;
    gbt_table chunk = *next;
    chunk.rows_before = feed->share.beg + beg;
    if (chunk.n_rows >= 0) GBT_TRY(check_rows(feed, beg, chunk.n_rows, err));
    GBT_TRY(gbt_table_check(feed->ctx, &chunk, err));
    GBT_TRY(gbti_feed_match(feed, &chunk, ++number, err));
    GBT_TRY(fn(arg, feed, &chunk, beg, err));
    beg += chunk.n_rows;
  }
  if (number == 0)
    return gbt_fail(err, GBT_E_DATA, "the source yields no chunk; a table without rows is one chunk of 0 rows");
  return feed->table.n_rows >= 0 && beg != feed->table.n_rows ? wrong_rows(feed, beg, "", err) : GBT_OK;
}

typedef struct bound_pass {
  gbti_bound_fn fn;
  void *arg;
} bound_pass;

static gbt_status bind_chunk(void *arg, gbti_feed *feed, const gbt_table *chunk, int64_t beg, gbt_error *err) {
  const bound_pass *pass = arg;
  gbt_binding *binding;
  GBT_TRY(gbti_binding_new(feed->ctx, chunk, feed->schema, feed->unseen, &binding, err));
  gbt_status status = pass->fn(pass->arg, feed, binding, beg, err);
  gbt_binding_free(binding);
  return status;
}

gbt_status gbti_feed_pass_bound(gbti_feed *feed, gbti_bound_fn fn, void *arg, gbt_error *err) {
  bound_pass pass = {fn, arg};
  if (feed->in_memory) return fn(arg, feed, feed->binding, 0, err);
  return gbti_feed_pass(feed, bind_chunk, &pass, err);
}

gbt_status gbti_feed_bind(gbti_feed *feed, const gbt_schema *schema, gbt_unseen unseen, gbt_error *err) {
  feed->schema = schema;
  feed->unseen = unseen;
  if (!feed->in_memory && unseen == GBT_UNSEEN_ERROR) unseen = GBT_UNSEEN_MISSING; /* chunks name the row */
  GBT_TRY(gbti_binding_new(feed->ctx, &feed->table, schema, unseen, &feed->own_binding, err));
  feed->binding = feed->own_binding;
  return GBT_OK;
}

/* ---- beginning and end ---- */

/* Rows of all chunks, for ranks, which must know where theirs stand before rows are named. */
static gbt_status count_rows(gbti_feed *feed, gbt_error *err) {
  const gbt_table *chunk;
  int64_t n = 0;
  GBT_TRY(begin_pass(feed, err));
  for (;;) {
    GBT_TRY(next_chunk(feed, &chunk, err));
    if (chunk == NULL) break;
    if (chunk->n_rows >= 0) GBT_TRY(check_rows(feed, n, chunk->n_rows, err));
    n += chunk->n_rows > 0 ? chunk->n_rows : 0;
  }
  feed->table.n_rows = n;
  feed->counted = 1;
  return GBT_OK;
}

/* The first chunk, and whether it is all. */
static gbt_status probe(gbti_feed *feed, gbt_error *err) {
  const gbt_table *first;
  if (feed->source.n_rows < -1)
    return gbt_fail(err, GBT_E_ARG, "the source says that it has %lld rows; -1 means that it does not know",
                    (long long)feed->source.n_rows);
  feed->table.n_rows = feed->source.n_rows;
  GBT_TRY(begin_pass(feed, err));
  GBT_TRY(next_chunk(feed, &first, err));
  if (first == NULL)
    return gbt_fail(err, GBT_E_DATA, "the source yields no chunk; a table without rows is one chunk of 0 rows");
  if (feed->source.n_rows >= 0 && first->n_rows == feed->source.n_rows) {
    feed->table = *first;
    feed->in_memory = 1;
  } else {
    feed->probed = first;
  }
  return GBT_OK;
}

gbt_status gbti_feed_open(gbt_ctx *ctx, const gbt_table *table, const gbt_source *source, size_t fetch_bytes,
                          gbti_feed *feed, gbt_error *err) {
  memset(feed, 0, sizeof *feed);
  feed->ctx = ctx;
  feed->fetch_bytes = fetch_bytes;
  if ((table != NULL) == (source != NULL))
    return gbt_fail(err, GBT_E_ARG, "a data set is made from a table or from a source; give one of them");
  if (source != NULL) {
    feed->source = *source;
    GBT_TRY(probe(feed, err));
    if (feed->table.n_rows < 0 && !gbt_comm_alone(ctx)) GBT_TRY(count_rows(feed, err));
  } else {
    feed->table = *table;
    feed->in_memory = 1;
  }
  if (!feed->in_memory && feed->table.n_rows < 0) GBT_TRY(gbti_feed_survey(feed, err)); /* alone */
  GBT_TRY(gbt_comm_share(ctx, feed->table.n_rows, &feed->share, err));
  if (!gbt_comm_alone(ctx)) feed->table.rows_before = feed->share.beg;
  if (feed->in_memory) return gbt_table_check(ctx, &feed->table, err);
  return feed->found != NULL ? GBT_OK : gbti_feed_survey(feed, err);
}

gbti_feed gbti_feed_of(gbt_ctx *ctx, const gbt_binding *binding) {
  return (gbti_feed){.ctx = ctx,
                     .table = *binding->table,
                     .share = {0, binding->table->n_rows},
                     .in_memory = 1,
                     .binding = binding,
                     .schema = binding->schema,
                     .unseen = binding->unseen};
}

gbt_status gbti_feed_finish(gbti_feed *feed, gbt_error *err) {
  const gbt_table *more;
  if (!feed->in_memory || feed->source.next == NULL) return GBT_OK;
  do GBT_TRY(next_chunk(feed, &more, err));
  while (more != NULL && more->n_rows == 0);
  return more != NULL ? wrong_rows(feed, feed->table.n_rows + more->n_rows, "at least ", err) : GBT_OK;
}

void gbti_feed_close(gbti_feed *feed) {
  const gbt_mem *mem = &feed->ctx->mem;
  gbt_binding_free(feed->own_binding);
  gbti_feed_drop(feed);
  for (int32_t c = 0; feed->found != NULL && c < feed->table.n_cols; c++) {
    gbti_found *found = &feed->found[c];
    gbt_dictionary_free(found->levels);
    gbt_mem_free(mem, found->tally.twin);
    gbt_mem_free(mem, found->tally.count);
    gbt_mem_free(mem, found->tally.first);
    if (feed->col[c].type == GBT_ORDINAL) gbt_mem_free(mem, (void *)feed->col[c].levels);
  }
  gbt_mem_free(mem, feed->found);
  gbt_mem_free(mem, feed->checksum);
  gbt_mem_free(mem, feed->col);
  gbt_dictionary_free(feed->texts);
}
