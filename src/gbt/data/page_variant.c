/* The store of one variant of an extended data set: strips of another store's pages, and strips of derived features.
 *
 *   pin     pages of `inner` are pinned; pages that point to their strips and to the own ones are put together
 *
 *           frame | page page .. | strips and groups of page 0 | of page 1 | ..        one block, freed by release
 * The part of a page in its own strip begins at a multiple of 64 bytes. */
#include <stddef.h>
#include <string.h>

#include "page_impl.h"
#include "page_store_impl.h"

enum { ALIGNED = 64 };

typedef struct variant_store {
  gbt_page_store base;
  gbt_page_store *first; /* the store whose layout, lists and `shared` these are, when it is another one (shared) */
  int32_t *own_shared;   /* what base.shared points to, of the first; owned */
  int32_t n_own;         /* strips of its own */
  unsigned char **own;   /* n_own: n_pages x page_bytes */
  size_t *page_bytes;    /* n_own */
} variant_store;

typedef struct frame {
  const gbt_page *inner;
  gbt_page page[];
} frame;

/* The first strip of its own. */
static int32_t first_own(const variant_store *v) { return v->base.info.layout.n_strips - v->n_own; }

static size_t pointers_of(const gbt_page_store *store) {
  return (size_t)(store->info.layout.n_strips + store->info.layout.n_groups);
}

/* Page `number`, whose strips and groups are to be at `to`, from a page of the inner store. */
static void put_together(const variant_store *v, const gbt_page *from, int32_t number, void **to, gbt_page *page) {
  const gbt_layout *layout = &v->base.info.layout;
  const int32_t beg_own = first_own(v);
  *page = *from;
  page->strip = to;
  page->group = to + layout->n_strips;
  for (int32_t s = 0; s < layout->n_strips; s++) {
    page->strip[s] = s < beg_own ? from->strip[v->base.shared[s]]
                                 : v->own[s - beg_own] + (size_t)number * v->page_bytes[s - beg_own];
    for (int32_t g = layout->strip_beg[s]; g < layout->strip_beg[s + 1]; g++)
      page->group[g] = (char *)page->strip[s] + layout->group[g].lead * (layout->group[g].wide ? 2 : 1);
  }
}

static gbt_status pin(gbt_page_store *store, gbt_ctx *ctx, int32_t first, int32_t n, const gbt_page **pages,
                      gbt_error *err) {
  variant_store *v = (variant_store *)store;
  const size_t n_pointers = pointers_of(store);
  const size_t heads = sizeof(frame) + (size_t)n * sizeof(gbt_page);
  const gbt_page *inner;
  frame *f;
  GBT_TRY(gbt_mem_array(&store->mem, heads + (size_t)n * n_pointers * sizeof(void *), 1, &f, err));
  gbt_status status = store->inner->ops->pin(store->inner, ctx, first, n, &inner, err);
  if (status != GBT_OK) {
    gbt_mem_free(&store->mem, f);
    return status;
  }
  void **to = (void **)(void *)((char *)f + heads);
  f->inner = inner;
  for (int32_t k = 0; k < n; k++) put_together(v, &inner[k], first + k, to + (size_t)k * n_pointers, &f->page[k]);
  *pages = f->page;
  return GBT_OK;
}

static void release(gbt_page_store *store, const gbt_page *pages, int32_t n) {
  frame *f = (frame *)(void *)((char *)(uintptr_t)pages - offsetof(frame, page));
  store->inner->ops->release(store->inner, f->inner, n);
  gbt_mem_free(&store->mem, f);
}

static void read_ahead(gbt_page_store *store, int32_t first, int32_t n) {
  if (store->inner->ops->read_ahead != NULL) store->inner->ops->read_ahead(store->inner, first, n);
}

/* Runs of the inner store, and for every thread the pages that are put together. */
typedef struct variant_runs {
  void *inner;
  int32_t n;
  gbt_page *page; /* n_threads x n */
  void **to;      /* as many strips and groups */
} variant_runs;

static void runs_close(gbt_page_store *store, void *runs) {
  variant_runs *r = runs;
  if (r == NULL) return;
  if (r->inner != NULL) store->inner->ops->runs_close(store->inner, r->inner);
  gbt_mem_free(&store->mem, r->page);
  gbt_mem_free(&store->mem, r->to);
  gbt_mem_free(&store->mem, r);
}

