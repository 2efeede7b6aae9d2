/* Sparse features of the train set, column by column, against gbt_page_code row by row. */
#include "../../src/gbt/cpu/cpu.h"
#include "made.h"

enum { ROWS = 70000, COLS = 8 };

/* As much of a backend as the columns need. */
typedef struct part {
  gbt_ctx ctx;
  made *m;
  gbt_dataset *ds;
  cpu_backend be;
  cpu_scratch scratch;
} part;

static int open_part(part *p, int32_t max_bin, int32_t page_rows, int threads) {
  made_kind kinds[COLS] = {MADE_ZEROS, MADE_BELL,  MADE_ZEROS, MADE_ZEROS,
                           MADE_HOLED, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS};
  memset(p, 0, sizeof *p);
  p->ctx = test_ctx(NULL, threads);
  p->m = made_new(31, ROWS, COLS, kinds);
  p->ds = made_dataset(&p->ctx, p->m, NULL, max_bin, page_rows);
  p->be.mem = p->ctx.mem;
  p->be.sets = &p->ds;
  p->be.cuts = p->ds->cuts;
  p->be.layout = &p->ds->pages->layout;
  p->be.n_rows = ROWS;
  if (!CHECK_OK(cpu_sparse_make(&p->ctx, &p->be, test_err))) return 0;
  p->scratch.mark = test_alloc(p->be.sparse.tile_rows);
  memset(p->scratch.mark, 0, p->be.sparse.tile_rows);
  p->scratch.side = test_alloc(CPU_TASK_ROWS);
  return CHECK(p->be.layout->n_sparse == 6) && CHECK(p->be.sparse.n_tiles > 1);
}

static void close_part(part *p) {
  free(p->scratch.mark);
  free(p->scratch.side);
  cpu_sparse_free(&p->be);
  gbt_dataset_unref(p->ds);
  made_free(p->m);
  gbt_ctx_close(&p->ctx);
}

/* The way of rows [beg, beg + n) of `rows` by a table drawn at random. */
static void compare_sides(part *p, int32_t feat, const uint32_t *rows, uint32_t n, test_rng *rng) {
  const gbt_page_store *pages = p->ds->pages;
  const gbt_place *place = &p->be.layout->place[feat];
  uint8_t *left = test_alloc(place->n_slots), zero_left = (uint8_t)test_below(rng, 2);
  int64_t wrong = 0, filled = 0;
  for (uint32_t s = 0; s < place->n_slots; s++) left[s] = (uint8_t)test_below(rng, 2);
  cpu_sparse_sides(&p->be, place, left, zero_left, rows, n, &p->scratch);
  for (uint32_t i = 0; i < n; i++) {
    const gbt_page *page = &pages->page[rows[i] / (uint32_t)pages->page_rows];
    int32_t code = gbt_page_code(p->be.layout, p->be.cuts, page, (int32_t)(rows[i] - (uint32_t)page->row_beg), feat);
    int is_zero = code == place->zero_bin;
    wrong += p->scratch.side[i] != (is_zero ? zero_left : left[gbt_place_slot(place, code)]);
    filled += !is_zero;
  }
  CHECK_EQ_I64(wrong, 0);
  if (n > 5000) CHECK(filled > 50);
  wrong = 0;
  for (uint32_t r = 0; r < p->be.sparse.tile_rows; r++) wrong += p->scratch.mark[r] != 0;
  CHECK_EQ_I64(wrong, 0);
  free(left);
}

/* One row in so many, in chunks. */
static void compare_chunks(part *p, int32_t feat, int64_t one_in, uint32_t *rows, test_rng *rng) {
  uint32_t n = 0;
  for (uint32_t r = 0; r < ROWS; r++) {
    rows[n] = r;
    n += test_below(rng, one_in) == 0;
  }
  for (uint32_t beg = (uint32_t)test_below(rng, 3), m; beg < n; beg += m) {
    m = n - beg < CPU_TASK_ROWS ? n - beg : CPU_TASK_ROWS;
    compare_sides(p, feat, rows + beg, m, rng);
  }
}

/* All rows, rows close together, and so few that each is looked for. */
static void columns_tell_the_way_that_pages_tell(void) {
  const int64_t one_in[] = {1, 2, 7, 60, 900, 9000};
  const int32_t max_bin[] = {16, 255, 2000}, page_rows[] = {0, 1000, 30000};
  uint32_t *rows = test_alloc(ROWS * sizeof *rows);
  test_rng rng = {gbt_mix64(32)};
  for (int v = 0; v < 3; v++) {
    part p;
    if (open_part(&p, max_bin[v], page_rows[v], v + 1)) {
      CHECK_EQ_I64(p.be.sparse.wide, v == 2);
      for (size_t d = 0; d < sizeof one_in / sizeof *one_in; d++)
        for (int32_t i = 0; i < p.be.layout->n_sparse; i++)
          compare_chunks(&p, p.be.layout->sparse_feat[i], one_in[d], rows, &rng);
    }
    close_part(&p);
  }
  free(rows);
}

void suite_sparse(void) { RUN(columns_tell_the_way_that_pages_tell); }
