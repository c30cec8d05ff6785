/* From the kernels' arrays to the references and back. */
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/reference.h"

#define GET(name) kernel_array_named(data, name)
#define COUNT(name) kernel_count_of(data, name)
#define SET(name) kernel_param_named(data, name)
#define EXPECT(name) void kernel_expect_##name(const kernel_data *data)

#define KERNEL(name, source, x, y) EXPECT(name);
#include "kernels/kernels.def"

/* The four bytes of a word, the first one on top. */
static void swap_words(const uint32_t *words, uint8_t *bytes) {
  for (int i = 0; i < 16; i++) bytes[i] = (uint8_t)(words[i / 4] >> (24 - 8 * (i % 4)));
}

EXPECT(aes_encrypt) {
  const uint32_t *plain = GET("plain");
  uint32_t *cipher = GET("cipher");
  for (uint64_t i = 0; i < COUNT("plain"); i += 4) {
    uint8_t from[16], to[16];
    swap_words(plain + i, from);
    reference_aes128_encrypt(GET("round_keys"), from, to);
    for (int k = 0; k < 16; k++) cipher[i + k / 4] |= (uint32_t)to[k] << (24 - 8 * (k % 4));
  }
}

EXPECT(base64_decode) {
  *(uint32_t *)GET("invalid") = reference_base64(GET("text"), COUNT("text"), GET("bytes"), COUNT("bytes"));
}

EXPECT(bitonic_sort) {
  reference_sort(GET("keys"), COUNT("keys"));
}

EXPECT(civil_date) {
  const int32_t *days = GET("days");
  uint8_t *text = GET("text");
  for (uint64_t i = 0; i < COUNT("days"); i++) reference_date(days[i], text + 10 * i);
}

EXPECT(condition_eval) {
  const reference_rules rules = {
      GET("matched"), GET("count"), GET("offset"), GET("a"), GET("b"), GET("c"), GET("d"),
      GET("min_count"), GET("max_offset"), GET("min_size"), GET("max_size"), GET("max_entropy"),
  };
  reference_conditions(&rules, COUNT("a"), (uint32_t)SET("size"), (uint32_t)SET("entropy"), GET("fired"));
}

EXPECT(crc32) {
  const uint8_t *bytes = GET("data");
  uint32_t *crc = GET("crc");
  for (uint64_t i = 0; i < COUNT("crc"); i++) crc[i] = reference_crc32(bytes + 64 * i, 64);
}

EXPECT(entropy_window) {
  reference_entropy(GET("data"), COUNT("data"), GET("fired"));
}

EXPECT(fused_filter) {
  reference_filter(GET("token"), GET("score"), GET("state"), COUNT("token"), GET("value"));
}

EXPECT(header_fields) {
  reference_headers(GET("data"), COUNT("data") / 1024, GET("fired"));
}

EXPECT(hit_bitmap) {
  reference_hits(GET("file"), GET("pattern"), COUNT("file"), GET("bitmap"));
}

EXPECT(linear_i4) {
  reference_linear_i4(GET("x"), GET("packed"), GET("scale"), GET("zero"), GET("bias"), COUNT("y"), GET("y"));
}

EXPECT(luma_histogram) {
  reference_luma(GET("rgb"), COUNT("rgb") / 3, GET("counts"));
}

EXPECT(matmul) {
  reference_matmul(GET("a"), GET("b"), SET("n"), GET("c"));
}

EXPECT(monte_carlo) {
  uint32_t *hits = GET("hits");
  for (uint64_t i = 0; i < COUNT("hits"); i++) hits[i] = reference_pi_hits(SET("seed"), i, 128);
}

EXPECT(nbody) {
  uint32_t bits = (uint32_t)SET("softening");
  float softening;
  memcpy(&softening, &bits, sizeof softening);
  reference_pull(GET("bodies"), COUNT("bodies"), softening, GET("pull"));
}

EXPECT(quantified) {
  reference_quantified(GET("start"), GET("need"), GET("ids"), GET("matched"), COUNT("need"), GET("fired"));
}

EXPECT(reduce_sum) {
  *(uint32_t *)GET("total") = reference_sum(GET("v"), COUNT("v"));
}

EXPECT(route) {
  reference_route(GET("signal"), GET("history"), GET("threshold"), COUNT("signal"), GET("routed"));
}

EXPECT(siphash) {
  const uint8_t *text = GET("text");
  const uint32_t *starts = GET("starts");
  uint64_t *hashes = GET("hashes");
  for (uint64_t i = 0; i < COUNT("hashes"); i++)
    hashes[i] = reference_siphash(SET("k0"), SET("k1"), text + starts[i], starts[i + 1] - starts[i]);
}

EXPECT(sobel) {
  reference_sobel(GET("picture"), SET("width"), SET("height"), GET("edges"));
}
