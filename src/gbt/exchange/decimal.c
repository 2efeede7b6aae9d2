/* The exact value of a decimal is digits * 10^e, a whole number of any length divided by a power of ten. Its first 64
 * bits, and whether there are others behind them, decide what it is rounded to: decimal.h. */
#include "decimal.h"

#include <stdio.h>
#include <string.h>

#include "../base/bits.h"

enum {
  MOST_DIGITS = 800, /* those after the 767th only say whether a number is above a tie */
  WORDS = 256,       /* of 32 bits: 84 of the digits, 129 in front of a division */
  MOST_EXPONENT = 400
};

typedef struct big {
  uint32_t word[WORDS]; /* low word first */
  int n;
} big;

static void multiply_add(big *x, uint32_t by, uint32_t add) {
  uint64_t carry = add;
  for (int i = 0; i < x->n; i++) {
    carry += (uint64_t)x->word[i] * by;
    x->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0 && x->n < WORDS) x->word[x->n++] = (uint32_t)carry;
}

/* The remainder. by is a power of ten above 0. */
static uint32_t divide(big *x, uint32_t by) {
  uint64_t rest = 0;
  for (int i = x->n - 1; i >= 0; i--) {
    rest = rest << 32 | x->word[i];
    x->word[i] = (uint32_t)(rest / by);
    rest %= by;
  }
  while (x->n > 0 && x->word[x->n - 1] == 0) x->n--;
  return (uint32_t)rest;
}

/* Moves up by whole words. */
static void shift_words(big *x, int n) {
  memmove(x->word + n, x->word, (size_t)x->n * sizeof *x->word);
  memset(x->word, 0, (size_t)n * sizeof *x->word);
  x->n += n;
}

static uint32_t bit_at(const big *x, int i) { return x->word[i / 32] >> (i % 32) & 1u; }

/* A number as m * 2^e with 2^63 <= m < 2^64, and whether something below m was cut off; m is 0 of 0. */
typedef struct binary {
  uint64_t m;
  int e, more;
} binary;

static binary top_of(const big *x, int more) {
  binary b = {0, 0, more};
  int high = x->n * 32 - 1;
  if (x->n == 0) return b;
  while (bit_at(x, high) == 0) high--;
  for (int i = 0; i < 64; i++) b.m = b.m << 1 | (high - i >= 0 ? bit_at(x, high - i) : 0);
  b.e = high - 63;
  for (int i = high - 64; i >= 0 && !b.more; i--) b.more = (int)bit_at(x, i);
  return b;
}

/* Rounded to `bits` bits, no unit below 2^least: m * 2^e with m below 2^bits. */
static uint64_t round_to(binary b, int bits, int least, int *e) {
  int drop = 64 - bits;
  if (b.e + drop < least) drop = least - b.e;
  *e = b.e + drop;
  if (drop > 64) return 0;
  const uint64_t half = (uint64_t)1 << (drop - 1);
  const uint64_t kept = drop == 64 ? 0 : b.m >> drop, rest = drop == 64 ? b.m : b.m & ((half << 1) - 1);
  uint64_t m = kept + (rest > half || (rest == half && (b.more || (kept & 1u))));
  if (m >> bits) {
    m >>= 1;
    (*e)++;
  }
  return m;
}

static double double_of(binary b) {
  int e;
  const uint64_t m = round_to(b, 53, -1074, &e);
  const uint64_t hidden = (uint64_t)1 << 52;
  if (m < hidden) return gbt_from_bits(m); /* zero and denormal numbers have e = -1074 */
  if (e > 971) return gbt_from_bits((uint64_t)0x7ff << 52);
  return gbt_from_bits((m - hidden) | (uint64_t)(e + 1075) << 52);
}

