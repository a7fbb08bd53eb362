/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The startup policy `tsl-feedback`. After a lost handshake packet it uses the larger windows of
 * tambuwal2018's TSL 3,16 (IW 3, ssthresh 16). While earlier connections to the same destination show
 * very high congestion, it uses the standard's windows instead, as section 3.4 of the paper asks for.
 *
 * Congestion is very high if one of three quantities over recent connections reaches its limit: the share
 * of segments retransmitted, the share of handshakes that lost a packet, and the RTT relative to its
 * minimum. The limit for segments is 200 of 1,000: at that loss rate all three segments of IW 3 arrive
 * half the time ((1 - 0.2)^3 = 0.51). The limit for handshakes is higher, because lost handshakes alone
 * may come from a wireless hop or a middlebox, and the larger windows are meant for these paths. */

#define TL_STARTUP_FEEDBACK_PARAMS(X) \
	X(count, iw, 3, 1, 65535, "IW after a loss without very high congestion, segments") \
	X(count, ssthresh, 16, 1, 2147483647, \
	  "ssthresh after a loss without very high congestion, segments") \
	X(count, resent_limit, 200, 0, 1001, \
	  "segments sent again in 1,000 from which on congestion is very high; 1001: never") \
	X(count, handshake_limit, 500, 0, 1001, "the same for handshakes that lost a packet") \
	X(count, inflation_limit, 100000, 0, 1000000, \
	  "the same for the RTT: mean above minimum, in 1,000ths of the minimum") \
	X(count, resends, 5, 0, 1000, "resends of this handshake that still allow the larger windows") \
	X(count, known, 100, 0, 1000000, "segments to the place that must be known for its shares to count") \
	X(us, half_life, 30000000, 8, 4294967296, "time after which a segment counts half")

struct TL(startup_feedback_params) {
	TL_STARTUP_FEEDBACK_PARAMS(TL_FIELD)
};

struct TL(startup_feedback) {
	struct TL(startup_feedback_params) params;
	struct TL(startup_history) history;
};

TL_FN void TL(startup_feedback_defaults)(struct TL(startup_feedback_params) *p) {
	TL_STARTUP_FEEDBACK_PARAMS(TL_DEFAULT)
}

TL_FN void TL(startup_feedback_start)(struct TL(startup_feedback) *s)
{
	TL(startup_history_init)(&s->history);
}

TL_FN void TL(startup_feedback_report)(struct TL(startup_feedback) *s, const struct tl_startup_report *in)
{
	TL(startup_forget)(&s->history, in->time_us, s->params.half_life_us);
	TL(startup_history_report)(&s->history, in);
}

TL_FN void TL(startup_feedback_note)(struct TL(startup_feedback) *s, const struct tl_handshake *in)
{
	TL(startup_forget)(&s->history, in->time_us, s->params.half_life_us);
	TL(startup_history_handshake)(&s->history, in);
}

TL_FN int TL(startup_feedback_room)(const struct TL(startup_feedback) *s, const struct tl_handshake *in)
{
	const struct TL(startup_feedback_params) *p = &s->params;
	struct TL(startup_history) h = s->history; /* the history at the current time */

	TL(startup_forget)(&h, in->time_us, p->half_life_us);
	if (in->resends > p->resends)
		return 0;
	return h.sent >> 8 < p->known ||
	       !(TL(startup_share_reaches)(h.resent, h.sent, p->resent_limit) ||
		 TL(startup_share_reaches)(h.lost, h.handshakes, p->handshake_limit) ||
		 TL(startup_share_reaches)(h.rtt - h.rtt_min, h.rtt_min, p->inflation_limit));
}

TL_FN void TL(startup_feedback_decide)(const struct TL(startup_feedback) *s, const struct tl_handshake *in,
				       struct tl_startup_window *out)
{
	const int room = TL(startup_feedback_room)(s, in);

	if (in->loss == TL_HANDSHAKE_WHOLE)
		return;
	/* IW 1 (RFC 5681, 3.1) if congestion is very high */
	out->iw_segments = room ? s->params.iw : 1;
	out->ssthresh_segments = room ? s->params.ssthresh : 2;
}
