/* The columns of a model, as users hand them in: names, types, tags and levels. A column's levels are the texts that
 * follow its tag: their positions are not stored, as there may be many. features.c reads which features are made of the
 * columns and fills the schema's map. */
#include "../base/parallel.h"
#include "sections.h"

static gbt_status measure_schema(gbti_writer *w) {
  const gbt_schema *schema = w->parts->schema;
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const gbt_schema_column *col = &schema->col[c];
    GBT_TRY(gbti_measure_text(w, col->name, GBT_E_DATA, "column", col->name));
    GBT_TRY(gbti_measure_text(w, col->tag, GBT_E_DATA, "column", col->name));
    for (int32_t i = 0; i < col->n_levels; i++)
      GBT_TRY(gbti_measure_text(w, col->levels[i], GBT_E_DATA, "column", col->name));
  }
  w->n[GBTI_SEC_COLUMNS] = (uint64_t)schema->n_columns;
  return GBT_OK;
}

static void put_schema(gbti_writer *w) {
  const gbt_schema *schema = w->parts->schema;
  gbti_model_column *out = gbti_out(w, GBTI_SEC_COLUMNS);
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const gbt_schema_column *col = &schema->col[c];
    out[c].name = gbti_put_text(w, col->name);
    out[c].tag = gbti_put_text(w, col->tag);
    out[c].type = (uint32_t)col->type;
    out[c].n_levels = col->n_levels;
    for (int32_t i = 0; i < col->n_levels; i++) gbti_put_text(w, col->levels[i]);
  }
}

/* n_levels: of all columns. */
static gbt_status check_columns(const gbti_reader *r, size_t *n_levels) {
  const gbti_model_column *from = r->at[GBTI_SEC_COLUMNS];
  uint64_t left = r->n[GBTI_SEC_TEXTS]; /* every level has a byte there at least */
  if (r->n[GBTI_SEC_COLUMNS] > GBT_NODE_FEATURE) return gbti_damaged(r, "the number of columns is out of range");
  for (uint64_t c = 0; c < r->n[GBTI_SEC_COLUMNS]; c++) {
    if (from[c].type > GBT_ORDINAL) return gbti_damaged(r, "a column has an unknown type");
    uint64_t n = (uint64_t)from[c].n_levels; /* huge when negative */
    if (n > left || (n > 0 && from[c].type == GBT_NUMERIC))
      return gbti_damaged(r, "a column has a wrong number of levels");
    left -= n;
  }
  *n_levels = (size_t)(r->n[GBTI_SEC_TEXTS] - left);
  return GBT_OK;
}

/* level: where the pointers to its levels go; moves on. */
static gbt_status read_column(gbti_reader *r, const gbti_model_column *from, gbt_schema_column *col,
                              const char ***level) {
  col->type = (gbt_feature_type)from->type;
  col->n_levels = from->n_levels;
  col->levels = col->n_levels > 0 ? *level : NULL;
  GBT_TRY(gbti_take_text(r, from->name, &col->name));
  GBT_TRY(gbti_take_text(r, from->tag, &col->tag));
  if (col->name[0] == 0) return gbti_damaged(r, "a column has no name");
  for (int32_t i = 0; i < col->n_levels; i++) GBT_TRY(gbti_take_text(r, r->text_at, (*level)++));
  return GBT_OK;
}

static gbt_status read_schema(gbti_reader *r) {
  size_t n_levels = 0;
  GBT_TRY(check_columns(r, &n_levels));
  const gbti_model_column *from = r->at[GBTI_SEC_COLUMNS];
  const int32_t n = (int32_t)r->n[GBTI_SEC_COLUMNS];
  const uint64_t n_features = r->n[GBTI_SEC_FEATURES] > 0 ? r->n[GBTI_SEC_FEATURES] : (uint64_t)n;
  if (n_features > GBT_NODE_FEATURE) return gbti_damaged(r, "the number of features is out of range");
  gbt_schema_room room = {.n_columns = n, .n_features = (int32_t)n_features, .n_levels = n_levels};
  gbt_schema_block block;
  if (r->copies) room.n_chars = (size_t)r->n[GBTI_SEC_TEXTS];
  if (r->copies) room.n_values = (size_t)r->n[GBTI_SEC_STATISTICS];
  GBT_TRY(gbti_measure_projections(r, &room));
  GBT_TRY(gbt_schema_alloc(&r->mem, room, &block, r->err));
  gbt_schema *schema = block.schema;
  if (r->copies) {
    gbti_copy(block.text, r->at[GBTI_SEC_TEXTS], room.n_chars);
    gbti_copy(block.value, r->at[GBTI_SEC_STATISTICS], room.n_values * sizeof *block.value);
    r->at[GBTI_SEC_TEXTS] = block.text;
    r->at[GBTI_SEC_STATISTICS] = block.value;
  }
  r->schema = schema;
  r->parts.schema = schema;
  r->keys = block.key;
  const char **level = block.level, **name;
  for (int32_t c = 0; c < n; c++) {
    GBT_TRY(read_column(r, &from[c], &schema->col[c], &level));
    if (r->ctx != NULL) GBT_TRY(gbt_ctx_poll(r->ctx, r->err));
  }
  gbt_level_twins twins;
  GBT_TRY(gbt_schema_index(schema, r->ctx, &twins, r->err));
  if (twins.col >= 0) return gbti_damaged(r, "a column has a level twice");
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *name, &name, r->err));
  for (int32_t c = 0; c < n; c++) name[c] = schema->col[c].name;
  gbt_status status = gbti_check_unique(r, name, n, "two columns have the same name");
  gbt_mem_free(&r->mem, name);
  return status;
}

const gbti_part gbti_part_schema = {measure_schema, put_schema, read_schema};
