/* Shared by the files of a call: explain.c the call, prepare.c plans, rows.c the contributions of rows.
 *
 *   entry   a tree: its game; with a background what that does at its leaves; and, where it asks few questions, a table
 *           of what a row gets, by its answers. Where the background has too many sets at a tree's leaves, an entry
 *           is for some of the leaves
 *   went    by question, for blocks of 64 rows: a bit each, whether they go left
 *   acc     of a tree: by output of a leaf, player and pair, rows side by side; then added to the rows' numbers as a
 *           whole */
#ifndef GBT_EXPLAIN_EXPLAIN_IMPL_H
#define GBT_EXPLAIN_EXPLAIN_IMPL_H

#include "../data/binding.h"
#include "explain.h"
#include "others.h"

struct gbti_job;

enum {
  GBTI_ROWS = 64,             /* of a block: bits of a word */
  GBTI_BATCH_BYTES = 1 << 24, /* see batch_bytes */
  GBTI_TABLE_ASKS = 12,       /* most questions of a tree with a table */
  GBTI_TABLE_BYTES = 1 << 22, /* of a table */
  GBTI_MOST_SUMS = 1 << 20,   /* bytes of a block's numbers that are kept in addition to the result */
  GBTI_PART_BYTES = 1 << 22,  /* see part_bytes */
  GBTI_WAVE = 32              /* trees that are made ready at the same time, at most */
};

typedef struct gbti_entry {
  gbti_game *game;
  uint32_t next;       /* the leaf to go on from in another entry; 0: none is left */
  gbti_others *others; /* NULL by cover */
  double *table;       /* by output of a leaf, item, and answers, 2^bits of them; or NULL */
  int32_t bits;
} gbti_entry;

/* A thread's numbers; blocks grow with what trees want. */
typedef struct gbti_explain_work {
  gbt_mem mem;
  double *x;   /* a block's numbers, feature by feature */
  int64_t row; /* the block's first row, or -1 */
  int64_t *cursor;
  uint64_t *missing;
  uint64_t *went; /* by question */
  uint64_t *by_split, *met;
  gbti_lanes lanes;
  double *acc;
  double *sum; /* by output and player: the block's numbers so far; or NULL where there are too many */
  gbti_game_scratch scratch;
  gbti_others_work others;
  gbti_pace pace;
  size_t cap_asks, cap_splits, cap_layers, cap_points, cap_players, cap_depths, cap_acc, cap_ways, cap_rows, cap_items;
} gbti_explain_work;

/* Leaves of a tree, from `leaf` on, that are to be made ready. */
typedef struct gbti_part {
  uint64_t tree;
  uint32_t leaf;
} gbti_part;

typedef struct gbti_explain_run {
  gbt_ctx *ctx;
  const gbt_forest_view *forest;
  const gbt_binding *binding;
  const gbt_explain_spec *spec;
  const double *offset;
  double *out;
  int64_t n_rows, n_back;
  int32_t *feat; /* n_feats: features that the trees use */
  int32_t *slot; /* by feature: its place among them */
  int32_t n_feats;
  double *back; /* n_feats x the background's rows, filled up to a block; NULL by cover */
  double *beta; /* see shares.h; NULL by cover */
  gbti_kernel kernel;
  gbti_entry *entry;
  size_t n_entries, cap_entries;
  gbti_explain_work *work;   /* by thread */
  gbti_part part[GBTI_WAVE]; /* n_parts: what is left of trees that have been begun */
  size_t n_parts;
  size_t batch_bytes; /* of trees that are kept ready at a time, about */
  size_t part_bytes;  /* of the background's sets in an entry, about: it shows in the order of sums */
  struct gbti_job *job;
  /* Contributions of all entries to all rows, added to the result: gbti_explain_rows, or a device's. */
  gbt_status (*rows)(struct gbti_explain_run *run, gbt_error *err);
  void *device;
} gbti_explain_run;

/* work.c: numbers of columns of an output, and of players and pairs of a game. */
size_t gbti_n_columns(const gbti_explain_run *run);
size_t gbti_n_items(const gbti_explain_run *run, const gbti_game *game);
/* The output of a tree's first value. */
int32_t gbti_first_output(const gbt_forest_view *forest, uint64_t tree);
/* A column of an output: of a player (a, a), or of two. */
double *gbti_column(const gbti_explain_run *run, int32_t output, size_t a, size_t b);

/* prepare.c: trees made ready from *tree on, as many as may be kept, and dropped again. All are when *tree is the last
 * and no parts are left. */
gbt_status gbti_prepare(gbti_explain_run *run, uint64_t *tree, gbt_error *err) GBT_MUST_CHECK;
void gbti_drop_entries(gbti_explain_run *run);
/* work.c */
gbt_status gbti_work_open(const gbti_explain_run *run, gbti_explain_work *work, gbt_error *err) GBT_MUST_CHECK;
void gbti_work_close(gbti_explain_work *work);
/* Whether the rows x (one feature of 64 rows) go left at a node: a bit each. */
uint64_t gbti_goes_left(const gbti_explain_run *run, uint64_t tree, uint32_t node, const double *x, uint64_t missing);
/* Makes room for blocks of this many rows of a game. */
gbt_status gbti_work_fit(const gbti_explain_run *run, gbti_explain_work *work, const gbti_game *game, size_t rows,
                         gbt_error *err) GBT_MUST_CHECK;

/* Contributions of an entry to rows, by its table or not at all: went by question, n_words each; acc is set to it,
 * `stride` rows a column. 1: to be stopped. */
int gbti_play(const gbti_explain_run *run, const gbti_entry *entry, gbti_explain_work *work, const uint64_t *went,
              size_t n_words, int64_t n_rows, double *acc, size_t stride);

/* rows.c: by the threads of the call. Before a pass over blocks of rows; a block's numbers, to w->x and w->missing. */
void gbti_rewind(gbti_explain_run *run);
void gbti_read_block(const gbti_explain_run *run, int64_t row, int32_t n, gbti_explain_work *w);
gbt_status gbti_explain_rows(gbti_explain_run *run, gbt_error *err) GBT_MUST_CHECK;

/* explain.c: gbt_explain, where `rows`, `device`, batch_bytes and part_bytes of `by` say who does it. */
gbt_status gbti_explain(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                        const gbt_explain_spec *spec, const double *offset, double *out, const gbti_explain_run *by,
                        gbt_error *err) GBT_MUST_CHECK;

#endif
