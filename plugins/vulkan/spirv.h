/* From the kernel form straight to SPIR-V words.
 *
 * Pure: the same kernel and target give the same words, without a device.
 *
 * One kernel becomes one or two modules, which hold the same code and differ in how it reaches memory:
 *
 *   SPIRV_BOUND      storage buffers of descriptor set 0. This is the default: it needs nothing but Vulkan 1.1, and
 *                    drivers know most about it.
 *   SPIRV_ADDRESSED  buffer device addresses, made where the target has them: for bindings that are larger than
 *                    the target's maxStorageBufferRange, or more than fit a set.
 *
 * Entry point |i| of the kernel is "entry0", "entry1", ... spirv_layout says what a launch brings:
 *
 *   Descriptor set 0 of a BOUND module: storage buffers 0 to B - 1 are the kernel's bindings by slot, then come its
 *   hidden bindings in the order of their table, then the kernel's table_bytes if it has any, then the block.
 *   Set 0 of an ADDRESSED module has the block alone, as binding 0.
 *
 *   The block is the kernel's launch block (launch_bytes), followed in an ADDRESSED module by the device addresses (u64)
 *   of the same buffers in the same order, and zeros up to a multiple of 16. It lies in push constants from
 *   offset 0 on (if layout.push_bytes is not 0) or in a uniform buffer; the specialization constant SPIRV_SPEC_BLOCK
 *   chooses when the pipeline is made: 0 push constants, 1 the uniform buffer. Both are declared, so both are part of the pipeline
 *   layout; what is not chosen is never read, but a descriptor has to be there.
 *
 *   Each buffer is at least 16 bytes: what is bound without memory gets some other memory that may be read.
 *
 * A kernel that sees subgroups runs with the size facts.subgroup, which the pipeline has to require, together with full
 * subgroups; its workgroups are padded to whole subgroups and have one axis (spirv_planned). */
#ifndef VULKAN_SPIRV_H
#define VULKAN_SPIRV_H

#include "plugins/gpu/bytes.h"
#include "plugins/gpu/kernel.h"

/* What a target has beyond the Vulkan 1.1 that every target has. A bit is set only if the device has the feature and it is
 * enabled when the device is opened.  X(name, bit) */
#define SPIRV_FEATURES(X)                                                           \
  X(INT64, 0)                /* shaderInt64 */                                      \
  X(FLOAT64, 1)              /* shaderFloat64 */                                    \
  X(INT16, 2)                /* shaderInt16 */                                      \
  X(INT8, 3)                 /* shaderInt8 */                                       \
  X(STORAGE16, 4)            /* storageBuffer16BitAccess */                         \
  X(STORAGE8, 5)             /* storageBuffer8BitAccess */                          \
  X(MEMORY_MODEL, 6)         /* vulkanMemoryModel and its device scope */           \
  X(BUFFER_ATOMIC64, 7)      /* shaderBufferInt64Atomics */                         \
  X(SHARED_ATOMIC64, 8)      /* shaderSharedInt64Atomics */                         \
  X(ADDRESSES, 9)            /* bufferDeviceAddress, and INT64 */                   \
  X(ZERO_WORKGROUP, 10)      /* shaderZeroInitializeWorkgroupMemory */              \
  X(VOTE, 11)                /* subgroup operations in compute: vote */             \
  X(BALLOT, 12)              /* ballot and broadcast */                             \
  X(SHUFFLE, 13)             /* shuffle */                                          \
  X(ARITHMETIC, 14)          /* arithmetic */                                       \
  X(EXTENDED_TYPES, 15)      /* shaderSubgroupExtendedTypes */                      \
  X(DENORM_PRESERVE_32, 16)  /* VkPhysicalDeviceFloatControlsProperties, for f32 */ \
  X(DENORM_FLUSH_32, 17)                                                            \
  X(SIGNED_ZERO_32, 18)      /* ...SignedZeroInfNanPreserve */                      \
  X(RTE_32, 19)                                                                     \
  X(DENORM_PRESERVE_64, 20)  /* for f64 */                                          \
  X(SIGNED_ZERO_64, 21)                                                             \
  X(RTE_64, 22)                                                                     \
  X(CONTROLS_ALL, 23)        /* 32 and 64 bits may differ: both independences are ALL */ \
  X(FLOAT_CONTROLS, 24)      /* VK_KHR_shader_float_controls, or Vulkan 1.2 */      \
  X(BUFFER_F32_ADD, 25)      /* shaderBufferFloat32AtomicAdd */                     \
  X(ORDERED_ATOMICS, 26)     /* a driver whose atomics order all memory, and whose fences suspend the workgroup */ \
  X(KEEP_32, 27)             /* comparisons, min, max, floor, ceil, conversions of f32 lose subnormals: integers do them */ \
  X(WIDE_32, 28)             /* quotients and roots of f32 are inexact: f64 makes them, which needs FLOAT64 and INT64 */ \
  X(WORDS_64, 29)            /* u64 that saturate come out wrong: 64-bit integers are compared by their words */
