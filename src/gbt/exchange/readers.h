/* The readers: each fills a plant, whose mem and err are set, and the facts. The bytes outlive the call. */
#ifndef GBT_EXCHANGE_READERS_H
#define GBT_EXCHANGE_READERS_H

#include "document.h"
#include "plant.h"

/* CatBoost's JSON. */
gbt_status gbti_read_catboost(gbti_document *doc, gbti_plant *plant, gbt_import_facts *facts) GBT_MUST_CHECK;

/* LightGBM's text. */
gbt_status gbti_read_lightgbm(const uint8_t *bytes, size_t n, gbti_plant *plant,
                              gbt_import_facts *facts) GBT_MUST_CHECK;

/* gbt's own JSON: at once the bytes of a model, as gbt_import() gives them. */
gbt_status gbti_read_own_json(gbti_document *doc, gbt_import_facts *facts, uint8_t **out, size_t *n_out) GBT_MUST_CHECK;

/* XGBoost's JSON and UBJ. */
gbt_status gbti_read_xgboost(gbti_document *doc, gbti_plant *plant, gbt_import_facts *facts) GBT_MUST_CHECK;

#endif
