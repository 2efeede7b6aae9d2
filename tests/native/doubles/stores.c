#include "stores.h"

#include "../../src/gbt/data/page_impl.h"
#include "test.h"

/* ---- the poison store ---- */

enum { POISON = 0xAB, N_DEAD = 4 };

/* Copies of pages. Every array is a block of its own, so that the address sanitizer sees its ends. */
typedef struct frame {
  gbt_page *page; /* n; NULL: none */
  int32_t n;
} frame;

typedef struct poison_store {
  gbt_page_store base;
  gbt_page_store *inner; /* shared */
  frame live;            /* what is pinned */
  frame dead[N_DEAD];    /* released, not yet freed, so that they are not the next copy's memory */
  int32_t next;          /* the page after those pinned last */
  int n_dead;
} poison_store;

static _Atomic int64_t n_pins;

int64_t poison_pins(void) { return n_pins; }

static void page_free(const gbt_mem *mem, int32_t n_strips, gbt_page *page) {
  for (int32_t s = 0; page->strip != NULL && s < n_strips; s++) gbt_mem_free(mem, page->strip[s]);
  gbt_mem_free(mem, page->strip);
  gbt_mem_free(mem, page->group);
  gbt_mem_free(mem, page->sparse_beg);
  gbt_mem_free(mem, page->sparse_slots);
}

static void frame_free(const gbt_mem *mem, int32_t n_strips, frame *f) {
  for (int32_t p = 0; f->page != NULL && p < f->n; p++) page_free(mem, n_strips, &f->page[p]);
  gbt_mem_free(mem, f->page);
  f->page = NULL;
}

static gbt_status copy_array(const gbt_mem *mem, const void *from, size_t bytes, void *to, gbt_error *err) {
  void *block;
  GBT_TRY(gbt_mem_array(mem, bytes, 1, &block, err));
  memcpy(block, from, bytes);
  memcpy(to, &block, sizeof block);
  return GBT_OK;
}

static size_t strip_bytes(const gbt_layout *layout, const gbt_page *page, int32_t s) {
  return (size_t)page->n_rows * gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
}

/* `page` is all zeros; half a copy after a failure. */
static gbt_status page_copy(const gbt_mem *mem, const gbt_layout *layout, const gbt_page *from, gbt_page *page,
                            gbt_error *err) {
  page->row_beg = from->row_beg;
  page->n_rows = from->n_rows;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)layout->n_strips, sizeof *page->strip, &page->strip, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)layout->n_groups, sizeof *page->group, &page->group, err));
  for (int32_t s = 0; s < layout->n_strips; s++) {
    GBT_TRY(copy_array(mem, from->strip[s], strip_bytes(layout, from, s), &page->strip[s], err));
    for (int32_t g = layout->strip_beg[s]; g < layout->strip_beg[s + 1]; g++)
      page->group[g] = (char *)page->strip[s] + ((const char *)from->group[g] - (const char *)from->strip[s]);
  }
  if (from->sparse_beg == NULL) return GBT_OK;
  size_t rows = (size_t)from->n_rows, entries = from->sparse_beg[rows];
  GBT_TRY(copy_array(mem, from->sparse_beg, (rows + 1) * sizeof(uint32_t), &page->sparse_beg, err));
  return copy_array(mem, from->sparse_slots, entries * sizeof(uint32_t), &page->sparse_slots, err);
}

static int same_bytes(const gbt_layout *layout, const gbt_page *a, const gbt_page *b) {
  int same = a->row_beg == b->row_beg && a->n_rows == b->n_rows;
  for (int32_t s = 0; same && s < layout->n_strips; s++)
    same = memcmp(a->strip[s], b->strip[s], strip_bytes(layout, b, s)) == 0;
  if (!same || b->sparse_beg == NULL) return same;
  size_t rows = (size_t)b->n_rows, entries = b->sparse_beg[rows];
  return memcmp(a->sparse_beg, b->sparse_beg, (rows + 1) * sizeof(uint32_t)) == 0 &&
         memcmp(a->sparse_slots, b->sparse_slots, entries * sizeof(uint32_t)) == 0;
}

