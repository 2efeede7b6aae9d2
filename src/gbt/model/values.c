#include "values.h"

#include <string.h>

#include "utf8.h"

#define MAGIC "gbtvalue"
enum { VERSION = 1 };

typedef struct values_head {
  char magic[8];
  uint64_t version, n_entries, n_bytes;
} values_head;

typedef struct entry_head {
  uint32_t kind, n_name; /* gbt_meta_kind; bytes of the name with its final zero */
  uint64_t n, n_bytes;   /* values; bytes of them */
} entry_head;

static uint64_t align8(uint64_t n) { return (n + 7) & ~(uint64_t)7; }

static uint64_t value_size(uint32_t kind) { return kind == GBT_META_DOUBLE ? 8 : 4; }

/* ---- writing ---- */

/* Where bytes go; NULL: they are counted. */
typedef struct byte_out {
  uint8_t *bytes;
  uint64_t n;
} byte_out;

static void put(byte_out *o, const void *from, uint64_t n) {
  if (o->bytes != NULL && n > 0) memcpy(o->bytes + o->n, from, (size_t)n);
  o->n += n;
}

static void put_texts(byte_out *o, const gbt_meta *entry) {
  for (int64_t i = 0; i < entry->n; i++) {
    const uint32_t size = entry->text[i] == NULL ? 0 : (uint32_t)strlen(entry->text[i]) + 1;
    put(o, &size, sizeof size);
  }
  for (int64_t i = 0; i < entry->n; i++)
    if (entry->text[i] != NULL) put(o, entry->text[i], strlen(entry->text[i]) + 1);
}

static void put_entry(byte_out *o, const gbt_meta *entry) {
  entry_head head = {(uint32_t)entry->kind, (uint32_t)strlen(entry->name) + 1, (uint64_t)entry->n, 0};
  const uint64_t at = o->n;
  put(o, &head, sizeof head);
  put(o, entry->name, head.n_name);
  o->n = align8(o->n);
  const uint64_t beg = o->n;
  if (entry->kind == GBT_META_DOUBLE) put(o, entry->num, head.n * 8);
  if (entry->kind == GBT_META_INT) put(o, entry->ints, head.n * 4);
  if (entry->kind == GBT_META_TEXT) put_texts(o, entry);
  head.n_bytes = o->n - beg;
  if (o->bytes != NULL) memcpy(o->bytes + at, &head, sizeof head);
  o->n = align8(o->n);
}

static uint64_t put_all(byte_out *o, const gbt_meta *entry, int32_t n) {
  o->n = sizeof(values_head);
  for (int32_t i = 0; i < n; i++) put_entry(o, &entry[i]);
  return o->n;
}

static gbt_status check_text(const char *text, const char *name, gbt_error *err) {
  const size_t n = strlen(text);
  if (n >= UINT32_MAX) return gbt_fail_on(err, GBT_E_ARG, name, "`%s` holds a text of 4 GB or more", name);
  if (gbti_utf8_ok(text, n)) return GBT_OK;
  return gbt_fail_on(err, GBT_E_ARG, name, "`%s` holds text that is not valid UTF-8; convert it with enc2utf8()", name);
}

static gbt_status check_entry(const gbt_meta *entry, gbt_error *err) {
  if (entry->name == NULL || entry->name[0] == 0 || entry->n < 0 || entry->kind < GBT_META_TEXT ||
      entry->kind > GBT_META_INT)
    return gbt_fail(err, GBT_E_ARG, "an entry has no name, or a wrong length or kind");
  GBT_TRY(check_text(entry->name, entry->name, err));
  for (int64_t i = 0; entry->kind == GBT_META_TEXT && i < entry->n; i++)
    if (entry->text[i] != NULL) GBT_TRY(check_text(entry->text[i], entry->name, err));
  return GBT_OK;
}

gbt_status gbt_values_write(const gbt_mem *mem, const gbt_meta *entry, int32_t n, uint8_t **out, size_t *n_bytes,
                            gbt_error *err) {
  values_head head = {.version = VERSION, .n_entries = (uint64_t)n};
  byte_out o = {NULL, 0};
  *out = NULL;
  for (int32_t i = 0; i < n; i++) GBT_TRY(check_entry(&entry[i], err));
  head.n_bytes = put_all(&o, entry, n);
  memcpy(head.magic, MAGIC, sizeof head.magic);
  GBT_TRY(gbt_mem_zeros(mem, (size_t)head.n_bytes, 1, &o.bytes, err));
  put_all(&o, entry, n);
  memcpy(o.bytes, &head, sizeof head);
  *out = o.bytes;
  *n_bytes = (size_t)head.n_bytes;
  return GBT_OK;
}

/* ---- reading ---- */

/* The bytes that are left: a multiple of 8. */
typedef struct byte_in {
  const uint8_t *at, *end;
  gbt_error *err;
} byte_in;

static gbt_status damaged(gbt_error *err, const char *what) {
  return gbt_fail(err, GBT_E_FORMAT, "the values that are kept in the file are damaged: %s", what);
}

