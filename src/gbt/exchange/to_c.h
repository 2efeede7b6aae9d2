/* Parts of C source: to_c.c. */
#ifndef GBT_EXCHANGE_TO_C_H
#define GBT_EXCHANGE_TO_C_H

#include "formats.h"

/* The function NAME_predict(), and what it calls but NAME_score(). */
void gbti_put_c_response(const gbti_outgoing *x, gbti_file *out);

#endif
