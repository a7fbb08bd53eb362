/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Computes the features of feature_list.h at a fast retransmit. Before the first RTT sample, and only
 * then, all features are 0. Included twice: for double precision and for fixed point. */

#define TL_LOSS_CLIP(name, low, high, text) \
	f[TL_LOSS_F_##name] = f[TL_LOSS_F_##name] > ratio_from_whole(high)  ? ratio_from_whole(high) \
			      : f[TL_LOSS_F_##name] > ratio_from_whole(low) ? f[TL_LOSS_F_##name] \
									    : ratio_from_whole(low);
#define TL_LOSS_ZERO(name, low, high, text) f[TL_LOSS_F_##name] = ratio_from_whole(0);
#define F(name) f[TL_LOSS_F_##name]

TL_FN void TL(loss_features_rtt)(const struct TL(loss_path) *s, uint32_t p, ratio_t *f)
{
	const num_t above = s->rtt - s->rtt_min, range = s->rtt_max - s->rtt_min;

	F(rtt_min_per_packet) = num_div_count(TL(loss_quotient)(s->rtt_min, num_from_us(1000)), p);
	F(rtt_per_packet) = num_div_count(TL(loss_quotient)(s->rtt, num_from_us(1000)), p);
	F(log_rtt_min_per_packet) = TL(loss_log2)(F(rtt_min_per_packet));
	F(log_rtt_per_packet) = TL(loss_log2)(F(rtt_per_packet));
	F(rtt_min_to_rtt) = TL(loss_over)(s->rtt_min, s->rtt);
	if (F(rtt_min_to_rtt) < TL_RATIO(1, 1073741824)) /* 0 would mean that there is no RTT */
		F(rtt_min_to_rtt) = TL_RATIO(1, 1073741824);
	F(rtt_min_to_srtt) = TL(loss_over)(s->rtt_min, s->srtt);
	F(queue_position) = TL(loss_over)(above, range);
	F(recent_position) = TL(loss_over)(above, TL(max)(s->recent_max, s->previous_max) - s->rtt_min);
	F(rtt_trend) = s->previous_mean > num_from_us(0) ? TL(loss_over)(s->rtt, s->previous_mean)
							 : ratio_from_whole(1);
	F(rtt_slope) = ratio_from_whole(0);
	if (s->round_rtts > 0 && s->previous_mean > num_from_us(0))
		F(rtt_slope) = TL(loss_over)(s->round_mean - s->previous_mean, s->rtt_min);
	F(rttvar_to_srtt) = TL(loss_over)(s->rttvar, s->srtt);
	F(rttvar_to_range) = TL(loss_over)(s->rttvar, range);
	F(log_rtt_range) = TL(loss_log_over)(range, s->rtt_min);
	F(past_position) = s->recoveries > 0 ? TL(loss_over)(s->rtt - s->past_rtt, range)
					     : ratio_from_whole(0);
}

TL_FN void TL(loss_features_acks)(const struct TL(loss_path) *s, const struct tl_loss_moment *at, uint32_t p,
				  ratio_t *f)
{
	const int64_t first_us = s->duplicates > 0 ? s->first_duplicate_us : at->time_us;
	const num_t gap = TL(loss_since)(s->last_new_us, first_us);

	F(ack_interval) = TL(loss_quotient)(s->interval, num_from_us(1000));
	F(ack_jitter) = TL(loss_over)(s->jitter_fast, s->interval_fast);
	F(ack_jitter_slow) = TL(loss_over)(s->jitter_slow, s->interval_slow);
	F(log_ack_rate) = TL(loss_log_over)(s->interval_fast, s->rtt) + TL(loss_log_count)(p);
	F(log_ack_rate_slow) = TL(loss_log_over)(s->interval_slow, s->rtt) + TL(loss_log_count)(p);
	F(rate_to_max) = TL(loss_over)(s->packet_time_least, s->packet_time);
	/* from the first to the third duplicate ACK there are two intervals */
	F(log_gap_to_duplicates) = TL(loss_log_over)(gap, num_shr(TL(loss_since)(first_us, at->time_us), 1));
	F(log_gap_to_packet) = TL(loss_log_over)(gap, s->packet_time);
}

TL_FN void TL(loss_features_counts)(const struct TL(loss_path) *s, const struct tl_loss_moment *at,
				    uint32_t p, ratio_t *f)
{
	const uint32_t cwnd = TL(loss_count)(at->cwnd_segments);
	const ratio_t one = ratio_from_whole(1);

	F(veno_packets) = TL(loss_veno)(s, cwnd);
	F(log_veno_packets) = TL(loss_log2)(one + F(veno_packets));
	F(log_flight) = TL(loss_log_count)(p);
	F(log_cwnd) = TL(loss_log_count)(cwnd);
	F(log_packets_since) = TL(loss_log_count)(s->packets_since + 1);
	F(log_rtts_since) = TL(loss_log2)(
		TL(loss_over)(TL(loss_since)(s->recovery_us, at->time_us), s->srtt) + TL_RATIO(1, 10));
	F(log_packets_to_square) = F(log_packets_since) - 2 * F(log_flight);
	F(log_cwnd_to_ssthresh) = F(log_cwnd) - TL(loss_log_count)(TL(loss_count)(at->ssthresh_segments));
	F(log_veno_to_past) = s->recoveries > 0 ? F(log_veno_packets) - TL(loss_log2)(one + s->past_veno)
						: ratio_from_whole(0);
	F(past_log_packets) = s->past_log_packets;
}

TL_FN void TL(loss_features)(const struct TL(loss_path) *s, const struct tl_loss_moment *at, ratio_t *f)
{
	const uint32_t p = TL(loss_count)(at->flight_segments);

	TL_LOSS_FEATURES(TL_LOSS_ZERO)
	if (s->rtts == 0)
		return;
	TL(loss_features_rtt)(s, p, f);
	TL(loss_features_acks)(s, at, p, f);
	TL(loss_features_counts)(s, at, p, f);
	TL_LOSS_FEATURES(TL_LOSS_CLIP)
}

#undef F
#undef TL_LOSS_CLIP
#undef TL_LOSS_ZERO
