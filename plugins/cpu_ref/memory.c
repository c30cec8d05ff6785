/* Loads widen, stores narrow, atomics do what C11 says. */
#include "memory.h"

#include <string.h>

#include "base/narrow.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "buffers are little endian");

void cpu_load(vyre_type element, const uint8_t *at, cpu_cell *out) {
  uint16_t half = 0;
  uint32_t word = 0;
  out->word[0] = out->word[1] = 0;
  switch (element) {
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32:
    case VYRE_TYPE_F32: memcpy(out, at, 4); return;
    case VYRE_TYPE_BOOL:
      memcpy(&word, at, 4);
      out->word[0] = word != 0;
      return;
    case VYRE_TYPE_U8: out->word[0] = *at; return;
    case VYRE_TYPE_I8: out->word[0] = (uint32_t)(int32_t)(int8_t)*at; return;
    case VYRE_TYPE_U16: memcpy(out, at, 2); return;
    case VYRE_TYPE_I16:
      memcpy(&half, at, 2);
      out->word[0] = (uint32_t)(int32_t)(int16_t)half;
      return;
    case VYRE_TYPE_F16:
      memcpy(&half, at, 2);
      out->word[0] = vyre_f32_from_f16(half);
      return;
    case VYRE_TYPE_BF16:
      memcpy(&half, at, 2);
      out->word[0] = vyre_f32_from_bf16(half);
      return;
    case VYRE_TYPE_U32X4:
    case VYRE_TYPE_I32X4:
    case VYRE_TYPE_F32X4: memcpy(out, at, 16); return;
    default: memcpy(out, at, 8);
  }
}

void cpu_store(vyre_type element, uint8_t *at, const cpu_cell *in) {
  uint16_t half;
  switch (element) {
    case VYRE_TYPE_BOOL: /* 0 or 1 already */
    case VYRE_TYPE_U32:
    case VYRE_TYPE_I32:
    case VYRE_TYPE_F32: memcpy(at, in, 4); return;
    case VYRE_TYPE_U8:
    case VYRE_TYPE_I8: *at = (uint8_t)in->word[0]; return;
    case VYRE_TYPE_U16:
    case VYRE_TYPE_I16: memcpy(at, in, 2); return;
    case VYRE_TYPE_F16:
      half = vyre_f16_from_f32(in->lane[0]);
      memcpy(at, &half, 2);
      return;
    case VYRE_TYPE_BF16:
      half = vyre_bf16_from_f32(in->lane[0]);
      memcpy(at, &half, 2);
      return;
    case VYRE_TYPE_U32X4:
    case VYRE_TYPE_I32X4:
    case VYRE_TYPE_F32X4: memcpy(at, in, 16); return;
    default: memcpy(at, in, 8);
  }
}

