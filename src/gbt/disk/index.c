#include "index.h"

#include <stdio.h>
#include <string.h>

#include "../base/checksum.h"
#include "../base/parallel.h"
#include "../data/check.h"
#include "../data/page_impl.h"
#include "../schema/schema_impl.h"
#include "page_bytes.h"

void gbti_pages_name(uint64_t id, int32_t file, int32_t n_files, char out[GBTI_PAGES_NAME]) {
  if (n_files == 1)
    snprintf(out, GBTI_PAGES_NAME, "pages-%016llx.bin", (unsigned long long)id);
  else
    snprintf(out, GBTI_PAGES_NAME, "pages-%016llx-%dof%d.bin", (unsigned long long)id, (int)file + 1, (int)n_files);
}

/* Digits of a number to the base, at most `most` of them; moves *at behind them. */
static uint64_t read_digits(const char **at, unsigned base, int most) {
  static const char digits[] = "0123456789abcdef";
  uint64_t n = 0;
  for (const char *d; most > 0 && **at != 0 && (d = memchr(digits, **at, base)) != NULL; most--, (*at)++)
    n = n * base + (uint64_t)(d - digits);
  return n;
}

int gbti_is_pages_name(const char *name, uint64_t *id, int32_t *file, int32_t *n_files) {
  char again[GBTI_PAGES_NAME];
  const char *at = name + 6;
  if (strncmp(name, "pages-", 6) != 0) return 0;
  *id = read_digits(&at, 16, 16);
  *file = 0;
  *n_files = 1;
  if (*at == '-') {
    at++;
    *file = (int32_t)read_digits(&at, 10, 4) - 1;
    if (strncmp(at, "of", 2) != 0) return 0;
    at += 2;
    *n_files = (int32_t)read_digits(&at, 10, 4);
    if (*n_files < 2 || *file < 0 || *file >= *n_files) return 0;
  }
  gbti_pages_name(*id, *file, *n_files, again);
  return strcmp(name, again) == 0;
}

static uint64_t align8(uint64_t n) { return (n + 7) & ~(uint64_t)7; }

/* The numbers of an index, in their order. */
enum {
  N_ROWS,
  PAGE_ROWS,
  N_PAGES,
  N_ENTRIES,
  PAGE_BYTES,
  N_FEATURES,
  N_GROUPS,
  N_STRIPS,
  N_SPARSE,
  N_BUNDLES,
  N_MEMBERS,
  DERIVED,
  SPARSE_SLOT,
  N_SLOTS,
  N_COLUMNS,
  CUT_ROWS,
  ABSENT_MISSING,
  N_UNSEEN,
  HAS_UNSEEN,
  N_NOTE,
  N_FILES,
  N_NUMBERS
};

typedef struct column_record {
  uint32_t type;
  int32_t n_levels;
} column_record;

typedef struct feature_record {
  uint32_t kind;
  int32_t col;
} feature_record;

typedef struct cuts_record {
  int64_t n_filled;
  int32_t n_bins, has_missing, zero_bin, onehot;
} cuts_record;

_Static_assert(sizeof(gbti_disk_head) == 40 && sizeof(column_record) == 8 && sizeof(feature_record) == 8 &&
                   sizeof(cuts_record) == 24 && sizeof(gbti_page_record) == 48 && sizeof(gbt_place) == 24 &&
                   sizeof(gbt_group) == 4 * (7 + 3 * GBT_GROUP_MAX),
               "records have no gaps");

/* ---- writing: once to count, once to copy ---- */

typedef struct byte_out {
  uint8_t *bytes; /* NULL: count alone */
  uint64_t n;
} byte_out;

static void put(byte_out *o, const void *from, uint64_t n, uint64_t size) {
  const uint64_t bytes = n * size;
  if (o->bytes != NULL && bytes > 0) memcpy(o->bytes + o->n, from, (size_t)bytes);
  o->n += align8(bytes);
}

