#include "forged.h"

#include "../../src/gbt/base/checksum.h"
#include "../../src/gbt/base/file.h"
#include "../../src/gbt/disk/page_bytes.h"
#include "port.h"

static blob read_file(const char *path) {
  blob b = {NULL, 0};
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    CHECK(0 && "a file cannot be read");
    return (blob){test_alloc(1), 0};
  }
  fseek(f, 0, SEEK_END);
  b.n = (size_t)ftell(f);
  rewind(f);
  b.bytes = test_alloc(b.n + 1);
  CHECK(fread(b.bytes, 1, b.n, f) == b.n);
  fclose(f);
  return b;
}

void blob_write(const char *path, blob b) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(b.bytes, 1, b.n, f) != b.n) CHECK(0 && "a file cannot be written");
  if (f != NULL) fclose(f);
}

blob blob_copy(blob from) {
  const blob b = {test_alloc(from.n + 1), from.n};
  memcpy(b.bytes, from.bytes, from.n);
  return b;
}

void forged_seal(blob index) {
  gbti_model_head head;
  memcpy(&head, index.bytes, sizeof head);
  head.checksum = gbt_checksum(index.bytes + sizeof head, index.n - sizeof head);
  memcpy(index.bytes, &head, sizeof head);
}

/* Where the index has the record of a page: records come last but for the note and the fingerprint. */
static uint8_t *record_at(const forged *s, blob index, int32_t p) {
  const size_t n = (size_t)(gbt_pages_n_pages(s->ds->pages) - p) * sizeof *s->record;
  return index.bytes + index.n - 8 - 8 - n;
}

/* The table of a kind: columns of all types, lists and bundles, codes of 16 bits, levels that a reference does not know
 * with counts of levels, few rows a page. */
static made *made_kind_of(int kind, gbt_dataset_spec *spec) {
  static const made_kind all[] = {MADE_FEW,    MADE_FACTOR,  MADE_BELL,  MADE_ZEROS, MADE_HOLED,  MADE_LEVELS,
                                  MADE_HOLES,  MADE_ORDERED, MADE_ZEROS, MADE_FEW,   MADE_NOTHING},
                         zeros[] = {MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS,
                                    MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS,
                                    MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS, MADE_ZEROS,
                                    MADE_ZEROS, MADE_ZEROS, MADE_BELL,  MADE_FEW,   MADE_ZEROS, MADE_ZEROS},
                         wide[] = {MADE_BELL, MADE_FEW, MADE_HOLES, MADE_LEVELS},
                         levels[] = {MADE_LEVELS, MADE_HOLED, MADE_BELL};
  *spec = (gbt_dataset_spec){.max_bin = 16, .page_rows = kind == 4 ? 7 : 90};
  if (kind == 0) return made_new(3, 300, 11, all);
  if (kind == 1) {
    made *m = made_new(4, 600, 24, zeros);
    made_fields(m, 2, 9, 40, 5);
    return m;
  }
  spec->max_bin = kind == 2 ? 600 : 16;
  if (kind == 2) return made_new(6, 700, 4, wide);
  made *m = made_new(7, kind == 4 ? 60 : 260, 3, levels);
  made_counts(m);
  return m;
}