static gbt_status runs_open(gbt_page_store *store, gbt_ctx *ctx, int32_t n, void **runs, gbt_error *err) {
  const gbt_mem *mem = &store->mem;
  const size_t n_pages = (size_t)ctx->n_threads * (size_t)n;
  variant_runs *r;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *r, &r, err));
  *runs = r;
  r->n = n;
  GBT_TRY(gbt_mem_zeros(mem, n_pages, sizeof *r->page, &r->page, err));
  GBT_TRY(gbt_mem_zeros(mem, n_pages * pointers_of(store), sizeof *r->to, &r->to, err));
  return store->inner->ops->runs_open(store->inner, ctx, n, &r->inner, err);
}

static gbt_status runs_read(gbt_page_store *store, void *runs, int thread, int32_t first, int32_t n,
                            const gbt_page **pages, gbt_error *err) {
  const variant_runs *r = runs;
  const size_t own = (size_t)thread * (size_t)r->n;
  const gbt_page *inner;
  GBT_TRY(store->inner->ops->runs_read(store->inner, r->inner, thread, first, n, &inner, err));
  for (int32_t k = 0; k < n; k++)
    put_together((variant_store *)store, &inner[k], first + k, r->to + (own + (size_t)k) * pointers_of(store),
                 &r->page[own + (size_t)k]);
  *pages = r->page + own;
  return GBT_OK;
}

static void destroy(gbt_page_store *store) {
  variant_store *v = (variant_store *)store;
  const gbt_mem mem = store->mem;
  for (int32_t s = 0; v->own != NULL && s < v->n_own; s++) gbt_mem_free(&mem, v->own[s]);
  gbt_mem_free(&mem, v->own);
  gbt_mem_free(&mem, v->page_bytes);
  if (v->first == NULL) {
    gbti_layout_free(&mem, &store->info.layout);
    gbt_mem_free(&mem, store->info.unseen_beg);
    gbt_mem_free(&mem, v->own_shared);
  }
  gbt_page_store_unref(v->first);
  gbt_page_store_unref(store->inner);
  gbt_mem_free(&mem, v);
}

static const gbti_store_ops variant_ops = {
    .name = "variant", .pin = pin, .release = release, .read_ahead = read_ahead, .destroy = destroy};

/* Of an inner store that has runs. */
static const gbti_store_ops variant_runs_ops = {.name = "variant",
                                                .pin = pin,
                                                .release = release,
                                                .read_ahead = read_ahead,
                                                .runs_open = runs_open,
                                                .runs_read = runs_read,
                                                .runs_close = runs_close,
                                                .destroy = destroy};

GBT_ASSERT_FN int is_variant(const gbt_page_store *store) {
  return store->ops == &variant_ops || store->ops == &variant_runs_ops;
}

/* Cells of unknown levels are those of the inner store; derived features have none. */
static gbt_status list_unseen(variant_store *v, gbt_error *err) {
  gbti_page_info *info = &v->base.info;
  const size_t *beg = info->unseen_beg;
  const size_t n_inner = (size_t)v->base.inner->info.layout.n_features, n = (size_t)info->layout.n_features;
  info->unseen_beg = NULL;
  if (beg == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&v->base.mem, n + 1, sizeof *info->unseen_beg, &info->unseen_beg, err));
  for (size_t f = 0; f <= n; f++) info->unseen_beg[f] = beg[f < n_inner ? f : n_inner];
  return GBT_OK;
}

/* The first one of the data set makes what all share. */
static gbt_status describe(variant_store *v, const gbt_cuts *cuts, const uint8_t *drop, gbt_page_store *after,
                           gbt_error *err) {
  if (after != NULL) {
    variant_store *of = (variant_store *)after;
    GBT_ASSERT(is_variant(after) && after->inner == v->base.inner);
    v->first = gbt_page_store_ref(of->first != NULL ? of->first : after);
    v->base.info = v->first->info;
    v->base.shared = v->first->shared;
    return GBT_OK;
  }
  gbti_page_info *info = &v->base.info;
  const gbt_layout *base = &v->base.inner->info.layout;
  GBT_TRY(gbti_layout_extend(&v->base.mem, base, cuts, drop, &info->layout, &v->own_shared, err));
  v->base.shared = v->own_shared;
  return list_unseen(v, err);
}