/* Texts are put one behind the other; align_texts ends them. */
static void put_text(byte_out *o, const char *text) {
  const size_t n = strlen(text) + 1;
  if (o->bytes != NULL) memcpy(o->bytes + o->n, text, n);
  o->n += n;
}

static void put_layout(byte_out *o, const gbt_layout *l) {
  put(o, l->group, (uint64_t)l->n_groups, sizeof *l->group);
  put(o, l->strip_beg, (uint64_t)l->n_strips + 1, sizeof *l->strip_beg);
  put(o, l->place, (uint64_t)l->n_features, sizeof *l->place);
  put(o, l->sparse_feat, (uint64_t)l->n_sparse, sizeof *l->sparse_feat);
  put(o, l->bundle_beg, (uint64_t)l->n_bundles + 1, sizeof *l->bundle_beg);
  put(o, l->bundle_feat, (uint64_t)l->bundle_beg[l->n_bundles], sizeof *l->bundle_feat);
}

static void put_schema(byte_out *o, const gbt_schema *schema) {
  for (int32_t c = 0; c < schema->n_columns; c++) {
    const column_record record = {(uint32_t)schema->col[c].type, schema->col[c].n_levels};
    put(o, &record, 1, sizeof record);
  }
  for (int32_t c = 0; c < schema->n_columns; c++) {
    put_text(o, schema->col[c].name);
    put_text(o, schema->col[c].tag);
    for (int32_t i = 0; i < schema->col[c].n_levels; i++) put_text(o, schema->col[c].levels[i]);
  }
  o->n = align8(o->n);
  for (int32_t f = 0; f < schema->n_features; f++) {
    const feature_record record = {(uint32_t)schema->feat[f].kind, schema->feat[f].col};
    put(o, &record, 1, sizeof record);
  }
  for (int32_t f = 0; f < schema->n_features; f++)
    if (schema->feat[f].kind == GBT_FEATURE_LEVEL_COUNT)
      put(o, schema->feat[f].value, (uint64_t)schema->col[schema->feat[f].col].n_levels, sizeof(double));
}

static void put_cuts(byte_out *o, const gbt_cuts *cuts) {
  for (int32_t f = 0; f < cuts->n_features; f++) {
    const gbt_feature_cuts *from = &cuts->feat[f];
    const cuts_record record = {from->n_filled, from->n_bins, from->has_missing, from->zero_bin, from->onehot};
    put(o, &record, 1, sizeof record);
  }
  for (int32_t f = 0; f < cuts->n_features; f++)
    if (cuts->feat[f].cut != NULL) put(o, cuts->feat[f].cut, (uint64_t)cuts->feat[f].n_bins, sizeof(double));
}

static void put_known(byte_out *o, const gbti_page_info *info, const gbt_schema *schema) {
  put(o, info->n_unseen, (uint64_t)schema->n_columns, sizeof *info->n_unseen);
  if (info->unseen_beg != NULL) {
    const uint64_t n = info->unseen_beg[info->layout.n_features];
    for (int32_t f = 0; f <= info->layout.n_features; f++) {
      const uint64_t beg = info->unseen_beg[f];
      put(o, &beg, 1, sizeof beg);
    }
    put(o, info->unseen_row, n, sizeof *info->unseen_row);
  }
  for (int32_t f = 0; info->level_id != NULL && f < info->layout.n_features; f++)
    if (info->level_id[f] != NULL) put(o, info->level_id[f], (uint64_t)info->n_rows, sizeof **info->level_id);
}

