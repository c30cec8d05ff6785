/* Every SRC becomes one block of elements; sizes are checked there. Files are written by files.c. */
#include "data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "npy.h"
#include "number.h"
#include "output.h"

#define MOST_BYTES ((uint64_t)1 << 62)

uint64_t data_bytes(const data *d) {
  return d->count * vyre_type_describe(d->element)->bytes;
}

void data_free(data *d) {
  free(d->bytes);
  d->bytes = NULL;
}

bool data_parse_count(const char *text, uint64_t *value) {
  if (text[0] < '0' || text[0] > '9') return false;
  bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  char *end;
  errno = 0;
  unsigned long long number = strtoull(text, &end, is_hex ? 16 : 10);
  *value = number;
  return errno == 0 && *end == '\0';
}

const char *data_parse_axes(const char *text, uint64_t most, uint64_t axes[3]) {
  const char *wanted = most == UINT32_MAX ? "X[,Y[,Z]], each below 2^32" : "X[,Y[,Z]], each below 2^64";
  for (int axis = 0; axis < 3; axis++) {
    char number[24];
    size_t bytes = strcspn(text, ",");
    if (bytes >= sizeof number) return wanted;
    memcpy(number, text, bytes);
    number[bytes] = '\0';
    if (!data_parse_count(number, &axes[axis]) || axes[axis] > most) return wanted;
    text += bytes;
    if (!*text) return NULL;
    text++;
  }
  return "at most three axes";
}

int data_zeros(vyre_type element, uint64_t count, data *out) {
  *out = (data){element, count, NULL};
  uint64_t bytes;
  if (!__builtin_mul_overflow(count, vyre_type_describe(element)->bytes, &bytes) && bytes <= MOST_BYTES)
    out->bytes = calloc(bytes + 1, 1);
  if (out->bytes) return OUTPUT_DONE;
  output_complain("there is no memory for %" PRIu64 " elements of %s. Fix: use fewer.", count,
                  vyre_type_describe(element)->spelling);
  return OUTPUT_FAILED;
}

static int complain_source(const char *name, const char *source, const char *wanted) {
  output_complain("run: --in %s=%.80s: %s. Fix: `vyre run --help` lists the forms of SRC.", name, source, wanted);
  return OUTPUT_USAGE;
}

static bool ends_with(const char *text, const char *tail) {
  size_t bytes = strlen(text), tail_bytes = strlen(tail);
  return bytes >= tail_bytes && strcmp(text + bytes - tail_bytes, tail) == 0;
}

static int read_raw(const char *path, uint8_t *bytes, size_t length, data *out) {
  uint32_t size = vyre_type_describe(out->element)->bytes;
  out->bytes = bytes;
  out->count = length / size;
  if (length % size != 0) {
    output_complain_at(path, "it has %zu bytes, which is no whole number of %s elements (%" PRIu32
                       " bytes each). Fix: give whole elements.",
                       length, vyre_type_describe(out->element)->spelling, size);
    return OUTPUT_USAGE;
  }
  if (out->element != VYRE_TYPE_BOOL) return OUTPUT_DONE;
  for (uint64_t i = 0; i < out->count; i++) {
    uint32_t word;
    memcpy(&word, bytes + 4 * i, 4);
    word = word != 0;
    memcpy(bytes + 4 * i, &word, 4);
  }
  return OUTPUT_DONE;
}