/* The data set in the folder. Kind 3 has a reference that does not know all levels. */
static gbt_status write_folder(forged *s, int kind, gbt_codec codec, gbt_error *err) {
  const gbt_folders folders = {&s->path, 1};
  gbt_dataset *reference = NULL;
  gbt_dataset_spec spec;
  gbt_disk_writer *writer;
  made *few = NULL;
  s->m = made_kind_of(kind, &spec);
  made_response(s->m, GBT_OBJ_LOGISTIC, 1, 9);
  spec.table = &s->m->table;
  if (kind == 3) {
    const int64_t rows[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    few = made_rows(s->m, rows, 12);
    const gbt_dataset_spec own = {.table = &few->table, .max_bin = 16};
    GBT_TRY(gbt_dataset_make(&s->ctx, &own, &reference, err));
    spec.reference = reference;
    spec.unseen = GBT_UNSEEN_PRIOR;
  }
  gbt_status status = gbt_disk_writer_new(&s->ctx, folders, codec, &writer, err);
  if (status == GBT_OK) {
    spec.sink = gbt_disk_writer_sink(writer, 0);
    status = gbt_dataset_make(&s->ctx, &spec, &s->ds, err);
    if (status == GBT_OK) status = gbt_disk_writer_finish(&s->ctx, writer, s->ds, "note", FORGED_NOTE, err);
    gbt_disk_writer_free(writer);
  }
  gbt_dataset_unref(reference);
  made_free(few);
  return status;
}

int forged_open(forged *s, int kind, gbt_codec codec) {
  gbti_index index;
  char name[GBTI_PAGES_NAME];
  memset(s, 0, sizeof *s);
  s->before = stores_use(STORE_MEMORY);
  s->ctx = test_ctx(NULL, 2);
  port_temp_path(s->folder, "forged");
  s->path = s->folder;
  if (!CHECK_OK(write_folder(s, kind, codec, test_err))) return 0;
  snprintf(s->index_path, sizeof s->index_path, "%s/%s", s->folder, GBTI_DISK_INDEX);
  s->index = read_file(s->index_path);
  if (!CHECK_OK(gbti_index_read(&s->ctx, s->index.bytes, s->index.n, s->index_path, &index, test_err))) return 0;
  s->id = index.id;
  gbti_index_free(&s->ctx.mem, &index);
  gbti_pages_name(s->id, 0, 1, name);
  snprintf(s->pages_path, sizeof s->pages_path, "%s/%.64s", s->folder, name);
  s->pages = read_file(s->pages_path);
  const size_t n = (size_t)gbt_pages_n_pages(s->ds->pages) * sizeof *s->record;
  s->record = test_alloc(n);
  memcpy(s->record, gbti_file_store_records(s->ds->pages), n);
  return CHECK(memcmp(record_at(s, s->index, 0), s->record, n) == 0);
}

void forged_close(forged *s) {
  gbt_dataset_unref(s->ds);
  gbt_file_remove(s->index_path);
  gbt_file_remove(s->pages_path);
  port_remove_folder(s->folder);
  free(s->index.bytes);
  free(s->pages.bytes);
  free(s->record);
  made_free(s->m);
  gbt_ctx_close(&s->ctx);
  stores_use(s->before);
}

static int32_t rows_of(const forged *s, int32_t page) {
  const int64_t left = gbt_pages_n_rows(s->ds->pages) - (int64_t)page * gbt_pages_page_rows(s->ds->pages);
  return left < gbt_pages_page_rows(s->ds->pages) ? (int32_t)left : gbt_pages_page_rows(s->ds->pages);
}

blob forged_unpack(const forged *s, int32_t page) {
  const gbti_page_record *record = &s->record[page];
  const blob b = {test_alloc((size_t)record->bytes + 1), (size_t)record->bytes};
  if (record->codec == GBT_CODEC_NONE) {
    memcpy(b.bytes, s->pages.bytes + record->beg, b.n);
    return b;
  }
  uint8_t *by_columns = test_alloc(b.n + 1);
  CHECK(gbti_codec_unpack((gbt_codec)record->codec, s->pages.bytes + record->beg, (size_t)record->stored, by_columns,
                          b.n));
  gbti_page_by_rows(gbt_pages_layout(s->ds->pages), rows_of(s, page), b.n, by_columns, b.bytes);
  free(by_columns);
  return b;
}

/* Packs the bytes of a page, where that makes them fewer. */
static void pack(const forged *s, int32_t page, blob b, gbti_page_record *record) {
  uint8_t *by_columns = test_alloc(b.n + 1), *packed = test_alloc(b.n + 1);
  gbti_page_by_columns(gbt_pages_layout(s->ds->pages), rows_of(s, page), b.n, b.bytes, by_columns);
  const size_t n = gbti_codec_pack((gbt_codec)s->record[page].codec, by_columns, b.n, packed, b.n);
  if (n > 0) {
    memcpy(b.bytes, packed, n);
    record->stored = n;
    record->codec = s->record[page].codec;
  }
  free(by_columns);
  free(packed);
}

void forged_put(const forged *s, int32_t page, blob bytes, blob index) {
  size_t most = 0;
  for (int32_t p = 0; p < gbt_pages_n_pages(s->ds->pages); p++) most += (size_t)s->record[p].bytes + 8;
  blob pages = {test_alloc(most + 1), 0};
  for (int32_t p = 0; p < gbt_pages_n_pages(s->ds->pages); p++) {
    gbti_page_record record = s->record[p];
    blob own = p == page ? blob_copy(bytes) : forged_unpack(s, p);
    record.beg = pages.n;
    record.stored = own.n;
    record.codec = GBT_CODEC_NONE;
    if (p == page && s->record[p].codec != GBT_CODEC_NONE) pack(s, p, own, &record);
    const size_t room = (size_t)gbti_record_room(&record);
    memset(pages.bytes + pages.n, 0, room);
    memcpy(pages.bytes + pages.n, own.bytes, (size_t)record.stored);
    record.checksum = gbt_checksum(pages.bytes + pages.n, room);
    memcpy(record_at(s, index, p), &record, sizeof record);
    pages.n += room;
    free(own.bytes);
  }
  forged_seal(index);
  blob_write(s->index_path, index);
  blob_write(s->pages_path, pages);
  free(pages.bytes);
}

gbt_codec forged_codec(void) {
  return gbt_codec_is_here(GBT_CODEC_ZSTD) ? GBT_CODEC_ZSTD : gbt_codec_is_here(GBT_CODEC_LZ4) ? GBT_CODEC_LZ4
                                                                                                : GBT_CODEC_NONE;
}
