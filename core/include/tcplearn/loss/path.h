/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a loss classifier remembers of its connection: the quantities from which features.h computes the
 * features. The state of every classifier begins with it. Included twice: for double precision and for
 * fixed point. */

struct tl_mlp;

struct TL(loss_path) {
	const struct tl_mlp *own; /* the weights of TL_MLP_OWN (own_model.h); NULL: none */
	int64_t last_ack_us, last_new_us, first_duplicate_us; /* arrival times of ACKs */
	int64_t round_us, recovery_us; /* start times of the round trip and of the last recovery */
	num_t rtt, rtt_min, rtt_max, srtt, rttvar;
	/* largest RTT since the last recovery began, and between the beginnings of the last two recoveries */
	num_t recent_max, previous_max;
	num_t round_mean, previous_mean;
	/* interval between ACKs: the last, means, mean deviations */
	num_t interval, interval_fast, interval_slow, jitter_fast, jitter_slow;
	num_t packet_time, packet_time_least; /* duration of a round trip / packets delivered in it */
	/* means over the recoveries so far, of values when a recovery began: the RTT; Veno's estimate of the
	 * packets in the queue; log2 of one more than the packets delivered since the recovery before */
	num_t past_rtt;
	ratio_t past_veno, past_log_packets;
	uint32_t rtts, acks, round_rtts, round_packets, packets_since, recoveries;
	uint32_t duplicates; /* duplicate ACKs in a row */
};

TL_FN void TL(loss_path_init)(struct TL(loss_path) *s)
{
	const num_t none = num_from_us(0);

	s->own = 0;
	s->last_ack_us = s->last_new_us = s->first_duplicate_us = s->round_us = s->recovery_us = 0;
	s->rtt = s->rtt_min = s->rtt_max = s->srtt = s->rttvar = none;
	s->recent_max = s->previous_max = s->round_mean = s->previous_mean = none;
	s->interval = s->interval_fast = s->interval_slow = s->jitter_fast = s->jitter_slow = none;
	s->packet_time = s->packet_time_least = s->past_rtt = none;
	s->past_veno = s->past_log_packets = ratio_from_whole(0);
	s->rtts = s->acks = s->round_rtts = s->round_packets = s->packets_since = s->recoveries = 0;
	s->duplicates = 0;
}

/* Returns b - a as a duration, clamped to 0 ... 71 minutes. `a_us` and `b_us` are any two times. */
TL_FN num_t TL(loss_since)(int64_t a_us, int64_t b_us)
{
	uint64_t us = b_us > a_us ? (uint64_t)b_us - (uint64_t)a_us : 0;

	return num_from_us(us < (uint64_t)TL_RTT_MAX_US ? (int64_t)us : TL_RTT_MAX_US);
}

TL_FN uint32_t TL(loss_count)(uint32_t n)
{
	return n == 0 ? 1 : n < TL_FLIGHT_MAX ? n : TL_FLIGHT_MAX;
}

/* Returns n + more, at most 2^32 - 2, so that the caller can add one without overflow. */
TL_FN uint32_t TL(loss_add)(uint32_t n, uint32_t more)
{
	uint64_t sum = (uint64_t)n + more;

	return sum < 0xfffffffeu ? (uint32_t)sum : 0xfffffffeu;
}

/* Returns a / b; 0 if b is 0 or less. */
TL_FN ratio_t TL(loss_over)(num_t a, num_t b)
{
	return b > num_from_us(0) ? TL(loss_quotient)(a, b) : ratio_from_whole(0);
}

TL_FN ratio_t TL(loss_log_count)(uint32_t n)
{
	return TL(loss_log2)(ratio_from_whole(n));
}

/* Returns log2((a + 1 us) / (b + 1 us)) of two durations. */
TL_FN ratio_t TL(loss_log_over)(num_t a, num_t b)
{
	return TL(loss_log2)(TL(loss_quotient)(a + num_from_us(1), b + num_from_us(1)));
}

/* Updates SRTT, RTTVAR and the extremes with the RTT sample `y` (RFC 6298, 2.2 and 2.3). */
TL_FN void TL(loss_path_rtt)(struct TL(loss_path) *s, num_t y)
{
	if (s->rtts == 0) {
		s->rtt_min = s->rtt_max = s->srtt = y;
		s->rttvar = num_shr(y, 1);
	} else {
		s->rttvar += num_shr(TL(abs)(s->srtt - y) - s->rttvar, 2);
		s->srtt += num_shr(y - s->srtt, 3);
		s->rtt_min = TL(min)(s->rtt_min, y);
		s->rtt_max = TL(max)(s->rtt_max, y);
	}
	s->rtt = y;
	s->recent_max = TL(max)(s->recent_max, y);
	s->rtts = TL(loss_add)(s->rtts, 1);
	s->round_rtts = TL(loss_add)(s->round_rtts, 1);
	s->round_mean += num_div_count(y - s->round_mean, s->round_rtts);
}

