/* Features that are read from tables: the levels of a row's columns make its key, the key leads to a row of the
 * projection's tables, which have the bin. */
#include "column.h"

#include "../schema/key_index.h"

enum { AT_ONCE = 128 }; /* rows whose keys are made and looked for side by side */

void gbti_read_levels(const gbt_binding *binding, int32_t c, int64_t beg, int32_t n, int64_t *cursor, uint32_t *out) {
  const gbt_column *col = &binding->table->cols[binding->col[c]];
  const int32_t *map = binding->code_map[c], *code = col->values;
  const uint32_t missing = (uint32_t)binding->schema->col[c].n_levels;
  const uint32_t gone[2] = {binding->unseen == GBT_UNSEEN_MISSING ? missing : GBT_NO_LEVEL, missing};
  if (col->rows == NULL) {
    for (int32_t r = 0; r < n; r++) {
      const int32_t m = map[code[beg + r] < 0 ? 0 : code[beg + r]];
      out[r] = m >= 0 ? (uint32_t)m : gone[GBTI_CODE_UNSEEN - m];
    }
    return;
  }
  const gbti_column_reader in = gbti_column_reader_make(binding->table, col, map, NULL);
  int64_t e = gbti_find_entry(&in, beg, *cursor);
  for (int32_t r = 0; r < n; r++) out[r] = missing;
  for (; e < in.n_entries && col->rows[e] < beg + n; e++) {
    const int32_t m = map[code[e] < 0 ? 0 : code[e]];
    out[col->rows[e] - beg] = m >= 0 ? (uint32_t)m : gone[GBTI_CODE_UNSEEN - m];
  }
  *cursor = e;
}

/* row[r]: the row of the projection's tables that row beg + r has, or GBT_NO_ROW. n: at most AT_ONCE. */
static void find_rows(const gbt_binding *binding, int32_t projection, int64_t beg, int32_t n, int64_t *cursor,
                      uint32_t *row) {
  const gbt_projection *proj = &binding->schema->proj[projection];
  uint64_t key[AT_ONCE] = {0};
  for (int32_t i = 0; i < proj->n_cols; i++) {
    const uint64_t radix = (uint64_t)binding->schema->col[proj->col[i]].n_levels + 1;
    uint32_t level[AT_ONCE];
    int64_t search = 0;
    gbti_read_levels(binding, proj->col[i], beg, n, i == 0 ? cursor : &search, level);
    for (int32_t r = 0; r < n; r++) key[r] = gbt_key_with(key[r], radix, level[r]);
  }
  gbt_find_keys(binding->schema, projection, key, n, row);
}

void gbti_read_table(const gbt_binding *binding, int64_t beg, int32_t n, int32_t feat, int64_t *cursor, double *out) {
  const gbt_feature *f = &binding->schema->feat[feat];
  uint32_t row[AT_ONCE];
  for (int32_t at = 0; at < n; at += AT_ONCE) {
    const int32_t m = n - at < AT_ONCE ? n - at : AT_ONCE;
    find_rows(binding, f->projection, beg + at, m, cursor, row);
    for (int32_t r = 0; r < m; r++) out[at + r] = row[r] != GBT_NO_ROW ? f->bin[row[r]] : f->unknown;
  }
}
