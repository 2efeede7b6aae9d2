#include "utf8.h"

#include <string.h>

/* Length of the character at s (n bytes left), or 0. */
static size_t utf8_length(const uint8_t *s, size_t n) {
  uint8_t a = s[0];
  if (a < 0x80) return 1;
  if (a < 0xc2 || a > 0xf4) return 0;
  size_t len = a < 0xe0 ? 2 : (a < 0xf0 ? 3 : 4);
  if (n < len) return 0;
  for (size_t i = 1; i < len; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (a == 0xe0 && s[1] < 0xa0) return 0; /* overlong */
  if (a == 0xed && s[1] > 0x9f) return 0; /* surrogates */
  if (a == 0xf0 && s[1] < 0x90) return 0; /* overlong */
  if (a == 0xf4 && s[1] > 0x8f) return 0; /* above 10FFFF */
  return len;
}

int gbt_utf8_ok(const char *text, size_t n) {
  const uint8_t *s = (const uint8_t *)text;
  for (size_t i = 0; i < n;) {
    uint64_t word;
    if (n - i >= 8) {
      memcpy(&word, s + i, 8);
      if ((word & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    size_t len = utf8_length(s + i, n - i);
    if (len == 0) return 0;
    i += len;
  }
  return 1;
}
