/* Bytes of a file as it is written: they grow, and the first failure is kept, so that writers need not check after each
 * piece. */
#ifndef GBT_EXCHANGE_TEXT_H
#define GBT_EXCHANGE_TEXT_H

#include "../base/mem.h"

typedef struct gbti_file {
  gbt_mem mem;
  gbt_error *err;
  uint8_t *at; /* owned: gbt_mem_free */
  size_t n, cap;
  gbt_status status; /* of all pieces so far */
} gbti_file;

void gbti_put_bytes(gbti_file *out, const void *bytes, size_t n);
void gbti_put(gbti_file *out, const char *text);
void gbti_put_whole(gbti_file *out, int64_t x);

/* The shortest decimal that is read as this number: 0.1, -1.5e-07. Infinities are inf and -inf, NaN is nan: formats
 * that have none of these ask before. */
void gbti_put_double(gbti_file *out, double x);
void gbti_put_float(gbti_file *out, float x);
/* As C99 has it, exactly: 0x1.999999999999ap-4. x is finite. */
void gbti_put_hex(gbti_file *out, double x);

/* A text with a name in the place of each @. */
void gbti_put_named(gbti_file *out, const char *name, const char *text);

/* "text" in double quotes: as JSON has it; as C has it, in ASCII. */
void gbti_put_json(gbti_file *out, const char *text);
void gbti_put_c(gbti_file *out, const char *text);

#endif
