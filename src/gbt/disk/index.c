#include "index.h"

#include <stdio.h>
#include <string.h>

#include "../base/parallel.h"
#include "../bytes/sections.h"
#include "../data/check.h"
#include "../data/page_impl.h"
#include "page_bytes.h"

void gbti_pages_name(uint64_t id, int32_t file, int32_t n_files, char out[GBTI_PAGES_NAME]) {
  if (n_files == 1)
    snprintf(out, GBTI_PAGES_NAME, "pages-%016llx.bin", (unsigned long long)id);
  else
    snprintf(out, GBTI_PAGES_NAME, "pages-%016llx-%dof%d.bin", (unsigned long long)id, (int)file + 1, (int)n_files);
}

/* Reads a number in this base with at most `most` digits; moves *at past them. */
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

/* ---- writing ---- */

typedef struct to_write {
  const gbt_dataset *ds;
  const gbti_page_record *record;
  uint64_t id;
  int32_t n_files;
  gbti_note note;
} to_write;

static gbt_status measure_data(gbti_writer *w) {
  const to_write *from = w->arg;
  const gbti_page_info *info = &from->ds->pages->info;
  const gbt_layout *l = &info->layout;
  w->n[GBTI_SEC_DATA] = 1;
  w->n[GBTI_SEC_GROUPS] = (uint64_t)l->n_groups;
  w->n[GBTI_SEC_STRIPS] = (uint64_t)l->n_strips + 1;
  w->n[GBTI_SEC_PLACES] = (uint64_t)l->n_features;
  w->n[GBTI_SEC_LISTED] = (uint64_t)l->n_sparse;
  w->n[GBTI_SEC_BUNDLES] = (uint64_t)l->n_bundles + 1;
  w->n[GBTI_SEC_MEMBERS] = (uint64_t)l->bundle_beg[l->n_bundles];
  w->n[GBTI_SEC_UNSEEN] = (uint64_t)w->parts->schema->n_columns;
  if (info->unseen_beg != NULL) {
    w->n[GBTI_SEC_UNSEEN_BEG] = (uint64_t)l->n_features + 1;
    w->n[GBTI_SEC_UNSEEN_ROWS] = info->unseen_beg[l->n_features];
  }
  for (int32_t f = 0; info->level_id != NULL && f < l->n_features; f++)
    if (info->level_id[f] != NULL) w->n[GBTI_SEC_LEVEL_IDS] += (uint64_t)info->n_rows;
  w->n[GBTI_SEC_PAGES] = (uint64_t)info->n_pages;
  w->n[GBTI_SEC_NOTE] = from->note.n;
  w->n[GBTI_SEC_FINGERPRINT] = from->ds->fingerprint != 0;
  return GBT_OK;
}

/* A whole section. */
static void put(const gbti_writer *w, gbti_section_id id, const void *from) {
  gbti_copy(gbti_out(w, id), from, w->n[id] * gbti_sections[id].record);
}

static void put_data(gbti_writer *w) {
  const to_write *from = w->arg;
  const gbti_page_info *info = &from->ds->pages->info;
  const gbt_layout *l = &info->layout;
  const gbti_data_record data = {.id = from->id,
                                 .n_rows = info->n_rows,
                                 .n_entries = info->n_entries,
                                 .page_bytes = (int64_t)info->bytes,
                                 .cut_rows = w->cuts->n_rows,
                                 .page_rows = info->page_rows,
                                 .derived = l->derived,
                                 .absent_missing = w->cuts->absent_missing,
                                 .n_files = from->n_files,
                                 .sparse_slot = l->sparse_slot,
                                 .n_slots = l->n_slots};
  uint64_t *beg = gbti_out(w, GBTI_SEC_UNSEEN_BEG);
  uint32_t *id = gbti_out(w, GBTI_SEC_LEVEL_IDS);
  put(w, GBTI_SEC_DATA, &data);
  put(w, GBTI_SEC_GROUPS, l->group);
  put(w, GBTI_SEC_STRIPS, l->strip_beg);
  put(w, GBTI_SEC_PLACES, l->place);
  put(w, GBTI_SEC_LISTED, l->sparse_feat);
  put(w, GBTI_SEC_BUNDLES, l->bundle_beg);
  put(w, GBTI_SEC_MEMBERS, l->bundle_feat);
  put(w, GBTI_SEC_UNSEEN, info->n_unseen);
  for (uint64_t f = 0; f < w->n[GBTI_SEC_UNSEEN_BEG]; f++) beg[f] = info->unseen_beg[f];
  put(w, GBTI_SEC_UNSEEN_ROWS, info->unseen_row);
  for (int32_t f = 0; info->level_id != NULL && f < l->n_features; f++) {
    if (info->level_id[f] == NULL) continue;
    gbti_copy(id, info->level_id[f], (uint64_t)info->n_rows * sizeof *id);
    id += info->n_rows;
  }
  put(w, GBTI_SEC_PAGES, from->record);
  put(w, GBTI_SEC_NOTE, from->note.bytes);
  put(w, GBTI_SEC_FINGERPRINT, &from->ds->fingerprint);
}

