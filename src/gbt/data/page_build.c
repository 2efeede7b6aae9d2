/* Binning: the columns of a bound table to pages.
 *
 * Dense groups. A task is a row block times a strip: a block's part of a column is read in order, and the part of the
 * strip that it is written to (up to 64 bytes a row) stays in the second-level cache:
 *
 *   column 0 ........|=====|........        strip  ....|= = = =|....     rows x stride codes
 *   column 1 ........|=====|........
 */
#include <string.h>

#include "page_impl.h"

enum { PAGE_ROWS = 131072, BLOCK_ROWS = 16384, READ_ROWS = 1024, SINK_ROWS = PAGE_ROWS };

/* Fewer where a strip has more than one group. */
static int32_t block_rows(const gbt_layout *layout) {
  return layout->n_strips < layout->n_groups ? BLOCK_ROWS / 2 : BLOCK_ROWS;
}

/* Pages of a feed, on their way. */
typedef struct builder {
  gbt_ctx *ctx;
  const gbti_feed *feed;
  const gbt_cuts *cuts;
  gbti_page_how how;
  gbti_pages pages;
  gbti_unseen_list *unseen; /* by feature */
  uint64_t *checksum;       /* by column of the schema: how.checksum, or own; NULL: not needed */
  uint64_t *own_checksum;   /* owned, or NULL */
  int32_t n_done;           /* pages that are filled */
} builder;

typedef struct bin_job {
  gbti_job job;
  const gbt_binding *binding, *all; /* of the rows in work; of all rows */
  const gbt_cuts *cuts;
  const gbti_pages *pages;
  gbti_row_range range; /* the rows in work */
  int64_t first;        /* row of the binding's first one */
  int own_cuts;
  int binned; /* features with a column of their own are done, and the strips they are in are filled with zeros */
} bin_job;

/* Codes of one feature into every stride-th place of a group. */
static void bin_feature(const bin_job *b, const gbt_group *group, int32_t k, int64_t row, int32_t n_rows, void *to) {
  gbti_column_reader in = gbti_column_reader_of(b->binding, group->feat[k]);
  gbti_binner binner;
  int64_t cursor = 0;
  double buf[READ_ROWS];
  int32_t code[READ_ROWS];
  gbti_binner_make(&binner, &b->cuts->feat[group->feat[k]], n_rows);
  for (int32_t at = 0, n; at < n_rows; at += n) {
    n = n_rows - at < READ_ROWS ? n_rows - at : READ_ROWS;
    gbti_bin_values(&binner, gbti_read_rows(&in, row + at, n, &cursor, buf), n, code);
    int64_t first = (int64_t)at * group->stride + k;
    if (group->wide)
      for (int32_t r = 0; r < n; r++) ((uint16_t *)to)[first + (int64_t)r * group->stride] = (uint16_t)code[r];
    else
      for (int32_t r = 0; r < n; r++) ((uint8_t *)to)[first + (int64_t)r * group->stride] = (uint8_t)code[r];
  }
}

/* The part of one member of a bundle. */
typedef struct member {
  const gbt_place *place;
  int32_t stride, wide;
  void *to; /* the bundle's code in the block's first row */
} member;

static void put_codes(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  const member *m = arg;
  const gbt_place *place = m->place;
  for (int32_t i = 0; i < n; i++) {
    size_t at = (size_t)row[i] * (size_t)m->stride;
    uint32_t c = place->first + (code != NULL ? gbt_place_slot(place, code[i]) : 0);
    if (m->wide)
      ((uint16_t *)m->to)[at] = (uint16_t)c;
    else
      ((uint8_t *)m->to)[at] = (uint8_t)c;
  }
}

/* Entries that are all outside the zero bin and have the same code: their values need not be looked at. */
static int put_entries(const bin_job *b, const member *m, int32_t feat, int64_t row, int32_t n_rows) {
  gbti_column_reader in = gbti_column_reader_of(b->binding, feat);
  const int32_t *rows = in.col->rows;
  if (!b->own_cuts || m->place->n_slots != 1 || rows == NULL) return 0;
  if (gbt_binding_column(b->all, feat)->n_entries != b->cuts->feat[feat].n_filled) return 0;
  if (!gbti_absent_is_zero(b->binding, b->cuts, feat)) return 0;
  for (int64_t e = gbti_find_entry(&in, row, -1); e < in.n_entries && rows[e] < row + n_rows; e++) {
    size_t at = (size_t)(rows[e] - row) * (size_t)m->stride;
    if (m->wide)
      ((uint16_t *)m->to)[at] = (uint16_t)m->place->first;
    else
      ((uint8_t *)m->to)[at] = (uint8_t)m->place->first;
  }
  return 1;
}

