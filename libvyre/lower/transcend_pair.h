/* Numbers of 64 bits as pairs of u32 words, for devices without f64.
 *
 * A pair is mostly a fraction in units of 2^-64. Words are the same on every device and keep more bits than pairs of
 * f32 would: no step depends on an exact fma, on kept subnormals or on division. */
#ifndef VYRE_LOWER_TRANSCEND_PAIR_H
#define VYRE_LOWER_TRANSCEND_PAIR_H

#include "lower/transcend_emit.h"

typedef struct word_pair {
  lower_value hi, lo;
} word_pair;

#define PAIR(...) ((word_pair){ __VA_ARGS__ })

/* The number itself. */
typedef struct pair_bits {
  uint32_t hi, lo;
} pair_bits;

/* Sum of c[k] z^k, z a fraction. The first coefficients are pairs, in units of 2^-64; those behind are small enough for
 * words, in units of 2^-(32 + shift). All are magnitudes: odd ones are subtracted if they alternate. */
typedef struct pair_polynomial {
  uint32_t pairs, words, shift;
  bool alternates;
  pair_bits pair[8];
  uint32_t word[4];
} pair_polynomial;

/* Operands of what follows, as in transcend_emit.h. */
typedef struct pair_operands {
  lower_value condition;
  word_pair x, y;
  lower_value word;
} pair_operands;

word_pair pair_constant(lower_code *b, pair_bits bits);

#define pair_select(b, c, p, q) lower_pair_select(b, (pair_operands){ .condition = (c), .x = (p), .y = (q) })
#define pair_add(b, p, q) lower_pair_add(b, (pair_operands){ .x = (p), .y = (q) })
#define pair_sub(b, p, q) lower_pair_sub(b, (pair_operands){ .x = (p), .y = (q) })
/* High 64 bits of the product, at most 3 units too small; and where q has a high word alone. */
#define pair_mul(b, p, q) lower_pair_mul(b, (pair_operands){ .x = (p), .y = (q) })
#define pair_mul_word(b, p, w) lower_pair_mul_word(b, (pair_operands){ .x = (p), .word = (w) })
/* -1 - p where all bits of w are ones, p where none is: negation, but for one unit. */
#define pair_flip(b, p, w) lower_pair_flip(b, (pair_operands){ .x = (p), .word = (w) })
/* By 0 to 31; by 0 to 63. */
#define pair_shl(b, p, w) lower_pair_shl(b, (pair_operands){ .x = (p), .word = (w) })
#define pair_shr(b, p, w) lower_pair_shr(b, (pair_operands){ .x = (p), .word = (w) })
/* 2^63 p / q of normalized p and q, within 2^-61 of itself. */
#define pair_quotient(b, p, q) lower_pair_quotient(b, (pair_operands){ .x = (p), .y = (q) })
/* (upper word, lower word, count of 0 to 31): the upper one shifted to the left, the lower one to the right. */
#define funnel_left(b, ...) lower_funnel_left(b, (emit_operands){ { __VA_ARGS__ } })
#define funnel_right(b, ...) lower_funnel_right(b, (emit_operands){ { __VA_ARGS__ } })

word_pair lower_pair_select(lower_code *b, pair_operands o);
word_pair lower_pair_add(lower_code *b, pair_operands o);
word_pair lower_pair_sub(lower_code *b, pair_operands o);
word_pair lower_pair_mul(lower_code *b, pair_operands o);
word_pair lower_pair_mul_word(lower_code *b, pair_operands o);
word_pair lower_pair_flip(lower_code *b, pair_operands o);
word_pair lower_pair_shl(lower_code *b, pair_operands o);
word_pair lower_pair_shr(lower_code *b, pair_operands o);
word_pair lower_pair_quotient(lower_code *b, pair_operands o);
lower_value lower_funnel_left(lower_code *b, emit_operands o);
lower_value lower_funnel_right(lower_code *b, emit_operands o);

/* Shifts left until the top bit is set; *count says by how much. Zero stays. */
word_pair pair_normalize(lower_code *b, word_pair x, lower_value *count);
/* 2^32 sqrt(x), for x of at least 2^62. */
word_pair pair_sqrt(lower_code *b, word_pair x);
/* |z| of at most 1/4. If |other| is not NULL, it is taken where |choice| is true; it has the same form. */
word_pair pair_evaluate(lower_code *b, const pair_polynomial *p, const pair_polynomial *other, lower_value choice,
                        word_pair z);

#endif
