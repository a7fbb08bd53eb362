/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The loss classifier `veno` (Fu and Liew 2003): N = cwnd (RTT - RTTmin) / RTT packets are in the queue,
 * and a loss with fewer than beta packets in the queue is random. Included twice: for double precision
 * and for fixed point. */

#define TL_LOSS_VENO_PARAMS(X) \
	X(ratio, beta, TL_RATIO(3, 1), 0, 1048576, "least packets in the queue that mean congestion")

TL_LOSS_PLAIN(loss_veno, TL_LOSS_VENO_PARAMS)

TL_FN void TL(loss_veno_judge)(const struct TL(loss_veno) *s, const ratio_t *f,
			       const struct tl_loss_moment *at, struct TL(loss_decision) *out)
{
	(void)at;
	TL(loss_decide_rule)(out, !TL(loss_known)(f) || !(f[TL_LOSS_F_veno_packets] < s->params.beta));
}
