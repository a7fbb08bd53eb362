/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Begins the arithmetic of double precision (IEEE 754): the algorithm headers that follow are compiled
 * with these types and operations. A duration is in microseconds. end.h ends the arithmetic. Operations
 * of one family of algorithms are in estimators/FAMILY_double.h. */
#include "f64.h"

/* clang-format off */
#define TL(name)            tl_##name##_f64
#define TL_ARITHMETIC       TL_F64
#define num_t               double /* a duration */
#define ratio_t             double /* a gain or a coefficient */
#define TL_RATIO(n, d)      ((double)(n) / (double)(d))
#define num_least           0.0 /* least value of a scale by which durations are divided */
#define num_from_us(us)     ((double)(us))
#define num_mul(a, r)       ((a) * (r))
#define num_mul_count(a, n) ((a) * (double)(n))
#define num_div_count(a, n) ((a) / (double)(n))
#define num_shr(a, k)       ((a) * (1.0 / (double)((uint64_t)1 << (k))))
#define num_shr_down(a, k)  num_shr((a), (k))
#define num_shr_positive(a, k) num_shr((a), (k))
#define num_fine(a)         (a)
#define num_coarse(a)       (a)
#define num_to_us(a)        ((int64_t)((a) + 0.5)) /* for a >= 0 */
#define num_to_double_us(a) (a)
#define ratio_to_double(r)  (r)
#define ratio_from_double(x) (x)
#define ratio_to_whole(r)   ((int64_t)((r) + 0.5)) /* rounds, because 0.29 * 1e6 is slightly below 290000 */
#define ratio_from_whole(n) ((double)(n))
#define ratio_from_value(v) (v)
#define ratio_to_value(r)   (r)
/* clang-format on */

#ifndef TCPLEARN_COMMON_F64
#define TCPLEARN_COMMON_F64
#include "../common.h"
#endif
