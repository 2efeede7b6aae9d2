/* Odd things on top of a random job: numbers, sizes, scales and parameters at the ends of what is allowed; and cutting
 * a job that fails down to a small one. */
#ifndef GBT_TEST_ODD_JOB_H
#define GBT_TEST_ODD_JOB_H

#include "random_job.h"

/* Up to 256 + `rows` rows, often a power of two or one more or less, some rows twice. */
random_job odd_job_make(uint64_t seed, int64_t rows);

/* Makes the job smaller as long as fails() holds: rows, validation sets, weights, offsets, rounds, parameters. */
void odd_job_shrink(random_job *r, int (*fails)(const random_job *r));

#endif
