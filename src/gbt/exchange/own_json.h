/* Words of docs/json-format.md: to_json.c writes them, from_json.c makes a model of them. */
#ifndef GBT_EXCHANGE_OWN_JSON_H
#define GBT_EXCHANGE_OWN_JSON_H

#include "outgoing.h"

/* Lists of a tree, with a value for each node; by number the keys. */
enum {
  GBTI_JSON_LEFT,
  GBTI_JSON_COLUMN,
  GBTI_JSON_SPLIT,
  GBTI_JSON_MISSING,
  GBTI_JSON_UNSEEN,
  GBTI_JSON_VALUE,
  GBTI_JSON_GAIN,
  GBTI_JSON_COVER,
  GBTI_JSON_COUNT,
  GBTI_JSON_KEYS
};
extern const char *const gbti_json_key[GBTI_JSON_KEYS];

extern const char *const gbti_json_type[3];  /* by gbt_feature_type */
extern const char *const gbti_json_rule[4];  /* by gbt_sum_rule */
extern const char *const gbti_json_link[6];  /* by gbti_link */

/* The fault of a type of classes for a model, or NULL; `classes`: n names of classes. */
const char *gbti_class_type_fault(const char *type, const gbt_objective *objective, const char *const *classes,
                                  int64_t n);

#endif
