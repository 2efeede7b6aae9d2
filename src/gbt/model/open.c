/* The bytes of a model to a model, in place. Nothing in the bytes is trusted (bytes/sections.h). */
#include "model_impl.h"

const gbti_kind gbti_model_kind = {
    .magic = GBTI_MODEL_MAGIC,
    .version = GBTI_MODEL_VERSION,
    .sealed = 1,
    .bytes = "the model's bytes",
    .advice = "take the model again from where it was saved",
    .sections = GBTI_HAS_FOREST | GBTI_HAS_SCHEMA | GBTI_HAS_META | GBTI_HAS(OBJECTIVE) | GBTI_HAS(PARAMETERS) |
                GBTI_HAS(PROJECTIONS) | GBTI_HAS(COMBINED) | GBTI_HAS(KEYS) | GBTI_HAS(TABLES) | GBTI_HAS(SHOWN) |
                GBTI_HAS(BINS) | GBTI_HAS(SUMS),
    .part = {&gbti_part_objective, &gbti_part_schema, &gbti_part_features, &gbti_part_tables, &gbti_part_forest,
             &gbti_part_meta}};

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
    return gbt_fail(err, GBT_E_FORMAT, "these bytes are not a gbt model: they do not begin with \"%s\"",
                    GBTI_MODEL_MAGIC);
  if (n >= 12) GBT_TRY(check_version(head.version, err));
  int cut = n_bytes < sizeof head || n_bytes < head.n_bytes;
  if (cut || n_bytes != head.n_bytes)
    return gbt_fail(
        err, GBT_E_FORMAT, "the model is %s: there are %llu bytes, its header says %llu; copy the file again",
        cut ? "cut short" : "followed by other bytes", (unsigned long long)n_bytes, (unsigned long long)head.n_bytes);
  return GBT_OK;
}

gbt_status gbt_model_open(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_model **out, gbt_error *err) {
  gbti_reader r = {.mem = *mem, .kind = &gbti_model_kind, .err = err};
  gbt_model *model = NULL;
  gbt_status status;
  *out = NULL;
  GBT_TRY(gbti_check_byte_order("read models", err));
  GBT_TRY_GOTO(gbt_mem_zeros(mem, 1, sizeof *model, &model, err), done);
  model->mem = *mem;
  if ((uintptr_t)bytes % 8 != 0) {
    GBT_TRY_GOTO(gbt_mem_array(mem, n_bytes, 1, &model->own_bytes, err), done);
    memcpy(model->own_bytes, bytes, n_bytes);
    bytes = model->own_bytes;
  }
  GBT_TRY_GOTO(gbt_model_check_head(bytes, n_bytes, n_bytes, err), done);
  GBT_TRY_GOTO(gbti_sections_read(&r, bytes, n_bytes), done);
  model->parts = r.parts;
  model->schema = r.schema;
  model->meta = r.meta;
  model->n_skipped = r.n_skipped;
  model->n_defaults = r.n_defaults;
  *out = model;
  return GBT_OK;
done:
  gbti_reader_drop(&r);
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