/* Codes of one bundle into every stride-th place of a group, where all is 0. One slot is no question of the value. */
static void fill_bundle(const bin_job *b, const gbt_group *group, int32_t k, int64_t row, int32_t n_rows, void *to) {
  const gbt_layout *layout = &b->pages->info.layout;
  int32_t number = -1 - group->feat[k];
  for (int32_t i = layout->bundle_beg[number]; i < layout->bundle_beg[number + 1]; i++) {
    int32_t feat = layout->bundle_feat[i];
    member m = {&layout->place[feat], group->stride, group->wide, (char *)to + k * (group->wide ? 2 : 1)};
    if (m.place->n_slots == 0 || put_entries(b, &m, feat, row, n_rows)) continue;
    gbti_each_filled(b->binding, b->cuts, feat, row, n_rows, m.place->n_slots > 1, put_codes, &m);
  }
}

/* Whether the strip must be zeroed before: some codes of its rows are never written (padding), or only where they are
 * not 0 (bundles, which come last in their group). */
static int wants_zeros(const gbt_layout *layout, int32_t strip) {
  int32_t codes = 0, last = layout->strip_beg[strip + 1] - 1;
  for (int32_t g = layout->strip_beg[strip]; g <= last; g++) {
    codes += layout->group[g].n_feats;
    if (layout->group[g].feat[layout->group[g].n_feats - 1] < 0) return 1;
  }
  return codes < layout->group[last].stride;
}

static int has_feature(const gbt_layout *layout, int32_t strip) {
  for (int32_t g = layout->strip_beg[strip]; g < layout->strip_beg[strip + 1]; g++)
    if (layout->group[g].feat[0] >= 0) return 1; /* bundles come last */
  return 0;
}

static void bin_task(void *arg, int64_t task, int thread) {
  (void)thread;
  bin_job *b = arg;
  const gbt_layout *layout = &b->pages->info.layout;
  int32_t strip = (int32_t)(task % layout->n_strips);
  gbti_row_block block = gbti_row_block_at(b->pages, b->range, block_rows(layout), task / layout->n_strips);
  const gbt_page *page = &b->pages->page[block.page];
  int64_t row = page->row_beg + block.beg - b->first;
  size_t row_bytes = gbti_row_bytes(&layout->group[layout->strip_beg[strip]]), skip = (size_t)block.beg * row_bytes;
  int zeroed = b->binned && has_feature(layout, strip);
  if (!zeroed && wants_zeros(layout, strip))
    memset((char *)page->strip[strip] + skip, 0, (size_t)block.n_rows * row_bytes);
  for (int32_t g = layout->strip_beg[strip]; g < layout->strip_beg[strip + 1]; g++) {
    const gbt_group *group = &layout->group[g];
    void *to = (char *)page->group[g] + skip;
    for (int32_t k = 0; k < group->n_feats; k++) {
      if (group->feat[k] < 0)
        fill_bundle(b, group, k, row, block.n_rows, to);
      else if (!b->binned)
        bin_feature(b, group, k, row, block.n_rows, to);
    }
  }
}

/* Room for the dense groups of one page. */
static gbt_status add_groups(gbti_pages *pages, gbt_page *page, gbt_error *err) {
  const gbt_layout *layout = &pages->info.layout;
  GBT_TRY(gbt_mem_zeros(&pages->mem, (size_t)layout->n_groups, sizeof *page->group, &page->group, err));
  GBT_TRY(gbt_mem_zeros(&pages->mem, (size_t)layout->n_strips, sizeof *page->strip, &page->strip, err));
  for (int32_t s = 0; s < layout->n_strips; s++) {
    size_t row_bytes = gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
    GBT_TRY(gbt_mem_array(&pages->mem, (size_t)page->n_rows, row_bytes, &page->strip[s], err));
    pages->info.bytes += (size_t)page->n_rows * row_bytes;
    for (int32_t g = layout->strip_beg[s]; g < layout->strip_beg[s + 1]; g++)
      page->group[g] = (char *)page->strip[s] + layout->group[g].lead * (layout->group[g].wide ? 2 : 1);
  }
  return GBT_OK;
}

