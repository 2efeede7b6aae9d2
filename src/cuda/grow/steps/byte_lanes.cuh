/* Which byte of which row a lane takes, in the loop of histograms over tiles of bytes: W words a row, so 4 W columns.
 *
 *   W = 1, 2, 4    a lane loads a row as a whole, the 32 lanes 32 rows
 *   W = 8          two lanes load a row, 4 words each, the 32 lanes 16 rows
 *
 * A lane uses nothing but what it has loaded itself: 4 V bytes, V = min(W, 4), one in every step. In step s it takes
 * byte s ^ turn of them, turn = row % (4 V), so that lanes of different rows are at different columns:
 *
 *   position in a code's cells    part * 4 V + (s ^ turn) + copy * 4 W        part = lane % (W / V), copy = row / (4 V)
 *
 * These are 32 different ones in every step: s ^ turn goes over 0 .. 4 V - 1 as turn does, part * 4 V and
 * copy * 4 W fill up the bits above, and (part, turn, copy) are the lane's number in other digits. With 32 positions
 * (PITCH) each is a bank of shared memory, whatever the lanes' codes are. With 4 W positions there are no copies, and
 * lanes of some rows meet. */
#pragma once

#include "../../base/port.cuh"

extern "C" {
#include "../../../gbt/base/hd.h"
}

#include <stdint.h>

template <int W> struct cu_byte_lanes {
  static_assert(W == 1 || W == 2 || W == 4 || W == 8, "words of a row");
  enum : uint32_t { WORDS = W < 4 ? W : 4, STEPS = 4 * WORDS, PARTS = W / WORDS, ROWS = 32 / PARTS };

  /* Of the rows that the lanes load at once; words of the row to begin at. */
  GBT_FN uint32_t row_of(uint32_t lane) { return lane / PARTS; }
  GBT_FN uint32_t word_of(uint32_t lane) { return lane % PARTS * WORDS; }
  GBT_FN uint32_t turn_of(uint32_t lane) { return row_of(lane) % STEPS; }

  /* Its cell's position in step 0; that of step s is (this ^ s), as the bits of s lie below all others. */
  template <uint32_t PITCH> GBT_FN uint32_t position_of(uint32_t lane) {
    static_assert(PITCH == 32 || PITCH == 4 * W, "a cell for every lane, or for every column");
    const uint32_t copy = PITCH == 32 ? row_of(lane) / STEPS : 0u;
    return word_of(lane) * 4u + turn_of(lane) + copy * (4u * W);
  }
};