static float f32_from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static uint32_t f32_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static float float_of(binary b) {
  int e;
  const uint32_t m = (uint32_t)round_to(b, 24, -149, &e), hidden = (uint32_t)1 << 23;
  if (m < hidden) return f32_from_bits(m);
  if (e > 104) return f32_from_bits(0x7f800000u);
  return f32_from_bits((m - hidden) | (uint32_t)(e + 150) << 23);
}

/* A text's digits and exponent. */
typedef struct scanned {
  big digits;
  int64_t exponent;
  uint64_t few; /* the digits, where there are 15 or fewer */
  int n_digits, more, negative;
  size_t n;
} scanned;

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static void take_digit(scanned *s, char c, int after_point) {
  const uint32_t digit = (uint32_t)(c - '0');
  if (s->n_digits == 0 && digit == 0) {
    s->exponent -= after_point;
  } else if (s->n_digits < MOST_DIGITS) {
    multiply_add(&s->digits, 10, digit);
    if (s->n_digits < 15) s->few = s->few * 10 + digit;
    s->n_digits++;
    s->exponent -= after_point;
  } else {
    s->more |= digit != 0;
    s->exponent += !after_point;
  }
}

/* An exponent at text[i], if there is one; returns where it ends. */
static size_t take_exponent(scanned *s, const char *text, size_t n, size_t i) {
  size_t at = i + 1;
  int64_t e = 0;
  if (i >= n || (text[i] != 'e' && text[i] != 'E')) return i;
  const int minus = at < n && text[at] == '-';
  if (at < n && (text[at] == '-' || text[at] == '+')) at++;
  if (at >= n || !is_digit(text[at])) return i;
  for (; at < n && is_digit(text[at]); at++) e = e < 100000000 ? e * 10 + (text[at] - '0') : e;
  s->exponent += minus ? -e : e;
  return at;
}

static void scan(const char *text, size_t n, scanned *s) {
  size_t i = 0;
  int any = 0, point = 0;
  memset(s, 0, sizeof *s);
  if (i < n && (text[i] == '-' || text[i] == '+')) s->negative = text[i++] == '-';
  for (; i < n && (is_digit(text[i]) || (text[i] == '.' && !point)); i++) {
    if (text[i] == '.') {
      point = 1;
      continue;
    }
    any = 1;
    take_digit(s, text[i], point);
  }
  if (any) s->n = take_exponent(s, text, n, i);
}

static binary value_of(scanned *s) {
  int more = s->more;
  const binary zero = {0, 0, 0}, huge = {(uint64_t)1 << 63, 2000, 0};
  if (s->digits.n == 0 || s->exponent + s->n_digits < -MOST_EXPONENT) return zero;
  if (s->exponent + s->n_digits > MOST_EXPONENT) return huge;
  int64_t e = s->exponent;
  for (; e > 0; e--) multiply_add(&s->digits, 10, 0);
  if (e == 0) return top_of(&s->digits, more);
  const int words = (int)((-e * 10 / 3 + 31) / 32) + 3; /* so that the quotient has 64 bits and more */
  shift_words(&s->digits, words);
  for (; e <= -9; e += 9) more |= divide(&s->digits, 1000000000u) != 0;
  for (; e < 0; e++) more |= divide(&s->digits, 10) != 0;
  binary b = top_of(&s->digits, more);
  b.e -= 32 * words;
  return b;
}

gbti_decimal gbti_read_decimal(const char *text, size_t n) {
  static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  scanned s;
  gbti_decimal d = {0.0, 0.0f, 0};
  scan(text, n, &s);
  d.n = s.n;
  if (d.n == 0) return d;
  /* a quotient or product of two doubles that are exact is rounded once; its float32 once more, but not from a tie */
  if (s.n_digits <= 15 && s.exponent >= -22 && s.exponent <= 22) {
    const double m = (double)s.few;
    d.nearest = s.exponent < 0 ? m / ten[-s.exponent] : m * ten[s.exponent];
    d.nearest_f32 = (float)d.nearest;
    const uint64_t low = gbt_bits(d.nearest) & 0x1fffffffu;
    if (low != 0x10000000u && (d.nearest == 0.0 || d.nearest > 1e-37)) {
      if (s.negative) d.nearest = -d.nearest, d.nearest_f32 = -d.nearest_f32;
      return d;
    }
  }
  const binary b = value_of(&s);
  d.nearest = double_of(b);
  d.nearest_f32 = float_of(b);
  if (s.negative) d.nearest = -d.nearest, d.nearest_f32 = -d.nearest_f32;
  return d;
}