/* ---- reading ---- */

/* A section of n records, copied: to points to the pointer. */
static gbt_status copy(const gbti_reader *r, gbti_section_id id, uint64_t n, void *to) {
  const uint64_t size = gbti_sections[id].record;
  void *block;
  if (r->n[id] != n) return gbti_damaged(r, "its sections do not belong together");
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, (size_t)size, &block, r->err));
  gbti_copy(block, r->at[id], n * size);
  memcpy(to, &block, sizeof block);
  return GBT_OK;
}

/* The numbers that sizes depend on are not negative and fit. */
static int good_numbers(const gbti_data_record *data) {
  const int64_t most_rows = (int64_t)UINT32_MAX - 1;
  if (data->n_rows < 0 || data->n_rows > most_rows || data->cut_rows < 0 || data->cut_rows > most_rows) return 0;
  if (data->n_entries < 0 || data->page_bytes < 0 || data->page_rows < 1 || data->derived < 0) return 0;
  if (data->n_files < 1 || data->n_files > GBT_MAX_FOLDERS || (data->absent_missing & ~1) != 0) return 0;
  return (data->n_rows + data->page_rows - 1) / data->page_rows <= INT32_MAX;
}

static gbt_status read_layout(const gbti_reader *r, const gbti_data_record *data, gbt_layout *l) {
  const gbti_section_id some[] = {GBTI_SEC_GROUPS, GBTI_SEC_STRIPS, GBTI_SEC_LISTED, GBTI_SEC_BUNDLES,
                                  GBTI_SEC_MEMBERS};
  for (size_t k = 0; k < sizeof some / sizeof *some; k++)
    if (r->n[some[k]] > INT32_MAX) return gbti_damaged(r, "its layout is invalid");
  if (r->n[GBTI_SEC_STRIPS] == 0 || r->n[GBTI_SEC_BUNDLES] == 0) return gbti_damaged(r, "its layout is invalid");
  l->n_features = r->schema->n_features;
  l->n_groups = (int32_t)r->n[GBTI_SEC_GROUPS];
  l->n_strips = (int32_t)r->n[GBTI_SEC_STRIPS] - 1;
  l->n_sparse = (int32_t)r->n[GBTI_SEC_LISTED];
  l->n_bundles = (int32_t)r->n[GBTI_SEC_BUNDLES] - 1;
  l->derived = data->derived;
  l->sparse_slot = data->sparse_slot;
  l->n_slots = data->n_slots;
  GBT_TRY(copy(r, GBTI_SEC_GROUPS, r->n[GBTI_SEC_GROUPS], &l->group));
  GBT_TRY(copy(r, GBTI_SEC_STRIPS, r->n[GBTI_SEC_STRIPS], &l->strip_beg));
  GBT_TRY(copy(r, GBTI_SEC_PLACES, (uint64_t)l->n_features, &l->place));
  GBT_TRY(copy(r, GBTI_SEC_LISTED, r->n[GBTI_SEC_LISTED], &l->sparse_feat));
  GBT_TRY(copy(r, GBTI_SEC_BUNDLES, r->n[GBTI_SEC_BUNDLES], &l->bundle_beg));
  return copy(r, GBTI_SEC_MEMBERS, r->n[GBTI_SEC_MEMBERS], &l->bundle_feat);
}

