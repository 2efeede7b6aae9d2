/* Checks of the host's columns. All later code relies on them, so that no value can cause an access out of bounds.
 * First come the properties of a column that do not need its values, then the values that can be invalid: rows of
 * sparse columns, codes of factors. */
#include "table.h"

#include "../base/hd.h"
#include "job.h"

static gbt_status check_shape(const gbt_table *table, int32_t c, gbt_error *err) {
  const gbt_column *col = &table->cols[c];
  if (col->name == NULL || col->name[0] == 0)
    return gbt_fail(err, GBT_E_DATA, "column %d has no name; give every column a name", (int)c + 1);
  if ((unsigned)col->storage > (unsigned)GBT_CODES || (unsigned)col->type > (unsigned)GBT_ORDINAL)
    return gbt_fail_on(err, GBT_E_DATA, col->name, "column `%s` has an unknown type or storage", col->name);
  int codes = col->storage == GBT_CODES;
  if (codes != (col->type != GBT_NUMERIC))
    return gbt_fail_on(err, GBT_E_DATA, col->name,
                       "column `%s`: factors and texts must be level codes, and other "
                       "columns must not",
                       col->name);
  if (codes && (col->n_levels < 0 || (col->n_levels > 0 && col->levels == NULL)))
    return gbt_fail_on(err, GBT_E_DATA, col->name, "column `%s` has codes but no levels", col->name);
  int64_t n = table->n_rows;
  if (col->rows != NULL) {
    n = col->n_entries;
    if (n < 0 || n > table->n_rows)
      return gbt_fail_on(err, GBT_E_DATA, col->name, "column `%s` has %lld entries for %lld rows", col->name,
                         (long long)n, (long long)table->n_rows);
  }
  if (n > 0 && col->values == NULL && (col->rows == NULL || col->storage != GBT_F64))
    return gbt_fail_on(err, GBT_E_DATA, col->name, "column `%s` has no values", col->name);
  const uint32_t offered = col->type == GBT_CATEGORICAL ? 1u << GBT_FEATURE_LEVEL_COUNT : 0;
  if ((col->derive & ~offered) != 0)
    return gbt_fail_on(err, GBT_E_DATA, col->name,
                       "column `%s`: only the levels of unordered factors and texts can be counted", col->name);
  return GBT_OK;
}

typedef struct check_job {
  gbti_job job;
  const gbt_table *table;
  const int32_t *cols; /* those whose values are looked at */
  int32_t n_cols, per_task;
  int64_t *bad; /* n_cols: the first wrong entry, or -1 */
} check_job;

static int row_is_bad(const gbt_column *col, int64_t n_rows, int64_t e) {
  return col->rows[e] < 0 || col->rows[e] >= n_rows || (e > 0 && col->rows[e] <= col->rows[e - 1]);
}

static int code_is_bad(const gbt_table *table, const gbt_column *col, int64_t e) {
  int32_t code = ((const int32_t *)col->values)[e];
  return code != INT32_MIN && (code < (table->no_code_zero != 0) || code > col->n_levels);
}

static int entry_is_bad(const gbt_table *table, const gbt_column *col, int64_t e) {
  return (col->rows != NULL && row_is_bad(col, table->n_rows, e)) ||
         (col->storage == GBT_CODES && code_is_bad(table, col, e));
}

/* Sums of faults over blocks run many entries at a time; only a block with a fault is looked at one by one. */
static int64_t first_bad(check_job *check, const gbt_column *col, int thread) {
  enum { BLOCK = 65536 };
  const gbt_table *table = check->table;
  int64_t n = col->rows != NULL ? col->n_entries : table->n_rows;
  for (int64_t beg = 0; beg < n; beg += BLOCK) {
    int64_t end = n - beg < BLOCK ? n : beg + BLOCK;
    int bad = 0;
    if (col->rows != NULL)
      for (int64_t e = beg; e < end; e++) bad |= row_is_bad(col, table->n_rows, e);
    if (col->storage == GBT_CODES)
      for (int64_t e = beg; e < end; e++) bad |= code_is_bad(table, col, e);
    for (int64_t e = beg; bad && e < end; e++)
      if (entry_is_bad(table, col, e)) return e;
    if (gbti_job_stopped(&check->job, thread)) return -1;
  }
  return -1;
}

