/* Chunks that an R function yields, as a source of the engine (gbt/data/source.h).
 *
 * The engine calls r_next() on R's thread; it calls the R function, whose errors and interrupts jump. A jump must not
 * pass the engine's frames: R_UnwindProtect() stops it, r_next() fails with GBT_CANCELLED, the engine unwinds itself,
 * and when all of its memory is freed the entry point lets the jump go on. */
#include "r_gbt.h"

#include <setjmp.h>

typedef struct chunks {
  SEXP fn;    /* function(i, wanted): the frame of chunk i, from 1, or NULL after the last one; wanted: columns that
                 are read, from 1, NULL: all */
  SEXP kept; /* a list: the frame of the chunk that the engine has, the model whose level counts are taken or NULL */
  SEXP token; /* where a jump goes on */
  gbt_table table;
  int number; /* chunks of this pass so far */
  const int32_t *wanted; /* the engine's, for a pass */
  int32_t n_wanted;
  int jumped;
  void *top; /* of R_alloc: what a chunk's table took is given back with the next one */
  jmp_buf caught;
} chunks;

static SEXP call_fn(void *data) {
  chunks *c = data;
  SEXP number = PROTECT(Rf_ScalarInteger(c->number)), wanted = PROTECT(Rf_allocVector(INTSXP, c->n_wanted));
  for (int32_t i = 0; i < c->n_wanted; i++) INTEGER(wanted)[i] = c->wanted[i] + 1;
  if (c->wanted == NULL) wanted = R_NilValue;
  SEXP call = PROTECT(Rf_lang3(c->fn, number, wanted));
  SEXP frame = Rf_eval(call, R_GlobalEnv);
  SET_VECTOR_ELT(c->kept, 0, frame);
  vmaxset(c->top);
  if (frame != R_NilValue) {
    r_table(frame, &c->table);
    if (VECTOR_ELT(c->kept, 1) == R_NilValue) SET_VECTOR_ELT(c->kept, 1, r_statistics_handle(frame));
    c->table.statistics = r_statistics(VECTOR_ELT(c->kept, 1));
  }
  UNPROTECT(3);
  return R_NilValue;
}

static void catch_jump(void *data, Rboolean jumps) {
  chunks *c = data;
  if (jumps) longjmp(c->caught, 1);
}

static gbt_status r_rewind(void *state, gbt_ctx *ctx, gbt_error *err) {
  (void)ctx, (void)err;
  ((chunks *)state)->number = 0;
  return GBT_OK;
}

static void set_wanted_columns(void *state, const int32_t *cols, int32_t n) {
  chunks *c = state;
  c->wanted = cols;
  c->n_wanted = n;
}

static gbt_status r_next(void *state, gbt_ctx *ctx, const gbt_table **chunk, gbt_error *err) {
  chunks *c = state;
  (void)ctx;
  *chunk = NULL;
  c->number++;
  if (setjmp(c->caught)) {
    c->jumped = 1;
    return gbt_fail(err, GBT_CANCELLED, "the function of chunks did not return");
  }
  R_UnwindProtect(call_fn, c, catch_jump, c, c->token);
  if (VECTOR_ELT(c->kept, 0) != R_NilValue) *chunk = &c->table;
  return GBT_OK;
}

/* As r_gbt_dataset_new, of all chunks. next: function(i, wanted), which gives frames, or
 * NULL. n_rows: of all chunks, or -1
 * when that is not known; with weight it must be. */
SEXP r_gbt_dataset_chunks(SEXP next, SEXP n_rows, SEXP reference, SEXP weight, SEXP max_bin, SEXP page_rows,
                          SEXP unseen, SEXP threads, SEXP disk) {
  /* 1 */
  chunks c = {.fn = next};
  if (!Rf_isFunction(next)) r_stop("`next` must be a function");
  gbt_source source = {.state = &c, .n_rows = (int64_t)Rf_asReal(n_rows), .rewind = r_rewind, .next = r_next,
                       .want = set_wanted_columns};
  gbt_dataset_spec spec = {.source = &source,
                           .reference = reference == R_NilValue ? NULL : r_handle_get(reference, R_DATASET),
                           .weight =
                               weight == R_NilValue ? NULL : r_arg_reals(weight, (R_xlen_t)source.n_rows, "weight"),
                           .max_bin = r_arg_int(max_bin, "max_bin"),
                           .page_rows = r_arg_int(page_rows, "page_rows"),
                           .unseen = (gbt_unseen)r_arg_int(unseen, "unseen")};
  const r_threads t = r_arg_threads(threads);
  const r_disk to = r_disk_arg(disk);
  SEXP out = PROTECT(r_handle_new(R_DATASET, R_NilValue));
  c.token = PROTECT(R_MakeUnwindCont());
  c.kept = PROTECT(Rf_allocVector(VECSXP, 2));
  c.top = vmaxget();
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_dataset *ds = NULL;
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = r_make_dataset(&ctx, &spec, &to, &ds, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  if (status == GBT_OK) R_SetExternalPtrAddr(out, ds);
  if (c.jumped) R_ContinueUnwind(c.token);
  r_check(status, &err);
  UNPROTECT(3);
  return out;
}