gbt_status gbti_list_pages(gbti_pages *pages, gbt_error *err) {
  gbti_page_info *info = &pages->info;
  int64_t n_pages = (info->n_rows + info->page_rows - 1) / info->page_rows;
  if (n_pages > INT32_MAX)
    return gbt_fail_on(err, GBT_E_ARG, "page_rows",
                       "`page_rows` is %d, too small for %lld rows; give a larger number, "
                       "or 0",
                       (int)info->page_rows, (long long)info->n_rows);
  GBT_TRY(gbt_mem_zeros(&pages->mem, (size_t)n_pages, sizeof *pages->page, &pages->page, err));
  GBT_TRY(gbt_mem_zeros(&pages->mem, (size_t)n_pages, sizeof *pages->slot_room, &pages->slot_room, err));
  info->n_pages = (int32_t)n_pages;
  for (int32_t p = 0; p < info->n_pages; p++) {
    gbt_page *page = &pages->page[p];
    page->row_beg = (int64_t)p * info->page_rows;
    int64_t left = info->n_rows - page->row_beg;
    page->n_rows = left < info->page_rows ? (int32_t)left : info->page_rows;
  }
  return GBT_OK;
}

gbt_status gbti_page_room(gbti_pages *pages, gbti_row_range range, gbt_error *err) {
  if (range.beg == range.end) return GBT_OK;
  const int64_t last = (range.end - 1) / pages->info.page_rows;
  for (int64_t p = range.beg / pages->info.page_rows; p <= last; p++) {
    gbt_page *page = &pages->page[p];
    if (page->strip != NULL) continue;
    GBT_TRY(add_groups(pages, page, err));
    if (pages->info.layout.n_sparse > 0) GBT_TRY(gbti_sparse_room(pages, page, err));
  }
  return GBT_OK;
}

static gbt_status bin_dense(builder *b, const gbt_binding *binding, int64_t first, gbti_row_range range,
                            gbt_error *err) {
  const gbt_layout *layout = &b->pages.info.layout;
  gbt_offload *offload = b->how.offload;
  bin_job job = {.binding = binding,
                 .all = b->feed->binding,
                 .cuts = b->cuts,
                 .pages = &b->pages,
                 .range = range,
                 .first = first,
                 .own_cuts = b->how.own_cuts};
  gbti_job_start(&job.job, b->ctx);
  if (offload != NULL && range.beg < range.end)
    GBT_TRY(offload->bin(offload, b->ctx, binding, b->cuts, &b->pages, range, &job.binned, err));
  if (job.binned && layout->n_bundles == 0) return GBT_OK;
  int64_t n_blocks = gbti_n_row_blocks(&b->pages, range, block_rows(layout));
  return gbti_job_run(&job.job, n_blocks * layout->n_strips, bin_task, &job, err);
}

/* Pages whose last row is before `end` are filled. */
static gbt_status finish_pages(builder *b, int64_t end, gbt_error *err) {
  for (; b->n_done < b->pages.info.n_pages; b->n_done++) {
    gbt_page *page = &b->pages.page[b->n_done];
    if (page->row_beg + page->n_rows > end) return GBT_OK;
    gbti_count_sparse(&b->pages, page);
    if (b->how.sink == NULL) continue;
    GBT_TRY(gbt_ctx_poll(b->ctx, err));
    GBT_TRY(b->how.sink->put(b->how.sink, b->ctx, &b->pages.info, page, err));
    gbti_page_drop(&b->pages, page);
  }
  return GBT_OK;
}

/* The end of the rows that are binned together. Where pages go to a sink, a chunk of many rows (a table in memory is
 * one) is binned some pages at a time, so that only these are in memory. */
static int64_t end_of_part(const builder *b, int64_t beg, int64_t end) {
  if (b->how.sink == NULL) return end;
  const int64_t rows = b->pages.info.page_rows, at_once = (SINK_ROWS + rows - 1) / rows * rows;
  const int64_t stop = (beg / rows) * rows + at_once;
  return stop < end ? stop : end;
}

/* Codes and lists of a chunk's rows, of which the first one is row range.beg. */
static gbt_status bin_rows(builder *b, const gbt_binding *chunk, gbti_row_range range, gbt_error *err) {
  for (int64_t beg = range.beg, end; beg < range.end; beg = end) {
    end = end_of_part(b, beg, range.end);
    const gbti_row_range part = {beg, end};
    GBT_TRY(gbti_page_room(&b->pages, part, err));
    GBT_TRY(bin_dense(b, chunk, range.beg, part, err));
    if (b->pages.info.layout.n_sparse > 0)
      GBT_TRY(gbti_fill_sparse(b->ctx, chunk, range.beg, b->cuts, &b->pages, part, err));
    GBT_TRY(finish_pages(b, end, err));
  }
  return GBT_OK;
}