/* Ends the round trip if it has lasted one SRTT: stores its mean RTT and its time per packet. */
TL_FN void TL(loss_path_round)(struct TL(loss_path) *s, int64_t time_us)
{
	num_t lasted = TL(loss_since)(s->round_us, time_us);

	if (s->rtts == 0 || lasted < s->srtt)
		return;
	if (s->round_packets > 0) {
		s->packet_time = num_div_count(lasted, s->round_packets);
		if (s->packet_time_least == num_from_us(0) || s->packet_time < s->packet_time_least)
			s->packet_time_least = s->packet_time;
	}
	if (s->round_rtts > 0)
		s->previous_mean = s->round_mean;
	s->round_mean = num_from_us(0);
	s->round_rtts = s->round_packets = 0;
	s->round_us = time_us;
}

TL_FN void TL(loss_path_interval)(struct TL(loss_path) *s, int64_t time_us)
{
	num_t x = TL(loss_since)(s->last_ack_us, time_us);

	if (s->acks == 1) {
		s->interval_fast = s->interval_slow = x;
	} else {
		s->jitter_fast += num_shr(TL(abs)(x - s->interval_fast) - s->jitter_fast, 3);
		s->jitter_slow += num_shr(TL(abs)(x - s->interval_slow) - s->jitter_slow, 5);
		s->interval_fast += num_shr(x - s->interval_fast, 3);
		s->interval_slow += num_shr(x - s->interval_slow, 5);
	}
	s->interval = x;
}

TL_FN void TL(loss_path_observe)(struct TL(loss_path) *s, const struct tl_loss_ack *in)
{
	if (s->acks == 0)
		s->round_us = s->recovery_us = s->last_new_us = in->time_us;
	else
		TL(loss_path_interval)(s, in->time_us);
	s->acks = TL(loss_add)(s->acks, 1);
	s->last_ack_us = in->time_us;
	TL(loss_path_round)(s, in->time_us);
	if (in->rtt_us > 0)
		TL(loss_path_rtt)(s, num_from_us(tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US)));
	s->round_packets = TL(loss_add)(s->round_packets, in->delivered_segments);
	s->packets_since = TL(loss_add)(s->packets_since, in->delivered_segments);
	if (!in->duplicate) {
		s->last_new_us = in->time_us;
		s->duplicates = 0;
	} else {
		if (s->duplicates == 0)
			s->first_duplicate_us = in->time_us;
		s->duplicates = TL(loss_add)(s->duplicates, 1);
	}
}

/* Returns TCP Veno's estimate of the packets in the queue, N = cwnd (RTT - RTTmin) / RTT (fu2003). */
TL_FN ratio_t TL(loss_veno)(const struct TL(loss_path) *s, uint32_t cwnd)
{
	return num_mul_count(TL(loss_over)(s->rtt - s->rtt_min, s->rtt), TL(loss_count)(cwnd));
}

/* a += (x - a) / 4, or a = x at the first recovery */
#define TL_LOSS_MEAN(a, x) (a) = s->recoveries == 0 ? (x) : (a) + num_shr((x) - (a), 2)

/* Called when a recovery or timeout begins. Updates the means over recoveries and restarts the packet
 * count. */
TL_FN void TL(loss_path_change)(struct TL(loss_path) *s, const struct tl_loss_moment *at, uint32_t change)
{
	if (change != TL_LOSS_BEGUN && change != TL_LOSS_TIMEOUT)
		return;
	if (change == TL_LOSS_BEGUN && s->rtts > 0) {
		TL_LOSS_MEAN(s->past_rtt, s->rtt);
		TL_LOSS_MEAN(s->past_veno, TL(loss_veno)(s, at->cwnd_segments));
		TL_LOSS_MEAN(s->past_log_packets, TL(loss_log_count)(TL(loss_add)(s->packets_since, 1)));
		s->recoveries = TL(loss_add)(s->recoveries, 1);
		s->previous_max = s->recent_max;
		s->recent_max = num_from_us(0);
	}
	s->recovery_us = at->time_us;
	s->packets_since = 0;
}

#undef TL_LOSS_MEAN
