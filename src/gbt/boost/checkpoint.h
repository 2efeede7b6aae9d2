/* Checkpoints: a file, written between rounds, with everything that a training needs to continue. A training that is
 * resumed ends with the bytes of one that was never stopped, on any number of threads and any device.
 *
 *   part  0     counts and what early stopping has seen
 *         1     the log
 *         2     the shrinkages of the rounds
 *         3     the forest: a block of sections (bytes/sections.h)
 *         4     the host's note
 *         5..   scores: of every data set; those that are kept of the best round; of what grows the trees where that
 *               is another backend; of the supporting models. Each column of them by blocks of rows
 *
 * Scores are stored, as the forest does not determine them: it does not have the trees that only served to make others
 * (drafts, supporting models).
 *
 * Ranks: the first rank writes and reads the file, which has the scores of the rows of all ranks in their order. So it
 * can be read with another number of ranks. The others give and get their scores block by block. */
#ifndef GBT_BOOST_CHECKPOINT_H
#define GBT_BOOST_CHECKPOINT_H

#include "../tree/view.h"
#include "trainer.h"

/* Tells trainings from each other: parameters that show in the model, objective, metrics, constraints, the trees and
 * scores that training begins with, and of the data the rows in their order, their fields and the cuts. Does not depend
 * on the number of ranks. 0 unless spec->checkpoints. start: the trainer's forest before the first round. Collective,
 * without an agreement. */
gbt_status gbti_training_identity(gbt_ctx *ctx, const gbt_trainer_spec *spec, const gbt_forest_view *start,
                                  uint64_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
