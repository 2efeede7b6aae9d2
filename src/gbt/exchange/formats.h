/* A format has a writer, and a reader of what it has written, by which every file is checked. A new format is a file
 * to_ID.c with the two and a row in formats.def.
 *
 *   model -> outgoing.h: trees of columns, changed to what the format can express
 *         -> gbti_write_ID: bytes
 *         -> gbti_read_ID: an evaluator of these bytes, which knows nothing of the trees that they were written from
 *         -> compare.c: every node of every tree, and whole scores, against the trees and against the model */
#ifndef GBT_EXCHANGE_FORMATS_H
#define GBT_EXCHANGE_FORMATS_H

#include "outgoing.h"
#include "text.h"

enum {
  GBTI_CAN_VECTORS = 1,  /* leaves with a value for each score; else a round has a tree for each */
  GBTI_CAN_UNSEEN = 2,   /* unseen levels go their own way; else they are missing values */
  GBTI_CAN_CODES = 4,    /* numbers that stand for missing values, such as 99; else refused */
  GBTI_CAN_RANGES = 8,   /* ranges of such numbers; else refused */
  GBTI_CAN_BASE = 16,    /* base scores; else they are added to the leaves of the first trees */
  GBTI_CAN_END = 32,     /* base scores that are added to scaled sums, or means, of trees; else refused */
  GBTI_CAN_SUMS = 64,    /* sums in float32, scaled ones and means: gbt_sum_rule. Else the writer looks at them */
  GBTI_CAN_OFFSET = 128, /* numbers that are added to the scores of each row before responses are made; else refused */
  GBTI_CAN_LINEAR = 256, /* leaves that are linear in the bins of columns; else refused */
  GBTI_CAN_NUMBERS = 512, /* leaves that are linear in numbers, as some imported models have; else refused */
  GBTI_CAN_ALL = 1023,
  GBTI_OWN_CODES = 1024, /* the writer looks at the numbers that stand for missing values */
  GBTI_FLOATS = 2048,    /* compares and adds in float32 */
  GBTI_FINITE = 4096     /* takes no infinite numbers */
};

/* A value of a row. Of a column of numbers: x, NaN is missing. Of one with levels: x is the level's position, NaN is
 * missing, -1 unseen; text is the level's, NULL of a missing value, and of an unseen one a text that is no level. */
typedef struct gbti_cell {
  double x;
  const char *text;
} gbti_cell;

/* Bytes as they would be used. Functions return 0 when the bytes cannot be evaluated. */
typedef struct gbti_evaluator {
  void *state;
  /* The `width` numbers that tree t adds; trees are those of the gbti_outgoing, in its order. */
  int (*tree)(void *state, uint64_t t, const gbti_cell *row, double *values);
  /* The raw scores of a row: n_outputs. */
  int (*score)(void *state, const gbti_cell *row, double *scores);
  void (*close)(void *state);
} gbti_evaluator;

/* Writers fill out, and return what gbti_refuse() does where the format cannot say something. Readers allocate from
 * x->mem, and use x for nothing but its mem, err and name, and the names of columns as a table has them. */
#define GBT_FORMAT(ID, name, extension, flags, text)                                                           \
  gbt_status gbti_write_##ID(gbti_outgoing *x, gbti_file *out) GBT_MUST_CHECK;                                 \
  gbt_status gbti_read_##ID(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) \
      GBT_MUST_CHECK;
#include "formats.def"
#undef GBT_FORMAT

/* A reader for files that gbt_import() reads: scores as the model has them that it makes. */
gbt_status gbti_read_back(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes,
                          gbti_evaluator *out) GBT_MUST_CHECK;

/* The number that a level is in files of programs whose categories are numbers: of a column of whole numbers (tag
 * "category") these, else the level's position. -1: the column's numbers are none of 0 .. 2^24 - 1. */
int64_t gbti_level_code(const gbt_schema_column *column, int32_t level);

typedef struct gbti_format {
  const char *name, *extension, *text;
  uint32_t flags;
  gbt_status (*write)(gbti_outgoing *x, gbti_file *out);
  gbt_status (*read)(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out);
} gbti_format;

/* The names of formats that compute in double and can express all of `can`, GBTI_CAN_...: "c", "json" or "sql". */
enum { GBTI_NAMES_LENGTH = 120 };
void gbti_formats_with(uint32_t can, char names[GBTI_NAMES_LENGTH]);

/* GBT_E_INTERNAL, naming the tree, where what was written is not what was meant. model: that of x. */
gbt_status gbti_compare(gbt_ctx *ctx, const gbti_outgoing *x, const gbti_evaluator *written,
                        const gbt_forest_view *model) GBT_MUST_CHECK;

#endif
