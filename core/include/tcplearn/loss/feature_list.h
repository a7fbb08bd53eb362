/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The features that a sender can compute at a fast retransmit: X(name, lowest, highest, meaning). A
 * feature is clipped to [lowest, highest], both integers. RTT is the last sample; min and max are the
 * connection's least and greatest RTT; P is the number of segments in flight; N is TCP Veno's estimate of
 * the packets in the queue. Logarithms have base 2. docs/algorithms/loss/features.md. */
#ifndef TCPLEARN_LOSS_FEATURE_LIST_H
#define TCPLEARN_LOSS_FEATURE_LIST_H

#define TL_LOSS_FEATURES(X) \
	X(rtt_min_per_packet, 0, 4294968, "RTTmin / P, ms (hwang2018)") \
	X(rtt_per_packet, 0, 4294968, "RTT / P, ms (hwang2018)") \
	X(ack_interval, 0, 4294968, "between the last two ACKs, ms (hwang2018, recorded)") \
	X(veno_packets, 0, 1048576, "N = cwnd (RTT - min) / RTT") \
	X(log_rtt_min_per_packet, -30, 30, "log RTTmin / P, ms") \
	X(log_rtt_per_packet, -30, 30, "log RTT / P, ms") \
	X(rtt_min_to_rtt, 0, 1, "min / RTT") \
	X(rtt_min_to_srtt, 0, 4, "min / SRTT") \
	X(queue_position, 0, 1, "(RTT - min) / (max - min)") \
	X(recent_position, 0, 3, "(RTT - min) / (max since the recovery before the last - min)") \
	X(log_veno_packets, 0, 21, "log 1 + N") \
	X(log_flight, 0, 20, "log P") \
	X(log_cwnd, 0, 20, "log cwnd") \
	X(rtt_trend, 0, 4, "RTT / mean of the round trip before") \
	X(rtt_slope, -3, 3, "(mean of this round trip - of the one before) / min") \
	X(rttvar_to_srtt, 0, 4, "RTTVAR / SRTT") \
	X(rttvar_to_range, 0, 4, "RTTVAR / (max - min)") \
	X(log_rtt_range, -10, 10, "log (max - min) / min") \
	X(ack_jitter, 0, 8, "mean deviation / mean of some 8 ACK intervals") \
	X(ack_jitter_slow, 0, 8, "mean deviation / mean of some 32 ACK intervals") \
	X(log_ack_rate, -8, 8, "log P x ACK interval / RTT, of some 8") \
	X(log_ack_rate_slow, -8, 8, "log P x ACK interval / RTT, of some 32") \
	X(log_packets_since, 0, 32, "log 1 + packets since the last recovery began") \
	X(log_rtts_since, -4, 12, "log 0.1 + round trips since the last recovery began") \
	X(log_packets_to_square, -40, 32, "log (1 + packets since) / P^2") \
	X(log_cwnd_to_ssthresh, -8, 4, "log cwnd / ssthresh") \
	X(rate_to_max, 0, 1, "delivery rate of the last whole round trip / greatest") \
	X(log_gap_to_duplicates, -6, 6, "log gap before the first duplicate ACK / between duplicates") \
	X(log_gap_to_packet, -6, 6, "log gap before the first duplicate ACK / time of a packet") \
	X(log_veno_to_past, -6, 6, "log (1 + N) / (1 + mean N at earlier recoveries)") \
	X(past_position, -3, 3, "(RTT - mean RTT at earlier recoveries) / (max - min)") \
	X(past_log_packets, 0, 32, "mean log 1 + packets between earlier recoveries")

#define TL_LOSS_FEATURE_ENUM(name, low, high, text) TL_LOSS_F_##name,
enum tl_loss_feature { TL_LOSS_FEATURES(TL_LOSS_FEATURE_ENUM) TL_LOSS_FEATURE_COUNT };

#endif