/* ---- figures ---- */

static const uint64_t ten_to[] = {1u,
                                  10u,
                                  100u,
                                  1000u,
                                  10000u,
                                  100000u,
                                  1000000u,
                                  10000000u,
                                  100000000u,
                                  1000000000u,
                                  10000000000u,
                                  100000000000u,
                                  1000000000000u,
                                  10000000000000u,
                                  100000000000000u,
                                  1000000000000000u,
                                  10000000000000000u,
                                  100000000000000000u,
                                  1000000000000000000u};

/* The first n figures (17, 18) of x > 0 as a whole number, and whether there is more; the first is for 10^*exponent. */
static uint64_t figures_of(double x, int n_figures, int *exponent, int *more) {
  const uint64_t u = gbt_bits(x), fraction = u & (((uint64_t)1 << 52) - 1);
  const int field = (int)(u >> 52), e = field > 0 ? field - 1075 : -1074;
  const uint64_t m = field > 0 ? fraction | (uint64_t)1 << 52 : fraction;
  int bits = 63;
  while ((m >> bits & 1u) == 0) bits--;
  const int log10 = (e + bits) * 78913; /* of 2^(e + bits), times 2^18 */
  int k = log10 >= 0 ? log10 >> 18 : -((262143 - log10) >> 18);
  for (;; k++) {
    big n = {{(uint32_t)m, (uint32_t)(m >> 32)}, m >> 32 ? 2 : 1};
    *more = 0;
    int tens = n_figures - 1 - k;
    for (; tens >= 9; tens -= 9) multiply_add(&n, 1000000000u, 0);
    for (; tens > 0; tens--) multiply_add(&n, 10, 0);
    for (int i = e; i > 0; i -= i < 31 ? i : 31) multiply_add(&n, 1u << (i < 31 ? i : 31), 0);
    for (; tens <= -9; tens += 9) *more |= divide(&n, 1000000000u) != 0;
    for (; tens < 0; tens++) *more |= divide(&n, 10) != 0;
    uint64_t q = 0;
    const int low = e < 0 ? -e : 0; /* bits after the point */
    for (int i = 0; i < low && i < n.n * 32 && !*more; i++) *more = (int)bit_at(&n, i);
    for (int i = n.n * 32 - 1; i >= low; i--) q = q << 1 | bit_at(&n, i);
    if (q < ten_to[n_figures]) {
      *exponent = k;
      return q;
    }
  }
}

int gbti_shortest(double x, int as_float, char *figure, int *exponent) {
  int more, first;
  const uint64_t all = figures_of(x, 17, &first, &more);
  const int usual = as_float ? 6 : 15, subnormal = x < (as_float ? 1.1754943508222875e-38 : 2.2250738585072014e-308);
  for (int n = subnormal ? 1 : usual; n <= 17; n++) {
    const uint64_t unit = ten_to[17 - n], half = unit / 2, rest = all % unit;
    uint64_t q = all / unit;
    char text[48];
    *exponent = first;
    if (n < 17 && (rest > half || (rest == half && (more || (q & 1u))))) q++;
    if (n == 17 && more) { /* which side is nearer is known when both are read */
      snprintf(text, sizeof text, "%llue%d", (unsigned long long)q, first - 16);
      if (gbti_read_decimal(text, strlen(text)).nearest != x) q++;
    }
    if (q == ten_to[n]) {
      q /= 10;
      (*exponent)++;
    }
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)q, *exponent - (n - 1));
    const gbti_decimal d = gbti_read_decimal(text, strlen(text));
    if (n < 17 && (as_float ? (double)d.nearest_f32 : d.nearest) != x) continue;
    snprintf(text, sizeof text, "%llu", (unsigned long long)q);
    int length = n;
    while (length > 1 && text[length - 1] == '0') length--;
    memcpy(figure, text, (size_t)length);
    return length;
  }
  return 0;
}