static gbt_status read_known(const gbti_reader *r, gbti_page_info *info) {
  const gbt_schema *schema = r->schema;
  const size_t n_feats = (size_t)schema->n_features;
  const uint64_t n_beg = r->n[GBTI_SEC_UNSEEN_BEG], *beg = r->at[GBTI_SEC_UNSEEN_BEG], n = (uint64_t)info->n_rows;
  const uint32_t *id = r->at[GBTI_SEC_LEVEL_IDS];
  uint64_t left = r->n[GBTI_SEC_LEVEL_IDS];
  GBT_TRY(copy(r, GBTI_SEC_UNSEEN, (uint64_t)schema->n_columns, &info->n_unseen));
  if (n_beg != 0 && n_beg != n_feats + 1) return gbti_damaged(r, "its unseen levels are invalid");
  if (n_beg > 0) {
    GBT_TRY(gbt_mem_array(&r->mem, n_feats + 1, sizeof *info->unseen_beg, &info->unseen_beg, r->err));
    for (size_t f = 0; f <= n_feats; f++) info->unseen_beg[f] = (size_t)beg[f];
    GBT_TRY(copy(r, GBTI_SEC_UNSEEN_ROWS, r->n[GBTI_SEC_UNSEEN_ROWS], &info->unseen_row));
  }
  for (size_t f = 0; f < n_feats; f++) {
    const gbt_feature *feat = &schema->feat[f];
    if (feat->type != GBT_CATEGORICAL || schema->col[feat->col].n_levels <= GBT_MAX_LEVELS) continue;
    if (n > left) return gbti_damaged(r, "a column lacks the levels of its rows");
    if (info->level_id == NULL)
      GBT_TRY(gbt_mem_zeros(&r->mem, n_feats, sizeof *info->level_id, &info->level_id, r->err));
    GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *id, &info->level_id[f], r->err));
    gbti_copy(info->level_id[f], id, n * sizeof *id);
    id += n;
    left -= n;
  }
  return left == 0 ? GBT_OK : gbti_damaged(r, "there are levels that belong to no column");
}

/* Everything that is read is checked to be in bounds, by the rules of data/check.h. */
static gbt_status check_parts(const gbti_reader *r, const gbti_index *index) {
  const char *fault = gbti_cuts_fault(r->cuts);
  if (fault == NULL)
    GBT_TRY(gbti_layout_fault(&r->mem, &index->info.layout, (int32_t)r->n[GBTI_SEC_MEMBERS], r->cuts, &fault, r->err));
  if (fault == NULL) fault = gbti_known_fault(&index->info, (size_t)r->n[GBTI_SEC_UNSEEN_ROWS], r->schema);
  return fault == NULL ? GBT_OK : gbti_damaged(r, fault);
}

/* Pages must follow each other without gaps in their files, each as long as the layout says. */
static gbt_status check_records(const gbti_reader *r) {
  const gbti_index *index = r->arg;
  const gbti_page_info *info = &index->info;
  uint64_t n_entries = 0;
  for (int32_t p = 0; p < info->n_pages; p++) {
    const gbti_page_record *record = &index->record[p], *before = p < index->n_files ? NULL : record - index->n_files;
    const int64_t left = info->n_rows - (int64_t)p * info->page_rows;
    const int32_t n_rows = left < info->page_rows ? (int32_t)left : info->page_rows;
    const uint64_t at = before == NULL ? 0 : before->beg + gbti_record_room(before);
    if (record->n_entries > (info->layout.n_sparse > 0 ? UINT32_MAX : 0) || record->beg != at ||
        record->bytes != gbti_page_bytes(&info->layout, n_rows, record->n_entries))
      return gbti_damaged(r, "a page is not where it must be");
    if (record->codec > INT32_MAX || gbt_codec_name((int)record->codec) == NULL || record->stored > record->bytes ||
        (record->codec == GBT_CODEC_NONE && record->stored != record->bytes))
      return gbti_damaged(r, "a page is invalid");
    n_entries += record->n_entries;
  }
  if (n_entries != (uint64_t)info->n_entries) return gbti_damaged(r, "its lists are invalid");
  return info->bytes == gbti_known_bytes(info) ? GBT_OK : gbti_damaged(r, "its pages are not as large as it says");
}

/* This build can unpack them. */
static gbt_status check_codecs(const gbti_reader *r) {
  char what[1200];
  const gbti_index *index = r->arg;
  snprintf(what, sizeof what, "the pages of the data set of \"%.1000s\" are packed by", r->path);
  for (int32_t p = 0; p < index->info.n_pages; p++)
    GBT_TRY(gbti_codec_need((gbt_codec)index->record[p].codec, r->path, what, r->err));
  return GBT_OK;
}

