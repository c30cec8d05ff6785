/* What is known of a result: over how much of the launch it is uniform, low bits that are 0, bounds. Each rule only
 * says what follows from the facts of the operands; where nothing follows, nothing is said. */
#include "lower/code.h"

enum { GRID = VYRE_KERNEL_UNIFORM_GRID, WORKGROUP = VYRE_KERNEL_UNIFORM_WORKGROUP,
       SUBGROUP = VYRE_KERNEL_UNIFORM_SUBGROUP, NOT_UNIFORM = VYRE_KERNEL_UNIFORM_NONE };

static uint8_t weaker(uint8_t a, uint8_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- Uniformity ------------------------------------------------------------------------------ */

static uint8_t uniform_of_access(const lower_code *c, uint32_t access) {
  const vyre_kernel_access *a = &c->accesses.data[access];
  if ((a->flags & VYRE_KERNEL_ACCESS_READ_ONLY) == 0) return NOT_UNIFORM;
  uint8_t level = weaker(lower_info_of(c, a->index)->uniform, lower_info_of(c, a->base)->uniform);
  return weaker(level, lower_info_of(c, a->bound)->uniform);
}

static uint8_t uniform_of_operands(const lower_code *c, const lower_request *r) {
  uint8_t level = GRID;
  for (uint32_t values = form_ops[r->op].values; values != 0; values &= values - 1)
    level = weaker(level, lower_info_of(c, r->arg[__builtin_ctz(values)])->uniform);
  return level;
}

static uint8_t uniform_of(const lower_code *c, const lower_request *r) {
  if (r->op >= VYRE_KERNEL_ADD && r->op < VYRE_KERNEL_LOAD) return uniform_of_operands(c, r);
  switch (r->op) {
    case VYRE_KERNEL_WID:
    case VYRE_KERNEL_SHOULD_STOP: return WORKGROUP;
    case VYRE_KERNEL_SUBGROUP_ID: return SUBGROUP;
    case VYRE_KERNEL_GID:
    case VYRE_KERNEL_LID:
    case VYRE_KERNEL_LANE:
    case VYRE_KERNEL_CLOCK: return NOT_UNIFORM;
    case VYRE_KERNEL_GET: return c->slots.data[r->arg[0]].uniform;
    case VYRE_KERNEL_LOAD: return uniform_of_access(c, r->arg[0]);
    case VYRE_KERNEL_BROADCAST:
    case VYRE_KERNEL_SUBGROUP_ANY:
    case VYRE_KERNEL_SUBGROUP_ALL:
    case VYRE_KERNEL_SUBGROUP_BALLOT: return SUBGROUP;
    default: break;
  }
  if (r->op >= VYRE_KERNEL_SUBGROUP_ADD && r->op <= VYRE_KERNEL_SUBGROUP_XOR) return SUBGROUP;
  if (form_is_atomic(r->op) || (form_ops[r->op].effects & FORM_LANES) != 0) return NOT_UNIFORM;
  return uniform_of_operands(c, r);
}

/* ---- Bounds and zero bits -------------------------------------------------------------------- */

static void at_most(lower_info *info, uint64_t most) { info->most = smaller(info->most, most); }

/* All ones up to the highest bit of |x|. */
static uint64_t filled(uint64_t x) { return x == 0 ? 0 : UINT64_MAX >> __builtin_clzll(x); }

static void note_leaf(const lower_code *c, const lower_request *r, lower_info *info) {
  uint64_t invocations = (uint64_t)c->workgroup[0] * c->workgroup[1] * c->workgroup[2];
  switch (r->op) {
    case VYRE_KERNEL_LID: at_most(info, c->workgroup[r->arg[0]] - 1); break;
    case VYRE_KERNEL_LANE: at_most(info, c->subgroup != 0 ? c->subgroup - 1 : 31); break;
    case VYRE_KERNEL_SUBGROUP_SIZE:
      info->least = c->subgroup != 0 ? c->subgroup : 1;
      at_most(info, c->subgroup != 0 ? c->subgroup : 32);
      break;
    case VYRE_KERNEL_SUBGROUP_ID: at_most(info, invocations - 1); break;
    case VYRE_KERNEL_NUM_SUBGROUPS:
      info->least = 1;
      at_most(info, invocations);
      break;
    default: break;
  }
}

/* Two unsigned scalars of one width, whose values fit |mask|. */
static void note_binary(uint32_t op, const lower_info *x, const lower_info *y, uint64_t mask, lower_info *info) {
  uint64_t least, most;
  switch (op) {
    case VYRE_KERNEL_ADD:
      if (__builtin_add_overflow(x->most, y->most, &most) || most > mask) return;
      info->least = x->least + y->least;
      info->most = most;
      return;
    case VYRE_KERNEL_SUB:
      if (x->least < y->most) return;
      info->least = x->least - y->most;
      info->most = x->most - y->least;
      return;
    case VYRE_KERNEL_MUL:
      if (__builtin_mul_overflow(x->most, y->most, &most) || most > mask) return;
      info->least = x->least * y->least;
      info->most = most;
      return;
    case VYRE_KERNEL_DIV:
    case VYRE_KERNEL_DIV_RAW:
      if (y->least == 0) return;
      info->least = x->least / y->most;
      info->most = x->most / y->least;
      return;
    case VYRE_KERNEL_REM:
    case VYRE_KERNEL_REM_RAW:
      if (y->least == 0) return;
      info->most = smaller(x->most, y->most - 1);
      return;
    case VYRE_KERNEL_AND: info->most = smaller(x->most, y->most); return;
    case VYRE_KERNEL_OR:
      info->least = larger(x->least, y->least);
      info->most = filled(x->most | y->most);
      return;
    case VYRE_KERNEL_XOR: info->most = filled(x->most | y->most); return;
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MIN_RAW:
      info->least = smaller(x->least, y->least);
      info->most = smaller(x->most, y->most);
      return;
    case VYRE_KERNEL_MAX:
    case VYRE_KERNEL_MAX_RAW:
      info->least = larger(x->least, y->least);
      info->most = larger(x->most, y->most);
      return;
    case VYRE_KERNEL_SHL:
    case VYRE_KERNEL_SHL_RAW:
      least = x->least << (y->most & 63);
      if (y->least != y->most || y->most > 63 || x->most > mask >> y->most) return;
      info->least = least;
      info->most = x->most << y->most;
      return;
    case VYRE_KERNEL_SHR:
    case VYRE_KERNEL_SHR_RAW:
      if (y->most > 31) return; /* below both widths, so that no count is masked */
      info->least = x->least >> y->most;
      info->most = x->most >> y->least;
      return;
    default: return;
  }
}

static void note_zeros(uint32_t op, const lower_info *x, const lower_info *y, uint32_t width, lower_info *info) {
  uint32_t least = x->zeros < y->zeros ? x->zeros : y->zeros, most = x->zeros < y->zeros ? y->zeros : x->zeros;
  uint32_t zeros = 0;
  switch (op) {
    case VYRE_KERNEL_ADD:
    case VYRE_KERNEL_SUB:
    case VYRE_KERNEL_OR:
    case VYRE_KERNEL_XOR:
    case VYRE_KERNEL_MIN:
    case VYRE_KERNEL_MAX: zeros = least; break;
    case VYRE_KERNEL_MUL: zeros = least + most; break;
    case VYRE_KERNEL_AND: zeros = most; break;
    case VYRE_KERNEL_SHL:
    case VYRE_KERNEL_SHL_RAW:
      if (y->least == y->most && y->most < width) zeros = x->zeros + (uint32_t)y->most;
      break;
    default: break;
  }
  info->zeros = (uint8_t)(zeros < width ? zeros : width);
}

/* The facts of operand |k|; of no value, where it is something else. */
static const lower_info *operand(const lower_code *c, const lower_request *r, int k) {
  return lower_info_of(c, (form_ops[r->op].values >> k & 1) != 0 ? r->arg[k] : 0);
}

void lower_note_facts(const lower_code *c, const lower_request *r, lower_info *info) {
  vyre_type type = (vyre_type)info->type;
  uint64_t mask = type == VYRE_TYPE_U32 ? UINT32_MAX : UINT64_MAX;
  info->most = form_is_unsigned(type) ? mask : UINT64_MAX;
  info->uniform = uniform_of(c, r);
  if (!form_is_integer(type) || form_lanes(type) != 1) return;
  const lower_info *x = operand(c, r, 0), *y = operand(c, r, 1), *z = operand(c, r, 2);
  uint32_t width = form_bytes(type) * 8;
  switch (r->op) {
    case VYRE_KERNEL_SELECT:
      info->zeros = y->zeros < z->zeros ? y->zeros : z->zeros;
      if (!form_is_unsigned(type)) return;
      info->least = smaller(y->least, z->least);
      info->most = larger(y->most, z->most);
      return;
    case VYRE_KERNEL_RESIZE:
      info->zeros = x->zeros < width ? x->zeros : (uint8_t)width;
      if (!form_is_unsigned(type) || x->most > mask) return;
      info->least = x->least;
      info->most = x->most;
      return;
    case VYRE_KERNEL_BITCAST:
      if (r->type[0] == VYRE_TYPE_I32 || r->type[0] == VYRE_TYPE_U32 || r->type[0] == VYRE_TYPE_I64 ||
          r->type[0] == VYRE_TYPE_U64)
        info->zeros = x->zeros;
      return;
    case VYRE_KERNEL_NEG: info->zeros = x->zeros; return;
    case VYRE_KERNEL_POPCOUNT:
    case VYRE_KERNEL_CLZ:
    case VYRE_KERNEL_CTZ:
      if (form_is_unsigned(type)) at_most(info, width);
      return;
    case VYRE_KERNEL_TO_F16:
    case VYRE_KERNEL_TO_BF16: at_most(info, 0xFFFF); return;
    case VYRE_KERNEL_LOAD:
      if (r->type[0] == VYRE_TYPE_U8) at_most(info, 0xFF);
      if (r->type[0] == VYRE_TYPE_U16) at_most(info, 0xFFFF);
      return;
    default: break;
  }
  bool is_binary = (form_ops[r->op].values & 3) == 3;
  if (form_ops[r->op].effects == 0 && is_binary) {
    note_zeros(r->op, x, y, width, info);
    if (form_is_unsigned(type)) note_binary(r->op, x, y, mask, info);
  } else if (r->op >= VYRE_KERNEL_LID && r->op <= VYRE_KERNEL_NUM_SUBGROUPS) {
    note_leaf(c, r, info);
  }
}
