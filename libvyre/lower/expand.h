/* The builders of expand.def. */
#ifndef VYRE_LOWER_EXPAND_H
#define VYRE_LOWER_EXPAND_H

#include "lower/code.h"

typedef lower_value (*expand_builder)(lower_code *c, const lower_request *r);

/* expand_integer.c */
lower_value expand_div_unsigned(lower_code *c, const lower_request *r);
lower_value expand_div_signed(lower_code *c, const lower_request *r);
lower_value expand_rem(lower_code *c, const lower_request *r);
lower_value expand_rem_by_div(lower_code *c, const lower_request *r);
lower_value expand_mulhi_wide(lower_code *c, const lower_request *r);
lower_value expand_mulhi_pieces(lower_code *c, const lower_request *r);
lower_value expand_mulhi_signed(lower_code *c, const lower_request *r);
lower_value expand_choose(lower_code *c, const lower_request *r);
lower_value expand_neg_integer(lower_code *c, const lower_request *r);
lower_value expand_abs_integer(lower_code *c, const lower_request *r);
lower_value expand_shift(lower_code *c, const lower_request *r);
lower_value expand_rotate(lower_code *c, const lower_request *r);
lower_value expand_halves(lower_code *c, const lower_request *r);
lower_value expand_popcount(lower_code *c, const lower_request *r);
lower_value expand_reverse_bits(lower_code *c, const lower_request *r);
lower_value expand_count_raw(lower_code *c, const lower_request *r);
lower_value expand_clz(lower_code *c, const lower_request *r);
lower_value expand_ctz(lower_code *c, const lower_request *r);
lower_value expand_not_equal(lower_code *c, const lower_request *r);
lower_value expand_not_above(lower_code *c, const lower_request *r);

/* expand_fma.c */
lower_value expand_fma(lower_code *c, const lower_request *r);

/* expand_float.c */
lower_value expand_choose_float(lower_code *c, const lower_request *r);
lower_value expand_sign_bit(lower_code *c, const lower_request *r);
lower_value expand_less_or_equal(lower_code *c, const lower_request *r);
lower_value expand_to_int(lower_code *c, const lower_request *r);
lower_value expand_from_f16(lower_code *c, const lower_request *r);
lower_value expand_to_f16(lower_code *c, const lower_request *r);
lower_value expand_from_bf16(lower_code *c, const lower_request *r);
lower_value expand_to_bf16(lower_code *c, const lower_request *r);
lower_value expand_rsqrt_wide(lower_code *c, const lower_request *r);
lower_value expand_rsqrt(lower_code *c, const lower_request *r);

/* expand_memory.c */
lower_value expand_load_bool(lower_code *c, const lower_request *r);
lower_value expand_store_bool(lower_code *c, const lower_request *r);
lower_value expand_load_half(lower_code *c, const lower_request *r);
lower_value expand_store_half(lower_code *c, const lower_request *r);
lower_value expand_load_narrow(lower_code *c, const lower_request *r);
lower_value expand_store_narrow(lower_code *c, const lower_request *r);
lower_value expand_atomic_sub(lower_code *c, const lower_request *r);
lower_value expand_atomic_loop(lower_code *c, const lower_request *r);
lower_value expand_copy(lower_code *c, const lower_request *r);
lower_value expand_nothing(lower_code *c, const lower_request *r);

/* expand_group.c */
lower_value expand_reduce(lower_code *c, const lower_request *r);
lower_value expand_scan(lower_code *c, const lower_request *r);
lower_value expand_any(lower_code *c, const lower_request *r);
lower_value expand_all(lower_code *c, const lower_request *r);
lower_value expand_ballot(lower_code *c, const lower_request *r);
lower_value expand_by_words(lower_code *c, const lower_request *r);
lower_value expand_shuffle(lower_code *c, const lower_request *r);
lower_value expand_should_stop(lower_code *c, const lower_request *r);
lower_value expand_trap(lower_code *c, const lower_request *r);
lower_value expand_print(lower_code *c, const lower_request *r);

#endif
