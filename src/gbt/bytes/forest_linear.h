/* Linear leaves in a model's bytes: the sections linear_*, part of the forest. */
#ifndef GBT_BYTES_FOREST_LINEAR_H
#define GBT_BYTES_FOREST_LINEAR_H

#include "sections.h"

/* After the nodes have been measured; written; after the nodes' sections have been pointed to. */
gbt_status gbti_measure_linear(gbti_writer *w) GBT_MUST_CHECK;
void gbti_put_linear(gbti_writer *w);
gbt_status gbti_read_linear(gbti_reader *r, gbt_forest_view *forest) GBT_MUST_CHECK;

#endif