static void overwrite(const gbt_layout *layout, gbt_page *page) {
  if (page->sparse_beg != NULL) {
    memset(page->sparse_slots, POISON, page->sparse_beg[page->n_rows] * sizeof(uint32_t));
    memset(page->sparse_beg, POISON, ((size_t)page->n_rows + 1) * sizeof(uint32_t));
  }
  for (int32_t s = 0; s < layout->n_strips; s++) memset(page->strip[s], POISON, strip_bytes(layout, page, s));
  page->n_rows = -1; /* what is needed to free it stays */
  page->row_beg = -1;
}

/* Pages [first, first + n) to p->live; half a copy after a failure. */
static gbt_status frame_fill(poison_store *p, gbt_ctx *ctx, int32_t first, int32_t n, gbt_error *err) {
  GBT_TRY(gbt_mem_zeros(&p->base.mem, (size_t)n, sizeof *p->live.page, &p->live.page, err));
  p->live.n = n;
  for (int32_t k = 0; k < n; k++) {
    const gbt_page *from;
    GBT_TRY(p->inner->ops->pin(p->inner, ctx, first + k, 1, &from, err));
    gbt_status status = page_copy(&p->base.mem, &p->base.info.layout, from, &p->live.page[k], err);
    p->inner->ops->release(p->inner, from, 1);
    GBT_TRY(status);
  }
  return GBT_OK;
}

static gbt_status poison_pin(gbt_page_store *store, gbt_ctx *ctx, int32_t first, int32_t n, const gbt_page **pages,
                             gbt_error *err) {
  poison_store *p = (poison_store *)store;
  *pages = NULL;
  if (n < 1 || n > store->most_pinned || p->live.page != NULL) {
    test_note("page %d and %d more are pinned; %s is", (int)first, (int)n - 1, p->live.page ? "another one" : "none");
    CHECK(n >= 1 && n <= store->most_pinned && p->live.page == NULL);
    return gbt_fail(err, GBT_E_INTERNAL, "the poison store cannot pin that");
  }
  gbt_status status = frame_fill(p, ctx, first, n, err);
  if (status != GBT_OK) {
    frame_free(&store->mem, store->info.layout.n_strips, &p->live);
    return status;
  }
  p->next = first + n;
  n_pins += n;
  *pages = p->live.page;
  return GBT_OK;
}

static void poison_release(gbt_page_store *store, const gbt_page *pages, int32_t n) {
  poison_store *p = (poison_store *)store;
  const gbt_layout *layout = &store->info.layout;
  if (pages == NULL || pages != p->live.page || n != p->live.n) {
    CHECK(pages != NULL && pages == p->live.page && n == p->live.n);
    return;
  }
  for (int32_t k = 0; k < n; k++) {
    const gbt_page *from = page_pin(p->inner, p->next - n + k);
    if (from == NULL || !same_bytes(layout, &pages[k], from)) CHECK(0 && "somebody wrote to a page");
    page_unpin(p->inner, from);
    overwrite(layout, &p->live.page[k]);
  }
  frame *oldest = &p->dead[p->n_dead++ % N_DEAD];
  frame_free(&store->mem, layout->n_strips, oldest);
  *oldest = p->live;
  p->live.page = NULL;
#ifdef __SANITIZE_ADDRESS__
  frame_free(&store->mem, layout->n_strips, oldest); /* the sanitizer keeps it from being used again */
#endif
}

static void poison_read_ahead(gbt_page_store *store, int32_t first, int32_t n) {
  const poison_store *p = (poison_store *)store;
  CHECK(n >= 1);
  if (first != p->next || first >= store->info.n_pages) CHECK(0 && "the page to read ahead is not the next one");
}

