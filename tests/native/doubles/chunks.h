/* Sources for the tests: a table in memory, cut into chunks.
 *
 *   chunks *c = chunks_new(&t->table, 1000, seed);    chunks of 1,000 rows; 0: of any number of rows, none among them
 *   c->source                                         what gbt_dataset_spec takes
 *   chunks_free(c);
 *
 * Every chunk lies elsewhere: every array is a block of its own, so that the address sanitizer sees its ends. What has
 * been released is overwritten and freed later, and so are numbers that a pass does not read. With a seed other than 0
 * the chunks of every pass are cut in another way (rows = 0), and the levels of unordered factors come in another order
 * in every chunk, with levels that do not occur and texts that occur twice.
 *
 * The Makefile wraps gbt_dataset_make, so that the tables of all suites can be handed over in chunks. */
#ifndef GBT_TEST_CHUNKS_H
#define GBT_TEST_CHUNKS_H

#include "../../src/gbt/data/source.h"
#include "test.h"

enum { CHUNKS_DEAD = 3 };

typedef struct chunk_copy chunk_copy;

typedef struct chunks {
  gbt_source source; /* n_rows may be set to -1 */
  const gbt_table *table;
  int64_t rows;
  uint64_t seed;
  test_rng rng;
  int64_t at; /* rows given in this pass */
  int done;   /* the last chunk was given */
  chunk_copy *live, *dead[CHUNKS_DEAD];
  int n_dead;
  const int32_t *wanted; /* columns of this pass: those that are not among them are overwritten; NULL: all */
  int32_t n_wanted;

  /* counted */
  int64_t n_passes, n_calls, n_chunks;
  size_t most_bytes; /* of a chunk_copy */

  /* faults, from the beginning of pass `from` on (1: the first); 0: none */
  int64_t from;
  const gbt_table *other; /* this table's rows instead */
  int64_t fail_at;        /* the n-th call fails (1: the first); 0: none */
  gbt_status fail_with;
} chunks;

chunks *chunks_new(const gbt_table *table, int64_t rows, uint64_t seed);
void chunks_free(chunks *c);

/* The environment's GBT_TEST_CHUNK: rows of the chunks that gbt_dataset_make gets in place of a table; unset or empty:
 * tables stay tables. 0 when it is no such number. */
int chunks_from_environment(void);

#endif
