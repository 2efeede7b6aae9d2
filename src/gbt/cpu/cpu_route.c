/* Rows that the tree did not see while it grew (not sampled, or of a validation set) down to their leaves, by bins.
 *
 * bin(x) <= b is the same as x <= cut[b], so this agrees to the bit with predicting from the values. Levels that the
 * cuts do not know stand in a page as missing; in validation sets they go the way of most all the same. */
#include "cpu.h"

#define ROUTE_ROWS 4096

typedef struct route_pass {
  const cpu_backend *be;
  const gbt_page_store *pages;
  const uint32_t *rows; /* NULL: all */
  int64_t n;
  const double *value;
  double *score;
  int any_unseen; /* not in the training set, whose sampled rows the tree took for missing */
} route_pass;

static int32_t leaf_of(const route_pass *pass, const gbt_page *page, int64_t row) {
  const cpu_backend *be = pass->be;
  const gbt_layout *layout = &pass->pages->layout;
  const gbt_grow_node *nodes = be->fr.node;
  int32_t at = 0, r = (int32_t)(row - page->row_beg);
  while (nodes[at].left) {
    const gbt_grow_node *node = &nodes[at];
    const gbt_split *s = &node->split;
    const gbt_place *place = &layout->place[s->feat]; /* of this set: it may bundle other features than training */
    int32_t code, left;
    if (place->zero_bin >= 0) code = gbt_page_code(layout, be->cuts, page, r, s->feat);
    else {
      const gbt_group *group = &layout->group[place->group];
      size_t cell = (size_t)r * (size_t)group->stride + (size_t)place->pos;
      const void *codes = page->group[place->group];
      code = group->wide ? ((const uint16_t *)codes)[cell] : ((const uint8_t *)codes)[cell];
    }
    if (code == be->cuts->feat[s->feat].n_bins)
      left = pass->any_unseen && gbt_page_unseen(pass->pages, s->feat, row) ? node->bulk_left : s->missing_left;
    else left = cpu_bin_goes_left(be, node, code);
    at = node->left + !left;
  }
  return at;
}

static void route_task(void *arg, int64_t task, int thread) {
  const route_pass *pass = arg;
  int64_t beg = task * ROUTE_ROWS, end = beg + ROUTE_ROWS < pass->n ? beg + ROUTE_ROWS : pass->n;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    int64_t row = pass->rows ? (int64_t)pass->rows[i] : i;
    const gbt_page *page = &pass->pages->page[row / pass->pages->page_rows];
    pass->score[row] += pass->value[leaf_of(pass, page, row)];
  }
}

gbt_status cpu_route(gbt_ctx *ctx, cpu_backend *be, int32_t which, const uint32_t *rows, int64_t n,
                     const double *value, gbt_error *err) {
  const gbt_dataset *ds = be->sets[which];
  double *score = be->score[which] + (size_t)be->task.output * (size_t)ds->n_rows;
  route_pass pass = {be, ds->pages, rows, n, value, score, which > 0 && ds->pages->unseen_beg != NULL};
  return cpu_parallel(ctx, (n + ROUTE_ROWS - 1) / ROUTE_ROWS, 10.0 * (double)n, route_task, &pass, err);
}
