/* A strict reader: the header's every byte is accounted for, and sizes are multiplied only after a check. */
#include "npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define PREFIX_BYTES_1 10 /* magic, version, 16 bits of header length */
#define PREFIX_BYTES_2 12 /* the same with 32 bits */
#define ALIGNMENT 64      /* of the data in a file */
#define MAX_DIMENSIONS 32 /* NumPy's limit */
#define MAX_WORD 32       /* bytes of a key or type description */

/* What a header says. */
typedef struct header {
  char dtype[MAX_WORD + 1];
  bool fortran_order;
  uint64_t shape[MAX_DIMENSIONS];
  size_t dimensions;
} header;

/* A place in the header's text. */
typedef struct cursor {
  const char *at, *end;
  char *reason;
} cursor;

__attribute__((format(printf, 2, 3))) static bool refuse(char *reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, NPY_REASON_BYTES, format, arguments);
  va_end(arguments);
  return false;
}

static bool malformed(cursor *c, const char *wanted) {
  return refuse(c->reason, "the header is malformed: %s is missing. Fix: write the file with numpy.save.", wanted);
}

static void skip_space(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) c->at++;
}

/* Takes |letter|, after white space, if it is next. */
static bool take(cursor *c, char letter) {
  skip_space(c);
  if (c->at == c->end || *c->at != letter) return false;
  c->at++;
  return true;
}

/* 'word' or "word", without escapes. */
static bool read_string(cursor *c, char word[MAX_WORD + 1]) {
  skip_space(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return malformed(c, "a string");
  char quote = *c->at++;
  size_t bytes = 0;
  while (c->at < c->end && *c->at != quote) {
    if (bytes == MAX_WORD || *c->at < ' ' || *c->at > '~' || *c->at == '\\')
      return malformed(c, "a plain short string");
    word[bytes++] = *c->at++;
  }
  word[bytes] = '\0';
  return take(c, quote) || malformed(c, "a closing quote");
}

static bool read_word(cursor *c, const char *word) {
  size_t bytes = strlen(word);
  if ((size_t)(c->end - c->at) < bytes || memcmp(c->at, word, bytes) != 0) return false;
  c->at += bytes;
  return true;
}

static bool read_bool(cursor *c, bool *value) {
  skip_space(c);
  *value = read_word(c, "True");
  return *value || read_word(c, "False") || malformed(c, "True or False");
}

/* A decimal number. */
static bool read_number(cursor *c, uint64_t *value) {
  skip_space(c);
  const char *first = c->at;
  *value = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
    if (__builtin_mul_overflow(*value, 10u, value) || __builtin_add_overflow(*value, (uint64_t)(*c->at - '0'), value))
      return refuse(c->reason, "a dimension does not fit 64 bits. Fix: write the file with numpy.save.");
  }
  if (c->at == first) return malformed(c, "a dimension");
  if (*first == '0' && c->at - first > 1) return malformed(c, "a dimension without leading zeros");
  return true;
}

/* (), (n,), (n, m), (n, m,): a single number needs its comma, else it is no tuple. */
static bool read_shape(cursor *c, header *h) {
  if (!take(c, '(')) return malformed(c, "the shape's '('");
  bool comma = true;
  while (!take(c, ')')) {
    if (!comma) return malformed(c, "a comma in the shape");
    if (h->dimensions == MAX_DIMENSIONS)
      return refuse(c->reason, "the array has more than %d dimensions. Fix: reshape it.", MAX_DIMENSIONS);
    if (!read_number(c, &h->shape[h->dimensions++])) return false;
    comma = take(c, ',');
  }
  if (h->dimensions == 1 && !comma) return malformed(c, "the comma of a shape with one dimension");
  return true;
}

