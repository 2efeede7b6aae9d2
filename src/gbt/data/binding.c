/* Binding a table to a schema: which column is which feature, and which code is which level. Texts are compared once,
 * here; reading compares only integers. */
#include "binding.h"
#include "column.h"
#include "cuts.h"
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/parallel.h"
#include "../schema/schema_impl.h"

/* Appends text to buf[0 .. size), whole or not at all. 1 when it fitted. */
static int append(char *buf, size_t size, const char *text) {
  size_t have = strlen(buf), more = strlen(text);
  if (have + more >= size) return 0;
  memcpy(buf + have, text, more + 1);
  return 1;
}

static gbt_status report_missing(const gbt_schema *schema, const int32_t *col, int32_t n_missing, gbt_error *err) {
  char list[448] = "", rest[48] = "";
  const char *first = NULL;
  int32_t shown = 0;
  for (int32_t f = 0; f < schema->n_columns && shown < n_missing; f++) {
    const char *name = schema->col[f].name;
    if (col[f] >= 0) continue;
    if (first == NULL)
      first = name;
    else if (strlen(list) + strlen(name) + 5 >= sizeof list)
      break;
    if (shown > 0) append(list, sizeof list, ", ");
    if (!append(list, sizeof list - 1, "`") || !append(list, sizeof list - 1, name)) append(list, sizeof list, "...");
    append(list, sizeof list, "`");
    shown++;
  }
  if (shown < n_missing) snprintf(rest, sizeof rest, " and %d more", (int)(n_missing - shown));
  return gbt_fail_on(err, GBT_E_DATA, first, "%s missing from the data: %s%s; columns are matched by name",
                     n_missing == 1 ? "a column is" : "columns are", list, rest);
}

/* Whether the columns are those of the schema in its order, as they mostly are. */
static int same_columns(const gbt_table *table, const gbt_schema *schema) {
  if (table->n_cols != schema->n_columns) return 0;
  for (int32_t f = 0; f < schema->n_columns; f++)
    if (strcmp(table->cols[f].name, schema->col[f].name) != 0) return 0;
  return 1;
}

/* col[f]: the position of every column of the schema in the table. */
static gbt_status match_columns(const gbt_mem *mem, const gbt_table *table, const gbt_schema *schema, int32_t *col,
                                gbt_error *err) {
  gbt_status status = GBT_OK;
  const char **have = NULL, **want = NULL;
  int32_t *feat = NULL, n_missing = 0;
  if (same_columns(table, schema)) {
    for (int32_t f = 0; f < schema->n_columns; f++) col[f] = f;
    return GBT_OK;
  }
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)table->n_cols, sizeof *have, &have, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)schema->n_columns, sizeof *want, &want, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)table->n_cols, sizeof *feat, &feat, err), done);
  for (int32_t c = 0; c < table->n_cols; c++) have[c] = table->cols[c].name;
  for (int32_t f = 0; f < schema->n_columns; f++) {
    want[f] = schema->col[f].name;
    col[f] = -1;
  }
  GBT_TRY_GOTO(gbt_match_texts(mem, have, table->n_cols, want, schema->n_columns, feat, err), done);
  for (int32_t c = 0; c < table->n_cols; c++) {
    int32_t f = feat[c];
    if (f < 0) continue;
    if (col[f] >= 0) {
      status = gbt_fail_on(err, GBT_E_DATA, want[f], "columns %d and %d of the data are both named `%s`; keep one",
                           (int)col[f] + 1, (int)c + 1, want[f]);
      goto done;
    }
    col[f] = c;
  }
  for (int32_t f = 0; f < schema->n_columns; f++) n_missing += col[f] < 0;
  if (n_missing > 0) status = report_missing(schema, col, n_missing, err);
done:
  gbt_mem_free(mem, have);
  gbt_mem_free(mem, want);
  gbt_mem_free(mem, feat);
  return status;
}

static gbt_status check_types(const gbt_binding *binding, gbt_error *err) {
  for (int32_t f = 0; f < binding->schema->n_columns; f++) {
    const gbt_schema_column *feat = &binding->schema->col[f];
    int is_factor = binding->table->cols[binding->col[f]].storage == GBT_CODES;
    if (is_factor && feat->type == GBT_NUMERIC)
      return gbt_fail_on(err, GBT_E_DATA, feat->name,
                         "column `%s` is a factor or text here and was a number in training; convert it to a number",
                         feat->name);
    if (!is_factor && feat->type != GBT_NUMERIC)
      return gbt_fail_on(err, GBT_E_DATA, feat->name,
                         "column `%s` is a number here and was a factor or text in training; convert it to a factor",
                         feat->name);
  }
  return GBT_OK;
}

