/* Sparse features of the train set: columns and histograms against gbt_page_code row by row, trainings whose histograms
 * are packed and not in turns. */
#include "../../src/gbt/base/comm.h"
#include "../../src/gbt/cpu/cpu.h"
#include "datasets.h"
#include "stores.h"
#include "tables.h"
#include "trained.h"

enum { ROWS = 70000, COLS = 8 };

/* As much of a backend as the columns need. */
typedef struct part {
  gbt_ctx ctx;
  made *m;
  gbt_dataset *ds;
  int32_t **code; /* of all cells */
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
  p->be.data = &p->ds;
  p->be.cuts = p->ds->cuts;
  p->be.layout = gbt_pages_layout(p->ds->pages);
  p->code = codes_of(p->ds->pages, p->ds->cuts);
  p->be.n_rows = ROWS;
  cpu_view_train(&p->be);
  if (!CHECK_OK(cpu_sparse_open(&p->ctx, &p->be, test_err))) return 0;
  p->scratch.mark = test_alloc(p->be.sparse.block_rows);
  memset(p->scratch.mark, 0, p->be.sparse.block_rows);
  p->scratch.side = test_alloc(CPU_TASK_ROWS);
  return CHECK(p->be.layout->n_sparse == 6) && CHECK(p->be.sparse.n_blocks > 1);
}

static void close_part(part *p) {
  free(p->scratch.mark);
  free(p->scratch.side);
  cpu_sparse_close(&p->be);
  codes_free(p->code, p->ds->cuts);
  gbt_dataset_unref(p->ds);
  made_free(p->m);
  gbt_ctx_close(&p->ctx);
}