static void poison_destroy(gbt_page_store *store) {
  poison_store *p = (poison_store *)store;
  gbt_mem mem = store->mem;
  const int32_t n_strips = store->info.layout.n_strips;
  if (p->live.page != NULL) CHECK(0 && "a page is still pinned");
  frame_free(&mem, n_strips, &p->live);
  for (int i = 0; i < N_DEAD; i++) frame_free(&mem, n_strips, &p->dead[i]);
  if (store->info.unseen_beg != p->inner->info.unseen_beg) { /* a test has made them */
    gbt_mem_free(&mem, store->info.unseen_beg);
    gbt_mem_free(&mem, store->info.unseen_row);
  }
  gbt_page_store_unref(p->inner);
  gbt_mem_free(&mem, p);
}

static const gbti_store_ops poison_ops = {.name = "poison",
                                          .pin = poison_pin,
                                          .release = poison_release,
                                          .read_ahead = poison_read_ahead,
                                          .destroy = poison_destroy};

gbt_status poison_open(gbt_page_store *inner, int32_t most, gbt_page_store **out, gbt_error *err) {
  poison_store *p;
  gbt_status status = gbt_mem_zeros(&inner->mem, 1, sizeof *p, &p, err);
  *out = NULL;
  if (status != GBT_OK) {
    gbt_page_store_unref(inner);
    return status;
  }
  p->base = (gbt_page_store){.ops = &poison_ops, .refs = 1, .most_pinned = most, .mem = inner->mem};
  p->base.info = inner->info;
  p->inner = inner;
  *out = &p->base;
  return GBT_OK;
}

/* ---- reading ---- */

const gbt_page *page_pin(gbt_page_store *store, int32_t number) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  const gbt_page *page = NULL;
  poison_store *p = store->ops == &poison_ops ? (poison_store *)store : NULL;
  if (p != NULL) p->next = number; /* this is no pass */
  gbt_status status = store->ops->pin(store, &ctx, number, 1, &page, test_err);
  if (status != GBT_OK) CHECK_OK(status);
  gbt_ctx_close(&ctx);
  return page;
}

void page_unpin(gbt_page_store *store, const gbt_page *page) {
  if (page != NULL) store->ops->release(store, page, 1);
}

int32_t code_at(gbt_page_store *store, const gbt_cuts *cuts, int64_t row, int32_t f) {
  const gbt_page *page = page_pin(store, (int32_t)(row / store->info.page_rows));
  if (page == NULL) return -1;
  int32_t code = gbt_page_code(&store->info.layout, cuts, page, (int32_t)(row - page->row_beg), f);
  page_unpin(store, page);
  return code;
}

typedef struct read_pass {
  const gbt_page_store *store;
  const gbt_cuts *cuts;
  int32_t **code;
} read_pass;

static gbt_status read_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  const read_pass *pass = arg;
  (void)ctx;
  (void)err;
  const gbt_layout *layout = &pass->store->info.layout;
  for (int32_t p = 0; p < span->n_pages; p++)
    for (int32_t f = 0; f < pass->cuts->n_features; f++)
      for (int32_t r = 0; gbt_layout_uses(layout, f) && r < span->page[p].n_rows; r++)
        pass->code[f][span->page[p].row_beg + r] = gbt_page_code(layout, pass->cuts, &span->page[p], r, f);
  return GBT_OK;
}

int32_t **codes_of(gbt_page_store *store, const gbt_cuts *cuts) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  read_pass pass = {store, cuts, test_alloc((size_t)cuts->n_features * sizeof *pass.code)};
  for (int32_t f = 0; f < cuts->n_features; f++)
    pass.code[f] = test_alloc((size_t)store->info.n_rows * sizeof *pass.code[f]);
  CHECK_OK(gbt_pages_pass(&ctx, store, read_span, &pass, test_err));
  gbt_ctx_close(&ctx);
  return pass.code;
}

void codes_free(int32_t **codes, const gbt_cuts *cuts) {
  for (int32_t f = 0; f < cuts->n_features; f++) free(codes[f]);
  free(codes);
}