gbt_status gbti_code_map(gbt_ctx *ctx, int thread, const gbt_column *col, const char *const *levels, int32_t n_levels,
                         int32_t **out, gbt_error *err) {
  int32_t *map;
  *out = NULL;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)col->n_levels + 1, sizeof *map, &map, err));
  gbt_status status = gbt_match_many_texts(ctx, thread, col->levels, col->n_levels, levels, n_levels, map + 1, err);
  map[0] = GBTI_CODE_MISSING;
  for (int32_t i = 0; status == GBT_OK && i < col->n_levels; i++)
    if (col->levels[i] == NULL) map[i + 1] = GBTI_CODE_MISSING;
  if (status == GBT_OK)
    *out = map;
  else
    gbt_mem_free(&ctx->mem, map);
  return status;
}

/* The map of a column's codes to the schema's levels. few: only the levels of the rows are looked up, the others stay
 * unseen. */
static gbt_status map_column(gbt_ctx *ctx, int thread, const gbt_binding *binding, int32_t feat, int few, int32_t **out,
                             gbt_error *err) {
  enum { AT_ONCE = 256 };
  const gbt_column *col = &binding->table->cols[binding->col[feat]];
  const int32_t *code = col->values;
  const int64_t n = few ? binding->table->n_rows : col->n_levels;
  const char *text[AT_ONCE];
  int32_t *map, level[AT_ONCE];
  *out = NULL;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)col->n_levels + 1, sizeof *map, &map, err));
  map[0] = GBTI_CODE_MISSING;
  for (int32_t i = 1; few && i <= col->n_levels; i++) map[i] = GBTI_CODE_UNSEEN;
  for (int64_t beg = 0; beg < n; beg += AT_ONCE) {
    const int32_t m = n - beg < AT_ONCE ? (int32_t)(n - beg) : AT_ONCE;
    if (beg % (32 * AT_ONCE) == 0 && gbt_ctx_stopped(ctx, thread)) {
      gbt_mem_free(&ctx->mem, map);
      return gbt_fail(err, GBT_CANCELLED, "stopped on request");
    }
    for (int32_t i = 0; i < m; i++) {
      const int32_t c = few ? code[beg + i] : (int32_t)(beg + i) + 1;
      text[i] = c > 0 ? col->levels[c - 1] : NULL;
    }
    gbt_schema_levels(binding->schema, feat, text, m, level);
    for (int32_t i = 0; i < m; i++) {
      const int32_t c = few ? code[beg + i] : (int32_t)(beg + i) + 1;
      if (c > 0) map[c] = text[i] == NULL ? GBTI_CODE_MISSING : level[i];
    }
  }
  *out = map;
  return GBT_OK;
}

/* Whether a row's level is sooner looked up than all levels are. Columns of sources may have no values now. */
static int few_rows(const gbt_binding *binding, const gbt_column *col) {
  return col->rows == NULL && col->values != NULL && binding->table->n_rows < col->n_levels / 4;
}

/* Columns with levels: their code maps, and with GBT_UNSEEN_ERROR the first entry with an unseen level. */
typedef struct map_job {
  gbti_job job;
  gbt_binding *binding;
  int64_t *bad; /* n_columns: an entry, or -1; NULL when unseen levels are no error */
  int32_t per_task;
} map_job;

static int64_t first_unseen(map_job *maps, const gbt_column *col, const int32_t *map, int thread) {
  enum { BLOCK = 65536 };
  const int32_t *code = col->values;
  int64_t n = col->rows != NULL ? col->n_entries : maps->binding->table->n_rows;
  int any = 0;
  for (int32_t i = 1; i <= col->n_levels; i++) any |= map[i] == GBTI_CODE_UNSEEN;
  if (!any) return -1;
  for (int64_t e = 0; e < n; e++) {
    if (code[e] > 0 && map[code[e]] == GBTI_CODE_UNSEEN) return e;
    if (e % BLOCK == 0 && gbti_job_stopped(&maps->job, thread)) return -1;
  }
  return -1;
}

