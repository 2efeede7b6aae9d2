/* Contents to a block of sections (format.h). Every part counts and checks what is its own, the sections get their
 * places, and every part writes its records. */
#include "sections.h"

gbt_status gbti_check_byte_order(const char *what, gbt_error *err) {
  const uint32_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  if (first == 1) return GBT_OK;
  return gbt_fail(err, GBT_E_UNSUPPORTED,
                  "gbt cannot %s on this machine: it is big-endian (stores numbers high byte "
                  "first)",
                  what);
}

gbt_status gbti_measure_text(gbti_writer *w, const char *text, gbt_status code, const char *what, const char *name) {
  size_t n = strlen(text);
  w->n[GBTI_SEC_TEXTS] = gbti_add(w->n[GBTI_SEC_TEXTS], n + 1, 1);
  if (gbt_utf8_ok(text, n)) return GBT_OK;
  return gbt_fail_on(w->err, code, name, "%s `%s` holds text that is not valid UTF-8; convert it with enc2utf8()", what,
                     name);
}

uint64_t gbti_put_text(gbti_writer *w, const char *text) {
  uint64_t at = w->text_at, n = strlen(text) + 1;
  gbti_copy((uint8_t *)gbti_out(w, GBTI_SEC_TEXTS) + at, text, n);
  w->text_at += n;
  return at;
}

const gbti_section_info gbti_sections[GBTI_N_SECTIONS] = {
#define GBT_SECTION(ID, name, flags, record) {name, flags, sizeof(record)},
#include "sections.def"
};

/* Gives every section its place. table: the rows of those that hold something, *n of them. Returns the size of the
 * block. */
static uint64_t place_sections(gbti_writer *w, gbti_section table[GBTI_N_SECTIONS], uint32_t *n) {
  *n = 0;
  for (int s = 0; s < GBTI_N_SECTIONS; s++) *n += w->n[s] > 0;
  uint64_t at = sizeof(gbti_model_head) + *n * sizeof *table;
  gbti_section *row = table;
  for (int s = 0; s < GBTI_N_SECTIONS; s++) {
    w->beg[s] = at;
    if (w->n[s] == 0) continue;
    *row = (gbti_section){.flags = gbti_sections[s].flags, .beg = at};
    memcpy(row->name, gbti_sections[s].name, sizeof row->name);
    row->bytes = gbti_add(0, w->n[s], gbti_sections[s].record);
    at = gbti_align8(gbti_add(at, row->bytes, 1));
    row++;
  }
  return at;
}

static void put_head(const gbti_kind *kind, const gbti_writer *w, const gbti_section *table, uint32_t n_sections,
                     uint64_t n_bytes) {
  gbti_model_head *head = (gbti_model_head *)(void *)w->out;
  gbti_copy(w->out + sizeof *head, table, n_sections * sizeof *table);
  memcpy(head->magic, kind->magic, sizeof head->magic);
  head->version = kind->version;
  head->n_sections = n_sections;
  head->n_bytes = n_bytes;
  if (kind->sealed) head->checksum = gbt_checksum(w->out + sizeof *head, n_bytes - sizeof *head);
}

static gbt_status write_block(const gbti_kind *kind, gbti_writer *w, uint8_t **out, size_t *n_bytes) {
  gbti_section table[GBTI_N_SECTIONS];
  uint32_t n_sections;
  for (int p = 0; p < GBTI_MOST_PARTS && kind->part[p] != NULL; p++) GBT_TRY(kind->part[p]->measure(w));
  const uint64_t size = place_sections(w, table, &n_sections);
  if (size >= GBTI_TOO_LARGE || size > SIZE_MAX / 2) return gbt_fail_mem(w->err, SIZE_MAX / 2);
  GBT_TRY(gbt_mem_zeros(&w->mem, (size_t)size, 1, &w->out, w->err));
  for (int p = 0; p < GBTI_MOST_PARTS && kind->part[p] != NULL; p++) kind->part[p]->put(w);
  for (int s = 0; s < GBTI_N_SECTIONS; s++) GBT_ASSERT(w->n[s] == 0 || kind->sections >> s & 1);
  GBT_ASSERT(w->text_at == w->n[GBTI_SEC_TEXTS]);
  put_head(kind, w, table, n_sections, size);
  *out = w->out;
  *n_bytes = (size_t)size;
  return GBT_OK;
}

gbt_status gbti_sections_write(const gbti_kind *kind, gbti_writer *w, uint8_t **out, size_t *n_bytes) {
  *out = NULL;
  *n_bytes = 0;
  const gbt_status status = write_block(kind, w, out, n_bytes);
  gbt_mem_free(&w->mem, w->linear);
  w->linear = NULL;
  return status;
}
