/* The parts of a model to its bytes (format.h). Every part counts and checks what is its own, the sections get their
 * places, and every part writes its records (part.h). */
#include "part.h"

gbt_status gbti_measure_text(gbti_writer *w, const char *text, gbt_status code, const char *what, const char *name) {
  size_t n = strlen(text);
  w->n[GBTI_SEC_TEXTS] = gbti_add(w->n[GBTI_SEC_TEXTS], n + 1, 1);
  if (gbti_utf8_ok(text, n)) return GBT_OK;
  return gbt_fail_on(w->err, code, name, "%s `%s` holds text that is not valid UTF-8; convert it with enc2utf8()", what,
                     name);
}

uint64_t gbti_put_text(gbti_writer *w, const char *text) {
  uint64_t at = w->text_at, n = strlen(text) + 1;
  gbti_copy((uint8_t *)gbti_out(w, GBTI_SEC_TEXTS) + at, text, n);
  w->text_at += n;
  return at;
}

static gbt_status measure(gbti_writer *w) {
#define GBT_PART(part) GBT_TRY(gbti_measure_##part(w));
#include "sections.def"
  return GBT_OK;
}

static void put(gbti_writer *w) {
#define GBT_PART(part) gbti_put_##part(w);
#include "sections.def"
}

/* Gives every section its place. table: the rows of those that hold something, *n of them. Returns the size of the
 * model. */
static uint64_t place_sections(gbti_writer *w, gbti_section table[GBTI_N_SECTIONS], uint32_t *n) {
  static const gbti_section sections[GBTI_N_SECTIONS] = {
#define GBT_SECTION(ID, name, flags, record) {name, flags, 0, 0, sizeof(record)},
#include "sections.def"
  };
  *n = 0;
  for (int s = 0; s < GBTI_N_SECTIONS; s++) *n += w->n[s] > 0;
  uint64_t at = sizeof(gbti_model_head) + *n * sizeof *table;
  gbti_section *row = table;
  for (int s = 0; s < GBTI_N_SECTIONS; s++) {
    w->beg[s] = at;
    if (w->n[s] == 0) continue;
    *row = sections[s];
    row->beg = at;
    row->bytes = gbti_add(0, w->n[s], sections[s].bytes);
    at = gbti_align8(gbti_add(at, row->bytes, 1));
    row++;
  }
  return at;
}

static void put_head(const gbti_writer *w, const gbti_section *table, uint32_t n_sections, uint64_t n_bytes) {
  gbti_model_head *head = (gbti_model_head *)(void *)w->out;
  gbti_copy(w->out + sizeof *head, table, n_sections * sizeof *table);
  memcpy(head->magic, GBTI_MODEL_MAGIC, 8);
  head->version = GBTI_MODEL_VERSION;
  head->n_sections = n_sections;
  head->n_bytes = n_bytes;
  head->checksum = gbti_model_checksum(w->out + sizeof *head, n_bytes - sizeof *head);
}

gbt_status gbt_model_write(const gbt_mem *mem, const gbt_model_parts *parts, uint8_t **out, size_t *n_bytes,
                           gbt_error *err) {
  *out = NULL;
  *n_bytes = 0;
  if (!gbti_little_endian())
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "models cannot be written on this machine: it stores numbers high byte first");
  gbti_writer w = {.mem = *mem, .parts = parts, .err = err};
  gbti_section table[GBTI_N_SECTIONS];
  uint32_t n_sections;
  GBT_TRY(measure(&w));
  uint64_t size = place_sections(&w, table, &n_sections);
  if (size >= GBTI_TOO_LARGE || size > SIZE_MAX / 2) return gbt_fail_mem(err, SIZE_MAX / 2);
  GBT_TRY(gbt_mem_zeros(mem, (size_t)size, 1, &w.out, err));
  put(&w);
  put_head(&w, table, n_sections, size);
  *out = w.out;
  *n_bytes = (size_t)size;
  return GBT_OK;
}

gbt_status gbt_model_make(const gbt_mem *mem, const gbt_model_spec *spec, uint8_t **out, size_t *n_bytes,
                          gbt_error *err) {
  gbt_model_parts parts = {*spec->forest, spec->objective, spec->schema, spec->meta, spec->n_meta};
  *out = NULL;
  *n_bytes = 0;
  if (spec->trees.beg > spec->trees.end || spec->trees.end > parts.forest.n_trees)
    return gbt_fail(err, GBT_E_INTERNAL, "a model of trees that the forest does not have");
  parts.forest.trees += spec->trees.beg; /* the writer takes the nodes, sets and vectors of these trees only */
  parts.forest.n_trees = spec->trees.end - spec->trees.beg;
  return gbt_model_write(mem, &parts, out, n_bytes, err);
}
