/* Operands for the numeric checks. Tables of bits, since most of these values are about single bits. */
#include "numeric_values.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

uint64_t numeric_random(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static const uint64_t bools[] = {1, 0, 2, 0xFFFFFFFF, 0x80000000, 0x100};

static const uint64_t words8[] = {0, 1, 0xFF, 0x80, 0x7F, 2, 0x55, 0xFE, 0x81};
static const uint64_t words16[] = {0, 1, 0xFFFF, 0x8000, 0x7FFF, 0xFF, 0x100, 0x80, 0x5555, 0xFFFE, 0x8001};

/* Shift counts are among them: 31, 32, 33, 63, 64, 65. */
static const uint64_t words32[] = {
    0,          1,          0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 2,          31,         32,         33,
    63,         64,         0x80000001, 0xFFFFFFFE, 0x12345678, 3,          7,          0xFFFF,     0x10000,
    0xAAAAAAAA, 0xFFFFFFF9, 65,         10,         0x7F,       0x80,       0xFF,       0x100,      0x7FFF,
    0x8000,     0xFFFFFF,   0x1000000,  0x1000001,  0x3FFFFFFF, 0x7FFFFFFE, 0x55555555, 0xFFFF0000, 0xFFFFFF80};

static const uint64_t words64[] = {0,
                                   1,
                                   UINT64_MAX,
                                   0x8000000000000000,
                                   0x7FFFFFFFFFFFFFFF,
                                   2,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   0x8000000000000001,
                                   0xFFFFFFFFFFFFFFFE,
                                   0x123456789ABCDEF0,
                                   0xFFFFFFFF,
                                   0x100000000,
                                   0x80000000,
                                   0x7FFFFFFF,
                                   0xFFFFFFFF80000000,
                                   0xFFFFFFFF7FFFFFFF,
                                   65,
                                   3,
                                   7,
                                   10,
                                   0xFFFFFFFFFFFFFFF9,
                                   0xFFFFFF,
                                   0x1000001,
                                   0x1FFFFFFFFFFFFF,
                                   0x20000000000000,
                                   0x20000000000001,
                                   0x20000000000003,
                                   0x4000000000000000,
                                   0x7FFFFFFFFFFFFFFE,
                                   0xAAAAAAAAAAAAAAAA,
                                   0x0000FFFF0000FFFF,
                                   0x100000001,
                                   0xFFFFFFFF00000000,
                                   /* what a double rounding through f64 would spoil on the way to f32 */
                                   0x8000008000000001,
                                   0x4000004000000001};

/* Halfway cases, the ends of ranges, neighbours of 1, the bounds of conversions to and from integers, f16 and bf16. */
static const uint64_t floats32[] = {
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x007FFFFF,
    0x00800000, 0x7F7FFFFF, 0x3F800001, 0x3F7FFFFF, 0x3F000000, 0x3FC00000, 0xC0200000, 0x3F800800, 0xBF801000,
    0x33800000, 0x4B800000, 0x80000001, 0xFF7FFFFF, 0x7F800001, 0x40400000, 0xFFC12345, 0x807FFFFF, 0x80800000,
    0x00000002, 0x00400000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x1F800000, 0x20000000, 0x3DCCCCCD, 0x3EAAAAAB,
    0x3EFFFFFF, 0xBF000000, 0xBEFFFFFF, 0x40000000, 0x40200000, 0x4AFFFFFF, 0x4B000001, 0x4B7FFFFF, 0x4B800001,
    0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0xCF000000, 0xCF000001, 0x5EFFFFFF, 0x5F000000, 0x5F7FFFFF,
    0x5F800000, 0xDF000000, 0xDF000001, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x33000000, 0x33400000, 0x38800000,
    0x387FC000, 0x387FE000, 0x3F802000, 0x3F806000, 0x3F808000, 0x3F818000, 0x7F7F8000, 0x7F7F7FFF, 0x447A0000,
    0x7F000000, 0x7E800000, 0x00200000, 0x5A800000, 0x64800000, 0xC2C80000, 0x3FFFFFFF, 0x40490FDB};

static const uint64_t floats64[] = {
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000,
    0xFFF0000000000000, 0x7FF8000000000000, 0x0000000000000001, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
    0x7FEFFFFFFFFFFFFF, 0x3FF0000000000001, 0x3FEFFFFFFFFFFFFF, 0x3FE0000000000000, 0x3FF8000000000000,
    0xC004000000000000, 0x3FF0000008000000, 0xBFF0000010000000, 0x3CA0000000000000, 0x4340000000000000,
    0x8000000000000001, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000001, 0x4008000000000000, 0xFFF8123456789ABC,
    0x800FFFFFFFFFFFFF, 0x8010000000000000, 0x0000000000000002, 0x0010000000000001, 0x3FB999999999999A,
    0x3FD5555555555555, 0x3FDFFFFFFFFFFFFF, 0xBFE0000000000000, 0x4000000000000000, 0x4004000000000000,
    0x432FFFFFFFFFFFFF, 0x4330000000000001, 0x433FFFFFFFFFFFFF, 0x4340000000000001, 0x41DFFFFFFFC00000,
    0x41DFFFFFFFE00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x41EFFFFFFFF00000, 0x41F0000000000000,
    0xC1E0000000000000, 0xC1E0000000100000, 0xC1E0000000200000, 0x43DFFFFFFFFFFFFF, 0x43E0000000000000,
    0x43EFFFFFFFFFFFFF, 0x43F0000000000000, 0xC3E0000000000000, 0xC3E0000000000001,
    /* f32's bounds and ties: its largest and the next, halfway to infinity, 1 + half an ulp and neighbours, its
     * smallest subnormal, half of that and a little more */
    0x47EFFFFFE0000000, 0x47EFFFFFEFFFFFFF, 0x47EFFFFFF0000000, 0x3FF0000010000000, 0x3FF0000010000001,
    0x3FF0000030000000, 0x36A0000000000000, 0x3690000000000000, 0x3690000000000001, 0x380FFFFFC0000000,
    0x380FFFFFE0000000, 0x380FFFFFE0000001, 0x3810000000000000, 0x1FF0000000000000, 0x5FF0000000000000,
    0x0008000000000000, 0x7FE0000000000000, 0x400921FB54442D18};

static const uint64_t halves[] = {0x0000, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x03FF,
                                  0x0400, 0x7BFF, 0x3C01, 0x3BFF, 0x8001, 0xFBFF, 0x7C01, 0xFE55};
static const uint64_t brains[] = {0x0000, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x007F,
                                  0x0080, 0x7F7F, 0x3F81, 0x3F7F, 0x8001, 0xFF7F, 0x7F81, 0xFFC5};

typedef struct edge_list {
  const uint64_t *bits;
  uint32_t count;
} edge_list;

#define EDGES_BOOL bools
#define EDGES_U8 words8
#define EDGES_I8 words8
#define EDGES_U16 words16
#define EDGES_I16 words16
#define EDGES_U32 words32
#define EDGES_I32 words32
#define EDGES_U64 words64
#define EDGES_I64 words64
#define EDGES_F32 floats32
#define EDGES_F64 floats64
#define EDGES_F16 halves
#define EDGES_BF16 brains

/* A component type without edges does not build. */
static edge_list edges_of(vyre_type type) {
  switch (type) {
#define X(name, spelling, bytes, lanes, component, value, wire) \
  case VYRE_TYPE_##name: return (edge_list){EDGES_##component, COUNT(EDGES_##component)};
#include <vyre/types.def>
#undef X
    default: return (edge_list){NULL, 0};
  }
}

uint32_t numeric_edge_count(vyre_type type) {
  return edges_of(type).count;
}

bool numeric_edge(vyre_type type, uint32_t index, uint64_t *bits) {
  edge_list edges = edges_of(type);
  if (index >= edges.count) return false;
  *bits = edges.bits[index];
  return true;
}

void numeric_put(vyre_type type, uint8_t *bytes, uint64_t index, uint64_t bits) {
  uint32_t size = vyre_type_describe(type)->bytes;
  for (uint32_t i = 0; i < size; i++) bytes[index * size + i] = (uint8_t)(bits >> (8 * i));
}

static uint32_t first_edges(vyre_type type, uint32_t most) {
  uint32_t count = numeric_edge_count(type);
  return count < most ? count : most;
}

static bool is_float(vyre_type component) {
  return component == VYRE_TYPE_F32 || component == VYRE_TYPE_F64;
}

/* Random bits for one row. Of floats, half of the rows have exponents that lie together, so that sums and fused
 * products have something to round. */
static uint64_t random_component(vyre_type component, uint64_t *state, bool close) {
  uint64_t bits = numeric_random(state);
  if (component == VYRE_TYPE_BOOL) return bits & 1;
  if (!close || !is_float(component)) return bits;
  if (component == VYRE_TYPE_F32) return (bits & 0x80FFFFFF) | (112 + (bits >> 40) % 32) << 23;
  return (bits & 0x800FFFFFFFFFFFFF) | (1000 + numeric_random(state) % 48) << 52;
}

static void fill_column(const numeric_column *column, uint64_t rows, uint64_t stride, uint32_t edges, uint64_t crossed,
                        uint64_t *state) {
  vyre_type component = vyre_type_describe(column->type)->component;
  for (uint64_t row = 0; row < rows; row++) {
    uint64_t bits = 0;
    if (row < crossed)
      numeric_edge(component, (uint32_t)(row / stride % edges), &bits);
    else
      bits = random_component(component, state, row % 2 == 0);
    numeric_put(component, column->bytes, row, bits);
  }
}

bool numeric_cross(const vyre_type *types, uint32_t count, uint32_t most, uint32_t extra, uint64_t seed,
                   numeric_column *columns) {
  uint32_t lanes = 1;
  uint64_t crossed = 1, stride = 1;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_type_info *info = vyre_type_describe(types[i]);
    if (info->lanes > lanes) lanes = info->lanes;
    crossed *= first_edges(info->component, most);
  }
  uint64_t elements = (crossed + extra + lanes - 1) / lanes;
  for (uint32_t i = 0; i < count; i++) columns[i] = (numeric_column){types[i], elements, NULL};
  for (uint32_t i = 0; i < count; i++) {
    const vyre_type_info *info = vyre_type_describe(types[i]);
    uint32_t edges = first_edges(info->component, most);
    columns[i].bytes = malloc(elements * info->bytes);
    if (!columns[i].bytes) {
      numeric_columns_free(columns, count);
      return false;
    }
    uint64_t state = seed + i;
    fill_column(&columns[i], elements * info->lanes, stride, edges, crossed, &state);
    stride *= edges;
  }
  return true;
}

void numeric_columns_free(numeric_column *columns, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    free(columns[i].bytes);
    columns[i].bytes = NULL;
  }
}
