/* Models of other programs -> models of gbt, and models of gbt -> files of others.
 *
 *   bytes of a file   XGBoost: JSON or UBJ      document.h  the values of such a file      xgboost.c
 *                     CatBoost: JSON                                                     catboost.c
 *                     LightGBM: text                                                     lightgbm.c
 *      -> trees, columns, objective             plant.h     trees as in the file
 *      -> bytes of a model (model/model.h)
 *
 *   JSON of gbt's own (to_json.c)               own_json.h                                 from_json.c
 *      -> bytes of a model
 *
 *   model -> outgoing.h: its trees -> formats.def: a writer for each format, to_NAME.c -> bytes, which are read again
 *      and compared with the model
 *
 * The new model's scores are the bits of the other program's raw scores: thresholds that are compared in float32 become
 * the doubles that separate the same numbers, and gbt_sums says how leaf values are added. Files are never trusted:
 * each count, number of a node or a feature and each nesting is checked, and memory is bounded by a multiple of their
 * size. */
#ifndef GBT_EXCHANGE_EXCHANGE_H
#define GBT_EXCHANGE_EXCHANGE_H

#include "../base/mem.h"
#include "../model/model.h"
#include "../objective/objective.h"

/* Facts about an imported model, for hosts. Texts that are too long are cut. */
typedef struct gbt_import_facts {
  char program[16];                   /* "XGBoost" */
  char version[32];                   /* of the program that wrote the file; "" if the file does not say it */
  char objective[64];                 /* its name in the program */
  int64_t best_round;                 /* the last round that is used by default, from 1; 0: all rounds are used */
  int has_offset;                     /* numbers are added to the scores of each row, which the file cannot know */
  int raw_only;                       /* 1: the responses of the model are raw scores, those of the program are not */
  char odd_parameter[64];             /* "alpha = 2": out of gbt's range, so the default is used; "": there is none */
  int has_gain, has_cover, has_count; /* whether the file has them for splits and leaves; else they are 0 */
  int32_t n_levels;                   /* of an objective with several levels (see gbt_objective.levels); else 0 */
  double level[GBT_MOST_LEVELS];
} gbt_import_facts;

/* The bytes of a model, without meta values, of the bytes of a file. *out is allocated from mem (free with
 * gbt_mem_free). GBT_E_FORMAT: the bytes are damaged or in an unknown format. GBT_E_UNSUPPORTED names what a model of
 * gbt cannot express. */
gbt_status gbt_import(const gbt_mem *mem, const void *bytes, size_t n_bytes, gbt_import_facts *facts, uint8_t **out,
                      size_t *n_out, gbt_error *err) GBT_MUST_CHECK;

/* Notes for the user: where a file differs from the model. Texts are static clauses. */
enum { GBT_EXPORT_NOTES = 8 };
typedef struct gbt_export_facts {
  int32_t n_notes;
  const char *note[GBT_EXPORT_NOTES];
} gbt_export_facts;

/* The formats: name, the file extension by which hosts recognise it ("" for none), a text for help. NULL for an unknown
 * number. */
const char *gbt_export_name(int format);
const char *gbt_export_extension(int format);
const char *gbt_export_text(int format);

typedef struct gbt_export_spec {
  const gbt_model *model;
  gbt_tree_range trees;       /* whole rounds */
  int format;                 /* below the number of formats */
  const char *name;           /* the name of the model in the file: letters, digits and _, beginning with a letter */
  int has_offset;             /* whether the model was trained with an offset, which the model's bytes do not say */
  int exposed;                /* whether this offset contains logarithms of exposures */
  const char *const *outputs; /* a name for each raw score, in UTF-8; NULL: none */
  const double *levels;       /* gbt_objective.levels of the model's training; NULL: none, or not known */
} gbt_export_spec;

/* The bytes of a file with some of a model's rounds. Before it returns them, the function reads them back and compares
 * their scores with those of the model, for values at and next to each threshold, missing values, levels and unknown
 * levels: they are equal to the last bit, or as float32 if the format computes in float32. *out is allocated from
 * ctx->mem (free with gbt_mem_free). GBT_E_UNSUPPORTED names what the format cannot express, and a way that works
 * instead. */
gbt_status gbt_export_model(gbt_ctx *ctx, const gbt_export_spec *spec, gbt_export_facts *facts, uint8_t **out,
                            size_t *n_out, gbt_error *err) GBT_MUST_CHECK;

#endif
