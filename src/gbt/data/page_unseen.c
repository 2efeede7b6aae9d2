/* Cells of factors whose level the cuts do not know. In the pages they have the missing code; where they are to go the
 * way of most (unseen = prior) their rows are listed as well, feature by feature, ascending:
 *
 *   unseen_row:  rows of feature 0 | rows of feature 1 | ...      feature f: unseen_beg[f] .. unseen_beg[f + 1]
 *
 * Two passes over the codes, one task per feature: count, then fill. */
#include "page_impl.h"

enum { BLOCK = 65536 };

typedef struct unseen_job {
  gbti_job job;
  const gbt_binding *binding;
  gbti_pages *pages;
  int fill;
} unseen_job;

static int any_unseen(const gbt_binding *binding, int32_t feat) {
  const int32_t *map = gbt_binding_codes(binding, feat);
  if (binding->schema->feat[feat].type != GBT_CATEGORICAL) return 0;
  for (int32_t c = 1; c <= gbt_binding_column(binding, feat)->n_levels; c++)
    if (map[c] == GBTI_CODE_UNSEEN) return 1;
  return 0;
}

static void list_task(void *arg, int64_t feat, int thread) {
  unseen_job *u = arg;
  const gbt_binding *binding = u->binding;
  if (!any_unseen(binding, (int32_t)feat)) return;
  const gbt_column *col = gbt_binding_column(binding, (int32_t)feat);
  const int32_t *code = col->values, *map = gbt_binding_codes(binding, (int32_t)feat);
  int64_t n = col->rows != NULL ? col->n_entries : binding->table->n_rows;
  uint32_t *out = u->fill ? u->pages->info.unseen_row + u->pages->info.unseen_beg[feat] : NULL;
  size_t found = 0;
  for (int64_t e = 0; e < n; e++) {
    if (e % BLOCK == 0 && gbti_job_stopped(&u->job, thread)) return;
    if (code[e] <= 0 || map[code[e]] != GBTI_CODE_UNSEEN) continue;
    if (u->fill) out[found] = (uint32_t)(col->rows != NULL ? col->rows[e] : e);
    found++;
  }
  if (!u->fill) u->pages->info.unseen_beg[feat + 1] = found;
}

gbt_status gbti_list_unseen(gbt_ctx *ctx, const gbt_binding *binding, gbti_pages *pages, gbt_error *err) {
  int32_t n = binding->schema->n_features, any = 0;
  if (binding->unseen != GBT_UNSEEN_PRIOR) return GBT_OK;
  for (int32_t f = 0; f < n && !any; f++) any = any_unseen(binding, f);
  if (!any) return GBT_OK;
  unseen_job u = {.binding = binding, .pages = pages};
  gbti_job_start(&u.job, ctx);
  GBT_TRY(gbt_mem_zeros(&pages->mem, (size_t)n + 1, sizeof *pages->info.unseen_beg, &pages->info.unseen_beg, err));
  GBT_TRY(gbti_job_run(&u.job, n, list_task, &u, err));
  for (int32_t f = 0; f < n; f++) pages->info.unseen_beg[f + 1] += pages->info.unseen_beg[f];
  size_t all = pages->info.unseen_beg[n];
  GBT_TRY(gbt_mem_array(&pages->mem, all, sizeof *pages->info.unseen_row, &pages->info.unseen_row, err));
  pages->info.bytes += all * sizeof *pages->info.unseen_row;
  u.fill = 1;
  return gbti_job_run(&u.job, n, list_task, &u, err);
}
