/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic: IEEE double. A duration is in microseconds. Undone by end.h. */
#include "f64.h"

/* clang-format off */
#define TL(name)            tl_##name##_f64
#define num_t               double /* a duration */
#define ratio_t             double /* a gain, a coefficient */
#define tick_t              double /* a duration in ticks */
#define weight_t            double
#define TL_RATIO(n, d)      ((double)(n) / (double)(d))
#define num_from_us(us)     ((double)(us))
#define num_to_us(a)        tl_f64_to_us(a)
#define num_mul(a, r)       ((a) * (r))
#define num_mul_count(a, n) ((a) * (double)(n))
#define num_div_count(a, n) ((a) / (double)(n))
#define num_shr(a, k)       ((a) * (1.0 / (double)((uint64_t)1 << (k))))
#define num_fine(a)         (a)
#define num_coarse(a)       (a)
#define num_coarse_over(a, r) ((a) / (r))
#define ratio_of_counts(n, d) ((double)(n) / (double)(d))
#define ratio_to_double(r)  (r)
#define ratio_from_double(x) (x)
#define num_to_double_us(a) (a)
#define tick_from_us(us, tick_us) tl_f64_min((double)(us) / (double)(tick_us), 2048.0)
#define tick_to_num(x, tick_us) ((x) * (double)(tick_us))
#define tick_from_ratio(r)  (r)
#define ratio_mul(a, b)     ((a) * (b))
#define ratio_exp2_neg(j, s) tl_f64_exp(-0.69314718055994530942 * (double)(j) / (double)(s))
#define tick_mean(sum, n)   ((sum) / (double)(n))
#define loss_t              double
#define loss_from_tick(x)   (x)
#define loss_square(d)      ((d) * (d))
#define loss_square_less(d, least) ((d) * (d) - (least))
#define loss_mul(l, r)      ((l) * (r))
#define weight_decay(w, l, rate) ((w) * decay_of((l), (rate)))
#define decay_t             double
#define decay_rate_t        double
#define decay_rate(eta)     (eta)
#define decay_limit(rate)   ((rate) > 0 ? 708.0 / (rate) : 1e300) /* e^-708 is the last above 0 */
#define decay_of(l, rate)   tl_f64_exp(-((l) * (rate)))
#define weight_decayed(w, e) ((w) * (e))
#define weight_sum_t        double
#define weight_dot_t        double
#define weight_sum_least    1e-290 /* 1 over it is finite */
#define weight_ratio_t      double
#define weight_uniform(n)   (1.0 / (double)(n))
#define weight_keep(alpha, sum) ((1.0 - (alpha)) / (sum))
#define weight_share(alpha, n) ((alpha) / (double)(n))
#define weight_mix(w, keep, share) ((w) * (keep) + (share))
#define weight_one          1.0
#define weight_pool(pool, keep, n) ((pool) * (keep) / (double)(n))
#define weight_alive(w)     ((w) > 1.0 / 1073741824.0 ? (w) : 1.0 / 1073741824.0)
#define weight_past(sum, t, alpha) ((sum) / (double)(t) * (alpha))
#define weight_dot(w, x)    ((w) * (x))
#define weight_mean(dot, sum) ((dot) / (sum))
#define num_least           0.0
#define num_positive_mean(w, x, n, fallback) tl_f64_positive_mean((w), (x), (n), (fallback))
#define loss_of_nums(a, scale) ((a) / (scale))
#define level_t             double /* a logarithm to base 2, a sum of misses */
#define TL_LEVEL(n, d)      ((double)(n) / (double)(d))
#define level_from_ratio(r) (r)
#define level_shr(a, k)     ((a) * (1.0 / (double)((uint64_t)1 << (k))))
#define level_whole(a)      ((double)(int64_t)(a))
#define level_mul(a, b)     ((a) * (b))
#define level_start(miss)   tl_f64_level_start(miss)
#define num_width(u, a, b)  tl_f64_exp2_near((u) + (tl_f64_log2_near(a) + tl_f64_log2_near(b)) / 2)
/* clang-format on */
