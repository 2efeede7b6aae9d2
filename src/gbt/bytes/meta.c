/* Meta values: named vectors of texts, doubles or ints that the host keeps with a model. The values of each begin on a
 * multiple of 8. */
#include "sections.h"

static uint64_t value_size(uint32_t kind) { return kind == GBT_META_INT ? 4 : 8; }

/* ---- writing ---- */

static gbt_status measure_entry(gbti_writer *w, const gbt_meta *meta) {
  if (meta->n < 0 || meta->kind < GBT_META_TEXT || meta->kind > GBT_META_INT)
    return gbt_fail_on(w->err, GBT_E_ARG, meta->name, "meta entry `%s` has a wrong length or kind", meta->name);
  GBT_TRY(gbti_measure_text(w, meta->name, GBT_E_ARG, "meta entry", meta->name));
  uint64_t bytes = gbti_align8(gbti_add(0, (uint64_t)meta->n, value_size(meta->kind)));
  w->n[GBTI_SEC_META_VALUES] = gbti_add(w->n[GBTI_SEC_META_VALUES], bytes / 8, 1);
  for (int64_t i = 0; meta->kind == GBT_META_TEXT && i < meta->n; i++)
    if (meta->text[i] != NULL) GBT_TRY(gbti_measure_text(w, meta->text[i], GBT_E_ARG, "meta entry", meta->name));
  return GBT_OK;
}

static gbt_status check_names(const gbti_writer *w) {
  const gbt_meta *meta = w->parts->meta;
  size_t n = (size_t)w->parts->n_meta;
  const char **name = NULL;
  int32_t *pos = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_array(&w->mem, n, sizeof *name, &name, w->err), done);
  GBT_TRY_GOTO(gbt_mem_array(&w->mem, n, sizeof *pos, &pos, w->err), done);
  for (size_t m = 0; m < n; m++) name[m] = meta[m].name;
  GBT_TRY_GOTO(gbt_match_texts(&w->mem, name, (int32_t)n, name, (int32_t)n, pos, w->err), done);
  for (size_t m = 0; m < n && status == GBT_OK; m++)
    if (pos[m] != (int32_t)m)
      status = gbt_fail_on(w->err, GBT_E_ARG, name[m], "there are two meta entries `%s`; names must differ", name[m]);
done:
  gbt_mem_free(&w->mem, pos);
  gbt_mem_free(&w->mem, name);
  return status;
}

static gbt_status measure_meta(gbti_writer *w) {
  for (int32_t m = 0; m < w->parts->n_meta; m++) {
    const gbt_meta *meta = &w->parts->meta[m];
    if (meta->name == NULL || meta->name[0] == 0)
      return gbt_fail(w->err, GBT_E_ARG, "meta entry %d has no name", (int)m + 1);
    GBT_TRY(measure_entry(w, meta));
  }
  w->n[GBTI_SEC_META] = (uint64_t)w->parts->n_meta;
  return check_names(w);
}

static void put_meta(gbti_writer *w) {
  gbti_model_entry *out = gbti_out(w, GBTI_SEC_META);
  uint64_t at = 0;
  for (int32_t m = 0; m < w->parts->n_meta; m++) {
    const gbt_meta *meta = &w->parts->meta[m];
    uint64_t n = (uint64_t)meta->n;
    uint8_t *to = (uint8_t *)gbti_out(w, GBTI_SEC_META_VALUES) + at;
    out[m].name = gbti_put_text(w, meta->name);
    out[m].kind = (uint32_t)meta->kind;
    out[m].n = n;
    out[m].beg = at;
    if (meta->kind == GBT_META_DOUBLE) gbti_copy(to, meta->num, n * 8);
    if (meta->kind == GBT_META_INT) gbti_copy(to, meta->ints, n * 4);
    for (uint64_t i = 0; meta->kind == GBT_META_TEXT && i < n; i++) {
      uint64_t text = meta->text[i] == NULL ? GBTI_MODEL_NO_TEXT : gbti_put_text(w, meta->text[i]);
      memcpy(to + 8 * i, &text, 8);
    }
    at = gbti_align8(at + n * value_size(meta->kind));
  }
}

