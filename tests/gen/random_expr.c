/* Random expressions: a type, and how uniform the value has to be, are asked for; operands follow from them. */
#include "random_state.h"

/* ---- Numbers and types --------------------------------------------------------------------- */

uint64_t random_bits(random_source *r) {
  uint64_t z = r->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint32_t random_below(random_source *r, uint32_t n) { return (uint32_t)((random_bits(r) >> 32) * n >> 32); }

bool random_chance(random_source *r, uint32_t percent) { return random_below(r, 100) < percent; }

static vyre_type component_of(vyre_type type) { return vyre_type_describe(type)->component; }
static uint32_t lanes_of(vyre_type type) { return vyre_type_describe(type)->lanes; }
static uint32_t bytes_of(vyre_type type) { return vyre_type_describe(type)->bytes; }
static bool is_float(vyre_type type) {
  return component_of(type) == VYRE_TYPE_F32 || component_of(type) == VYRE_TYPE_F64;
}
static bool is_integer(vyre_type type) {
  vyre_type component = component_of(type);
  return component >= VYRE_TYPE_U32 && component <= VYRE_TYPE_I64;
}

bool type_allowed(const generator *g, vyre_type type) {
  switch (component_of(type)) {
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64: return !avoids(g, VYRE_NEED_INT64);
    case VYRE_TYPE_F64: return !avoids(g, VYRE_NEED_FLOAT64);
    case VYRE_TYPE_U8:
    case VYRE_TYPE_I8: return !avoids(g, VYRE_NEED_STORAGE8);
    case VYRE_TYPE_U16:
    case VYRE_TYPE_I16: return !avoids(g, VYRE_NEED_STORAGE16);
    case VYRE_TYPE_F16:
    case VYRE_TYPE_BF16: return !avoids(g, VYRE_NEED_STORAGE16 | VYRE_NEED_FLOAT16);
    default: return true;
  }
}

vyre_type pick_scalar(generator *g) {
  static const vyre_type common[] = { VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_F32 };
  if (chance(g, 50)) return common[pick(g, 3)];
  vyre_type type = (vyre_type)(VYRE_TYPE_BOOL + pick(g, VYRE_TYPE_F64 - VYRE_TYPE_BOOL + 1));
  return type_allowed(g, type) ? type : VYRE_TYPE_U32;
}

vyre_type pick_type(generator *g) {
  if (chance(g, 80)) return pick_scalar(g);
  return (vyre_type)(VYRE_TYPE_U32X2 + pick(g, VYRE_TYPE_F32X4 - VYRE_TYPE_U32X2 + 1));
}

/* A power of two or its neighbour, something small, or anything. */
static uint64_t interesting(generator *g) {
  uint64_t power = 1ull << pick(g, 64);
  switch (pick(g, 6)) {
    case 0: return power;
    case 1: return power - 1;
    case 2: return ~power + 1;
    case 3: return random_bits(&g->random);
    default: return pick(g, 12);
  }
}

/* Bits of a float with |fraction| bits of fraction and |exponent| bits of exponent: zeros, infinities, the one NaN
 * of literals, ordinary values, subnormals. */
static uint64_t float_bits(generator *g, uint32_t fraction, uint32_t exponent) {
  uint64_t sign = chance(g, 40) ? 1ull << (fraction + exponent) : 0;
  uint64_t infinity = ((1ull << exponent) - 1) << fraction, middle = (infinity >> 1) & infinity;
  uint64_t mantissa = random_bits(&g->random) & ((1ull << fraction) - 1);
  switch (pick(g, 12)) {
    case 0: return sign;
    case 1: return sign | infinity;
    case 2: return infinity | 1ull << (fraction - 1);
    case 3: return sign | mantissa;
    case 4: return sign | (((uint64_t)pick(g, (1u << exponent) - 1) << fraction) | mantissa);
    case 5: return sign | middle | mantissa;
    default: return sign | (middle + ((uint64_t)pick(g, 4) << fraction)) | (mantissa & ~(mantissa >> 3));
  }
}

uint64_t make_bits(generator *g, vyre_type type) {
  switch (type) {
    case VYRE_TYPE_BOOL: return pick(g, 2);
    case VYRE_TYPE_F32: return float_bits(g, 23, 8);
    case VYRE_TYPE_F64: return float_bits(g, 52, 11);
    case VYRE_TYPE_F16: return float_bits(g, 10, 5);
    case VYRE_TYPE_BF16: return float_bits(g, 7, 8);
    default: return bytes_of(type) == 8 ? interesting(g) : interesting(g) & ((1ull << (8 * bytes_of(type))) - 1);
  }
}

vyre_expr make_literal(generator *g, vyre_type type) {
  vyre_type component = component_of(type);
  vyre_expr value = vyre_build_literal(g->b, component, make_bits(g, component));
  return lanes_of(type) == 1 ? value : vyre_build_vector(g->b, type, &value, 1);
}

static vyre_expr make_u32(generator *g, uint32_t value) { return vyre_build_u32(g->b, value); }

/* ---- Leaves -------------------------------------------------------------------------------- */

static vyre_expr make_variable(generator *g, vyre_type type, level want) {
  uint32_t start = g->variable_count > 0 ? pick(g, g->variable_count) : 0;
  for (uint32_t i = 0; i < g->variable_count; i++) {
    const variable *v = &g->variables[(start + i) % g->variable_count];
    if (v->type == type && v->level >= want) return vyre_build_var_value(g->b, v->var);
  }
  return 0;
}

static vyre_expr make_param(generator *g, vyre_type type) {
  uint32_t start = g->param_count > 0 ? pick(g, g->param_count) : 0;
  for (uint32_t i = 0; i < g->param_count; i++) {
    const parameter *p = &g->params[(start + i) % g->param_count];
    if (p->type == type) return p->value;
  }
  return 0;
}

static vyre_expr make_len(generator *g, vyre_op op) {
  return g->memory_count > 0 ? vyre_build_len(g->b, op, g->memories[pick(g, g->memory_count)].binding) : 0;
}

/* An id or size of the launch. */
static vyre_expr make_id(generator *g, level want) {
  static const struct {
    vyre_op op;
    level level;
    bool axis, subgroup;
  } ids[] = {
    { VYRE_OP_GID, DIVERGENT, true, false },          { VYRE_OP_LID, DIVERGENT, true, false },
    { VYRE_OP_LANE, DIVERGENT, false, true },         { VYRE_OP_SUBGROUP_ID, SUBGROUP, false, true },
    { VYRE_OP_WID, WORKGROUP, true, false },          { VYRE_OP_NWG, GRID, true, false },
    { VYRE_OP_SUBGROUP_SIZE, GRID, false, true },     { VYRE_OP_NUM_SUBGROUPS, GRID, false, true },
  };
  uint32_t i = pick(g, sizeof ids / sizeof *ids);
  if (ids[i].level < want || (ids[i].subgroup && avoids(g, VYRE_NEED_SUBGROUP))) return make_len(g, VYRE_OP_LEN);
  return vyre_build_leaf(g->b, ids[i].op, ids[i].axis ? pick(g, 3) : 0);
}

static vyre_expr make_clock(generator *g, level want) {
  if (want > DIVERGENT || g->options.reproducible || avoids(g, VYRE_NEED_CLOCK)) return 0;
  g->once++;
  return vyre_build_leaf(g->b, VYRE_OP_CLOCK_NS, 0);
}

static vyre_expr make_should_stop(generator *g, level want) {
  if (want > WORKGROUP || g->flow < WORKGROUP || avoids(g, VYRE_NEED_SHOULD_STOP)) return 0;
  g->once++;
  return vyre_build_leaf(g->b, VYRE_OP_SHOULD_STOP, 0);
}

static vyre_expr make_leaf(generator *g, vyre_type type, level want) {
  vyre_expr e = 0;
  switch (pick(g, 6)) {
    case 0: break;
    case 1: e = make_param(g, type); break;
    case 2:
      if (type == VYRE_TYPE_U32) e = make_id(g, want);
      else if (type == VYRE_TYPE_U64) e = chance(g, 80) ? make_len(g, VYRE_OP_LEN64) : make_clock(g, want);
      else if (type == VYRE_TYPE_BOOL && chance(g, 30)) e = make_should_stop(g, want);
      break;
    default: e = make_variable(g, type, want); break;
  }
  return e != 0 ? e : make_literal(g, type);
}

/* ---- Memory -------------------------------------------------------------------------------- */

const memory *pick_memory(generator *g, usage role, vyre_type value) {
  uint32_t start = g->memory_count > 0 ? pick(g, g->memory_count) : 0;
  for (uint32_t i = 0; i < g->memory_count; i++) {
    const memory *m = &g->memories[(start + i) % g->memory_count];
    bool fits = value == VYRE_TYPE_NONE || vyre_type_describe(m->element)->value == value;
    if (m->role == role && fits && !m->busy) return m;
  }
  return NULL;
}

static vyre_expr widen_index(generator *g, vyre_expr index) {
  if (avoids(g, VYRE_NEED_INT64) || !chance(g, 15)) return index;
  return vyre_build_cast(g->b, VYRE_TYPE_U64, index);
}

vyre_expr make_index(generator *g, const memory *m, level want, uint32_t depth) {
  uint32_t reach = m->length > 0 && m->length < 64 ? (uint32_t)m->length : 64;
  if (chance(g, 25)) return make_u32(g, pick(g, reach));
  vyre_expr index = make_expr(g, VYRE_TYPE_U32, want, depth);
  vyre_op into = chance(g, 50) ? VYRE_OP_BITAND : VYRE_OP_MOD;
  return widen_index(g, vyre_build_binary(g->b, into, index, make_u32(g, into == VYRE_OP_MOD ? reach : 63)));
}

vyre_expr make_own_index(generator *g, const memory *m) {
  return widen_index(g, m->role == STAGE ? g->local_self : g->self);
}

static vyre_expr make_load(generator *g, vyre_type type, level want, uint32_t depth) {
  if (want > DIVERGENT) {
    const memory *m = pick_memory(g, INPUT, type);
    if (m == NULL) return 0;
    vyre_expr index = make_index(g, m, want == SUBGROUP ? WORKGROUP : want, depth);
    return vyre_build_load(g->b, VYRE_OP_LOAD, m->binding, index);
  }
  static const usage roles[] = { INPUT, INPUT, OWN, STAGE, PRIVATE };
  const memory *m = pick_memory(g, roles[pick(g, 5)], type);
  if (m == NULL || m->access == VYRE_ACCESS_WRITE) return 0;
  bool own = m->role == OWN || m->role == STAGE;
  g->once += m->role == PRIVATE; /* a copy into it may be under way by then */
  vyre_expr index = own ? make_own_index(g, m) : make_index(g, m, DIVERGENT, depth);
  return vyre_build_load(g->b, VYRE_OP_LOAD, m->binding, index);
}

/* Loads that make a value uniform: those that say so, and those that see to it. */
static vyre_expr make_uniform_load(generator *g, vyre_type type, level want, uint32_t depth) {
  if (chance(g, 50)) {
    const memory *m = pick_memory(g, INPUT, type);
    if (m == NULL) return 0;
    return vyre_build_load(g->b, VYRE_OP_GRID_UNIFORM_LOAD, m->binding, make_index(g, m, GRID, depth));
  }
  const memory *m = pick_memory(g, chance(g, 70) ? STAGE : INPUT, type);
  if (m == NULL || want > WORKGROUP || g->flow < WORKGROUP) return 0;
  g->once++;
  return vyre_build_load(g->b, VYRE_OP_WORKGROUP_UNIFORM_LOAD, m->binding, make_index(g, m, WORKGROUP, depth));
}

static vyre_order pick_order(generator *g, vyre_op op) {
  static const vyre_order loads[] = { VYRE_ORDER_RELAXED, VYRE_ORDER_ACQUIRE, VYRE_ORDER_SEQ_CST };
  static const vyre_order stores[] = { VYRE_ORDER_RELAXED, VYRE_ORDER_RELEASE, VYRE_ORDER_SEQ_CST };
  uint32_t strict = avoids(g, VYRE_NEED_SEQ_CST) ? 0 : 1;
  if (op == VYRE_OP_ATOMIC_LOAD) return loads[pick(g, 2 + strict)];
  if (op == VYRE_OP_ATOMIC_STORE) return stores[pick(g, 2 + strict)];
  return (vyre_order)(VYRE_ORDER_RELAXED + pick(g, 4 + strict));
}

static bool has_atomic(const generator *g, vyre_op op, vyre_type element) {
  switch (element) {
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32: return true;
    case VYRE_TYPE_U64:
    case VYRE_TYPE_I64: return !avoids(g, VYRE_NEED_ATOMIC64);
    case VYRE_TYPE_F32: return op == VYRE_OP_ATOMIC_ADD && !avoids(g, VYRE_NEED_ATOMIC_F32_ADD);
    case VYRE_TYPE_U32X4: return op == VYRE_OP_ATOMIC_LOAD && !avoids(g, VYRE_NEED_ATOMIC_LOAD128);
    default: return false;
  }
}

vyre_expr make_atomic(generator *g, vyre_op op, const memory *m, vyre_expr index) {
  if (!has_atomic(g, op, m->element)) return 0;
  g->once++;
  vyre_expr value = op == VYRE_OP_ATOMIC_LOAD ? 0 : make_expr(g, m->element, DIVERGENT, 1);
  vyre_expr desired = op == VYRE_OP_ATOMIC_CAS ? make_expr(g, m->element, DIVERGENT, 1) : 0;
  vyre_scope scope = (vyre_scope)pick(g, VYRE_SCOPE_DEFAULT + 1);
  /* Workgroups meet in a counter that is a buffer: a narrower scope would be a race between them. */
  bool meet = m->role == COUNTER && m->access != VYRE_ACCESS_SHARED;
  if (meet && scope == VYRE_SCOPE_WORKGROUP) scope = VYRE_SCOPE_DEVICE;
  return vyre_build_atomic(g->b, op, m->binding, index, value, desired, pick_order(g, op), scope);
}

/* An atomic whose answer nobody else has a hand in. */
static vyre_expr make_own_atomic(generator *g, vyre_type type, level want, uint32_t depth) {
  (void)depth;
  if (want > DIVERGENT || g->still) return 0;
  const memory *m = pick_memory(g, chance(g, 60) ? OWN : STAGE, type);
  vyre_op op = (vyre_op)(VYRE_OP_ATOMIC_ADD + pick(g, VYRE_OP_ATOMIC_LOAD - VYRE_OP_ATOMIC_ADD + 1));
  if (m == NULL || m->element != type || m->access == VYRE_ACCESS_WRITE) return 0;
  if (type == VYRE_TYPE_U32X4) op = VYRE_OP_ATOMIC_LOAD;
  if (type == VYRE_TYPE_F32) op = VYRE_OP_ATOMIC_ADD;
  return make_atomic(g, op, m, make_own_index(g, m));
}

/* ---- Operators ----------------------------------------------------------------------------- */

static vyre_op pick_op(generator *g, const vyre_op *ops, uint32_t count) { return ops[pick(g, count)]; }
#define PICK(g, ops) pick_op((g), (ops), sizeof(ops) / sizeof *(ops))

/* The other operand of an element-wise operator: of the same type, or a scalar beside a vector. */
static vyre_expr make_beside(generator *g, vyre_type type, level want, uint32_t depth) {
  bool scalar = lanes_of(type) > 1 && chance(g, 30);
  return make_expr(g, scalar ? component_of(type) : type, want, depth);
}

/* Something that is not plainly the constant 0. */
static vyre_expr make_divisor(generator *g, vyre_type type, level want) {
  vyre_type component = component_of(type);
  vyre_expr e = chance(g, 70) ? make_variable(g, component, want) : 0;
  if (e == 0) e = make_param(g, component);
  if (e == 0) e = vyre_build_literal(g->b, component, make_bits(g, component) | 1);
  return e;
}

static vyre_expr make_binary(generator *g, vyre_type type, level want, uint32_t depth) {
  static const vyre_op floats[] = { VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL, VYRE_OP_DIV, VYRE_OP_MIN, VYRE_OP_MAX };
  static const vyre_op integers[] = { VYRE_OP_ADD,    VYRE_OP_SUB,    VYRE_OP_MUL, VYRE_OP_MIN,
                                      VYRE_OP_MAX,    VYRE_OP_BITAND, VYRE_OP_BITOR, VYRE_OP_BITXOR,
                                      VYRE_OP_MULHI };
  static const vyre_op divisions[] = { VYRE_OP_DIV, VYRE_OP_MOD };
  static const vyre_op shifts[] = { VYRE_OP_SHL, VYRE_OP_SHR, VYRE_OP_ROTL, VYRE_OP_ROTR };
  static const vyre_op unsigneds[] = { VYRE_OP_ABSDIFF, VYRE_OP_SAT_ADD, VYRE_OP_SAT_SUB, VYRE_OP_SAT_MUL };
  vyre_expr x = make_expr(g, type, want, depth);
  if (is_float(type)) {
    vyre_op op = PICK(g, floats);
    return vyre_build_binary(g->b, op, x, make_beside(g, type, want, depth));
  }
  bool plain_unsigned = type == VYRE_TYPE_U32 || type == VYRE_TYPE_U64;
  vyre_op op;
  vyre_expr y;
  switch (pick(g, plain_unsigned ? 6 : 5)) {
    case 0:
      op = PICK(g, divisions);
      y = make_divisor(g, type, want);
      break;
    case 1:
      op = PICK(g, shifts);
      y = make_expr(g, VYRE_TYPE_U32, want, depth);
      break;
    case 5:
      op = PICK(g, unsigneds);
      y = make_expr(g, type, want, depth);
      break;
    default:
      op = PICK(g, integers);
      y = make_beside(g, type, want, depth);
      break;
  }
  return vyre_build_binary(g->b, op, x, y);
}

static bool transcendentals_allowed(const generator *g, vyre_type type) {
  return !avoids(g, VYRE_NEED_ULP) && (type == VYRE_TYPE_F32 || !g->options.reproducible);
}

static vyre_expr make_float_function(generator *g, vyre_type type, level want, uint32_t depth) {
  static const vyre_op any[] = { VYRE_OP_NEG,  VYRE_OP_ABS,   VYRE_OP_SIGN,  VYRE_OP_SQRT,
                                 VYRE_OP_FLOOR, VYRE_OP_CEIL, VYRE_OP_ROUND, VYRE_OP_TRUNC };
  static const vyre_op scalars[] = { VYRE_OP_RSQRT, VYRE_OP_RCP };
  static const vyre_op inexact[] = { VYRE_OP_EXP,  VYRE_OP_EXP2, VYRE_OP_LOG,  VYRE_OP_LOG2, VYRE_OP_SIN,
                                     VYRE_OP_COS,  VYRE_OP_TAN,  VYRE_OP_ASIN, VYRE_OP_ACOS, VYRE_OP_ATAN,
                                     VYRE_OP_SINH, VYRE_OP_COSH, VYRE_OP_TANH };
  vyre_op op = PICK(g, any);
  if (lanes_of(type) == 1 && chance(g, 20)) op = PICK(g, scalars);
  if (lanes_of(type) == 1 && transcendentals_allowed(g, type) && chance(g, 30)) op = PICK(g, inexact);
  return vyre_build_unary(g->b, op, make_expr(g, type, want, depth));
}

static vyre_expr make_integer_function(generator *g, vyre_type type, level want, uint32_t depth) {
  static const vyre_op any[] = { VYRE_OP_NEG, VYRE_OP_BITNOT, VYRE_OP_POPCOUNT,
                                 VYRE_OP_CLZ, VYRE_OP_CTZ,    VYRE_OP_REVERSE_BITS };
  static const vyre_op with_sign[] = { VYRE_OP_ABS, VYRE_OP_SIGN };
  static const vyre_op unpacks[] = { VYRE_OP_UNPACK4LO, VYRE_OP_UNPACK4HI, VYRE_OP_UNPACK8LO, VYRE_OP_UNPACK8HI };
  vyre_type component = component_of(type);
  bool has_sign = component == VYRE_TYPE_I32 || component == VYRE_TYPE_I64;
  if (type == VYRE_TYPE_U32 && chance(g, 25)) {
    vyre_type from = chance(g, 50) ? VYRE_TYPE_U32 : VYRE_TYPE_I32;
    vyre_op op = PICK(g, unpacks);
    return vyre_build_unary(g->b, op, make_expr(g, from, want, depth));
  }
  vyre_op op = has_sign && chance(g, 30) ? PICK(g, with_sign) : PICK(g, any);
  return vyre_build_unary(g->b, op, make_expr(g, type, want, depth));
}

static vyre_expr make_select(generator *g, vyre_type type, level want, uint32_t depth) {
  vyre_expr c = make_expr(g, VYRE_TYPE_BOOL, want, depth);
  vyre_expr x = make_expr(g, type, want, depth), y = make_expr(g, type, want, depth);
  return vyre_build_select(g->b, c, x, y);
}

static vyre_expr make_fma(generator *g, vyre_type type, level want, uint32_t depth) {
  if (avoids(g, VYRE_NEED_FMA) || !is_float(type)) return 0;
  vyre_expr x = make_expr(g, type, want, depth), y = make_beside(g, type, want, depth);
  return vyre_build_fma(g->b, x, y, make_beside(g, type, want, depth));
}

/* ---- Conversions and vectors --------------------------------------------------------------- */

/* A float whose bits may be shown: a NaN loses to a number, and no number is below this one. */
static vyre_expr without_nan(generator *g, vyre_type type, vyre_expr e) {
  uint64_t least = type == VYRE_TYPE_F32 ? 0xFF800000u : 0xFFF0000000000000u;
  return vyre_build_binary(g->b, VYRE_OP_MAX, e, vyre_build_literal(g->b, type, least));
}

static vyre_expr make_bitcast(generator *g, vyre_type type, level want, uint32_t depth) {
  vyre_type from = (vyre_type)(VYRE_TYPE_U32 + pick(g, VYRE_TYPE_F32X4 - VYRE_TYPE_U32 + 1));
  if (bytes_of(from) != bytes_of(type) || !type_allowed(g, from)) return 0;
  bool hide = g->options.reproducible && is_float(from);
  if (hide && lanes_of(from) > 1) return 0;
  vyre_expr x = make_expr(g, from, want, depth);
  return vyre_build_bitcast(g->b, type, hide ? without_nan(g, from, x) : x);
}

/* T(x) for a T that keeps |type|: a wide one, or a narrow one that rounds through it. */
static vyre_expr make_cast(generator *g, vyre_type type, level want, uint32_t depth) {
  if (chance(g, 70)) return vyre_build_cast(g->b, type, make_expr(g, pick_scalar(g), want, depth));
  vyre_type narrow = (vyre_type)(VYRE_TYPE_U8 + pick(g, VYRE_TYPE_BF16 - VYRE_TYPE_U8 + 1));
  bool halves = narrow == VYRE_TYPE_F16 || narrow == VYRE_TYPE_BF16;
  if (vyre_type_describe(narrow)->value != type || (halves && avoids(g, VYRE_NEED_FLOAT16))) return 0;
  return vyre_build_cast(g->b, narrow, make_expr(g, type, want, depth));
}

static vyre_expr make_vector(generator *g, vyre_type type, level want, uint32_t depth) {
  vyre_expr parts[4] = { 0 };
  uint32_t count = chance(g, 30) ? 1 : lanes_of(type);
  for (uint32_t i = 0; i < count; i++) parts[i] = make_expr(g, component_of(type), want, depth);
  return vyre_build_vector(g->b, type, parts, count);
}

static vyre_expr make_extract(generator *g, vyre_type type, level want, uint32_t depth) {
  vyre_type from = (vyre_type)(VYRE_TYPE_U32X2 + pick(g, VYRE_TYPE_F32X4 - VYRE_TYPE_U32X2 + 1));
  if (component_of(from) != type) return 0;
  vyre_expr vector = make_expr(g, from, want, depth);
  return vyre_build_extract(g->b, vector, pick(g, lanes_of(from)));
}

/* ---- Subgroups ----------------------------------------------------------------------------- */

static bool subgroups_allowed(const generator *g) { return g->flow >= SUBGROUP && !avoids(g, VYRE_NEED_SUBGROUP); }

static vyre_expr make_reduction(generator *g, vyre_type type, uint32_t depth) {
  static const vyre_op all[] = { VYRE_OP_SUBGROUP_ADD, VYRE_OP_SUBGROUP_MUL, VYRE_OP_SUBGROUP_MIN,
                                 VYRE_OP_SUBGROUP_MAX };
  static const vyre_op bits[] = { VYRE_OP_SUBGROUP_AND, VYRE_OP_SUBGROUP_OR, VYRE_OP_SUBGROUP_XOR };
  vyre_op op = is_integer(type) && chance(g, 40) ? PICK(g, bits) : PICK(g, all);
  return vyre_build_unary(g->b, op, make_expr(g, type, DIVERGENT, depth));
}

static vyre_expr make_scan_or_shuffle(generator *g, vyre_type type, uint32_t depth) {
  vyre_expr x = make_expr(g, type, DIVERGENT, depth);
  if (chance(g, 50)) {
    uint32_t scans = VYRE_OP_SUBGROUP_EXCLUSIVE_MAX - VYRE_OP_SUBGROUP_INCLUSIVE_ADD + 1;
    return vyre_build_unary(g->b, (vyre_op)(VYRE_OP_SUBGROUP_INCLUSIVE_ADD + pick(g, scans)), x);
  }
  uint32_t shuffles = VYRE_OP_SUBGROUP_SHUFFLE_DOWN - VYRE_OP_SUBGROUP_SHUFFLE + 1;
  vyre_expr lane = chance(g, 50) ? make_u32(g, pick(g, 34)) : make_expr(g, VYRE_TYPE_U32, DIVERGENT, depth);
  return vyre_build_binary(g->b, (vyre_op)(VYRE_OP_SUBGROUP_SHUFFLE + pick(g, shuffles)), x, lane);
}

static vyre_expr make_subgroup(generator *g, vyre_type type, level want, uint32_t depth) {
  if (!subgroups_allowed(g) || want > SUBGROUP) return 0;
  g->once++;
  if (type == VYRE_TYPE_U32 && chance(g, 20))
    return vyre_build_unary(g->b, VYRE_OP_SUBGROUP_BALLOT, make_expr(g, VYRE_TYPE_BOOL, DIVERGENT, depth));
  if (chance(g, 20)) /* lane 0 is there in every subgroup */
    return vyre_build_binary(g->b, VYRE_OP_SUBGROUP_BROADCAST, make_expr(g, type, DIVERGENT, depth), make_u32(g, 0));
  bool equal = want == SUBGROUP || chance(g, 50);
  return equal ? make_reduction(g, type, depth) : make_scan_or_shuffle(g, type, depth);
}

static vyre_expr make_vote(generator *g, vyre_type type, level want, uint32_t depth) {
  if (!subgroups_allowed(g) || want > SUBGROUP) return 0;
  g->once++;
  vyre_op op = chance(g, 50) ? VYRE_OP_SUBGROUP_ANY : VYRE_OP_SUBGROUP_ALL;
  return vyre_build_unary(g->b, op, make_expr(g, type, DIVERGENT, depth));
}

/* ---- By type ------------------------------------------------------------------------------- */

static vyre_expr make_comparison(generator *g, vyre_type type, level want, uint32_t depth) {
  static const vyre_op orders[] = { VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LT, VYRE_OP_GT, VYRE_OP_LE, VYRE_OP_GE };
  static const vyre_op classes[] = { VYRE_OP_IS_NAN, VYRE_OP_IS_INF, VYRE_OP_IS_FINITE };
  vyre_type of = pick_scalar(g);
  vyre_expr x = make_expr(g, of, want, depth);
  (void)type;
  if (is_float(of) && chance(g, 25)) return vyre_build_unary(g->b, PICK(g, classes), x);
  vyre_op op = of == VYRE_TYPE_BOOL ? pick_op(g, orders, 2) : PICK(g, orders);
  return vyre_build_binary(g->b, op, x, make_expr(g, of, want, depth));
}

static vyre_expr make_logic(generator *g, vyre_type type, level want, uint32_t depth) {
  vyre_expr x = make_expr(g, type, want, depth);
  if (chance(g, 30)) return vyre_build_unary(g->b, VYRE_OP_LNOT, x);
  vyre_op op = chance(g, 50) ? VYRE_OP_LAND : VYRE_OP_LOR;
  return vyre_build_binary(g->b, op, x, make_expr(g, type, want, depth));
}

static vyre_expr make_function(generator *g, vyre_type type, level want, uint32_t depth) {
  return is_float(type) ? make_float_function(g, type, want, depth) : make_integer_function(g, type, want, depth);
}

/* What makes an expression of a type, or 0 where it can't. */
typedef struct maker {
  vyre_expr (*make)(generator *g, vyre_type type, level want, uint32_t depth);
  uint32_t weight;
} maker;

static const maker numbers[] = {
#define NUMBER(make, weight) { make, weight },
#include "weights.def"
}, bools[] = {
#define BOOL(make, weight) { make, weight },
#include "weights.def"
}, vectors[] = {
#define VECTOR(make, weight) { make, weight },
#include "weights.def"
};

static maker pick_maker(generator *g, const maker *makers, uint32_t count) {
  uint32_t all = 0, i = 0;
  for (uint32_t k = 0; k < count; k++) all += makers[k].weight;
  for (uint32_t at = pick(g, all); at >= makers[i].weight; i++) at -= makers[i].weight;
  return makers[i];
}
#define PICK_MAKER(g, makers) pick_maker(g, makers, sizeof(makers) / sizeof *(makers))

/* One that stands before. What holds one is not taken again, lest programs grow beyond measure. */
static vyre_expr take_known(generator *g, vyre_type type, level want) {
  if (g->known_count == 0 || !chance(g, g->options.reuse)) return 0;
  uint32_t start = pick(g, g->known_count);
  for (uint32_t i = 0; i < g->known_count; i++) {
    const known *k = &g->known[(start + i) % g->known_count];
    if (k->type != type || k->level < want) continue;
    g->once++;
    return k->value;
  }
  return 0;
}

static void note_known(generator *g, vyre_expr value, vyre_type type, level of) {
  uint32_t own = MAX_KNOWN - g->known_first; /* places of this block, the only ones that it may fill anew */
  if (g->options.reuse == 0 || own == 0) return;
  uint32_t at = g->known_count < MAX_KNOWN ? g->known_count++ : g->known_first + pick(g, own);
  g->known[at] = (known){ value, type, of };
}

vyre_expr make_expr(generator *g, vyre_type type, level want, uint32_t depth) {
  vyre_expr e = depth > 0 ? take_known(g, type, want) : 0;
  if (e != 0) return e;
  if (depth == 0 || chance(g, 15)) return make_leaf(g, type, want);
  for (int attempt = 0; attempt < 4; attempt++) {
    maker m = type == VYRE_TYPE_BOOL ? PICK_MAKER(g, bools)
              : lanes_of(type) == 1  ? PICK_MAKER(g, numbers)
                                     : PICK_MAKER(g, vectors);
    uint32_t once = g->once;
    if ((e = m.make(g, type, want, depth - 1)) == 0) continue;
    if (g->once == once && depth <= REUSE_DEPTH) note_known(g, e, type, want);
    return e;
  }
  return make_leaf(g, type, want);
}