/* The way of rows [beg, beg + n) of `rows` by a table drawn at random. */
static void compare_sides(part *p, int32_t feat, const uint32_t *rows, uint32_t n, test_rng *rng) {
  const gbt_place *place = &p->be.layout->place[feat];
  uint8_t *left = test_alloc(place->n_slots), zero_left = (uint8_t)test_below(rng, 2);
  int64_t wrong = 0, filled = 0;
  for (uint32_t s = 0; s < place->n_slots; s++) left[s] = (uint8_t)test_below(rng, 2);
  cpu_sparse_sides(&p->be, place, left, zero_left, rows, n, &p->scratch);
  for (uint32_t i = 0; i < n; i++) {
    int32_t code = p->code[feat][rows[i]];
    int is_zero = code == place->zero_bin;
    wrong += p->scratch.side[i] != (is_zero ? zero_left : left[gbt_place_slot(place, code)]);
    filled += !is_zero;
  }
  CHECK_EQ_I64(wrong, 0);
  if (n > 5000) CHECK(filled > 50);
  wrong = 0;
  for (uint32_t r = 0; r < p->be.sparse.block_rows; r++) wrong += p->scratch.mark[r] != 0;
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

/* ---- histograms ---- */

enum { MODES = 3 }; /* packed; 16-bit gradients in plain sums; 32-bit gradients */

/* The rest of a backend: one build of rows [beg, end) of a random order, to be taken off slot 1. */
static void open_build(part *p, int mode, int counts, test_rng *rng) {
  cpu_backend *be = &p->be;
  const gbt_layout *layout = be->layout;
  be->pool.packed = mode == 0;
  be->grad.wide = test_alloc(1);
  be->grad.wide[0] = mode == 2;
  be->objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  be->grad.gh = test_alloc(ROWS * sizeof *be->grad.gh);
  gbt_gh16 *gh16 = (gbt_gh16 *)(void *)be->grad.gh;
  be->rows.order = test_alloc(ROWS * sizeof *be->rows.order);
  for (uint32_t r = 0; r < ROWS; r++) {
    uint64_t u = test_u(rng);
    if (mode == 2)
      be->grad.gh[r] = (gbt_gh32){(int32_t)(test_u(rng) & 0xffffffffu), (uint32_t)(u >> 32)};
    else
      gh16[r] = (gbt_gh16){(int16_t)(u % 65535 - 32767), (uint16_t)(u >> 16)};
  }
  cpu_view_train(be);
  be->hist.group_counts = test_alloc((size_t)layout->n_groups + 1);
  memset(be->hist.group_counts, counts, (size_t)layout->n_groups + 1);
  be->hist.started = test_alloc((size_t)layout->n_groups + 1);
  memset(be->hist.started, 0, (size_t)layout->n_groups + 1);
  be->pool.hist = test_alloc(2 * sizeof *be->pool.hist);
  for (int i = 0; i < 2; i++) {
    be->pool.hist[i].sum = test_alloc(layout->n_slots * sizeof(gbt_sum));
    be->pool.hist[i].count = test_alloc(layout->n_slots * sizeof(uint32_t));
    memset(be->pool.hist[i].sum, i ? 0 : 0x55, layout->n_slots * sizeof(gbt_sum)); /* what is there does not matter */
    memset(be->pool.hist[i].count, i ? 0 : 0x55, layout->n_slots * sizeof(uint32_t));
  }
  be->fr.node = test_alloc(sizeof *be->fr.node);
  be->hist.build = test_alloc(sizeof *be->hist.build);
  be->hist.n_build = 1;
  be->hist.build[0] = (cpu_build){.hist = 0, .from = 1, .wanted = 1};
  p->scratch.acc = test_alloc(layout->n_slots * sizeof(gbt_sum));
  p->scratch.count = test_alloc(layout->n_slots * sizeof(uint32_t));
  p->scratch.page_row = test_alloc(CPU_HIST_BLOCK * sizeof(uint32_t));
  gbt_lock_init(&be->hist.lock[0]);
  for (int i = 1; i < CPU_HIST_LOCKS; i++) gbt_lock_init(&be->hist.lock[i]);
}

static void close_build(part *p) {
  cpu_backend *be = &p->be;
  for (int i = 0; i < CPU_HIST_LOCKS; i++) gbt_lock_destroy(&be->hist.lock[i]);
  for (int i = 0; i < 2; i++) {
    free(be->pool.hist[i].sum);
    free(be->pool.hist[i].count);
  }
  void *blocks[] = {be->grad.wide, be->grad.gh, be->rows.order,  be->hist.group_counts, be->hist.started,
                    be->pool.hist, be->fr.node,   be->hist.build, p->scratch.acc,   p->scratch.count,
                    p->scratch.page_row};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
  gbt_mem_free(&be->mem, be->hist.unit);
}

static gbt_sum sum_at(const cpu_backend *be, int slot, uint32_t s) {
  uint32_t base = be->layout->sparse_slot;
  if (!be->pool.packed) return be->pool.hist[slot].sum[s];
  int64_t v = ((const int64_t *)(const void *)(be->pool.hist[slot].sum + base))[s - base], h = v & 0xffffffff;
  return (gbt_sum){(v - h) / 4294967296, h};
}

/* Slot 0 holds the rows' sums; slot 1, packed or not, what they leave of 0. */
static void compare_build(const part *p, int mode, int counts) {
  const cpu_backend *be = &p->be;
  const gbt_layout *layout = be->layout;
  const gbt_grow_node *node = be->fr.node;
  gbt_sum *want = test_alloc(layout->n_slots * sizeof *want);
  uint32_t *count = test_alloc(layout->n_slots * sizeof *count);
  int64_t wrong = 0;
  memset(want, 0, layout->n_slots * sizeof *want);
  memset(count, 0, layout->n_slots * sizeof *count);
  for (uint32_t i = node->order_beg; i < node->order_beg + node->n_rows; i++)
    for (int32_t f = 0; f < layout->n_sparse; f++) {
      const gbt_place *place = &layout->place[layout->sparse_feat[f]];
      int32_t code = p->code[layout->sparse_feat[f]][be->rows.order[i]];
      if (code == place->zero_bin) continue;
      uint32_t s = place->slot_beg + gbt_place_slot(place, code);
      want[s].g += mode == 2 ? be->view.gh32[be->rows.order[i]].g : be->view.gh16[be->rows.order[i]].g;
      want[s].h += mode == 2 ? be->view.gh32[be->rows.order[i]].h : be->view.gh16[be->rows.order[i]].h;
      count[s]++;
    }
  for (uint32_t s = layout->sparse_slot; s < layout->n_slots; s++) {
    gbt_sum got = sum_at(be, 0, s), left = sum_at(be, 1, s);
    wrong += got.g != want[s].g || got.h != want[s].h || (counts && be->pool.hist[0].count[s] != count[s]);
    if (be->hist.build[0].at_once && mode > 0) wrong += left.g != -want[s].g || left.h != -want[s].h;
    if (be->hist.build[0].at_once && mode == 0) /* as one number: from 0 the lower half borrows */
      wrong += left.g * 4294967296 + left.h != -(want[s].g * 4294967296 + want[s].h);
    if (be->hist.build[0].at_once && counts) wrong += be->pool.hist[1].count[s] + count[s] != 0;
  }
  CHECK_EQ_I64(wrong, 0);
  free(want);
  free(count);
}

static gbt_status build_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  part *p = arg;
  cpu_backend *be = &p->be;
  const cpu_span span = cpu_span_of(be, pages);
  be->hist.n_unit = 0;
  GBT_TRY(cpu_hist_plan_sparse(ctx, &span, err));
  for (size_t u = 0; u < be->hist.n_unit; u++) {
    const cpu_unit *unit = &be->hist.unit[u];
    CHECK_EQ_I64(unit->strip, be->layout->n_strips + (be->hist.build[0].n_lists == 0));
    cpu_hist_sparse_unit(&span, unit, &p->scratch);
  }
  return GBT_OK;
}