/* The compiler wants orders as constants. */
#define ORDERED(order, READ_MODIFY_WRITE)                                                  \
  switch (order) {                                                                         \
    case VYRE_ORDER_RELAXED: READ_MODIFY_WRITE(__ATOMIC_RELAXED, __ATOMIC_RELAXED); break; \
    case VYRE_ORDER_ACQUIRE: READ_MODIFY_WRITE(__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE); break; \
    case VYRE_ORDER_RELEASE: READ_MODIFY_WRITE(__ATOMIC_RELEASE, __ATOMIC_RELAXED); break; \
    case VYRE_ORDER_ACQ_REL: READ_MODIFY_WRITE(__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); break; \
    default: READ_MODIFY_WRITE(__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                        \
  }

/* The new value of an atomic other than a load or a store. */
static uint64_t updated(vyre_op op, vyre_type element, uint64_t old, uint64_t value, uint64_t desired) {
  switch (op) {
    case VYRE_OP_ATOMIC_ADD: return cpu_op_find(VYRE_OP_ADD, element)(old, value, 0);
    case VYRE_OP_ATOMIC_SUB: return cpu_op_find(VYRE_OP_SUB, element)(old, value, 0);
    case VYRE_OP_ATOMIC_MIN: return cpu_op_find(VYRE_OP_MIN, element)(old, value, 0);
    case VYRE_OP_ATOMIC_MAX: return cpu_op_find(VYRE_OP_MAX, element)(old, value, 0);
    case VYRE_OP_ATOMIC_AND: return old & value;
    case VYRE_OP_ATOMIC_OR: return old | value;
    case VYRE_OP_ATOMIC_XOR: return old ^ value;
    case VYRE_OP_ATOMIC_CAS: return old == value ? desired : old;
    default: return value;
  }
}

/* The same for words of 4 and 8 bytes. An update is a loop around compare-and-swap, whatever the operator: one
 * read-modify-write of the stated order. A CAS that finds another value writes back what it found. */
#define ATOMICS(T)                                                                                               \
  static uint64_t load_##T(vyre_order order, const T *at) {                                                      \
    T result = 0;                                                                                                \
    switch (order) {                                                                                             \
      case VYRE_ORDER_RELAXED: result = __atomic_load_n(at, __ATOMIC_RELAXED); break;                            \
      case VYRE_ORDER_ACQUIRE: result = __atomic_load_n(at, __ATOMIC_ACQUIRE); break;                            \
      default: result = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                            \
    return result;                                                                                               \
  }                                                                                                              \
  static void store_##T(vyre_order order, T *at, T value) {                                                      \
    switch (order) {                                                                                             \
      case VYRE_ORDER_RELAXED: __atomic_store_n(at, value, __ATOMIC_RELAXED); break;                             \
      case VYRE_ORDER_RELEASE: __atomic_store_n(at, value, __ATOMIC_RELEASE); break;                             \
      default: __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                            \
  }                                                                                                              \
  static uint64_t update_##T(vyre_op op, vyre_type element, vyre_order order, T *at, uint64_t value,             \
                             uint64_t desired) {                                                                 \
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                               \
    bool done = false;                                                                                           \
    while (!done) {                                                                                              \
      T next = (T)updated(op, element, old, value, desired);                                                     \
      ORDERED(order, done = TRY)                                                                                 \
    }                                                                                                            \
    return old;                                                                                                  \
  }
#define TRY(success, failure) __atomic_compare_exchange_n(at, &old, next, false, success, failure)
ATOMICS(uint32_t)
ATOMICS(uint64_t)
#undef TRY

#if defined(__x86_64__)
#include <immintrin.h>

/* Processors with AVX read 16 aligned bytes in one access, and every read of theirs acquires. */
bool cpu_can_load128(void) {
  return __builtin_cpu_supports("avx");
}
static void load128(const uint8_t *at, cpu_cell *out) {
  __m128i value = *(const volatile __m128i *)(const void *)at;
  __atomic_signal_fence(__ATOMIC_ACQUIRE);
  memcpy(out, &value, sizeof value);
}
#else
bool cpu_can_load128(void) {
  return false;
}
static void load128(const uint8_t *at, cpu_cell *out) {
  memcpy(out, at, sizeof *out);
}
#endif

void cpu_atomic(vyre_op op, vyre_type element, vyre_order order, uint8_t *at, uint64_t value, uint64_t desired,
                cpu_cell *old) {
  bool wide = vyre_type_describe(element)->bytes == 8;
  uint32_t *at32 = (uint32_t *)(void *)at;
  uint64_t *at64 = (uint64_t *)(void *)at;
  old->word[0] = old->word[1] = 0;
  if (element == VYRE_TYPE_U32X4) {
    load128(at, old);
  } else if (op == VYRE_OP_ATOMIC_LOAD) {
    old->word[0] = wide ? load_uint64_t(order, at64) : load_uint32_t(order, at32);
  } else if (op == VYRE_OP_ATOMIC_STORE) {
    if (wide) store_uint64_t(order, at64, value);
    else store_uint32_t(order, at32, (uint32_t)value);
  } else {
    old->word[0] = wide ? update_uint64_t(op, element, order, at64, value, desired)
                        : update_uint32_t(op, element, order, at32, value, desired);
  }
}

#ifdef __SANITIZE_THREAD__ /* which does not see fences, and warns of that */
#pragma GCC diagnostic ignored "-Wtsan"
#endif

void cpu_fence(vyre_order order) {
  switch (order) {
    case VYRE_ORDER_ACQUIRE: __atomic_thread_fence(__ATOMIC_ACQUIRE); break;
    case VYRE_ORDER_RELEASE: __atomic_thread_fence(__ATOMIC_RELEASE); break;
    case VYRE_ORDER_ACQ_REL: __atomic_thread_fence(__ATOMIC_ACQ_REL); break;
    default: __atomic_thread_fence(__ATOMIC_SEQ_CST);
  }
}