static gbt_status make_strips(variant_store *v, gbt_error *err) {
  gbti_page_info *info = &v->base.info;
  const gbt_layout *layout = &info->layout;
  int32_t n_own = 0;
  while (n_own < layout->n_strips && v->base.shared[layout->n_strips - 1 - n_own] < 0) n_own++;
  GBT_TRY(gbt_mem_zeros(&v->base.mem, (size_t)n_own, sizeof *v->own, &v->own, err));
  GBT_TRY(gbt_mem_array(&v->base.mem, (size_t)n_own, sizeof *v->page_bytes, &v->page_bytes, err));
  v->n_own = n_own;
  info->bytes = v->base.inner->info.bytes;
  for (int32_t s = 0; s < n_own; s++) {
    const size_t row_bytes = gbti_row_bytes(&layout->group[layout->strip_beg[first_own(v) + s]]);
    const size_t page_rows = (size_t)(info->n_rows < info->page_rows ? info->n_rows : info->page_rows);
    v->page_bytes[s] = (page_rows * row_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    GBT_TRY(gbt_mem_zeros(&v->base.mem, (size_t)info->n_pages, v->page_bytes[s], &v->own[s], err));
    info->bytes += (size_t)info->n_rows * row_bytes;
  }
  return GBT_OK;
}

gbt_status gbti_variant_store(gbt_page_store *inner, const gbt_cuts *cuts, const uint8_t *drop, gbt_page_store *after,
                              gbt_page_store **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  variant_store *v;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&inner->mem, 1, sizeof *v, &v, err));
  v->base.ops = inner->ops->runs_read != NULL ? &variant_runs_ops : &variant_ops;
  v->base.refs = 1;
  v->base.most_pinned = inner->most_pinned;
  v->base.most_read = inner->most_read;
  v->base.memory = inner->memory;
  v->base.mem = inner->mem;
  v->base.info = inner->info;
  v->base.info.layout = (gbt_layout){.n_features = 0};
  v->base.inner = gbt_page_store_ref(inner);
  GBT_TRY_GOTO(describe(v, cuts, drop, after, err), done);
  GBT_TRY_GOTO(make_strips(v, err), done);
done:
  if (status == GBT_OK)
    *out = &v->base;
  else
    destroy(&v->base);
  return status;
}

/* ---- putting bins ---- */

/* Rows [beg, end) of a data set, all in one page. */
typedef struct put_job {
  unsigned char *to; /* the code of the page's first row */
  size_t stride;
  int64_t page_beg, beg, end;
  const uint32_t *table_row; /* NULL: rows are the table's */
  const uint8_t *bin;
  const uint32_t *at; /* NULL: bins are in the order of rows */
} put_job;

GBT_FN void put_rows(const put_job *job, int masked, int indirect) {
  for (int64_t r = job->beg; r < job->end; r++) {
    const int64_t row = masked ? (int64_t)job->table_row[r] : r;
    job->to[(size_t)(row - job->page_beg) * job->stride] = job->bin[indirect ? job->at[r] : r];
  }
}

GBT_FN void put_masked(const put_job *job, int masked) {
  if (job->at != NULL)
    put_rows(job, masked, 1);
  else
    put_rows(job, masked, 0);
}

void gbti_variant_put(gbt_page_store *store, int32_t feature, const gbt_rows *rows, int64_t beg, int64_t end,
                      const uint8_t *bin, const uint32_t *at) {
  variant_store *v = (variant_store *)store;
  const gbti_page_info *info = &store->info;
  const gbt_place *place = &info->layout.place[feature];
  const gbt_group *group = &info->layout.group[place->group];
  const uint32_t *table_row = rows->table_row;
  int32_t s = first_own(v);
  GBT_ASSERT(is_variant(store) && place->group >= info->layout.strip_beg[s] && info->page_rows > 0);
  while (info->layout.strip_beg[s + 1] <= place->group) s++;
  s -= first_own(v);
  while (beg < end) {
    const int64_t page = (table_row != NULL ? (int64_t)table_row[beg] : beg) / info->page_rows;
    const int64_t page_beg = page * info->page_rows, page_end = gbt_row_from(rows, page_beg + info->page_rows);
    const int64_t stop = page_end < end ? page_end : end;
    unsigned char *to = v->own[s] + (size_t)page * v->page_bytes[s] + group->lead + place->pos;
    const put_job job = {to, (size_t)group->stride, page_beg, beg, stop, table_row, bin, at};
    if (table_row != NULL)
      put_masked(&job, 1);
    else
      put_masked(&job, 0);
    beg = stop;
  }
}
