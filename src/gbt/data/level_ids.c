/* Level ids from the pages: the bin of a categorical column is its level. Cells of unknown levels have the missing code
 * there and are put right from the list that the store keeps of them. Ids of columns with more levels than bins are
 * stored separately (page_levels.c). */
#include "level_ids.h"

#include <string.h>

#include "../base/parallel.h"
#include "dataset_impl.h"

enum { ID_ROWS = 65536 }; /* of a task */

typedef struct id_pass {
  const gbt_layout *layout;
  int32_t feat, n_bins, n_levels;
  uint32_t *out;
  const gbt_page_span *span;
  int64_t a_page; /* tasks of a page */
} id_pass;

static void ids_task(void *arg, int64_t task, int thread) {
  const id_pass *p = arg;
  (void)thread;
  GBT_ASSERT(p->a_page > 0);
  const gbt_page *page = &p->span->page[task / p->a_page];
  const gbt_place *place = &p->layout->place[p->feat];
  const gbt_group *group = &p->layout->group[place->group];
  const int64_t beg = task % p->a_page * ID_ROWS;
  const int64_t end = page->n_rows < beg + ID_ROWS ? page->n_rows : beg + ID_ROWS;
  const uint8_t *c8 = (const uint8_t *)page->group[place->group] + place->pos;
  const uint16_t *c16 = (const uint16_t *)page->group[place->group] + place->pos;
  for (int64_t r = beg; r < end; r++) {
    const int32_t code = group->wide ? c16[r * group->stride] : c8[r * group->stride];
    p->out[page->row_beg + r] = (uint32_t)(code < p->n_bins ? code : p->n_levels);
  }
}

static gbt_status ids_of_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  id_pass *p = arg;
  p->span = span;
  p->a_page = ((int64_t)span->page_rows + ID_ROWS - 1) / ID_ROWS;
  return gbt_parallel(ctx, span->n_pages * p->a_page, ids_task, p, err);
}

/* The feature that is the column itself. */
static int32_t own_feature(const gbt_schema *schema, int32_t col) {
  int32_t f = 0;
  while (f < schema->n_features && (schema->feat[f].kind != GBT_FEATURE_COLUMN || schema->feat[f].col != col)) f++;
  GBT_ASSERT(f < schema->n_features);
  return f;
}

gbt_status gbti_level_ids(gbt_ctx *ctx, const gbt_dataset *ds, int32_t col, uint32_t *out, gbt_error *err) {
  const gbt_schema *schema = ds->cuts->schema;
  GBT_ASSERT(col >= 0 && col < schema->n_columns && schema->col[col].type == GBT_CATEGORICAL);
  const int32_t feat = own_feature(schema, col), n_levels = schema->col[col].n_levels;
  id_pass pass = {.layout = gbt_pages_layout(ds->pages),
                  .feat = feat,
                  .n_bins = ds->cuts->feat[feat].n_bins,
                  .n_levels = n_levels,
                  .out = out};
  const uint32_t *kept = gbt_pages_level_ids(ds->pages, feat);
  if (kept != NULL) {
    memcpy(out, kept, (size_t)gbt_pages_n_rows(ds->pages) * sizeof *out);
    return GBT_OK;
  }
  GBT_ASSERT(pass.layout->place[feat].group >= 0 && pass.layout->place[feat].zero_bin < 0);
  GBT_TRY(gbt_pages_pass(ctx, ds->pages, ids_of_span, &pass, err));
  const uint32_t *unseen;
  const size_t *beg = gbt_pages_unseen(ds->pages, &unseen);
  for (size_t i = beg != NULL ? beg[feat] : 0; beg != NULL && i < beg[feat + 1]; i++)
    out[unseen[i]] = (uint32_t)n_levels + 1;
  return GBT_OK;
}
