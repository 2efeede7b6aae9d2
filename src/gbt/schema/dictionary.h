/* Texts that are met one by one, each kept once, numbered 0, 1, 2, ... in the order in which they were first met. */
#ifndef GBT_SCHEMA_DICTIONARY_H
#define GBT_SCHEMA_DICTIONARY_H

#include "../base/mem.h"

typedef struct gbt_dictionary gbt_dictionary;

gbt_status gbt_dictionary_new(const gbt_mem *mem, gbt_dictionary **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_dictionary_free(gbt_dictionary *dictionary); /* NULL allowed */

/* The number of the text, of which a copy is kept when it is new. At most INT32_MAX - 1 texts (GBT_E_UNSUPPORTED). */
gbt_status gbt_dictionary_add(gbt_dictionary *dictionary, const char *text, int32_t *number,
                              gbt_error *err) GBT_MUST_CHECK;

/* The number of the text, or -1. */
int32_t gbt_dictionary_find(const gbt_dictionary *dictionary, const char *text);

/* How many texts there are. */
int32_t gbt_dictionary_n(const gbt_dictionary *dictionary);

/* By number; the array is valid until the next text is added, the texts as long as the dictionary. */
const char *const *gbt_dictionary_texts(const gbt_dictionary *dictionary);

#endif
