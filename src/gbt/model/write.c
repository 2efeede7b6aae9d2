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
  head->checksum = gbt_checksum(w->out + sizeof *head, n_bytes - sizeof *head);
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

/* Marks the features that the trees split by. */
static void mark_used(const gbt_forest_view *forest, uint8_t *used) {
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_node *nodes = forest->nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (nodes[i].left != 0) used[nodes[i].feat & GBT_NODE_FEATURE] = 1;
  }
}

/* Numbers the features that are kept from 0 on in the nodes of a forest: a copy of them, to be freed by the caller. */
static gbt_status number_features(const gbt_mem *mem, const gbt_schema *schema, const uint8_t *keep,
                                  gbt_forest_view *forest, gbt_node **nodes, gbt_error *err) {
  uint32_t *number;
  GBT_TRY(gbt_mem_array(mem, (size_t)forest->n_nodes, sizeof **nodes, nodes, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)schema->n_features, sizeof *number, &number, err));
  uint32_t n = 0;
  for (int32_t f = 0; f < schema->n_features; f++) {
    number[f] = n;
    n += !gbt_feature_has_table(schema->feat[f].kind) || keep[f];
  }
  gbti_copy(*nodes, forest->nodes, forest->n_nodes * sizeof **nodes);
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    gbt_node *node = *nodes + forest->trees[t].node_beg;
    for (uint32_t i = 0; i < forest->trees[t].n_nodes; i++)
      if (node[i].left != 0)
        node[i].feat = (node[i].feat & ~(uint32_t)GBT_NODE_FEATURE) | number[node[i].feat & GBT_NODE_FEATURE];
  }
  gbt_mem_free(mem, number);
  forest->nodes = *nodes;
  forest->n_features = (int32_t)n;
  return GBT_OK;
}

/* A model without the tables that its trees do not use. */
static gbt_status write_used(const gbt_mem *mem, gbt_model_parts *parts, uint8_t **out, size_t *n_bytes,
                             gbt_error *err) {
  gbt_status status = GBT_OK;
  uint8_t *used = NULL;
  gbt_schema *schema = NULL;
  gbt_node *nodes = NULL;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, (size_t)parts->schema->n_features, 1, &used, err), done);
  mark_used(&parts->forest, used);
  GBT_TRY_GOTO(gbt_schema_keep(mem, parts->schema, used, &schema, err), done);
  GBT_TRY_GOTO(number_features(mem, parts->schema, used, &parts->forest, &nodes, err), done);
  parts->schema = schema;
  GBT_TRY_GOTO(gbt_model_write(mem, parts, out, n_bytes, err), done);
done:
  gbt_mem_free(mem, nodes);
  gbt_schema_unref(schema);
  gbt_mem_free(mem, used);
  return status;
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
  return gbt_schema_n_tables(parts.schema) > 0 ? write_used(mem, &parts, out, n_bytes, err)
                                               : gbt_model_write(mem, &parts, out, n_bytes, err);
}