/* All rows, many, few. */
static void compare_builds(part *p, int mode, int counts, int kind, test_rng *rng) {
  cpu_backend *be = &p->be;
  uint32_t n = 0;
  open_build(p, mode, counts, rng);
  for (uint32_t r = 0; r < ROWS; r++) {
    be->rows.order[n] = r;
    n += kind == 0 || (kind == 1 ? test_below(rng, 50) != 0 : test_below(rng, 500) == 0);
  }
  be->fr.node[0] = (gbt_grow_node){.order_beg = 0, .n_rows = n, .own_rows = n};
  cpu_hist_start_sparse(&p->ctx, be);
  CHECK_EQ_I64(be->hist.build[0].at_once, kind == 2);
  CHECK_EQ_I64(be->hist.build[0].n_lists > 0, kind != 0);
  CHECK_EQ_I64(be->hist.build[0].n_lists > 1, kind == 1 && p->ctx.n_threads > 1);
  if (CHECK_OK(gbt_pages_pass(&p->ctx, p->ds->pages, build_span, p, test_err))) compare_build(p, mode, counts);
  close_build(p);
}

static void sparse_histograms_equal_loops(void) {
  const int32_t max_bin[] = {255, 2000}, page_rows[] = {30000, 0};
  test_rng rng = {gbt_mix64(33)};
  for (int v = 0; v < 2; v++)
    for (int kind = 0; kind < 3; kind++)
      for (int mode = 0; mode < MODES; mode++)
        for (int counts = test_few() ? (v + kind + mode) % 2 : 0; counts < 2; counts += test_few() ? 2 : 1) {
          part p;
          if (open_part(&p, max_bin[v], page_rows[v], 3)) compare_builds(&p, mode, counts, kind, &rng);
          close_part(&p);
        }
}

/* ---- which histograms may be packed ---- */

/* A communicator of ranks that have no rows, but for this one. */
static gbt_status reduce_alone(void *state, const gbt_comm_part *parts, size_t n_parts, gbt_comm_op op,
                               gbt_error *err) {
  (void)state, (void)parts, (void)n_parts, (void)op, (void)err;
  return GBT_OK;
}

static gbt_status gather_alone(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  (void)state, (void)err;
  memcpy(all, mine, bytes[0]);
  return GBT_OK;
}

static gbt_status broadcast_alone(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  (void)state, (void)x, (void)bytes, (void)root, (void)err;
  return GBT_OK;
}

enum { SPARSE_COLUMNS = 9 }; /* fewer are not worth lists */

/* Whether the backend takes a slot that n_filled of the table's rows meet for one whose sums fit. */
static int slot_fits(gbt_ctx *ctx, gbt_dataset *ds, int n_ranks) {
  const gbt_comm comm = {.size = n_ranks, .reduce = reduce_alone, .gather = gather_alone, .broadcast = broadcast_alone};
  cpu_backend be;
  memset(&be, 0, sizeof be);
  be.mem = ctx->mem;
  be.data = &ds;
  be.cuts = ds->cuts;
  be.layout = gbt_pages_layout(ds->pages);
  be.n_rows = ds->rows.n;
  CHECK(be.layout->n_sparse == SPARSE_COLUMNS);
  ctx->comm = &comm;
  cpu_view_train(&be);
  CHECK_OK(cpu_sparse_open(ctx, &be, test_err));
  ctx->comm = NULL;
  const int fits = be.sparse.most <= CPU_PACKED_ROWS;
  cpu_sparse_close(&be);
  return fits;
}