static gbt_status read_data(gbti_reader *r) {
  gbti_index *out = r->arg;
  const gbti_data_record *data = r->at[GBTI_SEC_DATA];
  if (r->n[GBTI_SEC_DATA] != 1 || !good_numbers(data)) return gbti_damaged(r, "its numbers are invalid");
  out->id = data->id;
  out->n_files = data->n_files;
  out->info.n_rows = data->n_rows;
  out->info.page_rows = data->page_rows;
  out->info.n_pages = (int32_t)((data->n_rows + data->page_rows - 1) / data->page_rows);
  out->info.n_entries = data->n_entries;
  out->info.bytes = (size_t)data->page_bytes;
  r->cuts->n_rows = data->cut_rows;
  r->cuts->absent_missing = data->absent_missing;
  GBT_TRY(read_layout(r, data, &out->info.layout));
  GBT_TRY(read_known(r, &out->info));
  GBT_TRY(copy(r, GBTI_SEC_PAGES, (uint64_t)out->info.n_pages, &out->record));
  if (r->n[GBTI_SEC_FINGERPRINT] > 1) return gbti_damaged(r, "its numbers are invalid");
  if (r->n[GBTI_SEC_FINGERPRINT] == 1) gbti_copy(&out->fingerprint, r->at[GBTI_SEC_FINGERPRINT], sizeof(uint64_t));
  out->note = (gbti_note){r->at[GBTI_SEC_NOTE], (size_t)r->n[GBTI_SEC_NOTE]};
  GBT_TRY(check_parts(r, out));
  GBT_TRY(check_records(r));
  return check_codecs(r);
}

static const gbti_part data_part = {measure_data, put_data, read_data};

static const gbti_kind kind = {
    .magic = GBTI_DISK_MAGIC,
    .version = GBTI_DISK_VERSION,
    .sealed = 1,
    .advice = "make the data set again",
    .sections = GBTI_HAS_SCHEMA | GBTI_HAS(CUTS) | GBTI_HAS(CUT_VALUES) | GBTI_HAS(DATA) | GBTI_HAS(GROUPS) |
                GBTI_HAS(STRIPS) | GBTI_HAS(PLACES) | GBTI_HAS(LISTED) | GBTI_HAS(BUNDLES) | GBTI_HAS(MEMBERS) |
                GBTI_HAS(UNSEEN) | GBTI_HAS(UNSEEN_BEG) | GBTI_HAS(UNSEEN_ROWS) | GBTI_HAS(LEVEL_IDS) |
                GBTI_HAS(PAGES) | GBTI_HAS(NOTE) | GBTI_HAS(FINGERPRINT),
    .part = {&gbti_part_schema, &gbti_part_features, &gbti_part_tables, &gbti_part_cuts, &data_part}};

gbt_status gbti_index_write(const gbt_mem *mem, const gbt_dataset *ds, const gbti_page_record *record, uint64_t id,
                            int32_t n_files, gbti_note note, uint8_t **bytes, size_t *n_bytes, gbt_error *err) {
  const to_write from = {ds, record, id, n_files, note};
  const gbti_contents parts = {.schema = ds->cuts->schema};
  gbti_writer w = {.mem = *mem, .parts = &parts, .cuts = ds->cuts, .arg = &from, .err = err};
  GBT_ASSERT(ds->n_variants == 1 && ds->rows.table_row == NULL && gbt_schema_n_tables(ds->cuts->schema) == 0);
  return gbti_sections_write(&kind, &w, bytes, n_bytes);
}

gbt_status gbti_index_read(gbt_ctx *ctx, const uint8_t *bytes, size_t n_bytes, const char *path, gbti_index *out,
                           gbt_error *err) {
  gbti_reader r = {.mem = ctx->mem, .ctx = ctx, .kind = &kind, .path = path, .arg = out, .copies = 1, .err = err};
  gbti_model_head head;
  memset(out, 0, sizeof *out);
  if (!gbti_head_of(&kind, bytes, n_bytes, &head))
    return gbt_fail_on(err, GBT_E_FORMAT, path, "\"%s\" is not a data set of gbt", path);
  if (head.version != kind.version)
    return gbt_fail_on(err, GBT_E_FORMAT, path, "\"%s\" has format version %lu, this gbt reads version %lu; %s", path,
                       (unsigned long)head.version, (unsigned long)kind.version, kind.advice);
  if (head.n_bytes != n_bytes || n_bytes < sizeof head)
    return gbti_damaged(&r, "it is cut short, or other bytes follow it");
  const gbt_status status = gbti_sections_read(&r, bytes, n_bytes);
  out->cuts = r.cuts;
  r.cuts = NULL;
  gbti_reader_drop(&r);
  return status;
}

void gbti_index_free(const gbt_mem *mem, gbti_index *index) {
  gbti_pages pages = {.mem = *mem, .info = index->info};
  gbti_pages_free(&pages);
  gbt_mem_free(mem, index->record);
  gbt_cuts_unref(index->cuts);
  memset(index, 0, sizeof *index);
}
