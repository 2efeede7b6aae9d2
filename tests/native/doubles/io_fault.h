/* Reads and writes that fail as the test wants. The Makefile says which of the system's calls are
 * wrapped for this. Thread-safe. */
#ifndef GBT_TEST_IO_FAULT_H
#define GBT_TEST_IO_FAULT_H

#include <stdint.h>

typedef enum io_kind {
  IO_FINE,  /* as the system does it */
  IO_ERROR, /* EIO */
  IO_FULL,  /* ENOSPC for writes, and for all later ones; EIO for reads */
  IO_SHORT, /* some of the bytes alone, and so from then on */
  IO_AGAIN, /* EINTR, then as the system does it */
  IO_LATE,  /* after a wait of 2 ms */
  IO_ENDS,  /* the file ends before: reads give 0 bytes */
  IO_KINDS, /* the kinds above that every caller must live with */
  IO_FLIP   /* reads give another last byte, the file unchanged */
} io_kind;

/* What becomes of call number `at` (1-based) from now on; counts calls from 0 again. */
void io_fault(io_kind kind, int64_t at);
int64_t io_count(void);

#ifndef __cplusplus
extern _Atomic int64_t io_calls;
#endif

#endif
