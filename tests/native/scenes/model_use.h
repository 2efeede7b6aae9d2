/* Everything that the engine does with a model, done to bytes that may or may not be one. Checked: what is refused is
 * refused with a message; what is a model is written back as it was, predicts as its naive twin does on every way and
 * instruction set, gives slices and models in other levels that predict the same, and can be trained further. Memory
 * stays in proportion to the bytes, and all of it comes back. */
#ifndef GBT_TEST_MODEL_USE_H
#define GBT_TEST_MODEL_USE_H

#include "test.h"

/* 1 when the bytes are a model. What is tried follows from the bytes alone. */
int model_use(const uint8_t *bytes, size_t n);

#endif