/* Also where a rank's part of 32 bits is less than the rows of its slot. */
static void slots_of_many_rows_do_not_fit(void) {
  static const int n_ranks[] = {1, 2, 3, 32768, 65534, 65535, 65536, 65537, 131072, 1 << 30};
  enum { N = 8 * (CPU_PACKED_ROWS + 2) };
  double *x = test_alloc(N * sizeof *x);
  for (int64_t n_filled = CPU_PACKED_ROWS - 1; n_filled <= CPU_PACKED_ROWS + 1; n_filled++) {
    gbt_ctx ctx = test_ctx(NULL, 2);
    gbt_dataset *ds = NULL;
    tables *t = tables_new(N);
    for (int c = 0; c < SPARSE_COLUMNS; c++) { /* the first of them has the slot; all meet in the first rows */
      for (int64_t r = 0; r < N; r++) x[r] = r < (c == 0 ? n_filled : 100);
      tables_sparse(t, (char[3]){'x', (char)('0' + c), 0}, x, GBT_I32, 0);
    }
    if (CHECK_OK(dataset_from(&ctx, &t->table, NULL, NULL, 255, 0, GBT_UNSEEN_MISSING, &ds, test_err)))
      for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++) {
        const int fits = slot_fits(&ctx, ds, n_ranks[i]);
        if (n_filled > CPU_PACKED_ROWS) CHECK(!fits);
        if (n_filled <= CPU_PACKED_ROWS && n_ranks[i] < 65535) CHECK(fits);
      }
    gbt_dataset_unref(ds);
    tables_free(t);
    gbt_ctx_close(&ctx);
  }
  free(x);
}

/* ---- trainings ---- */

static int64_t n_even, n_towering; /* trees, by their gradients */

/* Now and then the gradient of row 0 towers above all others: that tree takes the 32-bit gradients. */
static void towering_gradients(const double *score, const double *label, int64_t n, int32_t n_outputs, double *g,
                               double *h) {
  custom_gradients(score, label, n, n_outputs, g, h);
  for (int32_t k = 0; k < n_outputs; k++) {
    int towers = (int64_t)(fabs(score[k * n + 5]) * 1000.0) % 2 == 1;
    if (towers) g[k * n] = 1e6;
    n_towering += towers;
    n_even += !towers;
  }
}

static void packed_and_wide_trees_take_turns(void) {
  const made_kind kinds[] = {MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_BELL, MADE_ZEROS, MADE_ZEROS};
  made *m = made_new(34, 3000, sizeof kinds / sizeof kinds[0], kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 35);
  for (int v = 0; v < 4; v++) {
    train_how how = {1 + v % 3, v * 700, GBT_SIMD_AUTO, NULL};
    train_job job = job_make(m, GBT_OBJ_CUSTOM, 1 + v % 2, 12);
    job.custom = towering_gradients;
    job.spec.params.max_depth = 4;
    job.spec.params.min_data_in_leaf = v & 2 ? 4 : 1;
    job.spec.params.subsample = v == 3 ? 0.7 : 1.0;
    n_even = n_towering = 0;
    trained *a = train(&job, &how), *b = train_naively(&job);
    CHECK(a != NULL && a->n_sparse == 5 && a->forest->n_nodes > 40);
    CHECK(n_even > 2 && n_towering > 2);
    same_trained(a, b);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
}

/* Many features with one cut each, missing values in some of their nodes, ties in small ones. */
static void features_of_two_bins_equal_the_twin(void) {
  enum { MANY = 60 };
  made_kind kinds[MANY];
  int64_t splits = 0;
  for (int c = 0; c < MANY; c++)
    kinds[c] = c % 4 < 2 ? MADE_ZEROS : c % 8 == 2 ? MADE_HOLES : c % 8 == 6 ? MADE_HOLED : MADE_FEW;
  made *dense = made_new(36, 800, MANY, kinds);
  made_response(dense, GBT_OBJ_LOGISTIC, 1, 37);
  for (int v = 0; v < 16; v++) {
    made *m = made_sparse(dense, 0);
    m->table.absent_missing = v % 3 == 2;
    train_how how = {1 + v % 3, v * 100, GBT_SIMD_AUTO, NULL};
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 4);
    job.max_bin = v & 1 ? 3 : 2;
    job.spec.params.min_data_in_leaf = v & 2 ? 5 : 1;
    job.spec.params.grad_bits = v & 4 ? GBT_GRAD_32 : GBT_GRAD_16;
    job.spec.params.colsample_bynode = v & 8 ? 0.5 : 1.0;
    job.spec.params.max_delta_step = v == 5 ? 0.4 : 0.0;
    job.spec.params.min_child_weight = 0.0;
    trained *a = train(&job, &how), *b = train_naively(&job);
    CHECK(a != NULL && a->n_sparse >= 20);
    if (a != NULL) splits += (int64_t)a->forest->n_nodes / 2;
    same_trained(a, b);
    trained_free(a);
    trained_free(b);
    made_free(m);
  }
  CHECK(splits > 500);
  made_free(dense);
}

void suite_sparse(void) {
  RUN(features_of_two_bins_equal_the_twin);
  RUN(columns_tell_the_way_that_pages_tell);
  RUN(sparse_histograms_equal_loops);
  RUN(slots_of_many_rows_do_not_fit);
  RUN(packed_and_wide_trees_take_turns);
}
