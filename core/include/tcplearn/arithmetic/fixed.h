/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic: 64-bit integers. A duration is in 2^-8 microseconds, a ratio has 30 fractional bits,
 * a duration in ticks has 20, a loss 24, a weight 30, a level 32. Undone by end.h. */
#include "fix.h"

/* clang-format off */
#define TL(name)            tl_##name##_fix
#define num_t               int64_t
#define ratio_t             int64_t
#define tick_t              int64_t
#define weight_t            uint32_t
#define TL_RATIO(n, d)      ((((int64_t)(n) * ((int64_t)1 << 31)) / (d) + ((n) < 0 ? -1 : 1)) / 2)
#define num_from_us(us)     ((int64_t)(us) * 256)
#define num_to_us(a)        tl_fix_shr((a), 8)
#define num_mul(a, r)       tl_fix_mul((a), (r))
#define num_mul_count(a, n) tl_fix_mul_count((a), (n))
#define num_div_count(a, n) tl_fix_div((a), (n))
#define num_shr(a, k)       tl_fix_shr((a), (k))
#define num_fine(a)         ((a) * 65536)
#define num_coarse(a)       tl_fix_shr((a), 16)
#define num_coarse_over(a, r) tl_fix_coarse_over((a), (r))
#define ratio_of_counts(n, d) tl_fix_div((int64_t)(n) * ((int64_t)1 << 30), (d))
#define ratio_to_double(r)  ((double)(r) / 1073741824.0)
#define ratio_from_double(x) ((int64_t)((x) * 1073741824.0 + ((x) < 0 ? -0.5 : 0.5)))
#define num_to_double_us(a) ((double)(a) / 256.0)
#define tick_from_us(us, tick_us) tl_fix_tick((us), (tick_us))
#define tick_to_num(x, tick_us) tl_fix_tick_to_num((x), (tick_us))
#define tick_from_ratio(r)  tl_fix_shr((r), 10)
#define ratio_mul(a, b)     tl_fix_mul((a), (b))
#define ratio_exp2_neg(j, s) ((int64_t)tl_fix_exp2_neg((uint64_t)(j) * ((uint64_t)1 << 30) / (uint64_t)(s)))
#define tick_mean(sum, n)   tl_fix_div((sum), (n))
#define loss_t              uint64_t
#define loss_from_tick(x)   ((uint64_t)(x) << 4)
#define loss_square(d)      ((((uint64_t)(d) * (uint64_t)(d)) + 0x8000u) >> 16)
#define loss_square_less(d, least) /* loss_square(d) - least */ \
	((((uint64_t)(d) * (uint64_t)(d)) + (0x8000u - ((uint64_t)(least) << 16))) >> 16)
#define loss_mul(l, r)      tl_fix_loss_mul((l), (r))
#define decay_t             uint64_t
#define decay_rate_t        uint64_t
#define decay_rate(eta)     tl_fix_decay_rate(eta)
#define decay_limit(rate)   tl_fix_decay_limit(rate)
#define decay_of(l, rate)   tl_fix_decay((l), (rate))
#define weight_decayed(w, e) ((uint32_t)(((uint64_t)(w) * (e) + ((uint64_t)1 << 29)) >> 30))
#define weight_decay(w, l, rate) weight_decayed((w), tl_fix_decay((l), (rate)))
#define weight_sum_t        uint64_t
#define weight_dot_t        uint64_t
#define weight_sum_least    0u
#define weight_ratio_t      uint64_t
#define weight_uniform(n)   ((uint32_t)((((uint64_t)1 << 30) + (uint64_t)(n) / 2) / (uint64_t)(n)))
#define weight_keep(alpha, sum) ((uint64_t)(((int64_t)1 << 30) - (alpha)) * ((uint64_t)1 << 30) / (sum))
#define weight_share(alpha, n) ((uint64_t)(alpha) / (uint64_t)(n))
#define weight_mix(w, keep, share) ((uint32_t)(((w) * (keep) + (((uint64_t)1 << 29) + ((share) << 30))) >> 30))
#define weight_one          ((uint64_t)1 << 30)
#define weight_pool(pool, keep, n) ((((pool) * (keep)) >> 30) / (uint64_t)(n))
#define weight_alive(w)     ((w) > 1u ? (w) : 1u)
#define weight_past(sum, t, alpha) (((sum) / (t) * (uint64_t)(alpha) + ((uint64_t)1 << 29)) >> 30)
#define weight_dot(w, x)    ((uint64_t)(w) * (uint64_t)(x))
#define weight_mean(dot, sum) ((int64_t)(((dot) + (sum) / 2) / (sum)))
#define num_least           8
#define num_positive_mean(w, x, n, fallback) tl_fix_positive_mean((w), (x), (n), (fallback))
#define loss_of_nums(a, scale) ((uint64_t)tl_fix_div((a) * ((int64_t)1 << 20), (scale)) << 4)
#define level_t             int64_t
#define TL_LEVEL(n, d)      ((int64_t)(n) * ((int64_t)1 << 32) / (d))
#define level_from_ratio(r) (((r) >> 4) << 6)
#define level_shr(a, k)     tl_fix_shr((a), (k))
#define level_whole(a)      (((a) >> 32) << 32)
#define level_mul(a, b)     tl_fix_shr((a) * tl_fix_shr((b), 16), 16)
#define level_start(miss)   tl_fix_level_start(miss)
#define num_width(u, a, b)  tl_fix_width((u), (a), (b))
/* clang-format on */