/* Where the next n bytes lie; zeros follow them. NULL after a failure, which is GBT_E_FORMAT. */
static const uint8_t *take(byte_in *in, uint64_t n) {
  const uint8_t *from = in->at;
  if (n > (uint64_t)(in->end - in->at)) {
    (void)damaged(in->err, "they are shorter than they say");
    return NULL;
  }
  in->at += align8(n);
  return from;
}

static gbt_status read_head(byte_in *in, size_t n_bytes, uint64_t *n_entries) {
  values_head head;
  if (n_bytes < sizeof head || memcmp(in->at, MAGIC, sizeof head.magic) != 0)
    return damaged(in->err, "they have another form, or an older version of gbt wrote them");
  memcpy(&head, in->at, sizeof head);
  in->at += sizeof head;
  if (head.version != VERSION)
    return gbt_fail(in->err, GBT_E_FORMAT,
                    "the values that are kept in the file have format version %llu, this gbt reads version %d",
                    (unsigned long long)head.version, VERSION);
  if (head.n_bytes != n_bytes || n_bytes % 8 != 0) return damaged(in->err, "they have another size than they say");
  *n_entries = head.n_entries;
  return GBT_OK;
}

/* A text of `size` bytes with its zero. */
static int is_text(const char *text, uint64_t size) {
  return size > 0 && memchr(text, 0, (size_t)size) == text + size - 1 && gbti_utf8_ok(text, (size_t)size - 1);
}

static gbt_status read_texts(const uint8_t *values, const entry_head *head, const char **text, gbt_error *err) {
  const uint8_t *at = values + head->n * 4, *end = values + head->n_bytes;
  for (uint64_t i = 0; i < head->n; i++) {
    uint32_t size;
    memcpy(&size, values + 4 * i, sizeof size);
    text[i] = size == 0 ? NULL : (const char *)at;
    if (size == 0) continue;
    if (size > (uint64_t)(end - at) || !is_text(text[i], size)) return damaged(err, "a text is not valid");
    at += size;
  }
  return at == end ? GBT_OK : damaged(err, "there are bytes after the last text");
}

/* The next entry. texts: where the pointers to its texts go; NULL: they are only counted. */
static gbt_status read_entry(byte_in *in, gbt_meta *entry, const char ***texts, uint64_t *n_texts) {
  entry_head head;
  const uint8_t *from = take(in, sizeof head);
  if (from == NULL) return GBT_E_FORMAT;
  memcpy(&head, from, sizeof head);
  const uint8_t *name = take(in, head.n_name), *values = name == NULL ? NULL : take(in, head.n_bytes);
  if (values == NULL) return GBT_E_FORMAT;
  if (head.kind > GBT_META_INT || head.n_name < 2 || !is_text((const char *)name, head.n_name))
    return damaged(in->err, "an entry has no name or no kind");
  const uint64_t size = value_size(head.kind);
  if (head.n > head.n_bytes / size || (head.kind != GBT_META_TEXT && head.n_bytes != head.n * size))
    return damaged(in->err, "an entry has another size than it says");
  if (head.kind == GBT_META_TEXT) *n_texts += head.n;
  if (texts == NULL) return GBT_OK;
  *entry = (gbt_meta){.name = (const char *)name, .kind = (gbt_meta_kind)head.kind, .n = (int64_t)head.n};
  if (head.kind == GBT_META_DOUBLE) entry->num = (const double *)(const void *)values;
  if (head.kind == GBT_META_INT) entry->ints = (const int32_t *)(const void *)values;
  if (head.kind != GBT_META_TEXT) return GBT_OK;
  const char **text = *texts;
  entry->text = text;
  *texts += head.n;
  return read_texts(values, &head, text, in->err);
}

gbt_status gbt_values_read(const gbt_mem *mem, const uint8_t *bytes, size_t n_bytes, gbt_meta **out, int32_t *n,
                           gbt_error *err) {
  byte_in in = {bytes, bytes + n_bytes, err};
  uint64_t n_entries = 0, n_texts = 0;
  *out = NULL;
  *n = 0;
  GBT_TRY(read_head(&in, n_bytes, &n_entries));
  if (n_entries > INT32_MAX || n_entries > n_bytes) return damaged(err, "there are too many entries");
  const byte_in first = in;
  for (uint64_t i = 0; i < n_entries; i++) GBT_TRY(read_entry(&in, NULL, NULL, &n_texts));
  if (in.at != in.end) return damaged(err, "there are bytes after the last entry");
  gbt_meta *entry;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)n_entries * sizeof *entry + (size_t)n_texts * sizeof(char *), 1, &entry, err));
  const char **texts = (const char **)(void *)(entry + n_entries);
  gbt_status status = GBT_OK;
  in = first;
  n_texts = 0;
  for (uint64_t i = 0; i < n_entries && status == GBT_OK; i++) status = read_entry(&in, &entry[i], &texts, &n_texts);
  if (status != GBT_OK) {
    gbt_mem_free(mem, entry);
    return status;
  }
  *out = entry;
  *n = (int32_t)n_entries;
  return GBT_OK;
}
