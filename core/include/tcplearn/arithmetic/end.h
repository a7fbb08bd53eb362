/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ends the arithmetic that double.h or fixed.h began. */
#undef TL
#undef TL_ARITHMETIC
#undef num_t
#undef ratio_t
#undef TL_RATIO
#undef num_least
#undef num_from_us
#undef num_mul
#undef num_mul_count
#undef num_div_count
#undef num_shr
#undef num_shr_down
#undef num_shr_positive
#undef num_fine
#undef num_coarse
#undef num_to_us
#undef num_to_double_us
#undef ratio_to_double
#undef ratio_from_double
#undef ratio_to_whole
#undef ratio_from_whole
#undef ratio_from_value
#undef ratio_to_value
