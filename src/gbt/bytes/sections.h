/* Sections: named arrays of records in one block of bytes (format.h). Models are such blocks, and so are the index of a
 * data set in a folder, the forest of a checkpoint and the values of a host: each is a kind, which says what sections
 * it may have and which parts write and read them. A part is a few sections that belong together.
 *
 *   writing   measure of all parts, then every section gets its place, then put of all parts
 *   reading   the table of sections, then read of all parts
 *
 * Nothing that is read is trusted. There is only one valid form, so most checks compare with the one value that is
 * possible: sections and texts follow each other without gaps, in the order in which parts refer to them. That keeps
 * the work linear in the size of the bytes, wherever they come from; what is allocated is bounded by their size as
 * well. */
#ifndef GBT_BYTES_SECTIONS_H
#define GBT_BYTES_SECTIONS_H

#include "../base/ctx.h"
#include "../data/cuts.h"
#include "../objective/objective.h"
#include "../schema/schema_impl.h"
#include "../tree/forest.h"
#include "format.h"
#include "utf8.h"
#include "values.h"

/* The data that the parts of this folder write and read, as far as the kind has them. Borrowed pointers. */
typedef struct gbti_contents {
  gbt_forest_view forest;
  gbt_objective objective; /* of the forest's n_outputs */
  const gbt_schema *schema;
  const gbt_meta *meta; /* n_meta, names unique; may be NULL when there are none */
  int32_t n_meta;
} gbti_contents;

typedef struct gbti_writer {
  gbt_mem mem;
  const gbti_contents *parts;
  const gbt_cuts *cuts;        /* where the kind has some */
  const void *arg;             /* of parts that are the caller's own */
  uint64_t n[GBTI_N_SECTIONS]; /* records: what measure counts */
  uint64_t beg[GBTI_N_SECTIONS];
  uint8_t *out;
  uint64_t text_at; /* where the next text goes */
  uint32_t *linear; /* by grid of linear leaves: 0, or its number in the bytes, from 1; owned */
  gbt_error *err;
} gbti_writer;

struct gbti_kind;

typedef struct gbti_reader {
  gbt_mem mem;
  gbt_ctx *ctx;                    /* asked now and then whether to stop; NULL: never */
  const struct gbti_kind *kind;
  const char *path;                /* of the file, for messages; NULL: it is not known */
  void *arg;                       /* of parts that are the caller's own */
  int copies;                      /* the schema has its texts and numbers itself: the bytes go before it does */
  const void *at[GBTI_N_SECTIONS]; /* never NULL */
  uint64_t n[GBTI_N_SECTIONS];     /* whole records; 0 where there is no such section */
  uint64_t text_at;                /* where the next text must begin */
  uint64_t *keys;                  /* room of the schema for the keys of all projections */
  gbti_contents parts;             /* what has been read; pointers into the bytes, and to: */
  gbt_schema *schema;              /* owned, see gbti_reader_drop */
  gbt_meta *meta;
  gbt_cuts *cuts; /* but their n_rows and absent_missing */
  int32_t n_skipped;  /* sections of a later version that need not be understood */
  int32_t n_defaults; /* parameters of the objective that the bytes do not have */
  gbt_error *err;
} gbti_reader;

typedef struct gbti_part {
  gbt_status (*measure)(gbti_writer *w); /* checks what is to be written, counts records */
  void (*put)(gbti_writer *w);           /* writes the records */
  gbt_status (*read)(gbti_reader *r);    /* checks and reads them */
} gbti_part;

/* In the order in which their texts lie. Each needs those before it in this list, where it says so. */
extern const gbti_part gbti_part_objective; /* numbers, objective, parameters */
extern const gbti_part gbti_part_schema;    /* columns, texts */
extern const gbti_part gbti_part_features;  /* feature kinds, features, statistics; after the schema */
extern const gbti_part gbti_part_tables;    /* projections, keys, tables, if any; after the features: the whole map */
extern const gbti_part gbti_part_forest;    /* trees; the schema is there before */
extern const gbti_part gbti_part_meta;      /* named values */
extern const gbti_part gbti_part_cuts;      /* after the features */

enum { GBTI_MOST_PARTS = 8 };

#define GBTI_HAS(ID) ((uint64_t)1 << GBTI_SEC_##ID)
#define GBTI_HAS_SCHEMA \
  (GBTI_HAS(COLUMNS) | GBTI_HAS(FEATURE_KINDS) | GBTI_HAS(FEATURES) | GBTI_HAS(STATISTICS) | GBTI_HAS(TEXTS))
