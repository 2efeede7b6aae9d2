/* A table or a source on its way to a data set: opened, bound, finished and closed. */
#include "feed.h"

#include <string.h>

#include "binding.h"

gbt_status gbti_feed_bind(gbti_feed *feed, const gbt_schema *schema, gbt_unseen unseen, gbt_error *err) {
  feed->schema = schema;
  feed->unseen = unseen;
  if (!feed->in_memory && unseen == GBT_UNSEEN_ERROR) unseen = GBT_UNSEEN_MISSING; /* chunks name the row */
  GBT_TRY(gbti_binding_new(feed->ctx, &feed->table, schema, unseen, &feed->own_binding, err));
  feed->binding = feed->own_binding;
  return GBT_OK;
}

/* ---- beginning and end ---- */

/* Rows of all chunks, for ranks, which must know their first row's number before messages name rows. */
static gbt_status count_rows(gbti_feed *feed, gbt_error *err) {
  const gbt_table *chunk;
  int64_t n = 0;
  GBT_TRY(gbti_feed_begin_pass(feed, err));
  for (;;) {
    GBT_TRY(gbti_feed_next_chunk(feed, &chunk, err));
    if (chunk == NULL) break;
    if (chunk->n_rows >= 0) GBT_TRY(gbti_feed_check_rows(feed, n, chunk->n_rows, err));
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
    return gbt_fail(err, GBT_E_ARG, "the source says that it has %lld rows; give -1 if it is unknown",
                    (long long)feed->source.n_rows);
  feed->table.n_rows = feed->source.n_rows;
  GBT_TRY(gbti_feed_begin_pass(feed, err));
  GBT_TRY(gbti_feed_next_chunk(feed, &first, err));
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
    if (feed->table.n_rows < 0 && !gbt_comm_is_single(ctx)) GBT_TRY(count_rows(feed, err));
  } else {
    feed->table = *table;
    feed->in_memory = 1;
  }
  if (!feed->in_memory && feed->table.n_rows < 0) GBT_TRY(gbti_feed_survey(feed, err)); /* of a single rank */
  GBT_TRY(gbt_comm_share(ctx, feed->table.n_rows, &feed->share, err));
  if (!gbt_comm_is_single(ctx)) feed->table.rows_before = feed->share.beg;
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
  do GBT_TRY(gbti_feed_next_chunk(feed, &more, err));
  while (more != NULL && more->n_rows == 0);
  return more != NULL ? gbti_feed_wrong_rows(feed, feed->table.n_rows + more->n_rows, "at least ", err) : GBT_OK;
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
