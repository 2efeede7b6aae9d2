/* Checkpoints: all that a training needs to go on, in a file, between rounds. A training that is resumed ends with the
 * bytes of one that was never stopped, on any number of threads and any device.
 *
 *   part  0     counts and what early stopping has seen
 *         1     the log
 *         2     the shrinkages of the rounds
 *         3     the forest: a block of sections (bytes/sections.h)
 *         4     the host's note
 *         5..   scores: of every data set; of what grows the trees where that is another backend; of the supporting
 *               models; those that are kept of the best round
 *
 * Scores are kept as they are: trees that grew the others' way (drafts, supporting models) are not in the forest. */
#ifndef GBT_BOOST_CHECKPOINT_H
#define GBT_BOOST_CHECKPOINT_H

#include "../tree/view.h"
#include "trainer.h"

/* Tells trainings from each other: parameters that show in the model, objective, metrics, constraints, the trees and
 * scores that training begins with, and of the data the numbers of rows, the cuts, and the fields of the rows. 0 unless
 * spec->checkpoints. start: the trainer's forest before the first round. */
uint64_t gbti_training_identity(const gbt_trainer_spec *spec, const gbt_forest_view *start);

#endif