static void put_all(byte_out *o, const gbt_dataset *ds, const gbti_page_record *record, int32_t n_files,
                    gbti_note note) {
  const gbti_page_info *info = &ds->pages->info;
  const gbt_layout *l = &info->layout;
  const gbt_schema *schema = ds->cuts->schema;
  const uint64_t n_unseen = info->unseen_beg != NULL ? info->unseen_beg[l->n_features] : 0;
  const int64_t number[N_NUMBERS] = {[N_ROWS] = info->n_rows,
                                     [PAGE_ROWS] = info->page_rows,
                                     [N_PAGES] = info->n_pages,
                                     [N_ENTRIES] = info->n_entries,
                                     [PAGE_BYTES] = (int64_t)info->bytes,
                                     [N_FEATURES] = l->n_features,
                                     [N_GROUPS] = l->n_groups,
                                     [N_STRIPS] = l->n_strips,
                                     [N_SPARSE] = l->n_sparse,
                                     [N_BUNDLES] = l->n_bundles,
                                     [N_MEMBERS] = l->bundle_beg[l->n_bundles],
                                     [DERIVED] = l->derived,
                                     [SPARSE_SLOT] = l->sparse_slot,
                                     [N_SLOTS] = l->n_slots,
                                     [N_COLUMNS] = schema->n_columns,
                                     [CUT_ROWS] = ds->cuts->n_rows,
                                     [ABSENT_MISSING] = ds->cuts->absent_missing,
                                     [N_UNSEEN] = (int64_t)n_unseen,
                                     [HAS_UNSEEN] = info->unseen_beg != NULL,
                                     [N_NOTE] = (int64_t)note.n,
                                     [N_FILES] = n_files};
  o->n = sizeof(gbti_disk_head);
  put(o, number, N_NUMBERS, sizeof *number);
  put_layout(o, l);
  put_schema(o, schema);
  put_cuts(o, ds->cuts);
  put_known(o, info, schema);
  put(o, record, (uint64_t)info->n_pages, sizeof *record);
  put(o, note.bytes, note.n, 1);
}

gbt_status gbti_index_write(const gbt_mem *mem, const gbt_dataset *ds, const gbti_page_record *record, uint64_t id,
                            int32_t n_files, gbti_note note, uint8_t **bytes, size_t *n_bytes, gbt_error *err) {
  gbti_disk_head head = {.version = GBTI_DISK_VERSION, .id = id};
  byte_out o = {NULL, 0};
  *bytes = NULL;
  GBT_ASSERT(ds->n_variants == 1 && ds->rows.table_row == NULL && gbt_schema_n_tables(ds->cuts->schema) == 0);
  put_all(&o, ds, record, n_files, note);
  *n_bytes = (size_t)o.n;
  GBT_TRY(gbt_mem_zeros(mem, *n_bytes, 1, &o.bytes, err));
  put_all(&o, ds, record, n_files, note);
  GBT_ASSERT(o.n == *n_bytes);
  memcpy(head.magic, GBTI_DISK_MAGIC, sizeof head.magic);
  head.n_bytes = o.n;
  head.checksum = gbt_checksum(o.bytes + sizeof head, o.n - sizeof head);
  memcpy(o.bytes, &head, sizeof head);
  *bytes = o.bytes;
  return GBT_OK;
}

/* ---- reading ---- */

typedef struct byte_in {
  gbt_ctx *ctx;
  const uint8_t *bytes;
  uint64_t n, at;
  const char *path;
  gbti_index *index;
  gbt_error *err;
} byte_in;

static gbt_status damaged(const byte_in *i, const char *what) {
  return gbt_fail_on(i->err, GBT_E_FORMAT, i->path, "\"%s\" is damaged: %s; make the data set again", i->path, what);
}

/* The next n records, where they lie; NULL after a failure, which is GBT_E_FORMAT. */
static const void *take(byte_in *i, uint64_t n, uint64_t size) {
  const uint64_t left = i->n - i->at;
  const uint8_t *from = i->bytes + i->at;
  if (n > left / size || align8(n * size) > left) {
    (void)damaged(i, "it is too short for what it says");
    return NULL;
  }
  i->at += align8(n * size);
  return from;
}

/* A copy of them: to points to the pointer. */
static gbt_status copy(byte_in *i, uint64_t n, uint64_t size, void *to) {
  const void *from = take(i, n, size);
  void *block;
  if (from == NULL) return GBT_E_FORMAT;
  GBT_TRY(gbt_mem_array(&i->ctx->mem, (size_t)n, (size_t)size, &block, i->err));
  if (n > 0) memcpy(block, from, (size_t)(n * size));
  memcpy(to, &block, sizeof block);
  return GBT_OK;
}

