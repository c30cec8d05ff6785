/* Ciphers, checksums, hashes, codes, dates and random numbers. */
#include "kernels/reference.h"

#include <string.h>

/* ---- AES-128, by FIPS 197 ---- */

/* Product in the field of 2^8 elements. */
static uint8_t field_product(uint8_t a, uint8_t b) {
  uint8_t product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1B : 0));
  }
  return product;
}

static uint8_t substitute(uint8_t x) {
  uint8_t inverse = 1, result = 0x63;
  for (int i = 0; i < 254; i++) inverse = field_product(inverse, x); /* x^254 */
  for (int i = 0; i < 5; i++) result ^= (uint8_t)(inverse << i | inverse >> (8 - i));
  return result;
}

static uint32_t substitute_word(uint32_t word) {
  uint32_t result = 0;
  for (int i = 0; i < 32; i += 8) result |= (uint32_t)substitute((uint8_t)(word >> i)) << i;
  return result;
}

void reference_aes128_expand(const uint8_t key[16], uint32_t round_keys[44]) {
  uint8_t constant = 1;
  for (int i = 0; i < 44; i++) {
    if (i < 4) {
      round_keys[i] = (uint32_t)key[4 * i] << 24 | key[4 * i + 1] << 16 | key[4 * i + 2] << 8 | key[4 * i + 3];
      continue;
    }
    uint32_t last = round_keys[i - 1];
    if (i % 4 == 0) {
      last = substitute_word(last << 8 | last >> 24) ^ (uint32_t)constant << 24;
      constant = field_product(constant, 2);
    }
    round_keys[i] = round_keys[i - 4] ^ last;
  }
}

static void add_round_key(uint8_t state[16], const uint32_t key[4]) {
  for (int i = 0; i < 16; i++) state[i] ^= (uint8_t)(key[i / 4] >> (24 - 8 * (i % 4)));
}

static void substitute_and_shift_rows(uint8_t state[16], const uint8_t box[256]) {
  uint8_t old[16];
  memcpy(old, state, sizeof old);
  for (int column = 0; column < 4; column++)
    for (int row = 0; row < 4; row++) state[4 * column + row] = box[old[4 * ((column + row) % 4) + row]];
}

static void mix_columns(uint8_t state[16]) {
  static const uint8_t factors[4] = {2, 3, 1, 1};
  for (uint8_t *column = state; column < state + 16; column += 4) {
    uint8_t mixed[4] = {0};
    for (int row = 0; row < 4; row++)
      for (int i = 0; i < 4; i++) mixed[row] ^= field_product(column[(row + i) % 4], factors[i]);
    memcpy(column, mixed, sizeof mixed);
  }
}

void reference_aes128_encrypt(const uint32_t round_keys[44], const uint8_t plain[16], uint8_t cipher[16]) {
  static uint8_t box[256];
  if (box[0] == 0)
    for (int i = 255; i >= 0; i--) box[i] = substitute((uint8_t)i);
  memcpy(cipher, plain, 16);
  add_round_key(cipher, round_keys);
  for (int round = 1; round <= 10; round++) {
    substitute_and_shift_rows(cipher, box);
    if (round < 10) mix_columns(cipher);
    add_round_key(cipher, round_keys + 4 * round);
  }
}

/* ---- Checksums and hashes ---- */

uint32_t reference_crc32(const uint8_t *data, size_t bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t i = 0; i < bytes; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

static uint64_t rotl64(uint64_t x, int n) {
  return x << n | x >> (64 - n);
}

static void sip_rounds(uint64_t v[4], int rounds) {
  while (rounds-- > 0) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotl64(v[1], 13) ^ v[0];
    v[3] = rotl64(v[3], 16) ^ v[2];
    v[0] = rotl64(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotl64(v[1], 17) ^ v[2];
    v[3] = rotl64(v[3], 21) ^ v[0];
    v[2] = rotl64(v[2], 32);
  }
}

uint64_t reference_siphash(uint64_t k0, uint64_t k1, const uint8_t *data, size_t bytes) {
  uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  for (size_t at = 0; at <= bytes; at += 8) {
    uint64_t word = 0;
    size_t have = bytes - at < 8 ? bytes - at : 8;
    for (size_t i = 0; i < have; i++) word |= (uint64_t)data[at + i] << (8 * i);
    if (have < 8) word |= (uint64_t)bytes << 56;
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
  }
  v[2] ^= 0xff;
  sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- Base64 ---- */

/* 64 for what is no character of it. */
static uint32_t sextet_of(uint8_t c) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *found = c != 0 ? strchr(alphabet, c) : NULL;
  if (c == '=') return 0;
  return found != NULL ? (uint32_t)(found - alphabet) : 64;
}

uint32_t reference_base64(const uint8_t *text, size_t chars, uint8_t *bytes, size_t room) {
  uint32_t invalid = 0;
  for (size_t quad = 0; quad < chars / 4; quad++) {
    uint32_t bits = 0, is_bad = 0;
    for (int i = 0; i < 4; i++) {
      uint32_t sextet = sextet_of(text[4 * quad + i]);
      is_bad |= sextet >> 6;
      bits |= sextet << (18 - 6 * i);
    }
    invalid += is_bad;
    for (size_t i = 0; i < 3; i++)
      if (3 * quad + i < room) bytes[3 * quad + i] = (uint8_t)(bits >> (16 - 8 * i));
  }
  return invalid;
}

/* ---- Dates ---- */

static int32_t is_leap(int32_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* From the first of January 0000 on, year by year and month by month. */
void reference_date(int32_t days_since_1970, uint8_t text[10]) {
  static const int32_t lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int32_t day = days_since_1970 + 719528, year = 0, month = 0;
  while (day >= 365 + is_leap(year)) day -= 365 + is_leap(year++);
  while (day >= lengths[month] + (month == 1 && is_leap(year))) {
    day -= lengths[month] + (month == 1 && is_leap(year));
    month++;
  }
  const int32_t digits[10] = {year / 1000, year / 100 % 10, year / 10 % 10, year % 10, '-' - '0', (month + 1) / 10,
                              (month + 1) % 10, '-' - '0', (day + 1) / 10, (day + 1) % 10};
  for (int i = 0; i < 10; i++) text[i] = (uint8_t)('0' + digits[i]);
}

/* ---- Random numbers ---- */

uint32_t reference_pi_hits(uint64_t seed, uint64_t stream, uint32_t points) {
  uint64_t increment = stream << 1 | 1, state = 0;
  uint32_t hits = 0;
  state = state * 6364136223846793005u + increment;
  state += seed;
  state = state * 6364136223846793005u + increment;
  for (uint32_t p = 0; p < points; p++) {
    float coordinate[2];
    for (int i = 0; i < 2; i++) {
      uint32_t shifted = (uint32_t)((state >> 18 ^ state) >> 27), turn = (uint32_t)(state >> 59);
      uint32_t number = shifted >> turn | shifted << (-turn & 31);
      coordinate[i] = (float)(number >> 8) * 0x1p-24f;
      state = state * 6364136223846793005u + increment;
    }
    hits += coordinate[0] * coordinate[0] + coordinate[1] * coordinate[1] < 1;
  }
  return hits;
}