enum { HAS_DTYPE = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static bool read_dtype(cursor *c, header *h) {
  skip_space(c);
  if (c->at < c->end && *c->at == '[')
    return refuse(c->reason, "the array has named fields. Fix: save one field as an array of its own.");
  return read_string(c, h->dtype);
}

static bool read_entry(cursor *c, header *h, unsigned *seen) {
  char key[MAX_WORD + 1];
  if (!read_string(c, key)) return false;
  if (!take(c, ':')) return malformed(c, "a colon");
  unsigned bit = strcmp(key, "descr") == 0           ? HAS_DTYPE
                 : strcmp(key, "fortran_order") == 0 ? HAS_ORDER
                 : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                                     : 0;
  if (bit == 0 || (*seen & bit))
    return refuse(c->reason, "the header has the key '%s' %s. Fix: write the file with numpy.save.", key,
                  bit ? "twice" : "that does not belong there");
  *seen |= bit;
  if (bit == HAS_DTYPE) return read_dtype(c, h);
  return bit == HAS_ORDER ? read_bool(c, &h->fortran_order) : read_shape(c, h);
}

static bool read_dictionary(cursor *c, header *h) {
  unsigned seen = 0;
  if (!take(c, '{')) return malformed(c, "the opening brace");
  bool comma = true;
  while (!take(c, '}')) {
    if (!comma) return malformed(c, "a comma");
    if (!read_entry(c, h, &seen)) return false;
    comma = take(c, ',');
  }
  skip_space(c);
  if (c->at != c->end) return malformed(c, "the end of the header");
  if (seen != HAS_ALL) return malformed(c, "descr, fortran_order or shape");
  return true;
}

/* Finds the header's text and the data behind it. */
static bool split(const uint8_t *bytes, size_t length, cursor *text, size_t *data_at, char *reason) {
  if (length < PREFIX_BYTES_1 || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
    return refuse(reason, "it does not start as a .npy file does. Fix: write the file with numpy.save.");
  unsigned major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0)
    return refuse(reason, "it has version %u.%u; 1.0, 2.0 and 3.0 are known. Fix: write the file anew.", major, minor);
  size_t prefix = major == 1 ? PREFIX_BYTES_1 : PREFIX_BYTES_2;
  if (length < prefix) return refuse(reason, "it ends inside its header. Fix: copy the file again.");
  size_t header_bytes = bytes[8] | (size_t)bytes[9] << 8;
  if (major > 1) header_bytes |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (header_bytes > length - prefix) return refuse(reason, "it ends inside its header. Fix: copy the file again.");
  *text = (cursor){(const char *)bytes + prefix, (const char *)bytes + prefix + header_bytes, reason};
  *data_at = prefix + header_bytes;
  return true;
}

/* One component in a file: NumPy's letter for it and its size there. */
static char kind_of(vyre_type component) {
  switch (component) {
  case VYRE_TYPE_BOOL:
    return 'b';
  case VYRE_TYPE_I8:
  case VYRE_TYPE_I16:
  case VYRE_TYPE_I32:
  case VYRE_TYPE_I64:
    return 'i';
  case VYRE_TYPE_F16:
  case VYRE_TYPE_F32:
  case VYRE_TYPE_F64:
    return 'f';
  case VYRE_TYPE_BF16:
    return 0;
  default:
    return 'u';
  }
}

static uint32_t item_bytes(vyre_type component) {
  return component == VYRE_TYPE_BOOL ? 1 : vyre_type_describe(component)->bytes;
}

bool npy_has(vyre_type element) {
  return kind_of(vyre_type_describe(element)->component) != 0;
}

/* Whether |dtype| is the component's type, and whether its bytes are in the other order. */
static bool check_dtype(const char *dtype, vyre_type component, bool *swapped, char *reason) {
  uint32_t bytes = item_bytes(component);
  char order = bytes == 1 ? '|' : '<';
  char wanted[16];
  snprintf(wanted, sizeof wanted, "%c%c%" PRIu32, order, kind_of(component), bytes);
  bool has_order = dtype[0] && strchr("<>=|", dtype[0]) && (dtype[0] != '|' || bytes == 1);
  const char *plain = has_order ? dtype + 1 : dtype;
  bool same = strcmp(plain, wanted + 1) == 0 || (component == VYRE_TYPE_BOOL && strcmp(plain, "?") == 0);
  if (!same || (!has_order && bytes > 1))
    return refuse(reason, "the array has dtype '%s', but the buffer takes '%s'. Fix: convert it with astype.", dtype,
                  wanted);
  *swapped = has_order && dtype[0] == '>' && bytes > 1;
  return true;
}

/* The number of components that the shape has. */
static bool count_components(const header *h, uint64_t *count, char *reason) {
  *count = 1;
  for (size_t i = 0; i < h->dimensions; i++)
    if (h->shape[i] == 0) *count = 0;
  for (size_t i = 0; i < h->dimensions && *count != 0; i++)
    if (__builtin_mul_overflow(*count, h->shape[i], count))
      return refuse(reason, "the product of the dimensions does not fit 64 bits. Fix: write the file with numpy.save.");
  return true;
}

static bool check_shape(const header *h, uint32_t lanes, uint64_t components, char *reason) {
  if (h->fortran_order && h->dimensions > 1)
    return refuse(reason, "the array is in Fortran order. Fix: save numpy.ascontiguousarray of it.");
  if (lanes == 1) return true;
  bool rows = h->dimensions > 1 && h->shape[h->dimensions - 1] == lanes;
  if (rows || (h->dimensions == 1 && components % lanes == 0)) return true;
  return refuse(reason,
                "the buffer's elements have %" PRIu32 " components, and the array's shape is not (n, %" PRIu32
                ") or n times that. Fix: reshape it.",
                lanes, lanes);
}

/* The components of a file as a buffer holds them: bool as words, bytes in little endian order. */
static void copy_components(uint8_t *to, const uint8_t *from, uint64_t count, vyre_type component, bool swapped) {
  uint32_t bytes = item_bytes(component);
  if (component == VYRE_TYPE_BOOL) {
    for (uint64_t i = 0; i < count; i++) memcpy(to + 4 * i, &(uint32_t){from[i] != 0}, 4);
  } else if (!swapped) {
    if (count) memcpy(to, from, count * bytes);
  } else {
    for (uint64_t i = 0; i < count; i++)
      for (uint32_t j = 0; j < bytes; j++) to[i * bytes + j] = from[i * bytes + bytes - 1 - j];
  }
}

bool npy_decode(const uint8_t *bytes, size_t length, vyre_type element, uint8_t **data, uint64_t *count,
                char reason[NPY_REASON_BYTES]) {
  *data = NULL;
  *count = 0;
  const vyre_type_info *info = vyre_type_describe(element);
  if (!npy_has(element)) return refuse(reason, "there is no dtype for %s. Fix: use a raw file.", info->spelling);
  cursor text;
  size_t data_at = 0;
  header h = {0};
  bool swapped = false;
  uint64_t components, wanted;
  if (!split(bytes, length, &text, &data_at, reason) || !read_dictionary(&text, &h)) return false;
  if (!check_dtype(h.dtype, info->component, &swapped, reason) || !count_components(&h, &components, reason) ||
      !check_shape(&h, info->lanes, components, reason))
    return false;
  uint64_t found = length - data_at;
  if (__builtin_mul_overflow(components, item_bytes(info->component), &wanted) || wanted != found)
    return refuse(reason,
                  "its shape asks for %" PRIu64 " values of %" PRIu32 " bytes, but %" PRIu64
                  " bytes follow the header. Fix: copy the file again.",
                  components, item_bytes(info->component), found);
  /* The file holds one byte a component at least, so this can not overflow. */
  *data = malloc(components * vyre_type_describe(info->component)->bytes + 1);
  if (!*data) return refuse(reason, "memory is exhausted. Fix: use a smaller array.");
  copy_components(*data, bytes + data_at, components, info->component, swapped);
  *count = components / info->lanes;
  return true;
}

/* The header's dictionary; gives its length. */
static size_t write_dictionary(vyre_type component, uint64_t components, char text[128]) {
  uint32_t bytes = item_bytes(component);
  return (size_t)snprintf(text, 128, "{'descr': '%c%c%" PRIu32 "', 'fortran_order': False, 'shape': (%" PRIu64 ",), }",
                          bytes == 1 ? '|' : '<', kind_of(component), bytes, components);
}

bool npy_encode(vyre_type element, const uint8_t *data, uint64_t count, uint8_t **out, size_t *length) {
  const vyre_type_info *info = vyre_type_describe(element);
  uint64_t components = count * info->lanes; /* they are in memory: no overflow */
  char dictionary[128];
  size_t text_bytes = write_dictionary(info->component, components, dictionary);
  size_t data_at = (PREFIX_BYTES_1 + text_bytes + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  uint32_t bytes = item_bytes(info->component);
  *length = data_at + components * bytes;
  *out = malloc(*length);
  if (!*out) return false;
  size_t header_bytes = data_at - PREFIX_BYTES_1;
  memcpy(*out, MAGIC "\x01", MAGIC_BYTES + 2);
  (*out)[8] = (uint8_t)header_bytes;
  (*out)[9] = (uint8_t)(header_bytes >> 8);
  memset(*out + PREFIX_BYTES_1, ' ', header_bytes);
  memcpy(*out + PREFIX_BYTES_1, dictionary, text_bytes);
  (*out)[data_at - 1] = '\n';
  if (info->component != VYRE_TYPE_BOOL) {
    if (components) memcpy(*out + data_at, data, components * bytes);
    return true;
  }
  for (uint64_t i = 0; i < components; i++) {
    uint32_t word;
    memcpy(&word, data + 4 * i, 4);
    (*out)[data_at + i] = word != 0;
  }
  return true;
}
