/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Weights that sum to one, and losses that reduce them, in double precision. */
#ifndef TCPLEARN_WEIGHTS_DOUBLE_H
#define TCPLEARN_WEIGHTS_DOUBLE_H

#ifndef TL_NO_F64
#include "f64.h"

typedef double tl_weight_f64;
typedef double tl_weight_sum_f64;
typedef double tl_weight_ratio_f64; /* a factor of a weight */
typedef double tl_loss_f64;
typedef double tl_rate_f64; /* a learning rate as tl_decay_f64() takes it */

TL_FN tl_rate_f64 tl_decay_rate_f64(double eta)
{
	return eta;
}

/* Returns the largest loss for which e^(-rate * loss) is above 0: tl_f64_exp() returns 0 below -708. */
TL_FN tl_loss_f64 tl_decay_limit_f64(tl_rate_f64 rate)
{
	return rate > 0 ? 708.0 / rate : 1e300;
}

/* Returns e^(-eta loss). */
TL_FN tl_weight_ratio_f64 tl_decay_f64(tl_loss_f64 loss, tl_rate_f64 rate)
{
	return tl_f64_exp(-(loss * rate));
}

TL_FN tl_weight_f64 tl_weight_decayed_f64(tl_weight_f64 w, tl_weight_ratio_f64 decay)
{
	return w * decay;
}

TL_FN tl_weight_f64 tl_weight_decay_f64(tl_weight_f64 w, tl_loss_f64 loss, tl_rate_f64 rate)
{
	return w * tl_decay_f64(loss, rate);
}

TL_FN tl_weight_f64 tl_weight_uniform_f64(uint32_t n)
{
	return 1.0 / (double)n;
}

/* Returns whether 1 / sum is finite; `sum` is the sum of the weights. */
TL_FN uint32_t tl_weights_alive_f64(tl_weight_sum_f64 sum)
{
	return sum > 1e-290;
}

/* Returns (1 - alpha) / sum: the factor by which a weight is kept when the sum is normalized to 1. */
TL_FN tl_weight_ratio_f64 tl_weight_keep_f64(double alpha, tl_weight_sum_f64 sum)
{
	return (1.0 - alpha) / sum;
}

/* Returns alpha / n, the part that each of `n` weights gets. */
TL_FN tl_weight_ratio_f64 tl_weight_share_f64(double alpha, uint32_t n)
{
	return alpha / (double)n;
}

TL_FN tl_weight_f64 tl_weight_mix_f64(tl_weight_f64 w, tl_weight_ratio_f64 keep, tl_weight_ratio_f64 share)
{
	return w * keep + share;
}

#endif
#endif