#define GBTI_HAS_FOREST                                                                                         \
  (GBTI_HAS(NUMBERS) | GBTI_HAS(BASE) | GBTI_HAS(TREES) | GBTI_HAS(NODES) | GBTI_HAS(SETS) | GBTI_HAS(LEAF_VALUES) | \
   GBTI_HAS(LINEAR_GRIDS) | GBTI_HAS(LINEAR_CUTS) | GBTI_HAS(LINEAR_X) | GBTI_HAS(LINEAR_OF) |                      \
   GBTI_HAS(LINEAR_LEAVES) | GBTI_HAS(LINEAR_TERMS) | GBTI_HAS(GAIN) | GBTI_HAS(COVER) | GBTI_HAS(COUNT))
#define GBTI_HAS_META (GBTI_HAS(META) | GBTI_HAS(META_VALUES) | GBTI_HAS(TEXTS))

typedef struct gbti_kind {
  char magic[9];
  uint32_t version;
  int sealed;         /* the head has a checksum; else it has 0, and what the bytes are kept in has one */
  const char *bytes;  /* what is damaged where the file is not known: "the model's bytes" */
  const char *advice; /* ends that message: what to do */
  uint64_t sections;  /* GBTI_HAS...: those that it may have */
  const gbti_part *part[GBTI_MOST_PARTS]; /* up to the first NULL */
} gbti_kind;

/* GBT_E_UNSUPPORTED where the machine stores numbers high byte first: blocks have the low byte first. what: "train", or
 * whatever the user asked for; called before anything that takes time. */
gbt_status gbti_check_byte_order(const char *what, gbt_error *err) GBT_MUST_CHECK;

/* The bytes of a block, whose writer has mem, parts, arg and err. Free *out with gbt_mem_free. */
gbt_status gbti_sections_write(const gbti_kind *kind, gbti_writer *w, uint8_t **out, size_t *n_bytes) GBT_MUST_CHECK;

/* Reads a block by a reader that has mem, kind, err and, optionally, ctx, path, arg, copies. bytes: begin on a multiple
 * of 8 and outlive what is read. GBT_E_FORMAT says what is wrong with them. Magic, version and size have been looked at
 * (gbti_head_of), so that every kind has its own words for them. After a failure drop the reader. */
gbt_status gbti_sections_read(gbti_reader *r, const void *bytes, size_t n_bytes) GBT_MUST_CHECK;
void gbti_reader_drop(gbti_reader *r); /* frees what it owns; nothing when that has been taken */

/* The head of bytes: 0 when they do not begin with the kind's magic. Bytes that are not there read as zeros. */
int gbti_head_of(const gbti_kind *kind, const void *bytes, size_t n, gbti_model_head *out);

/* ---- writing: for parts ---- */

#define GBTI_TOO_LARGE ((uint64_t)1 << 62)

/* sum + n * size; stays at GBTI_TOO_LARGE once it got there. */
GBT_FN uint64_t gbti_add(uint64_t sum, uint64_t n, uint64_t size) {
  if (sum >= GBTI_TOO_LARGE || n > (GBTI_TOO_LARGE - sum) / size) return GBTI_TOO_LARGE;
  return sum + n * size;
}

GBT_FN void *gbti_out(const gbti_writer *w, gbti_section_id id) { return w->out + w->beg[id]; }

GBT_FN void gbti_copy(void *to, const void *from, uint64_t bytes) {
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
}

/* Counts a text, and fails with `code` when it is not UTF-8: the text belongs to the `what` of a name. */
gbt_status gbti_measure_text(gbti_writer *w, const char *text, gbt_status code, const char *what,
                             const char *name) GBT_MUST_CHECK;

/* Appends a text to those written before; returns its position. */
uint64_t gbti_put_text(gbti_writer *w, const char *text);

/* ---- reading: for parts ---- */

/* GBT_E_FORMAT; what: the fault, a clause of the message. Always fails. */
gbt_status gbti_damaged(const gbti_reader *r, const char *what);

/* The same for something that only a later version has: "the section" of a name. */
gbt_status gbti_is_newer(const gbti_reader *r, const char *what, const char *name);

/* The text at a position. It must be the next one. */
gbt_status gbti_take_text(gbti_reader *r, uint64_t at, const char **out) GBT_MUST_CHECK;

/* Fails with `what` when two of the texts are equal. */
gbt_status gbti_check_unique(const gbti_reader *r, const char *const *text, int32_t n, const char *what) GBT_MUST_CHECK;

/* Whether the bytes [beg, end) are zeros. */
int gbti_is_zeros(const void *bytes, uint64_t beg, uint64_t end);

/* How many projections and keys a schema needs room for. */
gbt_status gbti_measure_projections(const gbti_reader *r, gbt_schema_room *room) GBT_MUST_CHECK;

#endif
