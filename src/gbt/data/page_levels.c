/* Level ids of columns with more levels than bins. Pages have no code for the levels beyond GBT_MAX_LEVELS, so the ids
 * are stored separately, 4 bytes a row:
 *
 *   level_id[feature] -> id of row 0, row 1, ...      NULL for features whose pages have all levels
 *
 * Every chunk fills the part of its rows. */
#include "page_impl.h"

enum { ID_ROWS = 65536 }; /* of a task */

gbt_status gbti_level_ids_room(const gbt_schema *schema, gbti_pages *pages, gbt_error *err) {
  gbti_page_info *info = &pages->info;
  for (int32_t f = 0; f < schema->n_features; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (feat->type != GBT_CATEGORICAL || schema->col[feat->col].n_levels <= GBT_MAX_LEVELS) continue;
    if (info->level_id == NULL)
      GBT_TRY(gbt_mem_zeros(&pages->mem, (size_t)schema->n_features, sizeof *info->level_id, &info->level_id, err));
    GBT_TRY(gbt_mem_array(&pages->mem, (size_t)info->n_rows, sizeof(uint32_t), &info->level_id[f], err));
    info->bytes += (size_t)info->n_rows * sizeof(uint32_t);
  }
  return GBT_OK;
}

typedef struct id_job {
  const gbt_binding *binding;
  int32_t feat;
  uint32_t missing, unseen;
  uint32_t *out; /* of the binding's rows */
} id_job;

static uint32_t id_of(const id_job *job, const int32_t *map, int32_t code) {
  const int32_t level = map[code < 0 ? 0 : code];
  return level >= 0 ? (uint32_t)level : level == GBTI_CODE_UNSEEN ? job->unseen : job->missing;
}

static void id_task(void *arg, int64_t task, int thread) {
  const id_job *job = arg;
  (void)thread;
  const gbt_column *col = gbt_binding_column(job->binding, job->feat);
  const int32_t *code = col->values, *map = gbt_binding_codes(job->binding, job->feat);
  const int64_t n_rows = job->binding->table->n_rows, beg = task * ID_ROWS;
  const int64_t end = n_rows < beg + ID_ROWS ? n_rows : beg + ID_ROWS;
  if (col->rows == NULL) {
    for (int64_t r = beg; r < end; r++) job->out[r] = id_of(job, map, code[r]);
    return;
  }
  const gbti_column_reader in = gbti_column_reader_of(job->binding, job->feat);
  for (int64_t r = beg; r < end; r++) job->out[r] = job->missing;
  for (int64_t e = gbti_find_entry(&in, beg, -1); e < col->n_entries && col->rows[e] < end; e++)
    job->out[col->rows[e]] = id_of(job, map, code[e]);
}

gbt_status gbti_fill_level_ids(gbt_ctx *ctx, const gbt_binding *binding, int64_t beg, gbti_pages *pages,
                               gbt_error *err) {
  const gbt_schema *schema = binding->schema;
  const int64_t n_tasks = (binding->table->n_rows + ID_ROWS - 1) / ID_ROWS;
  for (int32_t f = 0; pages->info.level_id != NULL && f < schema->n_features; f++) {
    if (pages->info.level_id[f] == NULL) continue;
    const uint32_t n_levels = (uint32_t)schema->col[schema->feat[f].col].n_levels;
    id_job job = {.binding = binding,
                  .feat = f,
                  .missing = n_levels,
                  .unseen = n_levels + (binding->unseen == GBT_UNSEEN_PRIOR),
                  .out = pages->info.level_id[f] + beg};
    GBT_TRY(gbt_parallel(ctx, n_tasks, id_task, &job, err));
  }
  return GBT_OK;
}
