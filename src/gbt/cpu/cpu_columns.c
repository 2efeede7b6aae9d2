/* The train set's dense codes once more, column by column, for the partition.
 *
 *   group (pages)        row 0: a b c d   row 1: a b c d   ...      a histogram reads whole rows
 *   column[group, pos]   a a a a a ...  for all rows of the data    a split reads one feature of many rows
 *
 * A split reads one code of a row, and a row of a group is 16 bytes: without the copy every code costs a cache line of
 * its own. It is made when training starts, not with the pages: validation rows walk through several features of one
 * row, so they have no use for it. Wide tables go without: there the histograms outweigh the partition, and the copy
 * would double the memory. Data sets whose pages are not all in memory go without, too. Variants of the training set
 * share the columns that are the same in all of them. */
#include "../base/comm.h"
#include "cpu.h"

#define COLUMN_BYTES_MAX 64 /* bytes a row */
#define COLUMN_ROWS_MIN 256 /* below, pages stay in the first-level cache; of all ranks, which do the same */
#define COLUMN_TASK 65536   /* rows of a row block */
#define COLUMN_ROWS 1024    /* are read at a time: at most 64 KB of a strip */

static size_t code_bytes(const gbt_group *group) { return group->wide ? 2 : 1; }

/* Rows of a table that a column takes: n of them from `first` on, or those in `pick`, which ascend from `first` on. */
typedef struct column_rows {
  const uint32_t *pick; /* NULL: all */
  uint32_t first;
  size_t n;
} column_rows;

/* codes: of the first row. */
GBT_FN void copy_codes(const gbt_group *group, const void *codes, column_rows rows, int32_t k, void *to, int wide,
                       int masked) {
  const size_t stride = (size_t)group->stride;
  const uint8_t *c8 = (const uint8_t *)codes + k;
  const uint16_t *c16 = (const uint16_t *)codes + k;
  for (size_t r = 0; r < rows.n; r++) {
    const size_t at = (masked ? rows.pick[r] - rows.first : r) * stride;
    GBT_ASSERT((wide ? c16[at] : c8[at]) < group->n_codes[k]);
    if (wide)
      ((uint16_t *)to)[r] = c16[at];
    else
      ((uint8_t *)to)[r] = c8[at];
  }
}

static void copy_column(const gbt_group *group, const void *codes, column_rows rows, int32_t k, void *to) {
  if (rows.pick) {
    if (group->wide)
      copy_codes(group, codes, rows, k, to, 1, 1);
    else
      copy_codes(group, codes, rows, k, to, 0, 1);
  } else if (group->wide) {
    copy_codes(group, codes, rows, k, to, 1, 0);
  } else {
    copy_codes(group, codes, rows, k, to, 0, 0);
  }
}

void cpu_columns_put(const cpu_backend *be, const gbt_group *group, const void *codes, size_t n, void *const *to,
                     size_t at) {
  const size_t bytes = code_bytes(group), row = (size_t)group->stride * bytes;
  const size_t turned = be->columns.turns && !group->wide ? n / CPU_TABLE_ROWS * CPU_TABLE_ROWS : 0;
  uint8_t *column[GBT_GROUP_MAX];
  for (int32_t k = 0; k < group->n_feats; k++) column[k] = (uint8_t *)to[k] + at * bytes;
  if (turned > 0) cpu_walk_tables_turn(codes, row, (size_t)group->n_feats, turned, column);
  const column_rows rest = {NULL, 0, n - turned};
  for (int32_t k = 0; k < group->n_feats; k++)
    copy_column(group, (const uint8_t *)codes + turned * row, rest, k, column[k] + turned * bytes);
}

/* The columns of one variant that others do not have. */
typedef struct column_pass {
  const cpu_backend *be;
  void *const *of;
  int32_t first, n_groups; /* groups [first, first + n_groups) */
} column_pass;

/* A task: a row block of a page, of one group. */
typedef struct column_job {
  const column_pass *pass;
  const gbt_page_span *pages;
  int64_t a_page; /* row blocks of a page */
} column_job;