static gbt_status take_text(byte_in *i, const char **text) {
  const uint64_t left = i->n - i->at;
  const char *from = (const char *)i->bytes + i->at, *end = left > 0 ? memchr(from, 0, (size_t)left) : NULL;
  if (end == NULL) return damaged(i, "a text has no end");
  *text = from;
  i->at += (uint64_t)(end - from) + 1;
  return GBT_OK;
}

static gbt_status read_head(byte_in *i) {
  gbti_disk_head head;
  if (i->n < sizeof head || memcmp(i->bytes, GBTI_DISK_MAGIC, sizeof head.magic) != 0)
    return gbt_fail_on(i->err, GBT_E_FORMAT, i->path, "\"%s\" is no data set of gbt", i->path);
  memcpy(&head, i->bytes, sizeof head);
  if (head.version != GBTI_DISK_VERSION)
    return gbt_fail_on(i->err, GBT_E_FORMAT, i->path,
                       "\"%s\" has format version %lu, this gbt reads version %lu; make the data set again", i->path,
                       (unsigned long)head.version, (unsigned long)GBTI_DISK_VERSION);
  if (head.zero != 0 || head.n_bytes != i->n || i->n % 8 != 0)
    return damaged(i, "it is cut short, or followed by foreign bytes");
  if (gbt_checksum(i->bytes + sizeof head, i->n - sizeof head) != head.checksum)
    return damaged(i, "its checksum does not match");
  i->at = sizeof head;
  i->index->id = head.id;
  return GBT_OK;
}

/* The numbers that sizes depend on are not negative and fit. */
static int good_numbers(const int64_t number[N_NUMBERS]) {
  for (int k = 0; k < N_NUMBERS; k++)
    if (number[k] < 0 || (k != N_ROWS && k != N_ENTRIES && k != PAGE_BYTES && k != CUT_ROWS && k != N_NOTE &&
                          number[k] > INT32_MAX && k != SPARSE_SLOT && k != N_SLOTS && k != N_UNSEEN))
      return 0;
  if (number[N_FILES] < 1 || number[N_FILES] > GBT_MAX_FOLDERS) return 0;
  if (number[N_ROWS] >= UINT32_MAX || number[CUT_ROWS] >= UINT32_MAX) return 0;
  if (number[N_COLUMNS] == 0 || number[PAGE_ROWS] == 0) return 0;
  if (number[SPARSE_SLOT] > UINT32_MAX || number[N_SLOTS] > UINT32_MAX) return 0;
  const int64_t pages = number[N_ROWS] / number[PAGE_ROWS] + (number[N_ROWS] % number[PAGE_ROWS] > 0);
  return pages == number[N_PAGES] && number[HAS_UNSEEN] <= 1 && number[ABSENT_MISSING] <= 1;
}

static gbt_status read_layout(byte_in *i, const int64_t number[N_NUMBERS], gbt_layout *l) {
  l->n_features = (int32_t)number[N_FEATURES];
  l->n_groups = (int32_t)number[N_GROUPS];
  l->n_strips = (int32_t)number[N_STRIPS];
  l->n_sparse = (int32_t)number[N_SPARSE];
  l->n_bundles = (int32_t)number[N_BUNDLES];
  l->derived = (int32_t)number[DERIVED];
  l->sparse_slot = (uint32_t)number[SPARSE_SLOT];
  l->n_slots = (uint32_t)number[N_SLOTS];
  GBT_TRY(copy(i, (uint64_t)l->n_groups, sizeof *l->group, &l->group));
  GBT_TRY(copy(i, (uint64_t)l->n_strips + 1, sizeof *l->strip_beg, &l->strip_beg));
  GBT_TRY(copy(i, (uint64_t)l->n_features, sizeof *l->place, &l->place));
  GBT_TRY(copy(i, (uint64_t)l->n_sparse, sizeof *l->sparse_feat, &l->sparse_feat));
  GBT_TRY(copy(i, (uint64_t)l->n_bundles + 1, sizeof *l->bundle_beg, &l->bundle_beg));
  return copy(i, (uint64_t)number[N_MEMBERS], sizeof *l->bundle_feat, &l->bundle_feat);
}

