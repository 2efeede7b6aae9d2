/* Columns that stay on the device between their cuts and their codes, so that their numbers go up once, as long as half
 * of the free memory has room for them; those for which there is none go up again for their codes.
 *
 *   table in memory   dense columns, and sparse ones with so many entries that they may get codes of their own
 *   source            the same, fetched as a whole for their cuts, while codes are made chunk by chunk. Not those whose
 *                     stored codes mean other levels in every chunk */
#include "data.cuh"

enum {
  MOST_KEPT = 4096,
  KEPT_SHARE = 2, /* of free memory */
  LEAST_SHARE = 8 /* of rows: with fewer entries a column is stored by its entries, or shares codes (page.c) */
};

/* Callers ask for features in order, and columns are in that order: the search begins after the last one found. */
const cu_kept_column *cu_kept_find(cu_offload *o, int32_t number) {
  cu_kept *k = &o->kept;
  for (int32_t i = 0; i < k->n; i++) {
    const int32_t at = k->next + i < k->n ? k->next + i : k->next + i - k->n;
    if (k->column[at].number != number) continue;
    k->next = at + 1 < k->n ? at + 1 : 0;
    return &k->column[at];
  }
  return NULL;
}

/* The limit of what is kept, when the first column comes: what memory cutting has taken is not free then. */
static gbt_status begin(cu_offload *o, gbt_error *err) {
  cu_kept *k = &o->kept;
  size_t free_bytes = 0, total = 0;
  if (k->column != NULL) return GBT_OK;
  GBT_TRY(gbt_mem_zeros(&o->mem, MOST_KEPT, sizeof *k->column, &k->column, err));
  CU_TRY(cudaMemGetInfo(&free_bytes, &total));
  k->memory.limit = free_bytes / KEPT_SHARE + 1;
  return GBT_OK;
}

static int may_be_kept(const gbti_cut_input *input) {
  const gbt_column *col = input->in.col;
  if (input->in.n_entries == 0 || (!input->stays && col->storage == GBT_CODES)) return 0;
  return col->rows == NULL || input->in.n_entries >= input->table->n_rows / LEAST_SHARE;
}

static gbt_status make_room(cu_kept *k, const gbt_column *col, size_t n, cu_kept_column *to, gbt_error *err) {
  to->storage = (int32_t)col->storage;
  to->has_values = col->values != NULL;
  if (to->has_values) GBT_TRY(cu_new(&k->memory, &to->raw, n * cu_raw_bytes(to->storage), err));
  return col->rows != NULL ? cu_new(&k->memory, &to->rows, n, err) : GBT_OK;
}

gbt_status cu_kept_begin(cu_offload *o, const gbti_cut_input *input, const cu_kept_column **kept, int *is_there,
                         gbt_error *err) {
  const int32_t number = (int32_t)(input->in.col - input->table->cols);
  cu_kept *k = &o->kept;
  gbt_error no_room;
  *is_there = 0;
  *kept = NULL;
  if (!may_be_kept(input)) return GBT_OK;
  *kept = cu_kept_find(o, number);
  *is_there = *kept != NULL;
  if (*is_there || k->n == MOST_KEPT) return GBT_OK;
  GBT_TRY(begin(o, err));
  cu_kept_column *to = &k->column[k->n];
  const gbt_status status = make_room(k, input->in.col, (size_t)input->in.n_entries, to, &no_room);
  if (status == GBT_OK) {
    to->number = number;
    k->n++;
    *kept = to;
    return GBT_OK;
  }
  cu_drop(&k->memory, &to->raw);
  if (status == GBT_E_MEM) return GBT_OK;
  *err = no_room;
  return status;
}

void cu_kept_close(cu_offload *o) {
  cu_kept *k = &o->kept;
  for (int32_t i = 0; i < k->n; i++) {
    cu_drop(&k->memory, &k->column[i].raw);
    cu_drop(&k->memory, &k->column[i].rows);
  }
  gbt_mem_free(&o->mem, k->column);
  *k = cu_kept();
}
