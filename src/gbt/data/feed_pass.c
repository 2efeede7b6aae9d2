/* Passes over a table or a source, chunk by chunk. */
#include "binding.h"
#include "feed.h"

static gbt_status too_many_rows(int64_t n, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA,
                  "the data have %lld rows; up to %lld can be used in a process, and more by ranks that share them",
                  (long long)n, (long long)UINT32_MAX - 1);
}

gbt_status gbti_feed_begin_pass(gbti_feed *feed, gbt_error *err) {
  if (feed->probed != NULL) return GBT_OK; /* it has begun */
  GBT_TRY(gbt_ctx_poll(feed->ctx, err));
  const gbt_status status = feed->source.rewind(feed->source.state, feed->ctx, err);
  gbti_ctx_usual_float(feed->ctx);
  return status;
}

gbt_status gbti_feed_next_chunk(gbti_feed *feed, const gbt_table **chunk, gbt_error *err) {
  *chunk = feed->probed;
  feed->probed = NULL;
  if (*chunk != NULL) return GBT_OK;
  GBT_TRY(gbt_ctx_poll(feed->ctx, err));
  const gbt_status status = feed->source.next(feed->source.state, feed->ctx, chunk, err);
  gbti_ctx_usual_float(feed->ctx);
  return status;
}

gbt_status gbti_feed_wrong_rows(const gbti_feed *feed, int64_t n, const char *than, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA,
                  "the source yields %s%lld rows, but %s %lld; every pass must yield all rows, in the same order", than,
                  (long long)n, feed->counted ? "in its first pass it had" : "it said that it has",
                  (long long)feed->table.n_rows);
}

gbt_status gbti_feed_check_rows(const gbti_feed *feed, int64_t beg, int64_t n, gbt_error *err) {
  if (feed->table.n_rows >= 0 && n > feed->table.n_rows - beg)
    return gbti_feed_wrong_rows(feed, beg + n, "at least ", err);
  if (n > (int64_t)UINT32_MAX - 1 - beg) return too_many_rows(beg + n, err);
  return GBT_OK;
}

gbt_status gbti_feed_pass(gbti_feed *feed, gbti_chunk_fn fn, void *arg, gbt_error *err) {
  if (feed->in_memory) return fn(arg, feed, &feed->table, 0, err);
  const gbt_table *next;
  int64_t beg = 0, number = 0;
  GBT_TRY(gbti_feed_begin_pass(feed, err));
  for (;;) {
    GBT_TRY(gbti_feed_next_chunk(feed, &next, err));
    if (next == NULL) break;
    gbt_table chunk = *next;
    chunk.rows_before = feed->share.beg + beg;
    if (chunk.n_rows >= 0) GBT_TRY(gbti_feed_check_rows(feed, beg, chunk.n_rows, err));
    GBT_TRY(gbt_table_check(feed->ctx, &chunk, err));
    GBT_TRY(gbti_feed_match(feed, &chunk, ++number, err));
    GBT_TRY(fn(arg, feed, &chunk, beg, err));
    beg += chunk.n_rows;
  }
  if (number == 0)
    return gbt_fail(err, GBT_E_DATA, "the source yields no chunk; a table without rows is one chunk of 0 rows");
  return feed->table.n_rows >= 0 && beg != feed->table.n_rows ? gbti_feed_wrong_rows(feed, beg, "", err) : GBT_OK;
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