static void map_task(void *arg, int64_t task, int thread) {
  map_job *maps = arg;
  gbt_binding *binding = maps->binding;
  gbt_ctx *ctx = maps->job.ctx;
  int64_t beg = task * maps->per_task, end = beg + maps->per_task;
  for (int64_t f = beg; f < end && f < binding->schema->n_columns; f++) {
    const gbt_schema_column *feat = &binding->schema->col[f];
    const gbt_column *col = &binding->table->cols[binding->col[f]];
    gbt_error err;
    if (maps->bad != NULL) maps->bad[f] = -1;
    if (feat->type == GBT_NUMERIC) continue;
    if (gbti_job_stopped(&maps->job, thread)) return;
    int32_t **map = &binding->code_map[f];
    gbt_status status = map_column(ctx, thread, binding, (int32_t)f, few_rows(binding, col), map, &err);
    if (status != GBT_OK)
      gbti_job_fail(&maps->job, &err);
    else if (maps->bad != NULL)
      maps->bad[f] = first_unseen(maps, col, *map, thread);
  }
}

static gbt_status map_levels(gbt_ctx *ctx, gbt_binding *binding, gbt_error *err) {
  gbt_status status = GBT_OK;
  int32_t n = binding->schema->n_columns;
  map_job maps = {.binding = binding};
  gbti_job_start(&maps.job, ctx);
  maps.per_task = gbti_cols_per_task(binding->unseen == GBT_UNSEEN_ERROR ? binding->table->n_rows : 1000);
  if (binding->unseen == GBT_UNSEEN_ERROR)
    GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *maps.bad, &maps.bad, err), done);
  GBT_TRY_GOTO(gbti_job_run(&maps.job, (n + maps.per_task - 1) / maps.per_task, map_task, &maps, err), done);
  for (int32_t f = 0; maps.bad != NULL && f < n; f++) {
    if (maps.bad[f] < 0) continue;
    const gbt_column *col = &binding->table->cols[binding->col[f]];
    int64_t row = binding->table->rows_before + (col->rows != NULL ? col->rows[maps.bad[f]] : maps.bad[f]);
    int32_t code = ((const int32_t *)col->values)[maps.bad[f]];
    status = gbt_fail_on(err, GBT_E_DATA, col->name,
                         "column `%s`, row %lld: the level \"%s\" did not occur in training; `unseen = \"prior\"` or "
                         "`\"missing\"` accepts such rows",
                         col->name, (long long)row + 1, col->levels[code - 1]);
    break;
  }
done:
  gbt_mem_free(&ctx->mem, maps.bad);
  return status;
}

gbt_status gbti_binding_new(gbt_ctx *ctx, const gbt_table *table, const gbt_schema *schema, gbt_unseen unseen,
                            gbt_binding **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_binding *binding;
  size_t n = (size_t)schema->n_columns;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *binding, &binding, err));
  binding->mem = ctx->mem;
  binding->table = table;
  binding->schema = schema;
  binding->unseen = unseen;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *binding->col, &binding->col, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, n, sizeof *binding->code_map, &binding->code_map, err), done);
  GBT_TRY_GOTO(match_columns(&ctx->mem, table, schema, binding->col, err), done);
  GBT_TRY_GOTO(check_types(binding, err), done);
  GBT_TRY_GOTO(map_levels(ctx, binding, err), done);
done:
  if (status == GBT_OK)
    *out = binding;
  else
    gbt_binding_free(binding);
  return status;
}

gbt_status gbt_binding_new(gbt_ctx *ctx, const gbt_table *table, const gbt_schema *schema, gbt_unseen unseen,
                           gbt_binding **out, gbt_error *err) {
  *out = NULL;
  GBT_TRY(gbt_table_check(ctx, table, err));
  return gbti_binding_new(ctx, table, schema, unseen, out, err);
}

void gbt_binding_free(gbt_binding *binding) {
  if (binding == NULL) return;
  gbt_mem mem = binding->mem;
  for (int32_t f = 0; binding->code_map != NULL && f < binding->schema->n_columns; f++)
    gbt_mem_free(&mem, binding->code_map[f]);
  gbt_mem_free(&mem, binding->code_map);
  gbt_mem_free(&mem, binding->col);
  gbt_mem_free(&mem, binding);
}