static void column_task(void *arg, int64_t task, int thread) {
  const column_job *job = arg;
  const cpu_backend *be = job->pass->be;
  int64_t block = task / job->pass->n_groups;
  int32_t g = job->pass->first + (int32_t)(task % job->pass->n_groups);
  const gbt_page *page = &job->pages->page[block / job->a_page];
  const gbt_group *group = &be->layout->group[g];
  size_t bytes = code_bytes(group), end = (size_t)(block % job->a_page + 1) * COLUMN_TASK;
  (void)thread;
  if (end > (size_t)page->n_rows) end = (size_t)page->n_rows;
  for (size_t r = (size_t)(block % job->a_page) * COLUMN_TASK; r < end; r += COLUMN_ROWS) {
    const int64_t first = page->row_beg + (int64_t)r;
    const size_t n = end - r < COLUMN_ROWS ? end - r : COLUMN_ROWS, beg = (size_t)cpu_row_from(be, first);
    const column_rows rows = {be->view.page_row ? be->view.page_row + beg : NULL, (uint32_t)first,
                              (size_t)cpu_row_from(be, first + (int64_t)n) - beg};
    const char *from = (const char *)page->group[g] + r * (size_t)group->stride * bytes;
    if (rows.pick == NULL) {
      cpu_columns_put(be, group, from, rows.n, job->pass->of + g * GBT_GROUP_MAX, beg);
      continue;
    }
    for (int32_t k = 0; k < group->n_feats; k++)
      copy_column(group, from, rows, k, (char *)job->pass->of[g * GBT_GROUP_MAX + k] + beg * bytes);
  }
}

/* Bytes of a row in the columns of groups [beg, end). */
static size_t row_bytes(const gbt_layout *layout, int32_t beg, int32_t end) {
  size_t bytes = 0;
  for (int32_t g = beg; g < end; g++) bytes += code_bytes(&layout->group[g]) * (size_t)layout->group[g].n_feats;
  return bytes;
}

size_t cpu_columns_bytes(const gbt_layout *layout) { return row_bytes(layout, 0, layout->n_groups); }

int cpu_columns_pay(const gbt_layout *layout) {
  const size_t bytes = cpu_columns_bytes(layout);
  return bytes > 0 && bytes <= COLUMN_BYTES_MAX;
}

/* See gbt_pages_fn. */
static gbt_status copy_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  const column_pass *pass = arg;
  column_job job = {pass, pages, ((int64_t)pages->page[0].n_rows + COLUMN_TASK - 1) / COLUMN_TASK};
  const size_t bytes = row_bytes(pass->be->layout, pass->first, pass->first + pass->n_groups);
  double ns = 1.0 * (double)(pages->row_end - pages->row_beg) * (double)bytes;
  GBT_ASSERT(job.a_page > 0 && pass->n_groups > 0);
  return cpu_parallel(ctx, pages->n_pages * job.a_page * pass->n_groups, ns, column_task, &job, err);
}

/* The columns of a variant; those that all variants share come with the first. */
static gbt_status copy_variant(gbt_ctx *ctx, cpu_backend *be, int32_t variant, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  void **of = be->columns.of + (size_t)variant * be->columns.n;
  const int32_t first = variant == 0 ? 0 : layout->derived;
  const column_pass pass = {be, of, first, layout->n_groups - first};
  for (int32_t g = 0; g < layout->n_groups; g++)
    for (int32_t k = g * GBT_GROUP_MAX; k < g * GBT_GROUP_MAX + layout->group[g].n_feats; k++) {
      if (g < first)
        of[k] = be->columns.of[k];
      else
        GBT_TRY(gbt_mem_array(&be->mem, (size_t)be->n_rows + 1, code_bytes(&layout->group[g]), &of[k], err));
    }
  if (pass.n_groups == 0) return GBT_OK;
  return gbt_pages_pass(ctx, be->data[0]->variant[variant], copy_span, (void *)&pass, err);
}

gbt_status cpu_columns_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  const size_t n_variants = (size_t)be->data[0]->n_variants;
  int64_t n_away = !gbt_pages_stay(be->data[0]->pages); /* ranks whose pages are larger than their memory */
  GBT_TRY(gbt_comm_sum_i64(ctx, &n_away, 1, err));
  if (!cpu_columns_pay(layout) || cpu_all_rows(be) < COLUMN_ROWS_MIN || n_away > 0) return GBT_OK;
  be->columns.n = (size_t)layout->n_groups * GBT_GROUP_MAX;
  GBT_TRY(gbt_mem_zeros(&be->mem, n_variants * be->columns.n, sizeof *be->columns.of, &be->columns.of, err));
  for (int32_t v = 0; v < be->data[0]->n_variants; v++) GBT_TRY(copy_variant(ctx, be, v, err));
  return GBT_OK;
}

void cpu_columns_close(cpu_backend *be) {
  const size_t n = be->columns.n;
  for (int32_t v = 0; be->columns.of && v < be->data[0]->n_variants; v++)
    for (size_t c = v == 0 ? 0 : (size_t)be->layout->derived * GBT_GROUP_MAX; c < n; c++)
      gbt_mem_free(&be->mem, be->columns.of[(size_t)v * n + c]);
  gbt_mem_free(&be->mem, be->columns.of);
}