/* What is not called as it begins is read as it is called, which may surprise. */
static void note_begin(const char *path, const uint8_t *bytes, size_t length) {
  if (length >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
    output_note("%s begins as a NumPy file does and is read as raw bytes. Fix: call it .npy.", path);
  if (ends_with(path, ".npz")) output_note("%s is read as raw bytes. Fix: unpack the archive, and give a .npy file.", path);
}

static int read_file(const char *path, data *out) {
  uint8_t *bytes;
  size_t length;
  int result = files_read(path, (size_t)MOST_BYTES, &bytes, &length);
  if (result != OUTPUT_DONE) return result;
  if (!ends_with(path, ".npy")) {
    note_begin(path, bytes, length);
    return read_raw(path, bytes, length, out);
  }
  char reason[NPY_REASON_BYTES];
  bool good = npy_decode(bytes, length, out->element, &out->bytes, &out->count, reason);
  free(bytes);
  if (good) return OUTPUT_DONE;
  output_complain_at(path, "%s", reason);
  return OUTPUT_USAGE;
}

/* Output number |index| + 1 of SplitMix64 started with |seed|. */
static uint64_t split_mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static void put_float(vyre_type type, float value, uint8_t *to) {
  uint16_t half = type == VYRE_TYPE_F16 ? number_f16(value) : number_bf16(value);
  if (type == VYRE_TYPE_F32) {
    memcpy(to, &value, sizeof value);
  } else {
    memcpy(to, &half, sizeof half);
  }
}

static void put_random(vyre_type type, uint64_t bits, uint8_t *to) {
  if (type == VYRE_TYPE_F64) {
    double value = (double)(bits >> 11) * 0x1p-53;
    memcpy(to, &value, sizeof value);
  } else if (vyre_type_describe(type)->value == VYRE_TYPE_F32) {
    put_float(type, (float)(bits >> 40) * 0x1p-24f, to);
  } else {
    if (type == VYRE_TYPE_BOOL) bits &= 1;
    memcpy(to, &bits, vyre_type_describe(type)->bytes);
  }
}

/* |index| with the bits that f32 can not hold folded into its last one, so that rounding it to a half rounds once. */
static float float_toward_odd(uint64_t index) {
  int drop = index >> 24 ? 40 - __builtin_clzll(index) : 0;
  uint64_t lost = index & (((uint64_t)1 << drop) - 1);
  return ldexpf((float)(index >> drop | (lost != 0)), drop);
}

static void put_index(vyre_type type, uint64_t index, uint8_t *to) {
  if (type == VYRE_TYPE_F64) {
    double value = (double)index;
    memcpy(to, &value, sizeof value);
  } else if (vyre_type_describe(type)->value == VYRE_TYPE_F32) {
    put_float(type, type == VYRE_TYPE_F32 ? (float)index : float_toward_odd(index), to);
  } else {
    if (type == VYRE_TYPE_BOOL) index = index != 0;
    memcpy(to, &index, vyre_type_describe(type)->bytes);
  }
}

/* zeros:N, iota:N, rand:N:SEED. Components of vectors count as elements of their own. */
static int read_generated(const char *name, const char *source, data *out) {
  char count_text[32];
  const char *arguments = strchr(source, ':') + 1;
  size_t bytes = strcspn(arguments, ":");
  const char *seed_text = arguments[bytes] ? arguments + bytes + 1 : NULL;
  bool is_random = source[0] == 'r';
  uint64_t count, seed = 0;
  if (bytes >= sizeof count_text) return complain_source(name, source, "N is no number");
  memcpy(count_text, arguments, bytes);
  count_text[bytes] = '\0';
  if (!data_parse_count(count_text, &count)) return complain_source(name, source, "N is no number");
  if (is_random != (seed_text != NULL)) return complain_source(name, source, "it is rand:N:SEED, zeros:N and iota:N");
  if (is_random && !data_parse_count(seed_text, &seed)) return complain_source(name, source, "SEED is no number");
  const vyre_type_info *info = vyre_type_describe(out->element);
  vyre_type type = info->component;
  uint32_t size = vyre_type_describe(type)->bytes;
  int result = data_zeros(out->element, count, out);
  if (result != OUTPUT_DONE || source[0] == 'z') return result;
  for (uint64_t i = 0; i < count * info->lanes; i++) {
    if (is_random) {
      put_random(type, split_mix(seed, i), out->bytes + i * size);
    } else {
      put_index(type, i, out->bytes + i * size);
    }
  }
  return OUTPUT_DONE;
}

/* The next of the words between commas, trimmed, in a buffer that is cut: no literal is that long. */
static const char *next_word(const char *at, char word[128]) {
  size_t bytes = strcspn(at, ",");
  const char *end = at + bytes;
  while (bytes > 0 && (*at == ' ' || *at == '\t' || *at == '\n')) at++, bytes--;
  while (bytes > 0 && (at[bytes - 1] == ' ' || at[bytes - 1] == '\t' || at[bytes - 1] == '\n')) bytes--;
  if (bytes > 127) bytes = 127;
  memcpy(word, at, bytes);
  word[bytes] = '\0';
  return end;
}

static int complain_forgotten(const char *name, const char *source) {
  output_complain("run: --in %s=%.80s: these are no values, but there is such a file. Fix: write --in %s=@%.80s.", name,
                  source, name, source);
  return OUTPUT_USAGE;
}

static int read_literals(const char *name, const char *source, data *out) {
  const vyre_type_info *info = vyre_type_describe(out->element);
  uint32_t size = vyre_type_describe(info->component)->bytes;
  uint64_t components = 1;
  for (const char *c = source; *c; c++) components += *c == ',';
  if (components % info->lanes != 0) return complain_source(name, source, "the values are no whole number of vectors");
  int result = data_zeros(out->element, components / info->lanes, out);
  if (result != OUTPUT_DONE) return result;
  const char *at = source;
  for (uint64_t i = 0; i < components; i++) {
    char word[128];
    at = next_word(at, word) + 1;
    vyre_error error = VYRE_ERROR_INIT;
    if (number_parse(info->component, word, out->bytes + i * size, &error) == VYRE_OK) continue;
    if (access(source, F_OK) == 0) return complain_forgotten(name, source);
    output_complain("run: --in %s: value %" PRIu64 ", '%.40s': %s `vyre run --help` lists the other forms of SRC.", name,
                    i + 1, word, error.text);
    return error.status == VYRE_ERR_NO_MEMORY ? OUTPUT_FAILED : OUTPUT_USAGE;
  }
  return OUTPUT_DONE;
}

static bool is_generated(const char *source) {
  return strncmp(source, "zeros:", 6) == 0 || strncmp(source, "iota:", 5) == 0 || strncmp(source, "rand:", 5) == 0;
}

int data_read(const char *name, const char *source, vyre_type element, data *out) {
  *out = (data){element, 0, NULL};
  if (source[0] == '\0') return complain_source(name, source, "it is empty; zeros:0 has no elements");
  if (source[0] == '@' && source[1]) return read_file(source + 1, out);
  if (source[0] == '@') return complain_source(name, source, "the file's name is missing");
  if (is_generated(source)) return read_generated(name, source, out);
  return read_literals(name, source, out);
}

bool data_is_stdout(const char *destination) {
  return strcmp(destination, "-") == 0;
}
const char *data_path(const char *destination) {
  return destination + 1;
}

int data_check_destination(const char *name, const char *destination, vyre_type element) {
  if (data_is_stdout(destination)) return OUTPUT_DONE;
  if (destination[0] != '@' || !destination[1]) {
    output_complain("run: --out %s=%.80s is no destination. Fix: write %s=- to print, or %s=@FILE.", name, destination,
                    name, name);
    return OUTPUT_USAGE;
  }
  if (ends_with(destination, ".npy") && !npy_has(element)) {
    output_complain("run: --out %s=%.80s: .npy files have no %s. Fix: use a raw file.", name, destination,
                    vyre_type_describe(element)->spelling);
    return OUTPUT_USAGE;
  }
  return OUTPUT_DONE;
}

int data_encode(const data *d, const char *destination, const uint8_t **out, uint64_t *length, uint8_t **owned) {
  *owned = NULL;
  *out = d->bytes;
  *length = data_bytes(d);
  if (!ends_with(destination, ".npy")) return OUTPUT_DONE;
  size_t bytes;
  if (!npy_encode(d->element, d->bytes, d->count, owned, &bytes)) {
    output_complain("memory is exhausted. Fix: write a raw file.");
    return OUTPUT_FAILED;
  }
  *out = *owned;
  *length = bytes;
  return OUTPUT_DONE;
}

void data_print(const data *d) {
  const vyre_type_info *info = vyre_type_describe(d->element);
  uint32_t size = vyre_type_describe(info->component)->bytes;
  for (uint64_t i = 0; i < d->count * info->lanes; i++) {
    char text[NUMBER_TEXT_BYTES];
    number_print(info->component, d->bytes + i * size, text);
    if (i) putc(' ', stdout);
    fputs(text, stdout);
  }
  putc('\n', stdout);
}
