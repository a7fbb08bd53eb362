// SPDX-License-Identifier: GPL-2.0-only
/* What a classifier of losses was given and said, in the log: enough to repeat each decision elsewhere. */
#include "log_format.h"
#include "loss.h"

void tl_log_loss(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at,
		 const s64 *features_q30, const struct tl_loss_answer *answer)
{
	struct tl_log_loss r = {
		.congestion_q30 = answer->congestion_q30,
		.cause = answer->cause,
		.flight_segments = at->flight_segments,
		.cwnd = at->cwnd_segments,
		.ssthresh = at->ssthresh_segments,
		.first = tcp_sk(sk)->snd_una,
		.end = tcp_sk(sk)->snd_nxt,
	};

	BUILD_BUG_ON(TL_LOG_LOSS_FEATURES != TL_LOSS_FEATURE_COUNT);
	memcpy(r.features_q30, features_q30, sizeof(r.features_q30));
	tl_log(sk, c, &r, sizeof(r), TL_LOG_LOSS, 0);
}

void tl_log_loss_change(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at, u32 change,
			u32 cause)
{
	struct tl_log_loss_change r = { .change = change, .cause = cause, .cwnd = at->cwnd_segments };

	tl_log(sk, c, &r, sizeof(r), TL_LOG_LOSS_CHANGE, 0);
}
