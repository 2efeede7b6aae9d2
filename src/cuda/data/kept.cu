/* Columns that stay on the device between their cuts and their codes, so that their numbers go up once. Dense columns
 * of a table in memory are kept as they went up for their cuts, as long as half of the free memory has room for them;
 * others, and those for which there is no room, go up again for their codes. */
#include "data.cuh"

enum { MOST_KEPT = 4096, KEPT_SHARE = 2 /* of free memory */ };

/* Features come in order, and so do their columns: the search begins behind the last one found. */
unsigned char *cu_kept_find(cu_offload *o, const void *values) {
  cu_kept *k = &o->kept;
  for (int32_t i = 0; i < k->n; i++) {
    const int32_t at = k->next + i < k->n ? k->next + i : k->next + i - k->n;
    if (k->column[at].values != values) continue;
    k->next = at + 1 < k->n ? at + 1 : 0;
    return k->column[at].raw.at;
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

gbt_status cu_kept_begin(cu_offload *o, const gbti_cut_input *input, unsigned char **raw, int *is_there,
                         gbt_error *err) {
  const gbt_column *col = input->in.col;
  cu_kept *k = &o->kept;
  gbt_error no_room;
  *raw = NULL;
  *is_there = 0;
  if (!input->stays || col->rows != NULL || col->values == NULL || input->in.n_entries == 0) return GBT_OK;
  *raw = cu_kept_find(o, col->values);
  *is_there = *raw != NULL;
  if (*is_there || k->n == MOST_KEPT) return GBT_OK;
  GBT_TRY(begin(o, err));
  cu_kept_column *to = &k->column[k->n];
  const gbt_status status =
      cu_new(&k->memory, &to->raw, (size_t)input->in.n_entries * cu_raw_bytes(col->storage), &no_room);
  if (status == GBT_E_MEM) return GBT_OK;
  if (status != GBT_OK) {
    *err = no_room;
    return status;
  }
  to->values = col->values;
  k->n++;
  *raw = to->raw.at;
  return GBT_OK;
}

void cu_kept_close(cu_offload *o) {
  cu_kept *k = &o->kept;
  for (int32_t i = 0; i < k->n; i++) cu_drop(&k->memory, &k->column[i].raw);
  gbt_mem_free(&o->mem, k->column);
  *k = cu_kept();
}