/* ---- reading ---- */

/* Also counts the texts among the values. */
static gbt_status check_entries(const gbti_reader *r, uint64_t *n_texts) {
  const gbti_model_entry *from = r->at[GBTI_SEC_META];
  uint64_t at = 0, bytes = r->n[GBTI_SEC_META_VALUES] * 8;
  *n_texts = 0;
  if (r->n[GBTI_SEC_META] > INT32_MAX) return gbti_damaged(r, "there are too many meta entries");
  for (uint64_t m = 0; m < r->n[GBTI_SEC_META]; m++) {
    if (from[m].kind > GBT_META_INT || from[m].zero != 0) return gbti_damaged(r, "a meta entry has an unknown kind");
    uint64_t size = value_size(from[m].kind), n = from[m].n;
    if (from[m].beg != at || n > (bytes - at) / size) return gbti_damaged(r, "a meta entry is not where it must be");
    uint64_t end = gbti_align8(at + n * size);
    if (!gbti_is_zeros(r->at[GBTI_SEC_META_VALUES], at + n * size, end))
      return gbti_damaged(r, "a meta entry is not where it must be");
    at = end;
    if (from[m].kind == GBT_META_TEXT) *n_texts += n;
  }
  return at == bytes ? GBT_OK : gbti_damaged(r, "there are values that belong to no meta entry");
}

static gbt_status read_entry(gbti_reader *r, const gbti_model_entry *from, gbt_meta *meta, const char ***texts) {
  const uint8_t *values = (const uint8_t *)r->at[GBTI_SEC_META_VALUES] + from->beg;
  meta->kind = (gbt_meta_kind)from->kind;
  meta->n = (int64_t)from->n;
  GBT_TRY(gbti_take_text(r, from->name, &meta->name));
  if (meta->name[0] == 0) return gbti_damaged(r, "a meta entry has no name");
  if (meta->kind == GBT_META_DOUBLE) meta->num = (const double *)(const void *)values;
  if (meta->kind == GBT_META_INT) meta->ints = (const int32_t *)(const void *)values;
  if (meta->kind != GBT_META_TEXT) return GBT_OK;
  meta->text = *texts;
  for (uint64_t i = 0; i < from->n; i++, (*texts)++) {
    uint64_t at;
    memcpy(&at, values + 8 * i, 8);
    **texts = NULL;
    if (at != GBTI_MODEL_NO_TEXT) GBT_TRY(gbti_take_text(r, at, *texts));
  }
  return GBT_OK;
}

static gbt_status read_meta(gbti_reader *r) {
  uint64_t n_texts;
  GBT_TRY(check_entries(r, &n_texts));
  const gbti_model_entry *from = r->at[GBTI_SEC_META];
  size_t n_meta = (size_t)r->n[GBTI_SEC_META], bytes = n_meta * sizeof(gbt_meta) + (size_t)n_texts * sizeof(char *);
  gbt_meta *meta;
  GBT_TRY(gbt_mem_zeros(&r->mem, bytes, 1, &meta, r->err));
  r->meta = meta;
  r->parts.meta = meta;
  r->parts.n_meta = (int32_t)n_meta;
  const char **texts = (const char **)(meta + n_meta), **name;
  for (size_t m = 0; m < n_meta; m++) GBT_TRY(read_entry(r, &from[m], &meta[m], &texts));
  GBT_TRY(gbt_mem_array(&r->mem, n_meta, sizeof *name, &name, r->err));
  for (size_t m = 0; m < n_meta; m++) name[m] = meta[m].name;
  gbt_status status = gbti_check_unique(r, name, (int32_t)n_meta, "two meta entries have the same name");
  gbt_mem_free(&r->mem, name);
  return status;
}

const gbti_part gbti_part_meta = {measure_meta, put_meta, read_meta};