/* Rows of unknown levels, counted column by column. */
typedef struct unseen_job {
  gbti_job job;
  const gbt_binding *binding;
  int64_t *n; /* by column of the schema */
} unseen_job;

static void unseen_task(void *arg, int64_t c, int thread) {
  enum { BLOCK = 65536 };
  unseen_job *u = arg;
  const gbt_column *col = &u->binding->table->cols[u->binding->col[c]];
  const int32_t *code = col->values, *map = u->binding->code_map[c];
  const int64_t n = col->rows != NULL ? col->n_entries : u->binding->table->n_rows;
  int any = 0;
  if (map == NULL) return;
  for (int32_t i = 1; i <= col->n_levels && !any; i++) any = map[i] == GBTI_CODE_UNSEEN;
  for (int64_t e = 0; e < n && any; e++) {
    if (e % BLOCK == 0 && gbti_job_stopped(&u->job, thread)) return;
    u->n[c] += code[e] > 0 && map[code[e]] == GBTI_CODE_UNSEEN;
  }
}

gbt_status gbt_binding_unseen(gbt_ctx *ctx, const gbt_binding *binding, int64_t *n, gbt_error *err) {
  unseen_job u = {.binding = binding, .n = n};
  gbti_job_start(&u.job, ctx);
  return gbti_job_run(&u.job, binding->schema->n_columns, unseen_task, &u, err);
}

/* The value of a feature where its column has a level that the schema does not know. */
static double unseen_value(const gbt_feature *feat) {
  switch (feat->kind) {
  case GBT_FEATURE_COLUMN:
    return feat->type == GBT_CATEGORICAL ? -1.0 : (double)NAN;
  case GBT_FEATURE_LEVEL_COUNT:
    return 0.0;
  case GBT_FEATURE_TARGET_MEAN:
  case GBT_FEATURE_TARGET_CLASS:
  case GBT_FEATURE_KEY_COUNT: /* not read by column */
  case GBT_N_FEATURE_KINDS:
    break;
  }
  return (double)NAN;
}

gbti_column_reader gbti_column_reader_of(const gbt_binding *binding, int32_t feat) {
  const gbt_feature *f = &binding->schema->feat[feat];
  GBT_ASSERT(!gbt_feature_has_table(f->kind));
  gbti_column_reader in =
      gbti_column_reader_make(binding->table, gbt_binding_column(binding, feat), binding->code_map[f->col], f->value);
  if (binding->unseen != GBT_UNSEEN_MISSING) in.unseen = unseen_value(f);
  if (f->type == GBT_CATEGORICAL && binding->schema->col[f->col].n_levels > GBT_MAX_LEVELS) in.n_bins = GBT_MAX_LEVELS;
  return in;
}

const double *gbt_binding_values(const gbt_binding *binding, int64_t beg, int32_t n, int32_t feat, int64_t *cursor,
                                 double *buf) {
  if (gbt_feature_has_table(binding->schema->feat[feat].kind)) {
    gbti_read_table(binding, beg, n, feat, cursor, buf);
    return buf;
  }
  gbti_column_reader in = gbti_column_reader_of(binding, feat);
  return gbti_read_rows(&in, beg, n, cursor, buf);
}

/* Row blocks of such a height that the block of `out` stays in the first-level cache while feature after feature is
 * written into it. */
void gbt_binding_read(const gbt_binding *binding, int64_t beg, int32_t n, const int32_t *feats, int32_t n_feats,
                      int64_t *cursor, double *out, int64_t stride) {
  enum { MOST = 512, LEAST = 16, CELLS = 2048 };
  double buf[MOST];
  int32_t height = n_feats > 0 ? CELLS / n_feats : MOST;
  height = height < LEAST ? LEAST : height > MOST ? MOST : height;
  for (int32_t at = 0; at < n; at += height) {
    int32_t m = n - at < height ? n - at : height;
    for (int32_t k = 0; k < n_feats; k++) {
      const double *x = gbt_binding_values(binding, beg + at, m, feats[k], &cursor[k], buf);
      double *to = out + (int64_t)at * stride + k;
      for (int32_t r = 0; r < m; r++) to[(int64_t)r * stride] = x[r];
    }
  }
}