/* Columns and features; block: room for what lives as long as the call. */
typedef struct columns {
  gbt_schema_column *col;
  gbt_feature *feat;
  const char **level;
} columns;

static gbt_status read_columns(byte_in *i, int32_t n_cols, int32_t n_feats, columns *to) {
  const gbt_mem *mem = &i->ctx->mem;
  const column_record *record;
  uint64_t n_levels = 0;
  record = take(i, (uint64_t)n_cols, sizeof *record);
  if (record == NULL) return GBT_E_FORMAT;
  for (int32_t c = 0; c < n_cols; c++) {
    if (record[c].type > GBT_ORDINAL || record[c].n_levels < 0 ||
        (record[c].type == GBT_NUMERIC && record[c].n_levels > 0))
      return damaged(i, "a column has a fault");
    n_levels += (uint64_t)record[c].n_levels;
  }
  if (n_levels > i->n) return damaged(i, "a column has too many levels");
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_cols, sizeof *to->col, &to->col, i->err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_feats, sizeof *to->feat, &to->feat, i->err));
  GBT_TRY(gbt_mem_array(mem, (size_t)n_levels, sizeof *to->level, &to->level, i->err));
  const char **level = to->level;
  for (int32_t c = 0; c < n_cols; c++) {
    gbt_schema_column *col = &to->col[c];
    col->type = (gbt_feature_type)record[c].type;
    col->n_levels = record[c].n_levels;
    col->levels = col->n_levels > 0 ? level : NULL;
    GBT_TRY(take_text(i, &col->name));
    GBT_TRY(take_text(i, &col->tag));
    for (int32_t k = 0; k < col->n_levels; k++) GBT_TRY(take_text(i, level++));
    GBT_TRY(gbt_ctx_poll(i->ctx, i->err));
  }
  i->at = align8(i->at);
  return GBT_OK;
}

static gbt_status read_features(byte_in *i, int32_t n_cols, int32_t n_feats, const columns *to) {
  const feature_record *record;
  record = take(i, (uint64_t)n_feats, sizeof *record);
  if (record == NULL) return GBT_E_FORMAT;
  for (int32_t f = 0; f < n_feats; f++) {
    const int known = record[f].kind == GBT_FEATURE_COLUMN || record[f].kind == GBT_FEATURE_LEVEL_COUNT;
    if (!known || record[f].col < 0 || record[f].col >= n_cols) return damaged(i, "a feature has a fault");
    to->feat[f].kind = (gbt_feature_kind)record[f].kind;
    to->feat[f].col = record[f].col;
  }
  for (int32_t f = 0; f < n_feats; f++) {
    if (to->feat[f].kind != GBT_FEATURE_LEVEL_COUNT) continue;
    to->feat[f].value = take(i, (uint64_t)to->col[to->feat[f].col].n_levels, sizeof(double));
    if (to->feat[f].value == NULL) return GBT_E_FORMAT;
  }
  return GBT_OK;
}

/* What is wrong with names, levels or features is damage as well. */
static gbt_status name_fault(const byte_in *i, gbt_status status) {
  char what[sizeof i->err->msg] = "its columns have a fault";
  if (status != GBT_E_DATA && status != GBT_E_INTERNAL) return status;
  if (i->err != NULL) memcpy(what, i->err->msg, sizeof what);
  return damaged(i, what);
}

static gbt_status read_schema(byte_in *i, const int64_t number[N_NUMBERS], gbt_schema **out) {
  const gbt_mem *mem = &i->ctx->mem;
  const int32_t n_cols = (int32_t)number[N_COLUMNS], n_feats = (int32_t)number[N_FEATURES];
  columns to = {NULL, NULL, NULL};
  gbt_status status;
  GBT_TRY_GOTO(read_columns(i, n_cols, n_feats, &to), done);
  GBT_TRY_GOTO(read_features(i, n_cols, n_feats, &to), done);
  status = name_fault(i, gbt_schema_new_mapped(mem, i->ctx, n_cols, to.col, n_feats, to.feat, out, i->err));
done:
  gbt_mem_free(mem, to.col);
  gbt_mem_free(mem, to.feat);
  gbt_mem_free(mem, to.level);
  return status;
}

