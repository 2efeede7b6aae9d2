/* The bytes of a model to a model, in place. Nothing in the bytes is trusted: every count, position, index and text is
 * checked here and by the parts, once, so that nobody has to check it again.
 *
 *   head -> table of sections -> parts (sections.def)
 *
 * The format has one form only (format.h), so most checks say "must be what it has to be": sections and texts lie one
 * behind the other, trees too. This keeps the work linear in the size of the file, whoever made it. What is allocated
 * is bounded by the size of the file as well. */
#include "../schema/schema_impl.h"
#include "part.h"

gbt_status gbti_damaged(const gbti_reader *r, const char *what) {
  return gbt_fail(r->err, GBT_E_FORMAT,
                  "the model's bytes are damaged: %s; take the model again from where it was saved", what);
}

int gbti_is_zeros(const void *bytes, uint64_t beg, uint64_t end) {
  const uint8_t *from = bytes;
  uint8_t all = 0;
  for (uint64_t i = beg; i < end; i++) all |= from[i];
  return all == 0;
}

gbt_status gbti_take_text(gbti_reader *r, uint64_t at, const char **out) {
  const char *texts = r->at[GBTI_SEC_TEXTS];
  uint64_t left = r->n[GBTI_SEC_TEXTS] - r->text_at;
  if (at != r->text_at || left == 0) return gbti_damaged(r, "a text is not where it must be");
  const char *text = texts + at, *end = memchr(text, 0, (size_t)left);
  if (end == NULL) return gbti_damaged(r, "a text has no end");
  if (!gbti_utf8_ok(text, (size_t)(end - text))) return gbti_damaged(r, "a text is not valid UTF-8");
  r->text_at += (uint64_t)(end - text) + 1;
  *out = text;
  return GBT_OK;
}

gbt_status gbti_check_unique(const gbti_reader *r, const char *const *text, int32_t n, const char *what) {
  if (n == 0) return GBT_OK;
  int32_t *pos;
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *pos, &pos, r->err));
  gbt_status status = gbt_match_texts(&r->mem, text, n, text, n, pos, r->err);
  for (int32_t i = 0; i < n && status == GBT_OK; i++)
    if (pos[i] != i) status = gbti_damaged(r, what);
  gbt_mem_free(&r->mem, pos);
  return status;
}

/* ---- head ---- */

static gbt_status check_version(uint32_t version, gbt_error *err) {
  if (version == GBTI_MODEL_VERSION) return GBT_OK;
  const char *advice = version < GBTI_MODEL_VERSION ? "it comes from before the first release: train the model again"
                                                    : "use the version of gbt that wrote it or a newer one";
  return gbt_fail(err, GBT_E_FORMAT, "the model has format version %lu, this gbt reads version %lu; %s",
                  (unsigned long)version, (unsigned long)GBTI_MODEL_VERSION, advice);
}

gbt_status gbt_model_check_head(const void *bytes, size_t n, uint64_t n_bytes, gbt_error *err) {
  gbti_model_head head;
  memset(&head, 0, sizeof head);
  if (n > 0) memcpy(&head, bytes, n < GBT_MODEL_HEAD ? n : GBT_MODEL_HEAD);
  if (n < GBT_MODEL_HEAD) head.n_bytes = 0;
  if (n < 8 || memcmp(head.magic, GBTI_MODEL_MAGIC, 8) != 0)
    return gbt_fail(err, GBT_E_FORMAT, "these bytes are no gbt model: they do not begin with \"%s\"", GBTI_MODEL_MAGIC);
  if (n >= 12) GBT_TRY(check_version(head.version, err));
  int cut = n_bytes < sizeof head || n_bytes < head.n_bytes;
  if (cut || n_bytes != head.n_bytes)
    return gbt_fail(err, GBT_E_FORMAT,
                    "the model is %s: there are %llu bytes, its head speaks of %llu; take it again from where it was "
                    "saved",
                    cut ? "cut short" : "followed by foreign bytes", (unsigned long long)n_bytes,
                    (unsigned long long)head.n_bytes);
  return GBT_OK;
}

static gbt_status check_head(gbti_reader *r, const uint8_t *bytes, size_t n_bytes) {
  GBT_TRY(gbt_model_check_head(bytes, n_bytes, n_bytes, r->err));
  const gbti_model_head *head = (const gbti_model_head *)(const void *)bytes;
  if (n_bytes % 8 != 0) return gbti_damaged(r, "the size is no multiple of 8");
  if (gbt_checksum(bytes + sizeof *head, n_bytes - sizeof *head) != head->checksum)
    return gbti_damaged(r, "the checksum does not match");
  if (head->n_sections > GBTI_MOST_SECTIONS || head->n_sections > (n_bytes - sizeof *head) / sizeof(gbti_section))
    return gbti_damaged(r, "there are too many sections");
  return GBT_OK;
}

/* ---- sections ---- */

typedef struct known_section {
  char name[17];
  uint32_t flags;
  uint64_t record; /* bytes of a record */
} known_section;

static const known_section known[GBTI_N_SECTIONS] = {
#define GBT_SECTION(ID, name, flags, record) {name, flags, sizeof(record)},
#include "sections.def"
};

/* Letters, digits and '_', then zeros. */
static int is_name(const char name[16]) {
  int n = 0;
  while (n < 16 && name[n] != 0) {
    char c = name[n++];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return 0;
  }
  return n > 0 && gbti_is_zeros(name, (uint64_t)n, 16);
}

