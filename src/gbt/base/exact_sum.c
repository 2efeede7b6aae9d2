/* The exact accumulator. See exact_sum.h for the picture.
 *
 * Normal form: limbs 0 .. 66 in [0, 2^32), the last one signed. It is unique for a sum, so equal sums have equal
 * limbs after a merge. */
#include "exact_sum.h"

#include <string.h>

#include "bits.h"

enum { LAST = GBT_EXACT_LIMBS - 1, ZERO_BIT = GBT_EXACT_ZERO_BIT, LOWEST_BIT = ZERO_BIT - 1074 };

void gbt_exact_zero(gbt_exact_sum *sum) { memset(sum, 0, sizeof *sum); }

void gbt_exact_add(gbt_exact_sum *sum, double x) {
  uint64_t u = gbt_bits(x);
  uint32_t e = (uint32_t)(u >> 52) & 0x7ffu;
  uint64_t m = u & 0xfffffffffffffu;
  if (e == 0x7ffu) {
    if (m != 0)
      sum->n_nan++;
    else if (u >> 63)
      sum->n_neg_inf++;
    else
      sum->n_pos_inf++;
    return;
  }
  gbt_exact_pieces p = gbt_exact_split(u);
  GBT_ASSERT(p.limb + 2 < GBT_EXACT_LIMBS);
  int64_t *limb = sum->limb + p.limb;
  limb[0] += p.low;
  limb[1] += p.mid;
  limb[2] += p.top;
}

static void normalise(gbt_exact_sum *sum) {
  int64_t carry = 0;
  for (int i = 0; i < LAST; i++) {
    int64_t v = sum->limb[i] + carry;
    sum->limb[i] = v & 0xffffffff;
    carry = v >> 32;
  }
  sum->limb[LAST] += carry;
}

void gbt_exact_merge(gbt_exact_sum *into, const gbt_exact_sum *from) {
  gbt_exact_sum add = *from;
  normalise(&add); /* so that limbs of 2^31 terms on both sides do not overflow */
  normalise(into);
  for (int i = 0; i < GBT_EXACT_LIMBS; i++) into->limb[i] += add.limb[i];
  normalise(into);
  into->n_nan += from->n_nan;
  into->n_pos_inf += from->n_pos_inf;
  into->n_neg_inf += from->n_neg_inf;
}

/* Bits [bit, bit + 64) of a normalised, non-negative sum. */
static uint64_t window(const gbt_exact_sum *sum, int bit) {
  GBT_ASSERT(bit >= 0);
  int i = bit >> 5, shift = bit & 31;
  uint64_t part[3];
  for (int k = 0; k < 3; k++) part[k] = i + k < GBT_EXACT_LIMBS ? (uint64_t)sum->limb[i + k] : 0;
  uint64_t low = part[0] | part[1] << 32;
  return shift == 0 ? low : low >> shift | part[2] << (64 - shift);
}

/* Whether a bit below `bit` is set. */
static int any_below(const gbt_exact_sum *sum, int bit) {
  for (int i = 0; i < bit >> 5; i++)
    if (sum->limb[i] != 0) return 1;
  return (sum->limb[bit >> 5] & (((int64_t)1 << (bit & 31)) - 1)) != 0;
}

/* Rounds a normalised, non-negative sum to nearest even and returns the double's bits. */
static uint64_t rounded(const gbt_exact_sum *sum) {
  GBT_ASSERT(sum->limb[LAST] >= 0);
  int i = LAST;
  while (i >= 0 && sum->limb[i] == 0) i--;
  if (i < 0) return 0;
  int high = i * 32; /* place of the highest bit */
  for (int64_t v = sum->limb[i] >> 1; v != 0; v >>= 1) high++;
  if (high - ZERO_BIT > 1023) return 0x7ff0000000000000u;
  int low = high - 52 > LOWEST_BIT ? high - 52 : LOWEST_BIT; /* place of the result's lowest bit */
  uint64_t m = window(sum, low) & 0x1fffffffffffffu;
  if (low > LOWEST_BIT && (window(sum, low - 1) & 1u)) m += (m & 1u) | (uint64_t)any_below(sum, low - 1);
  if (high - 52 < LOWEST_BIT) return m; /* subnormal, or carried up to the smallest normal number */
  uint64_t biased = (uint64_t)(high - ZERO_BIT + 1023);
  return (biased << 52) + (m - 0x10000000000000u); /* m may be 2^53: the carry moves the exponent on */
}

double gbt_exact_value(const gbt_exact_sum *sum) {
  if (sum->n_nan > 0 || (sum->n_pos_inf > 0 && sum->n_neg_inf > 0)) return gbt_from_bits(0x7ff8000000000000u);
  if (sum->n_pos_inf > 0) return gbt_from_bits(0x7ff0000000000000u);
  if (sum->n_neg_inf > 0) return gbt_from_bits(0xfff0000000000000u);
  gbt_exact_sum copy = *sum;
  normalise(&copy);
  if (copy.limb[LAST] >= 0) return gbt_from_bits(rounded(&copy));
  for (int i = 0; i < GBT_EXACT_LIMBS; i++) copy.limb[i] = -copy.limb[i];
  normalise(&copy);
  return gbt_from_bits(rounded(&copy) | 0x8000000000000000u);
}
