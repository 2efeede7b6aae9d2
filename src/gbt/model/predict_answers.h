/* Answers of the long sets of a column, all of them at once. Private to model/.
 *
 * A set of more than GBTI_TABLE_SET bytes does not fit into registers. So a level's answers lie side by side, a bit for
 * every such set of its column: rows read the answers of their level, 64 rows by 64 sets are turned, and a node takes
 * the mask of its rows from memory. That costs two clocks a row for 64 sets, where asking one set after another
 * costs three for each.
 *
 *   bits     bit s % 64 of bits[beg + code * n_words + s / 64]: set s of the column sends the code right. Codes from
 *            n_codes - 1 on are answered by the last row
 *   masks    bit r of masks[(set_beg + s) * n_groups + g]: row r of group g goes right by set s */
#ifndef GBT_MODEL_PREDICT_ANSWERS_H
#define GBT_MODEL_PREDICT_ANSWERS_H

#include "predict_table.h"

struct gbti_answers {
  uint32_t col;              /* the first of the column's four columns of bytes, times GBTI_TABLE_ROWS */
  uint32_t set_beg, n_sets;  /* among the sets of all columns that have answers */
  uint32_t n_words, n_codes; /* up to 65,535 codes */
  size_t beg;
};

/* Makes the answers of all columns, as far as there is room for them, and assigns them to the sets. Tables have been
 * made. Only where gbti_tables_run. */
gbt_status gbti_answers_make(gbt_ctx *ctx, gbti_pack *pack, gbt_error *err) GBT_MUST_CHECK;

/* Masks of the n rows of a block, whose codes of tables have been computed. Masks of rows from n on are 0. */
void gbti_answers_ask(const gbti_pack *pack, const uint8_t *codes, int32_t n, int32_t n_groups, uint64_t *masks);

/* Turns 64 x 64 bits: bit r of to[s * stride] is bit s of from[r]. Only where gbti_tables_run. */
void gbti_turn_bits(const uint64_t from[64], uint64_t *to, size_t stride);

#endif
