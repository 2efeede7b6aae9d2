/* Several threads make passes over one store of files at the same time, as devices do (boost/devices.c): each sees the
 * pages that a single thread sees, wherever its pass begins and ends. */
#include "../../src/gbt/data/dataset_impl.h"
#include "made.h"
#include "ranks.h"
#include "stores.h"

enum { THREADS = 4, TURNS = 12, ROWS = 800, PAGE_ROWS = 37, PAGES = (ROWS + PAGE_ROWS - 1) / PAGE_ROWS };

typedef struct scene {
  gbt_page_store *pages;
  uint64_t hash[PAGES];
} scene;

/* A thread's pass, and what is checked once all have ended. */
typedef struct reader {
  scene *s;
  int writes, n_seen, n_bad; /* writes: the pages' hashes are not known yet */
  gbt_status status;
} reader;

typedef struct readers {
  scene *s;
  reader of[THREADS];
} readers;

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
  return h;
}

static uint64_t hash_page(const gbt_layout *l, const gbt_page *page) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int32_t s = 0; s < l->n_strips; s++)
    h = hash_bytes(h, page->strip[s], (size_t)page->n_rows * gbti_row_bytes(&l->group[l->strip_beg[s]]));
  if (page->sparse_beg == NULL) return h;
  return hash_bytes(h, page->sparse_slots, page->sparse_beg[page->n_rows] * sizeof *page->sparse_slots);
}

static gbt_status look(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  reader *r = arg;
  (void)ctx, (void)err;
  for (int32_t k = 0; k < span->n_pages; k++) {
    const gbt_page *page = &span->page[k];
    uint64_t *want = &r->s->hash[page->row_beg / PAGE_ROWS], its = hash_page(gbt_pages_layout(r->s->pages), page);
    if (r->writes) *want = its;
    r->n_bad += *want != its;
    r->n_seen++;
  }
  return GBT_OK;
}

static void read_parts(void *arg, const gbt_comm *comm) {
  readers *all = arg;
  reader *r = &all->of[comm->rank];
  gbt_ctx ctx = test_ctx(NULL, 1 + comm->rank % 2);
  r->s = all->s;
  for (int turn = 0; turn < TURNS && r->status == GBT_OK; turn++) {
    const int32_t first = (comm->rank * 5 + turn * 3) % PAGES;
    const int32_t end = turn % 4 == 0 ? PAGES : first + (PAGES - first) / 2;
    r->status = gbt_pages_pass_part(&ctx, r->s->pages, first, end, look, r, test_err);
    r->n_bad += r->n_seen != end - first;
    r->n_seen = 0;
  }
  gbt_ctx_close(&ctx);
}

static void passes_at_the_same_time(void) {
  static const store_kind kinds[] = {STORE_FILE, STORE_FILE_2, STORE_FILE_2Z};
  for (int i = 0; i < 6; i++) {
    const store_kind before = stores_use(kinds[i % 3]);
    made *data = made_new((uint64_t)i, ROWS + i % 4 - 3, 6, NULL);
    gbt_ctx ctx = test_ctx(NULL, 1);
    gbt_dataset *ds = made_dataset(&ctx, data, NULL, 63, PAGE_ROWS);
    scene s = {.pages = ds->pages};
    reader once = {.s = &s, .writes = 1};
    readers all = {.s = &s};
    CHECK_OK(gbt_pages_pass(&ctx, s.pages, look, &once, test_err));
    CHECK_EQ_I64(once.n_seen, PAGES);
    ranks_run(THREADS, read_parts, &all);
    for (int r = 0; r < THREADS; r++) CHECK(all.of[r].status == GBT_OK && all.of[r].n_bad == 0);
    gbt_dataset_unref(ds);
    gbt_ctx_close(&ctx);
    made_free(data);
    stores_use(before);
  }
}

void suite_disk_threads(void) { RUN(passes_at_the_same_time); }