static gbt_status read_cuts(byte_in *i, const int64_t number[N_NUMBERS]) {
  const gbt_mem *mem = &i->ctx->mem;
  const cuts_record *record;
  gbt_cuts *cuts;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *cuts, &cuts, i->err));
  i->index->cuts = cuts;
  cuts->refs = 1;
  cuts->mem = *mem;
  cuts->n_rows = number[CUT_ROWS];
  cuts->absent_missing = (int)number[ABSENT_MISSING];
  GBT_TRY(read_schema(i, number, &cuts->schema));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)number[N_FEATURES], sizeof *cuts->feat, &cuts->feat, i->err));
  cuts->n_features = (int32_t)number[N_FEATURES];
  record = take(i, (uint64_t)cuts->n_features, sizeof *record);
  if (record == NULL) return GBT_E_FORMAT;
  for (int32_t f = 0; f < cuts->n_features; f++) {
    if (record[f].n_bins < 1) return damaged(i, "cuts have a fault");
    cuts->feat[f] = (gbt_feature_cuts){.n_bins = record[f].n_bins,
                                       .has_missing = record[f].has_missing,
                                       .zero_bin = record[f].zero_bin,
                                       .n_filled = record[f].n_filled,
                                       .onehot = record[f].onehot};
  }
  for (int32_t f = 0; f < cuts->n_features; f++)
    if (cuts->schema->feat[f].type != GBT_CATEGORICAL)
      GBT_TRY(copy(i, (uint64_t)cuts->feat[f].n_bins, sizeof(double), (void *)&cuts->feat[f].cut));
  return GBT_OK;
}

static gbt_status read_known(byte_in *i, const int64_t number[N_NUMBERS]) {
  const gbt_mem *mem = &i->ctx->mem;
  gbti_page_info *info = &i->index->info;
  const gbt_schema *schema = i->index->cuts->schema;
  const size_t n_feats = (size_t)number[N_FEATURES];
  GBT_TRY(copy(i, (uint64_t)number[N_COLUMNS], sizeof *info->n_unseen, &info->n_unseen));
  if (number[HAS_UNSEEN]) {
    const uint64_t *beg;
    beg = take(i, n_feats + 1, sizeof *beg);
    if (beg == NULL) return GBT_E_FORMAT;
    GBT_TRY(gbt_mem_array(mem, n_feats + 1, sizeof *info->unseen_beg, &info->unseen_beg, i->err));
    for (size_t f = 0; f <= n_feats; f++) info->unseen_beg[f] = (size_t)beg[f];
    GBT_TRY(copy(i, (uint64_t)number[N_UNSEEN], sizeof *info->unseen_row, &info->unseen_row));
  }
  for (size_t f = 0; f < n_feats; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (feat->type != GBT_CATEGORICAL || schema->col[feat->col].n_levels <= GBT_MAX_LEVELS) continue;
    if (info->level_id == NULL) GBT_TRY(gbt_mem_zeros(mem, n_feats, sizeof *info->level_id, &info->level_id, i->err));
    GBT_TRY(copy(i, (uint64_t)info->n_rows, sizeof **info->level_id, &info->level_id[f]));
  }
  return GBT_OK;
}

/* Everything that is read is checked to be in bounds, by the rules of data/check.h. */
static gbt_status check_parts(const byte_in *i, const int64_t number[N_NUMBERS]) {
  const gbti_index *index = i->index;
  const char *fault = gbti_cuts_fault(index->cuts);
  if (fault == NULL)
    GBT_TRY(gbti_layout_fault(&i->ctx->mem, &index->info.layout, (int32_t)number[N_MEMBERS], index->cuts, &fault,
                              i->err));
  if (fault == NULL) fault = gbti_known_fault(&index->info, (size_t)number[N_UNSEEN], index->cuts->schema);
  return fault == NULL ? GBT_OK : damaged(i, fault);
}

