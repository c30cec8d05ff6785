/* A SPIR-V module under construction: sections that grow, ids, and types and constants that are made when first asked
 * for. Nothing here knows kernels.
 *
 * The first failure is kept and everything after it does no harm, so that only the end has to ask. */
#ifndef VULKAN_SPIRV_MODULE_H
#define VULKAN_SPIRV_MODULE_H

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "plugins/vulkan/spirv.h"

/* Sections between the fixed head and the end, in the order that SPIR-V wants. */
enum { PART_ENTRIES, PART_MODES, PART_NAMES, PART_MARKS, PART_GLOBALS, PART_CODE, PARTS };

/* Types. Integers have no sign in the module; operations do. */
typedef enum spirv_type {
  T_NONE, T_VOID, T_BOOL, T_U8, T_U16, T_U32, T_U64, T_F32, T_F64,
  T_BOOLX2, T_BOOLX4, T_U32X2, T_U32X3, T_U32X4, T_F32X2, T_F32X4,
  T_MAIN, /* void () */
  T_PAIR, /* what extended multiplication gives */
  TYPES
} spirv_type;

/* What a module uses beyond Vulkan 1.1's base; SPIRV_CAPABILITIES in spirv_module.c says what each needs. */
typedef enum spirv_capability {
  CAP_INT64, CAP_FLOAT64, CAP_INT16, CAP_INT8, CAP_STORAGE16, CAP_STORAGE8, CAP_MEMORY_MODEL, CAP_DEVICE_SCOPE,
  CAP_BUFFER_ATOMIC64, CAP_SHARED_ATOMIC64, CAP_ADDRESSES, CAP_SUBGROUP, CAP_VOTE, CAP_BALLOT, CAP_SHUFFLE,
  CAP_DENORM_PRESERVE, CAP_SIGNED_ZERO, CAP_RTE, CAPS
} spirv_capability;

typedef struct spirv_constant_row {
  uint64_t bits;
  uint32_t type, id; /* id 0: empty */
} spirv_constant_row;

typedef struct spirv_module {
  uint32_t version;
  gpu_bytes part[PARTS];
  uint32_t next;            /* id */
  uint32_t imported;        /* GLSL.std.450 */
  uint32_t capabilities;    /* 1 << CAP_* */
  uint32_t types[TYPES];
  uint32_t pointers[TYPES][8]; /* by storage class, as spirv_pointer numbers them */
  spirv_constant_row *constants;
  uint32_t constant_count, constant_room; /* a power of two */
  uint32_t block;           /* label of the open block, 0 if none is */
  bool failed;              /* memory ran out */
} spirv_module;

bool spirv_module_begin(spirv_module *m, uint32_t version);
void spirv_module_free(spirv_module *m);
/* Appends the finished module to |code|. */
void spirv_module_end(spirv_module *m, gpu_bytes *code);

static inline uint32_t spirv_id(spirv_module *m) { return m->next++; }

/* Appends an instruction of |count| operand words. */
static inline void spirv_put_words(gpu_bytes *to, SpvOp op, const uint32_t *words, uint32_t count) {
  uint32_t *at = to->room - to->count >= (count + 1) * 4 ? (uint32_t *)(void *)(to->data + to->count)
                                                         : gpu_bytes_room(to, (count + 1) * 4);
  if (at == NULL) return;
  at[0] = (count + 1) << SpvWordCountShift | (uint32_t)op;
  for (uint32_t i = 0; i < count; i++) at[i + 1] = words[i];
  to->count += (count + 1) * 4;
}
#define SPIRV_WORDS(...) (const uint32_t[]){ __VA_ARGS__ }, (uint32_t)(sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4)
#define spirv_put(m, section, op, ...) spirv_put_words(&(m)->part[section], op, SPIRV_WORDS(__VA_ARGS__))
/* An instruction of the open function. */
#define spirv_do(m, op, ...) spirv_put(m, PART_CODE, op, __VA_ARGS__)
/* One with a result; its id. */
static inline uint32_t spirv_value_words(spirv_module *m, SpvOp op, uint32_t type, const uint32_t *words,
                                         uint32_t count) {
  uint32_t all[16] = { type, spirv_id(m) };
  for (uint32_t i = 0; i < count; i++) all[i + 2] = words[i];
  spirv_put_words(&m->part[PART_CODE], op, all, count + 2);
  return all[1];
}
uint32_t spirv_type_id(spirv_module *m, spirv_type type);
/* The type gets its id behind those of the operands, whatever order a compiler evaluates arguments in: the same kernel
 * gives the same words in every build. No call may have two arguments that make ids. */
static inline uint32_t spirv_value_typed(spirv_module *m, SpvOp op, spirv_type type, const uint32_t *words,
                                         uint32_t count) {
  return spirv_value_words(m, op, spirv_type_id(m, type), words, count);
}
#define spirv_value(m, op, type, ...) spirv_value_typed(m, op, type, SPIRV_WORDS(__VA_ARGS__))
/* An instruction of GLSL.std.450. */
#define spirv_glsl(m, number, type, ...) spirv_value(m, SpvOpExtInst, type, (m)->imported, number, __VA_ARGS__)

static inline void spirv_need(spirv_module *m, spirv_capability capability) { m->capabilities |= 1u << capability; }
/* The features of a target that what was used needs. */
uint32_t spirv_module_features(const spirv_module *m);

/* An instruction whose operands begin with a text: |first| words, the text, |last| words. */
void spirv_put_text(gpu_bytes *to, SpvOp op, const uint32_t *first, uint32_t first_count, const char *text,
                    const uint32_t *last, uint32_t last_count);

uint32_t spirv_pointer(spirv_module *m, SpvStorageClass storage, spirv_type to);
/* Components of a vector type; 1 for a scalar. */
uint32_t spirv_lanes(spirv_type type);
uint32_t spirv_constant(spirv_module *m, spirv_type type, uint64_t bits);
static inline uint32_t spirv_u32(spirv_module *m, uint32_t x) { return spirv_constant(m, T_U32, x); }
/* Zero of any type, vectors included. */
uint32_t spirv_zero(spirv_module *m, spirv_type type);

/* Blocks: a label opens one, a branch closes it. */
static inline void spirv_label(spirv_module *m, uint32_t id) {
  spirv_do(m, SpvOpLabel, id);
  m->block = id;
}
static inline void spirv_branch(spirv_module *m, uint32_t to) {
  if (m->block != 0) spirv_do(m, SpvOpBranch, to);
  m->block = 0;
}
static inline void spirv_branch_if(spirv_module *m, uint32_t condition, uint32_t yes, uint32_t no) {
  spirv_do(m, SpvOpBranchConditional, condition, yes, no);
  m->block = 0;
}
/* if (condition) { ... }: gives the label behind it, for spirv_join. */
uint32_t spirv_when(spirv_module *m, uint32_t condition);
static inline void spirv_join(spirv_module *m, uint32_t merge) {
  spirv_branch(m, merge);
  spirv_label(m, merge);
}
/* condition ? yes : no, for a vector too. */
uint32_t spirv_select(spirv_module *m, spirv_type type, uint32_t condition, uint32_t yes, uint32_t no);

#endif