int gbti_clear_figures(double x, char *figure, int *exponent) {
  int more, first, n = gbti_shortest(x, 0, figure, exponent);
  const uint64_t all = figures_of(x, GBTI_CLEAR_FIGURES, &first, &more);
  const uint64_t m = (gbt_bits(x) & (((uint64_t)1 << 52) - 1)) | (x < 2.2250738585072014e-308 ? 0 : (uint64_t)1 << 52);
  uint64_t it = 0; /* the shortest one in units of the last of all figures */
  for (int i = 0; i < n; i++) it = it * 10 + (uint64_t)(figure[i] - '0');
  for (int i = n - *exponent + first; i < GBTI_CLEAR_FIGURES; i++) it *= 10;
  const double off = (double)(it > all ? it - all : all - it) + 1.0;
  const double half_step = (double)all / ((m == (uint64_t)1 << 52 ? 4.0 : 2.0) * (double)m);
  if (off < 0.9 * half_step) return n;
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)all);
  n = GBTI_CLEAR_FIGURES;
  while (n > 1 && text[n - 1] == '0') n--;
  memcpy(figure, text, (size_t)n);
  *exponent = first;
  return n;
}

/* ---- thresholds ---- */

/* Floats in their order as whole numbers, and back. */
static int64_t place_of(float x) {
  const uint32_t u = f32_bits(x);
  return u >> 31 ? -(int64_t)(u & 0x7fffffffu) : (int64_t)u;
}

static double float_at(int64_t place) {
  const float x = f32_from_bits(place < 0 ? (uint32_t)-place | 0x80000000u : (uint32_t)place);
  if (place == 0x7f800000) return 340282366920938463463374607431768211456.0; /* 2^128, the float after the largest */
  if (place == -0x7f800000) return -340282366920938463463374607431768211456.0;
  return (double)x;
}

double gbti_below_f32(float t, int or_equal) {
  const int64_t top = place_of(t) - !or_equal; /* the largest float that goes left */
  if (top < -0x7f800000) return gbt_from_bits((uint64_t)0xfff << 52);
  if (top >= 0x7f800000) return gbt_from_bits((uint64_t)0x7ff << 52);
  const double middle = 0.5 * (float_at(top) + float_at(top + 1)); /* exact: floats have 24 bits */
  if ((top & 1) == 0) return middle;                               /* a tie goes to the even one, which is `top` */
  const uint64_t u = gbt_bits(middle);
  return gbt_from_bits(middle > 0.0 ? u - 1 : u + 1); /* the double before it */
}

float gbti_above_f32(double x) {
  if (x >= 3.4028234663852886e38) return f32_from_bits(0x7f800000u);
  if (x < -3.4028234663852886e38) return -3.4028234663852886e38f;
  float t = (float)x; /* a neighbour of x */
  int64_t place = place_of(t) - 1;
  while (float_at(place) <= x) place++;
  return (float)float_at(place);
}

float gbti_at_most_f32(double x) {
  const int infinite = x - x != 0.0;
  if (x >= 3.4028234663852886e38) return infinite ? f32_from_bits(0x7f800000u) : 3.4028234663852886e38f;
  if (x < -3.4028234663852886e38) return f32_from_bits(0xff800000u);
  int64_t place = place_of((float)x) + 1;
  while (float_at(place) > x) place--;
  return (float)float_at(place);
}