/* Pages stand one behind the other in their files, each as long as the layout says. */
static gbt_status check_records(const byte_in *i) {
  const gbti_index *index = i->index;
  const gbti_page_info *info = &index->info;
  uint64_t n_entries = 0;
  for (int32_t p = 0; p < info->n_pages; p++) {
    const gbti_page_record *record = &index->record[p], *before = p < index->n_files ? NULL : record - index->n_files;
    const int64_t left = info->n_rows - (int64_t)p * info->page_rows;
    const int32_t n_rows = left < info->page_rows ? (int32_t)left : info->page_rows;
    const uint64_t at = before == NULL ? 0 : before->beg + gbti_record_room(before);
    if (record->n_entries > (info->layout.n_sparse > 0 ? UINT32_MAX : 0) || record->beg != at ||
        record->bytes != gbti_page_bytes(&info->layout, n_rows, record->n_entries))
      return damaged(i, "a page is not where it must be");
    if (record->codec > INT32_MAX || gbt_codec_name((int)record->codec) == NULL || record->stored > record->bytes ||
        (record->codec == GBT_CODEC_NONE && record->stored != record->bytes))
      return damaged(i, "a page has a fault");
    n_entries += record->n_entries;
  }
  if (n_entries != (uint64_t)info->n_entries) return damaged(i, "its lists have a fault");
  return info->bytes == gbti_known_bytes(info) ? GBT_OK : damaged(i, "its pages are not as large as it says");
}

/* This build can unpack them. */
static gbt_status check_codecs(const byte_in *i) {
  char what[1200];
  snprintf(what, sizeof what, "\"%.1000s\" is of a data set whose pages are packed by", i->path);
  for (int32_t p = 0; p < i->index->info.n_pages; p++)
    GBT_TRY(gbti_codec_need((gbt_codec)i->index->record[p].codec, i->path, what, i->err));
  return GBT_OK;
}

gbt_status gbti_index_read(gbt_ctx *ctx, const uint8_t *bytes, size_t n_bytes, const char *path, gbti_index *out,
                           gbt_error *err) {
  byte_in i = {.ctx = ctx, .bytes = bytes, .n = n_bytes, .path = path, .index = out, .err = err};
  const int64_t *number;
  memset(out, 0, sizeof *out);
  GBT_TRY(read_head(&i));
  number = take(&i, N_NUMBERS, sizeof *number);
  if (number == NULL) return GBT_E_FORMAT;
  if (!good_numbers(number)) return damaged(&i, "its numbers have a fault");
  out->info.n_rows = number[N_ROWS];
  out->info.page_rows = (int32_t)number[PAGE_ROWS];
  out->info.n_pages = (int32_t)number[N_PAGES];
  out->info.n_entries = number[N_ENTRIES];
  out->info.bytes = (size_t)number[PAGE_BYTES];
  out->n_files = (int32_t)number[N_FILES];
  GBT_TRY(read_layout(&i, number, &out->info.layout));
  GBT_TRY(read_cuts(&i, number));
  GBT_TRY(read_known(&i, number));
  GBT_TRY(copy(&i, (uint64_t)out->info.n_pages, sizeof *out->record, &out->record));
  out->note.n = (size_t)number[N_NOTE];
  out->note.bytes = take(&i, (uint64_t)number[N_NOTE], 1);
  if (out->note.bytes == NULL) return GBT_E_FORMAT;
  if (i.at != i.n) return damaged(&i, "foreign bytes follow");
  GBT_TRY(check_parts(&i, number));
  GBT_TRY(check_records(&i));
  return check_codecs(&i);
}

void gbti_index_free(const gbt_mem *mem, gbti_index *index) {
  gbti_pages pages = {.mem = *mem, .info = index->info};
  gbti_pages_free(&pages);
  gbt_mem_free(mem, index->record);
  gbt_cuts_unref(index->cuts);
  memset(index, 0, sizeof *index);
}