static void check_task(void *arg, int64_t task, int thread) {
  check_job *check = arg;
  int64_t beg = task * check->per_task, end = beg + check->per_task;
  for (int64_t i = beg; i < end && i < check->n_cols; i++)
    check->bad[i] = first_bad(check, &check->table->cols[check->cols[i]], thread);
}

/* An entry for no row of the table. Rows count from the first chunk's on, and through all ranks. */
static gbt_status no_such_row(const gbt_table *table, const gbt_column *col, long long row, gbt_error *err) {
  const long long before = (long long)table->rows_before, n = (long long)table->n_rows;
  if (before == 0)
    return gbt_fail_on(err, GBT_E_DATA, col->name, "column `%s` has an entry for row %lld, but there are %lld rows",
                       col->name, row, n);
  return gbt_fail_on(err, GBT_E_DATA, col->name,
                     "column `%s` has an entry for row %lld, but the rows here are %lld to %lld", col->name, row,
                     before + 1, before + n);
}

static gbt_status report_bad_value(const gbt_table *table, const gbt_column *col, int64_t e, gbt_error *err) {
  const long long before = (long long)table->rows_before, row = before + (col->rows != NULL ? col->rows[e] : e) + 1;
  if (col->rows != NULL && row_is_bad(col, table->n_rows, e)) {
    if (row <= before || row > before + table->n_rows) return no_such_row(table, col, row, err);
    return gbt_fail_on(err, GBT_E_DATA, col->name,
                       "column `%s`: the entry for row %lld comes after the one for row %lld; sort the entries of a "
                       "sparse column by row, with no row twice",
                       col->name, row, before + col->rows[e - 1] + 1);
  }
  return gbt_fail_on(err, GBT_E_DATA, col->name, "column `%s`, row %lld: there is no level %d, only %d levels",
                     col->name, row, (int)((const int32_t *)col->values)[e], (int)col->n_levels);
}

gbt_status gbt_table_check(gbt_ctx *ctx, const gbt_table *table, gbt_error *err) {
  gbt_status status = GBT_OK;
  int32_t *cols = NULL;
  int64_t *bad = NULL;
  if (table->n_rows < 0 || table->n_rows > (int64_t)UINT32_MAX - 1)
    return gbt_fail(err, GBT_E_DATA, "the data have %lld rows; up to %lld can be used", (long long)table->n_rows,
                    (long long)UINT32_MAX - 1);
  if (table->n_cols < 0) return gbt_fail(err, GBT_E_DATA, "the data have %d columns", (int)table->n_cols);
  int32_t n_cols = 0;
  for (int32_t c = 0; c < table->n_cols; c++) {
    GBT_TRY(check_shape(table, c, err));
    n_cols += table->cols[c].rows != NULL || table->cols[c].storage == GBT_CODES;
  }
  if (n_cols == 0) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_cols, sizeof *cols, &cols, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_cols, sizeof *bad, &bad, err), done);
  n_cols = 0;
  for (int32_t c = 0; c < table->n_cols; c++)
    if (table->cols[c].rows != NULL || table->cols[c].storage == GBT_CODES) cols[n_cols++] = c;
  check_job check = {.table = table, .cols = cols, .n_cols = n_cols, .bad = bad};
  check.per_task = gbti_cols_per_task(table->n_rows);
  GBT_ASSERT(check.per_task > 0);
  gbti_job_start(&check.job, ctx);
  int64_t n_tasks = (n_cols + check.per_task - 1) / check.per_task;
  GBT_TRY_GOTO(gbti_job_run(&check.job, n_tasks, check_task, &check, err), done);
  for (int32_t i = 0; i < n_cols; i++)
    if (bad[i] >= 0) GBT_TRY_GOTO(report_bad_value(table, &table->cols[cols[i]], bad[i], err), done);
done:
  gbt_mem_free(&ctx->mem, cols);
  gbt_mem_free(&ctx->mem, bad);
  return status;
}

const char *gbt_storage_name(int storage) {
  switch ((gbt_storage)storage) {
  case GBT_F64:
    return "double";
  case GBT_I32:
    return "integer";
  case GBT_I64:
    return "integer64";
  case GBT_CODES:
    return "codes";
  }
  return NULL;
}

const char *gbt_unseen_name(int unseen) {
  switch ((gbt_unseen)unseen) {
  case GBT_UNSEEN_PRIOR:
    return "prior";
  case GBT_UNSEEN_MISSING:
    return "missing";
  case GBT_UNSEEN_ERROR:
    return "error";
  }
  return NULL;
}
