/* How trees use categorical columns: their levels, or statistics of their levels. */
#ifndef GBT_ENCODE_CAT_METHOD_H
#define GBT_ENCODE_CAT_METHOD_H

#include <stdint.h>

/* The numbers of the methods. */
enum {
#define GBT_CAT_METHOD(ID, NAME, TEXT) GBT_CAT_NUMBER_##ID,
#include "cat_methods.def"
  GBT_N_CAT_METHODS
};

/* Bits; a set of them says how a column is used: gbt_trainer_spec.cat_method. */
typedef enum gbt_cat_method {
#define GBT_CAT_METHOD(ID, NAME, TEXT) GBT_CAT_##ID = 1 << GBT_CAT_NUMBER_##ID,
#include "cat_methods.def"
  GBT_CAT_AUTO = 0 /* the engine chooses: gbti_auto_cat_method() in plan.h */
} gbt_cat_method;

/* The name of the method of bit 1 << number ("sets"); NULL where there is none: see gbt_status_name. */
const char *gbt_cat_method_name(int number);

#endif
