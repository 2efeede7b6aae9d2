/* Models of other programs -> models of gbt.
 *
 *   bytes of a file   XGBoost: JSON or UBJ      document.h  the values of such a file      xgboost.c
 *                     CatBoost: JSON                                                     catboost.c
 *                     LightGBM: text                                                     lightgbm.c
 *      -> trees, columns, objective             plant.h     trees as others number them
 *      -> bytes of a model (model/model.h)
 *
 * The new model's scores are the bits of the other program's raw scores: thresholds that are compared in float32 become
 * the doubles that separate the same numbers, and gbt_sums says how leaf values are added. Files are never trusted:
 * each count, number of a node or a feature and each nesting is checked, and memory is bounded by a multiple of their
 * size. */
#ifndef GBT_EXCHANGE_EXCHANGE_H
#define GBT_EXCHANGE_EXCHANGE_H

#include "../base/mem.h"
#include "../objective/objective.h"

/* Facts about an imported model that a host tells. Texts are cut where they are too long. */
typedef struct gbt_import_facts {
  char program[16];                   /* "XGBoost" */
  char version[32];                   /* of the program that wrote the file; "" where the file does not say */
  char objective[64];                 /* by the program's name */
  int64_t best_round;                 /* the last round that predicts by default, from 1; 0: all do */
  int raw_only;                       /* 1: the program's responses are not raw scores, but those of the model are */
  int has_gain, has_cover, has_count; /* whether the file has them for splits and leaves; else they are 0 */
  int32_t n_levels;                   /* of an objective with several levels (see gbt_objective.levels); else 0 */
  double level[GBT_MOST_LEVELS];
} gbt_import_facts;

/* The bytes of a model, without meta values, of the bytes of a file. *out is allocated from mem (free with
 * gbt_mem_free). GBT_E_FORMAT: bytes that are damaged or no model that is known. GBT_E_UNSUPPORTED names what a model
 * of gbt cannot express. */
gbt_status gbt_import(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_import_facts *facts, uint8_t **out,
                      size_t *n_out, gbt_error *err) GBT_MUST_CHECK;

#endif
