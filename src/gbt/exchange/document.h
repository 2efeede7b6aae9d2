/* The values of a JSON or UBJ file, without copies of them: a list of where each one is.
 *
 *   cells   object  [kind | the cell after it][number of keys]   key value key value ...
 *           array   [kind | the cell after it][number of values] value value ...
 *           packed  [kind | byte of the first][number of values][type]            UBJ: numbers of one type
 *           text    [kind | first byte]                          number, true, false, null likewise
 *
 * Cells take at most 12 bytes for each byte of the file. Reading goes down MOST_DEPTH levels and is no recursion. */
#ifndef GBT_EXCHANGE_DOCUMENT_H
#define GBT_EXCHANGE_DOCUMENT_H

#include "../base/mem.h"

typedef enum gbti_value_kind {
  GBTI_VALUE_NULL,
  GBTI_VALUE_FALSE,
  GBTI_VALUE_TRUE,
  GBTI_VALUE_NUMBER,
  GBTI_VALUE_TEXT,
  GBTI_VALUE_OBJECT,
  GBTI_VALUE_ARRAY,
  GBTI_VALUE_PACKED
} gbti_value_kind;

typedef struct gbti_document {
  gbt_mem mem;
  const char *program; /* for messages */
  const uint8_t *bytes;
  size_t n_bytes;
  int is_ubj;
  uint64_t *cell;
  size_t n_cells, cap_cells;
  char *text; /* room for the last text that was asked for */
  size_t cap_text;
  gbt_error *err;
} gbti_document;

/* A value: its cell. */
#define GBTI_NO_VALUE ((size_t)-1)

/* Reads bytes that outlive the document. doc: zeros but mem, program and err; after a failure too, gbti_document_close
 * it. GBT_E_FORMAT says at which byte it is damaged. */
gbt_status gbti_document_open(gbti_document *doc, const uint8_t *bytes, size_t n_bytes) GBT_MUST_CHECK;
void gbti_document_close(gbti_document *doc);

gbti_value_kind gbti_kind_of(const gbti_document *doc, size_t value);

/* GBT_E_FORMAT: "the XGBoost file is damaged: " and the clause. Always fails. */
gbt_status gbti_document_fault(const gbti_document *doc, const char *what);

/* The value of a key of an object; GBTI_NO_VALUE when there is none, or when it is no object. */
size_t gbti_get(const gbti_document *doc, size_t object, const char *key);

/* How many values an array, packed or not, has; -1 for what is none. */
int64_t gbti_count(const gbti_document *doc, size_t array);

/* The values of an array, or keys and values of an object: the first one, and the one after another. The caller counts.
 */
size_t gbti_first(const gbti_document *doc, size_t container);
size_t gbti_next(const gbti_document *doc, size_t value);

/* A number, or a text that is one; `what` names it in the message where it is none. f32: read as a float32 is. */
gbt_status gbti_number(const gbti_document *doc, size_t value, const char *what, int f32, double *out) GBT_MUST_CHECK;
/* A whole number in [least, most]. */
gbt_status gbti_whole(const gbti_document *doc, size_t value, const char *what, int64_t least, int64_t most,
                      int64_t *out) GBT_MUST_CHECK;

/* An array of n numbers, or true and false, to doubles. */
gbt_status gbti_numbers(const gbti_document *doc, size_t array, const char *what, int64_t n, int f32,
                        double *out) GBT_MUST_CHECK;
/* Likewise to whole numbers in [least, most]. */
gbt_status gbti_wholes(const gbti_document *doc, size_t array, const char *what, int64_t n, int64_t least, int64_t most,
                       int32_t *out) GBT_MUST_CHECK;

/* A text: its characters as they are meant, with a NUL at the end and none inside. *out is good until the next call. */
gbt_status gbti_text(gbti_document *doc, size_t value, const char *what, const char **out) GBT_MUST_CHECK;
int gbti_text_is(const gbti_document *doc, size_t value, const char *text); /* compared byte by byte, no escapes */
/* The n bytes of a text, or of a key, as they are in the file; NULL for what is no text. */
const uint8_t *gbti_raw(const gbti_document *doc, size_t value, size_t *n);

#endif
