/* Tables for the tests: columns are added one by one; the table owns copies of everything.
 *
 *   tables *t = tables_new(n_rows);
 *   tables_f64(t, "x", x);  tables_sparse(t, "s", x, GBT_F64, 3);  tables_codes(t, "f", GBT_CATEGORICAL, code, levels,
 * 3);
 *   ... &t->table ...
 *   tables_free(t); */
#ifndef GBT_TEST_TABLES_H
#define GBT_TEST_TABLES_H

#include "../../src/gbt/data/table.h"
#include "test.h"

typedef struct tables {
  gbt_table table;
  gbt_column *cols; /* the same as table.cols, to be changed at will */
  int32_t cap;
  void **kept;
  int n_kept;
} tables;

tables *tables_new(int64_t n_rows);
void tables_free(tables *t);

/* Memory that lives as long as the table; a copy of `from` when that is given. */
void *tables_keep(tables *t, const void *from, size_t bytes);

/* Each adds a column. NaN becomes the storage's missing value; numbers must be whole for integers. */
gbt_column *tables_dense(tables *t, const char *name, const double *x, gbt_storage storage);
gbt_column *tables_f64(tables *t, const char *name, const double *x);
gbt_column *tables_codes(tables *t, const char *name, gbt_feature_type type, const int32_t *code,
                         const char *const *levels, int32_t n_levels);

/* Sparse: entries for all x but the absent ones (0; NaN when table.absent_missing is set), and for one in `extra` of
 * those as well (0: none). */
gbt_column *tables_sparse(tables *t, const char *name, const double *x, gbt_storage storage, int32_t extra);

/* Numbers with everything in them. */
enum {
  DRAW_BELL = 0,
  DRAW_UNIT,
  DRAW_FEW,   /* whole numbers -3 .. 3 */
  DRAW_WHOLE, /* whole numbers up to 10^5 */
  DRAW_ZEROS, /* 80 % zeros */
  DRAW_HEAVY, /* bell, with a few values that occur often */
  DRAW_WILD,  /* any magnitude, both signs, infinities, denormals, both zeros */
  DRAW_HUGE,  /* around +-1e308 */
  DRAW_CLOSE, /* neighbouring doubles */
  DRAW_CONSTANT,
  DRAW_CLUSTER, /* half of all in a narrow place, the others far and wide */
  N_DRAWS
};
double tables_draw(test_rng *rng, int kind);

/* A table of all kinds of columns: numbers in all storages, dense and sparse; factors whose levels have doubles and a
 * missing text, ordered ones and a sparse one among them; and n_sparse columns of ones of which each row has one,
 * and as many that are nearly empty. n_levels: up to TABLES_LEVELS. */
enum { TABLES_LEVELS = 10 };
typedef struct tables_shape {
  int64_t n_rows;
  int n_numbers, n_codes, n_sparse, absent_missing;
} tables_shape;
tables *tables_of_all(test_rng *rng, tables_shape shape, int32_t n_levels);

/* Weights that live as long as the table. kind: 0 none (NULL), 1 whole numbers, 2 up to 1, 3 nearly all 0 and the
 * others huge, 4 of any magnitude. */
double *tables_weights(tables *t, test_rng *rng, int kind);

#endif
