/* Cells of factors whose level the cuts do not know. In the pages they have the missing code; where they are to go the
 * way of most (unseen = prior) their rows are listed as well, feature by feature, ascending:
 *
 *   unseen_row:  rows of feature 0 | rows of feature 1 | ...      feature f: unseen_beg[f] .. unseen_beg[f + 1]
 *
 * Every chunk appends to a list for each feature, one task per feature; at the end the lists are joined. */
#include <string.h>

#include "page_impl.h"

enum { BLOCK = 65536 };

typedef struct unseen_job {
  gbti_job job;
  const gbt_binding *binding;
  int64_t beg;
  gbti_unseen_list *list;
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
  gbti_unseen_list *list = &u->list[feat];
  for (int64_t e = 0; e < n; e++) {
    gbt_error err;
    if (e % BLOCK == 0 && gbti_job_stopped(&u->job, thread)) return;
    if (code[e] <= 0 || map[code[e]] != GBTI_CODE_UNSEEN) continue;
    if (gbt_mem_grow(&u->job.ctx->mem, &list->row, &list->cap, list->n + 1, sizeof *list->row, &err) != GBT_OK) {
      gbti_job_fail(&u->job, &err);
      return;
    }
    list->row[list->n++] = (uint32_t)(u->beg + (col->rows != NULL ? col->rows[e] : e));
  }
}

gbt_status gbti_list_unseen(gbt_ctx *ctx, const gbt_binding *binding, int64_t beg, gbti_unseen_list *list,
                            gbt_error *err) {
  int32_t n = binding->schema->n_features, any = 0;
  if (binding->unseen != GBT_UNSEEN_PRIOR) return GBT_OK;
  for (int32_t f = 0; f < n && !any; f++) any = any_unseen(binding, f);
  if (!any) return GBT_OK;
  unseen_job u = {.binding = binding, .beg = beg, .list = list};
  gbti_job_start(&u.job, ctx);
  return gbti_job_run(&u.job, n, list_task, &u, err);
}

void gbti_free_unseen(const gbt_mem *mem, gbti_unseen_list *list, int32_t n) {
  for (int32_t f = 0; list != NULL && f < n; f++) gbt_mem_free(mem, list[f].row);
  gbt_mem_free(mem, list);
}

gbt_status gbti_join_unseen(const gbti_unseen_list *list, int32_t n, gbti_pages *pages, gbt_error *err) {
  gbti_page_info *info = &pages->info;
  size_t all = 0, at = 0;
  for (int32_t f = 0; f < n; f++) all += list[f].n;
  if (all == 0) return GBT_OK;
  GBT_TRY(gbt_mem_array(&pages->mem, (size_t)n + 1, sizeof *info->unseen_beg, &info->unseen_beg, err));
  GBT_TRY(gbt_mem_array(&pages->mem, all, sizeof *info->unseen_row, &info->unseen_row, err));
  info->bytes += all * sizeof *info->unseen_row;
  for (int32_t f = 0; f < n; f++) {
    info->unseen_beg[f] = at;
    if (list[f].n > 0) memcpy(info->unseen_row + at, list[f].row, list[f].n * sizeof *list[f].row);
    at += list[f].n;
  }
  info->unseen_beg[n] = at;
  return GBT_OK;
}