/* GBTI_N_SECTIONS when it is none that this version knows. */
static int id_of(const char name[16]) {
  int id = 0;
  while (id < GBTI_N_SECTIONS && strncmp(known[id].name, name, 16) != 0) id++;
  return id;
}

/* A section that this version does not know: skipped if it may be. */
static gbt_status skip_section(gbti_reader *r, const gbti_section *table, uint32_t i) {
  char name[17] = {0};
  memcpy(name, table[i].name, 16);
  for (uint32_t j = 0; j < i; j++)
    if (memcmp(table[j].name, name, 16) == 0) return gbti_damaged(r, "two sections have one name");
  if (table[i].flags & GBTI_SECTION_NEEDED)
    return gbt_fail(r->err, GBT_E_FORMAT,
                    "the model needs its section \"%s\", which this version of gbt does not know; use a newer gbt",
                    name);
  r->model->n_skipped++;
  return GBT_OK;
}

/* Takes section i. *next: the first known section that may come. */
static gbt_status take_section(gbti_reader *r, const uint8_t *bytes, const gbti_section *table, uint32_t i, int *next) {
  const gbti_section *section = &table[i];
  if (!is_name(section->name) || (section->flags & ~GBTI_SECTION_NEEDED) != 0 || section->zero != 0)
    return gbti_damaged(r, "a section has a wrong name or flag");
  int id = id_of(section->name);
  if (id == GBTI_N_SECTIONS) return skip_section(r, table, i);
  if (id < *next) return gbti_damaged(r, "the sections are in a wrong order");
  if (section->flags != known[id].flags) return gbti_damaged(r, "a section has a wrong name or flag");
  if (section->bytes % known[id].record != 0) return gbti_damaged(r, "a section holds a part of a record");
  r->at[id] = bytes + section->beg;
  r->n[id] = section->bytes / known[id].record;
  *next = id + 1;
  return GBT_OK;
}

/* Sections fill the bytes, one behind the other. */
static gbt_status find_sections(gbti_reader *r, const uint8_t *bytes) {
  const gbti_model_head *head = (const gbti_model_head *)(const void *)bytes;
  const gbti_section *table = (const gbti_section *)(const void *)(bytes + sizeof *head);
  uint64_t at = sizeof *head + head->n_sections * sizeof *table;
  int next = 0;
  for (int s = 0; s < GBTI_N_SECTIONS; s++) r->at[s] = bytes;
  for (uint32_t i = 0; i < head->n_sections; i++) {
    uint64_t n = table[i].bytes;
    if (table[i].beg != at || n == 0 || n > head->n_bytes - at)
      return gbti_damaged(r, "a section is not where it must be");
    uint64_t end = gbti_align8(at + n);
    if (!gbti_is_zeros(bytes, at + n, end)) return gbti_damaged(r, "there is something between the sections");
    GBT_TRY(take_section(r, bytes, table, i, &next));
    at = end;
  }
  return at == head->n_bytes ? GBT_OK : gbti_damaged(r, "there is something behind the last section");
}

static gbt_status read_parts(gbti_reader *r) {
#define GBT_PART(part) GBT_TRY(gbti_read_##part(r));
#include "sections.def"
  if (r->text_at != r->n[GBTI_SEC_TEXTS]) return gbti_damaged(r, "there are texts that nothing refers to");
  return GBT_OK;
}

gbt_status gbt_model_open(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_model **out, gbt_error *err) {
  *out = NULL;
  if (!gbti_little_endian())
    return gbt_fail(err, GBT_E_UNSUPPORTED, "models cannot be read on this machine: it stores numbers high byte first");
  gbt_model *model = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(mem, 1, sizeof *model, &model, err), done);
  model->mem = *mem;
  if ((uintptr_t)bytes % 8 != 0) {
    GBT_TRY_GOTO(gbt_mem_array(mem, n_bytes, 1, &model->own_bytes, err), done);
    memcpy(model->own_bytes, bytes, n_bytes);
    bytes = model->own_bytes;
  }
  gbti_reader r = {.mem = *mem, .model = model, .err = err};
  GBT_TRY_GOTO(check_head(&r, bytes, n_bytes), done);
  GBT_TRY_GOTO(find_sections(&r, bytes), done);
  GBT_TRY_GOTO(read_parts(&r), done);
  *out = model;
  model = NULL;
done:
  gbt_model_close(model);
  return status;
}

void gbt_model_close(gbt_model *model) {
  if (model == NULL) return;
  gbt_mem mem = model->mem;
  gbt_schema_unref(model->schema);
  gbt_mem_free(&mem, model->meta);
  gbt_mem_free(&mem, model->own_bytes);
  gbt_mem_free(&mem, model);
}

const gbt_forest_view *gbt_model_forest(const gbt_model *model) { return &model->parts.forest; }
const gbt_objective *gbt_model_objective(const gbt_model *model) { return &model->parts.objective; }
const gbt_schema *gbt_model_schema(const gbt_model *model) { return model->schema; }

const gbt_meta *gbt_model_metas(const gbt_model *model, int32_t *n) {
  *n = model->parts.n_meta;
  return model->meta;
}

const gbt_meta *gbt_model_meta(const gbt_model *model, const char *name) {
  for (int32_t m = 0; m < model->parts.n_meta; m++)
    if (strcmp(model->parts.meta[m].name, name) == 0) return &model->parts.meta[m];
  return NULL;
}