/* The rows of a chunk to their pages. */
static gbt_status build_chunk(void *arg, gbti_feed *feed, const gbt_binding *chunk, int64_t beg, gbt_error *err) {
  builder *b = arg;
  const gbti_row_range range = {beg, beg + chunk->table->n_rows};
  GBT_TRY(bin_rows(b, chunk, range, err));
  GBT_TRY(gbti_list_unseen(b->ctx, chunk, beg, b->unseen, err));
  GBT_TRY(gbt_binding_unseen(b->ctx, chunk, b->pages.info.n_unseen, err));
  GBT_TRY(gbti_fill_level_ids(b->ctx, chunk, beg, &b->pages, err));
  if (b->checksum == NULL) return GBT_OK;
  return gbti_checksum_add(feed, chunk->table, beg, b->feed->binding->col, chunk->schema->n_columns, b->checksum, err);
}

static gbt_status build_all(builder *b, gbti_feed *feed, gbt_error *err) {
  const gbt_mem *mem = &b->ctx->mem;
  const size_t n_features = (size_t)b->cuts->n_features, n_columns = (size_t)feed->binding->schema->n_columns;
  GBT_TRY(gbti_list_pages(&b->pages, err));
  GBT_TRY(gbt_mem_zeros(mem, n_features, sizeof *b->unseen, &b->unseen, err));
  GBT_TRY(gbt_mem_zeros(mem, n_columns, sizeof *b->pages.info.n_unseen, &b->pages.info.n_unseen, err));
  GBT_TRY(gbti_level_ids_room(feed->binding->schema, &b->pages, err));
  b->checksum = b->how.checksum;
  if (b->checksum == NULL && !feed->in_memory) {
    GBT_TRY(gbt_mem_zeros(mem, n_columns, sizeof *b->own_checksum, &b->own_checksum, err));
    b->checksum = b->own_checksum;
  }
  GBT_TRY(gbti_feed_pass_bound(feed, build_chunk, b, err));
  if (!feed->in_memory) GBT_TRY(gbti_checksum_match(feed, feed->binding->col, (int32_t)n_columns, b->checksum, err));
  GBT_ASSERT(b->n_done == b->pages.info.n_pages);
  return gbti_join_unseen(b->unseen, b->cuts->n_features, &b->pages, err);
}

gbt_status gbt_pages_build(gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, int32_t page_rows,
                           gbt_page_store **out, gbt_error *err) {
  gbti_page_how how = {.own_cuts = 0};
  gbti_feed feed = gbti_feed_of(ctx, binding);
  return gbti_pages_build(ctx, &feed, cuts, page_rows, how, out, err);
}

static gbt_status make_store(builder *b, gbt_page_store **out, gbt_error *err) {
  if (b->how.sink == NULL) return gbti_memory_store(&b->pages, out, err);
  GBT_TRY(b->how.sink->close(b->how.sink, b->ctx, &b->pages.info, out, err));
  gbt_mem_free(&b->pages.mem, b->pages.page);
  gbt_mem_free(&b->pages.mem, b->pages.slot_room);
  return GBT_OK;
}

gbt_status gbti_pages_build(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, int32_t page_rows, gbti_page_how how,
                            gbt_page_store **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  builder b = {.ctx = ctx, .feed = feed, .cuts = cuts, .how = how, .pages = {.mem = ctx->mem}};
  gbti_bundles bundles = {0, NULL, NULL, NULL};
  gbti_page_info *info = &b.pages.info;
  *out = NULL;
  if (page_rows < 0)
    return gbt_fail_on(err, GBT_E_ARG, "page_rows", "`page_rows` is %d; give a number of 1 or more, or 0 for %d",
                       (int)page_rows, PAGE_ROWS);
  if (feed->binding->schema != cuts->schema)
    return gbt_fail(err, GBT_E_INTERNAL, "the columns were bound to another schema than that of the cuts");
  GBT_TRY(gbti_layout_check(cuts, err));
  info->n_rows = feed->table.n_rows;
  info->page_rows = page_rows > 0 ? page_rows : PAGE_ROWS;
  GBT_TRY_GOTO(gbti_bundles_find(ctx, feed, cuts, how, &bundles, err), done);
  GBT_TRY_GOTO(gbti_layout_make(&ctx->mem, cuts, &bundles, &info->layout, err), done);
  GBT_TRY_GOTO(build_all(&b, feed, err), done);
  GBT_TRY_GOTO(make_store(&b, out, err), done);
done:
  gbti_bundles_free(&ctx->mem, &bundles);
  gbti_free_unseen(&ctx->mem, b.unseen, cuts->n_features);
  gbt_mem_free(&ctx->mem, b.own_checksum);
  if (status != GBT_OK) gbti_pages_free(&b.pages);
  return status;
}
