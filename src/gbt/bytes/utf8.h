/* Texts of a model. The reader refuses bytes that are not valid UTF-8, the writer never writes such bytes. */
#ifndef GBT_MODEL_UTF8_H
#define GBT_MODEL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Whether n bytes are well-formed UTF-8 (no overlong forms, surrogates or numbers above 10FFFF). */
int gbt_utf8_ok(const char *text, size_t n);

#endif
