/* Which program's file it is, and the call. */
#include "readers.h"

#include "../base/float_mode.h"
#include "../bytes/sections.h"

/* *out: NULL where the plant has the model. */
static gbt_status read_document(gbti_plant *plant, const uint8_t *bytes, size_t n, gbt_import_facts *facts,
                                uint8_t **out, size_t *n_out) {
  gbti_document doc = {.mem = plant->mem, .program = "JSON", .err = plant->err};
  gbt_status status = gbti_document_open(&doc, bytes, n);
  if (status == GBT_OK) {
    if (gbti_get(&doc, 0, "learner") != GBTI_NO_VALUE)
      status = gbti_read_xgboost(&doc, plant, facts);
    else if (gbti_get(&doc, 0, "features_info") != GBTI_NO_VALUE)
      status = gbti_read_catboost(&doc, plant, facts);
    else if (!doc.is_ubj && gbti_text_is(&doc, gbti_get(&doc, 0, "format"), "gbt"))
      status = gbti_read_own_json(&doc, facts, out, n_out);
    else
      status = gbt_fail(plant->err, GBT_E_FORMAT,
                        "the file is JSON or UBJ, but not a model of XGBoost, CatBoost or gbt_export()");
  }
  gbti_document_close(&doc);
  return status;
}

static int begins_with(const uint8_t *bytes, size_t n, const char *text) {
  return n >= strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
}

/* Texts of files that are not UTF-8, or were cut within a character, are not shown. */
static void check_facts(gbt_import_facts *facts) {
  char *text[] = {facts->version, facts->objective};
  for (int i = 0; i < 2; i++)
    if (!gbt_utf8_ok(text[i], strlen(text[i]))) text[i][0] = 0;
}

static gbt_status import_any(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_import_facts *facts,
                             uint8_t **out, size_t *n_out, gbt_error *err) {
  gbti_plant plant = {.mem = *mem, .err = err, .n_leaf_outputs = 1, .n_parallel = 1};
  const uint8_t *b = bytes;
  size_t at = 0;
  gbt_status status;
  *out = NULL;
  *n_out = 0;
  memset(facts, 0, sizeof *facts);
  GBT_TRY(gbti_check_byte_order("import models", err));
  while (at < n_bytes && (b[at] == ' ' || b[at] == '\n' || b[at] == '\r' || b[at] == '\t')) at++;
  if (begins_with(b, n_bytes, "gbtmodel"))
    return gbt_fail(err, GBT_E_FORMAT, "this is a model of gbt: gbt_load() reads it");
  if (begins_with(b, n_bytes, "CBM1"))
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "this is a model in CatBoost's binary format; save it as JSON: "
                    "catboost.save_model(model, \"model.json\", file_format = \"json\")");
  if (begins_with(b, n_bytes, "binf") || begins_with(b, n_bytes, "bs64"))
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "this is a model in XGBoost's old binary format; save it as JSON or UBJ: "
                    "xgb.save(model, \"model.ubj\")");
  if (begins_with(b + at, n_bytes - at, "tree\n") || begins_with(b + at, n_bytes - at, "tree\r\n")) {
    GBT_TRY_GOTO(gbti_read_lightgbm(b + at, n_bytes - at, &plant, facts), done);
    GBT_TRY_GOTO(gbti_harvest(&plant, out, n_out), done);
    check_facts(facts);
    goto done;
  }
  if (at == n_bytes || b[at] != '{')
    return gbt_fail(
        err, GBT_E_FORMAT,
        "the file is not a model that gbt can import: XGBoost's JSON and UBJ, LightGBM's text, CatBoost's JSON, and "
        "JSON of gbt_export()");
  GBT_TRY_GOTO(read_document(&plant, b, n_bytes, facts, out, n_out), done);
  if (*out == NULL) GBT_TRY_GOTO(gbti_harvest(&plant, out, n_out), done);
  check_facts(facts);
done:
  gbti_plant_drop(&plant);
  return status;
}

gbt_status gbt_import(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_import_facts *facts, uint8_t **out,
                      size_t *n_out, gbt_error *err) {
  const uint32_t other_float = gbti_float_begin();
  const gbt_status status = import_any(mem, bytes, n_bytes, facts, out, n_out, err);
  gbti_float_end(other_float);
  return status;
}
