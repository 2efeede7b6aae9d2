/* A block of sections to what is in it. Nothing in the bytes is trusted: every count, position, index and text is
 * checked here and by the parts, once, so that it need not be checked again. */
#include "sections.h"

#include "../base/float_mode.h"

gbt_status gbti_is_newer(const gbti_reader *r, const char *what, const char *name) {
  const char *rest = "which this version of gbt does not know; use a newer gbt";
  if (r->path == NULL)
    return gbt_fail(r->err, GBT_E_FORMAT, "%s have %s \"%s\", %s", r->kind->bytes, what, name, rest);
  return gbt_fail_on(r->err, GBT_E_FORMAT, r->path, "\"%s\" has %s \"%s\", %s", r->path, what, name, rest);
}

gbt_status gbti_damaged(const gbti_reader *r, const char *what) {
  if (r->path == NULL)
    return gbt_fail(r->err, GBT_E_FORMAT, "%s are damaged: %s; %s", r->kind->bytes, what, r->kind->advice);
  return gbt_fail_on(r->err, GBT_E_FORMAT, r->path, "\"%s\" is damaged: %s; %s", r->path, what, r->kind->advice);
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
  if (!gbt_utf8_ok(text, (size_t)(end - text))) return gbti_damaged(r, "a text is not valid UTF-8");
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

/* ---- sections ---- */

/* Letters, digits and '_', then zeros. */
static int is_name(const char name[16]) {
  int n = 0;
  while (n < 16 && name[n] != 0) {
    char c = name[n++];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return 0;
  }
  return n > 0 && gbti_is_zeros(name, (uint64_t)n, 16);
}

/* GBTI_N_SECTIONS when it is none that the kind has. */
static int id_of(const gbti_kind *kind, const char name[16]) {
  int id = 0;
  while (id < GBTI_N_SECTIONS && !(kind->sections >> id & 1 && strncmp(gbti_sections[id].name, name, 16) == 0)) id++;
  return id;
}

/* A section that this version does not know: skipped if it may be. */
static gbt_status skip_section(gbti_reader *r, const gbti_section *table, uint32_t i) {
  char name[17] = {0};
  memcpy(name, table[i].name, 16);
  for (uint32_t j = 0; j < i; j++)
    if (memcmp(table[j].name, name, 16) == 0) return gbti_damaged(r, "two sections have the same name");
  if (table[i].flags & GBTI_SECTION_NEEDED)
    return gbti_is_newer(r, "the section", name);
  r->n_skipped++;
  return GBT_OK;
}

/* Takes section i. *next: the first known section that may come. */
static gbt_status take_section(gbti_reader *r, const uint8_t *bytes, const gbti_section *table, uint32_t i, int *next) {
  const gbti_section *section = &table[i];
  if (!is_name(section->name) || (section->flags & ~GBTI_SECTION_NEEDED) != 0 || section->zero != 0)
    return gbti_damaged(r, "a section has a wrong name or flag");
  int id = id_of(r->kind, section->name);
  if (id == GBTI_N_SECTIONS) return skip_section(r, table, i);
  if (id < *next) return gbti_damaged(r, "the sections are in a wrong order");
  if (section->flags != gbti_sections[id].flags) return gbti_damaged(r, "a section has a wrong name or flag");
  if (section->bytes % gbti_sections[id].record != 0) return gbti_damaged(r, "a section holds a part of a record");
  r->at[id] = bytes + section->beg;
  r->n[id] = section->bytes / gbti_sections[id].record;
  *next = id + 1;
  return GBT_OK;
}

/* Sections must follow each other without gaps and fill the bytes. */
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
  return at == head->n_bytes ? GBT_OK : gbti_damaged(r, "there are bytes after the last section");
}

int gbti_head_of(const gbti_kind *kind, const void *bytes, size_t n, gbti_model_head *out) {
  memset(out, 0, sizeof *out);
  if (n > 0) memcpy(out, bytes, n < sizeof *out ? n : sizeof *out);
  return memcmp(out->magic, kind->magic, sizeof out->magic) == 0;
}

static gbt_status check_head(const gbti_reader *r, const uint8_t *bytes, size_t n_bytes) {
  const gbti_model_head *head = (const gbti_model_head *)(const void *)bytes;
  GBT_ASSERT(n_bytes >= sizeof *head && head->n_bytes == n_bytes && head->version == r->kind->version);
  if (n_bytes % 8 != 0) return gbti_damaged(r, "the size is not a multiple of 8");
  if ((r->kind->sealed ? gbt_checksum(bytes + sizeof *head, n_bytes - sizeof *head) : 0) != head->checksum)
    return gbti_damaged(r, "the checksum does not match");
  if (head->n_sections > GBTI_MOST_SECTIONS || head->n_sections > (n_bytes - sizeof *head) / sizeof(gbti_section))
    return gbti_damaged(r, "there are too many sections");
  return GBT_OK;
}

gbt_status gbti_sections_read(gbti_reader *r, const void *bytes, size_t n_bytes) {
  GBT_ASSERT((uintptr_t)bytes % 8 == 0);
  GBT_TRY(check_head(r, bytes, n_bytes));
  GBT_TRY(find_sections(r, bytes));
  gbt_status status = GBT_OK;
  const uint32_t other_float = gbti_float_begin(); /* models are opened without a context */
  for (int p = 0; status == GBT_OK && p < GBTI_MOST_PARTS && r->kind->part[p] != NULL; p++)
    status = r->kind->part[p]->read(r);
  gbti_float_end(other_float);
  GBT_TRY(status);
  GBT_ASSERT(r->schema == NULL || gbt_feature_map_fault(r->schema) == NULL);
  if (r->text_at != r->n[GBTI_SEC_TEXTS]) return gbti_damaged(r, "there are texts that nothing refers to");
  return GBT_OK;
}

void gbti_reader_drop(gbti_reader *r) {
  gbt_schema_unref(r->schema);
  gbt_cuts_unref(r->cuts);
  gbt_mem_free(&r->mem, r->meta);
  r->schema = NULL;
  r->cuts = NULL;
  r->meta = NULL;
}