/* What the self-test sets, and a module may have for any device. */
#define SPIRV_EXACTLY (SPIRV_KEEP_32 | SPIRV_WIDE_32 | SPIRV_WORDS_64)

typedef enum spirv_feature {
#define X(name, bit) SPIRV_##name = 1u << (bit),
  SPIRV_FEATURES(X)
#undef X
} spirv_feature;

/* What to emit for. */
typedef struct spirv_target {
  uint32_t features;        /* SPIRV_* */
  uint32_t version;         /* of SPIR-V: 0x00010300 for Vulkan 1.1, 0x00010500 for 1.2, 0x00010600 for 1.3 */
  uint32_t push_bytes;      /* maxPushConstantsSize, at least 128 */
  uint32_t storage_buffers; /* the least of maxPerStageDescriptorStorageBuffers and maxDescriptorSetStorageBuffers */
  uint32_t uniform_bytes;   /* maxUniformBufferRange, at least 16384 */
  uint32_t numeric;         /* VYRE_NUMERIC_*, as in the record */
  uint32_t subgroup_size;   /* where the kernel requires none; as in the record */
  uint32_t subgroup_sizes;  /* as in the record */
} spirv_target;

/* A target as part of a record (vyre_capabilities.vendor), and back. A record of another kind gives what Vulkan 1.1
 * promises. The numeric and subgroup members are the record's own. */
void spirv_target_keep(const spirv_target *target, vyre_capabilities *record);
spirv_target spirv_target_of(const vyre_capabilities *record);

typedef enum spirv_mode { SPIRV_BOUND = 0, SPIRV_ADDRESSED = 1, SPIRV_MODES = 2 } spirv_mode;

/* Where things are in what spirv_emit wrote. They go into the facts of a blob. */
typedef struct spirv_facts {
  uint32_t module_offset[SPIRV_MODES]; /* in bytes, multiples of 16 */
  uint32_t module_bytes[SPIRV_MODES];  /* 0: not made */
  uint32_t subgroup;                   /* size that pipelines have to require; 0 if the kernel does not see it */
  uint32_t push_bytes;                 /* of the target: more is not put into push constants */
  uint32_t features;                   /* SPIRV_* that the modules use: what a device has to have */
  uint32_t version;                    /* of SPIR-V */
} spirv_facts;
enum { SPIRV_FACT_WORDS = 8 };
void spirv_facts_keep(const spirv_facts *facts, uint64_t words[SPIRV_FACT_WORDS]);
/* What comes from a blob: false if it can't be true of |code_bytes| bytes of code. */
bool spirv_facts_read(const uint64_t words[SPIRV_FACT_WORDS], uint64_t code_bytes, spirv_facts *facts);

enum {
  SPIRV_SPEC_BLOCK = 0, /* u32: 0 the block is in push constants, 1 in the uniform buffer */
  SPIRV_SPEC_FIRST = 16 /* row i of the kernel's specs is constant 16 + i, of its own type (bool: 4 bytes), with its value as default */
};

/* What a launch brings for a module; from the launch part of a kernel. */
typedef struct spirv_layout {
  uint32_t buffers;       /* bindings, hidden bindings, and table_bytes if there are any */
  uint32_t storage;       /* storage buffers in set 0: |buffers| or 0 */
  uint32_t table_buffer;  /* number of table_bytes among the buffers; UINT32_MAX if there are none */
  uint32_t block_binding; /* of the uniform buffer in set 0 */
  uint32_t block_bytes;   /* a multiple of 16 */
  uint32_t address_offset; /* ADDRESSED: of the first address in the block, a multiple of 8 */
  uint32_t push_bytes;    /* block_bytes; 0 if the block is always in the uniform buffer */
} spirv_layout;
spirv_layout spirv_layout_of(const vyre_kernel_header *kernel, const spirv_facts *facts, spirv_mode mode);

/* Workgroup that an entry point is compiled with. */
void spirv_planned(const vyre_kernel_entry *entry, const spirv_facts *facts, uint32_t workgroup[3]);

/* Appends modules to |code|, which is empty. The kernel has passed gpu_kernel_open and libvyre's verifier.
 * Errors: UNSUPPORTED (what the target lacks, by name), LIMIT (of SPIR-V or the target, with both numbers), NO_MEMORY. */
vyre_status spirv_emit(const vyre_kernel_header *kernel, const spirv_target *target, gpu_bytes *code,
                       spirv_facts *facts, vyre_error *error);

/* A module as text for people: a line an instruction. Any words are read safely.
 * Errors: INVALID_FILE (no module), NO_MEMORY. */
vyre_status spirv_list(const void *words, uint64_t bytes, gpu_bytes *text, vyre_error *error);

/* What the emitter takes; the same for every target. */
extern const vyre_opcode_support spirv_opcodes[];
extern const uint64_t spirv_opcode_count;

#endif
