/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Begins the arithmetic of fixed point in 64-bit integers: the algorithm headers that follow are compiled
 * with these types and operations. The unit of a duration is 2^-8 us; a ratio has 30 fractional bits.
 * end.h ends the arithmetic. Operations of one family of algorithms: estimators/FAMILY_fixed.h. */
#include "fix.h"

/* clang-format off */
#define TL(name)            tl_##name##_fix
#define TL_ARITHMETIC       TL_FIX
#define num_t               int64_t
#define ratio_t             int64_t
#define TL_RATIO(n, d)      ((((int64_t)(n) * ((int64_t)1 << 31)) / (d) + ((n) < 0 ? -1 : 1)) / 2)
#define num_least           8
#define num_from_us(us)     ((int64_t)(us) * 256)
#define num_mul(a, r)       tl_fix_mul((a), (r))
#define num_mul_count(a, n) tl_fix_mul_count((a), (n))
#define num_div_count(a, n) tl_fix_div((a), (n))
#define num_shr(a, k)       tl_fix_shr((a), (k))
#define num_shr_down(a, k)  ((a) >> (k)) /* rounds down, one instruction */
#define num_shr_positive(a, k) (((a) + ((int64_t)1 << ((k) - 1))) >> (k)) /* num_shr for a >= 0 */
#define num_fine(a)         tl_fix_fine(a)
#define num_coarse(a)       tl_fix_shr((a), 16)
#define num_to_us(a)        num_shr_positive((a), 8) /* for a >= 0 */
#define num_to_double_us(a) ((double)(a) / 256.0)
#define ratio_to_double(r)  ((double)(r) / 1073741824.0)
#define ratio_from_double(x) ((int64_t)((x) * 1073741824.0 + ((x) < 0 ? -0.5 : 0.5)))
#define ratio_to_whole(r)   tl_fix_shr((r), 30)
#define ratio_from_whole(n) ((int64_t)(n) * ((int64_t)1 << 30))
#ifdef TL_NO_F64
#define ratio_from_value(v) (v)
#define ratio_to_value(r)   (r)
#else
#define ratio_from_value(v) ratio_from_double(v)
#define ratio_to_value(r)   ratio_to_double(r)
#endif
/* clang-format on */

#ifndef TCPLEARN_COMMON_FIX
#define TCPLEARN_COMMON_FIX
#include "../common.h"
#endif
