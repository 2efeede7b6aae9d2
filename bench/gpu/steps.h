/* Training taken apart: every step of a few batches of trees timed by itself, with a wait for the device before and
 * after, compared with the time that the least bytes of the step would take. The waits cost what a whole training saves
 * by not having them: the sum of the steps is more than a tree takes in training.
 *
 * Least bytes (rows: those that the step must read, by the grown tree):
 *
 *   histogram   of the root, rows x (codes + 4 bytes of gradient); below, rows of the smaller siblings x (codes in
 *               whole sectors of 32 bytes + 4 + 4 bytes of row number)
 *   partition   rows of the split nodes x (16 bytes: row number and gradient read and written; and of the split's
 *               column 1, 2, 4, ... 32 bytes by layer: rows of deeper nodes share no sector)
 *   the rest    25 bytes a row: scores, labels, gradients, once a tree
 *
 * Least additions: 2 a code, one a bank and clock. */
#ifndef GBT_BENCH_STEPS_H
#define GBT_BENCH_STEPS_H

#include "boost/backends.h"
#include "boost/trainer_impl.h"
#include "device.h"
#include "gbt.h"

enum { STEP_GRADIENT, STEP_BEGIN, STEP_HIST, STEP_SEARCH, STEP_SELECT, STEP_PARTITION, STEP_FINISH, N_STEPS };
enum { MAX_LAYERS = 64 };

typedef struct steps {
  int n_trees, n_layers, at_once;                      /* at_once: trees of a batch at most */
  double seconds[N_STEPS][MAX_LAYERS];                 /* of all trees; steps without layers in [0] */
  double bytes[N_STEPS][MAX_LAYERS], adds[MAX_LAYERS]; /* least ones */
  double row_bytes;                                    /* codes of a row */
} steps;

extern const char *const step_names[N_STEPS];

/* Grows rounds of trees, the first round not counted. device: NULL for the CPU. */
gbt_status steps_run(gbt_ctx *ctx, const gbt_device_api *device, gbt_dataset *ds, gbt_objective_kind loss,
                     int32_t n_outputs, const gbt_params *params, int rounds, steps *out,
                     gbt_error *err) GBT_MUST_CHECK;

/* Least seconds of a tree. */
double steps_floor(const steps *s, const device_facts *dev);

#endif
