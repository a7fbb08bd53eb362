/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The history of a destination, for the startup policy `tsl-feedback`: counts of the segments and
 * handshakes of recent connections to it. The counts halve with every half-life. */

/* Largest count. Counts have 8 fractional bits. */
#define TL_STARTUP_COUNT_MAX ((uint64_t)1 << 40)

struct TL(startup_history) {
	int64_t time_us; /* the time up to which the counts have decayed */
	uint64_t sent, resent;
	uint64_t handshakes, lost;
	uint64_t rtt, rtt_min; /* sums of RTT and of minimum RTT over the same reports, in units of 4 us */
};

/* Returns 2^16 * 2^(-k/8), rounded. */
TL_FN uint64_t TL(startup_eighth)(uint32_t k)
{
	static const uint32_t eighths[8] = { 65536, 60097, 55109, 50535, 46341, 42495, 38968, 35734 };

	return eighths[k & 7];
}

/* Lets the counts decay until `time_us`, in whole eighths of a half-life; the next call handles the rest. */
TL_FN void TL(startup_forget)(struct TL(startup_history) *h, int64_t time_us, int64_t half_life_us)
{
	const uint64_t step_us = half_life_us < 8 ? 1 : (uint64_t)half_life_us >> 3;
	const uint64_t steps = time_us > h->time_us ? (uint64_t)(time_us - h->time_us) / step_us : 0;
	const uint64_t factor = TL(startup_eighth)((uint32_t)(steps & 7));
	const uint32_t halves = steps / 8 > 40 ? 40 : (uint32_t)(steps / 8);

	if (steps == 0)
		return;
	h->time_us += (int64_t)(steps * step_us);
	h->sent = (h->sent * factor >> 16) >> halves;
	h->resent = (h->resent * factor >> 16) >> halves;
	h->handshakes = (h->handshakes * factor >> 16) >> halves;
	h->lost = (h->lost * factor >> 16) >> halves;
	h->rtt = (h->rtt * factor >> 16) >> halves;
	h->rtt_min = (h->rtt_min * factor >> 16) >> halves;
}

TL_FN uint64_t TL(startup_grown)(uint64_t count, uint64_t by)
{
	return count + by < TL_STARTUP_COUNT_MAX ? count + by : TL_STARTUP_COUNT_MAX;
}

TL_FN void TL(startup_history_init)(struct TL(startup_history) *h)
{
	h->time_us = 0;
	h->sent = h->resent = h->handshakes = h->lost = h->rtt = h->rtt_min = 0;
}

TL_FN void TL(startup_history_report)(struct TL(startup_history) *h, const struct tl_startup_report *in)
{
	const uint32_t resent = in->resent_segments < in->sent_segments ? in->resent_segments
									: in->sent_segments;

	h->sent = TL(startup_grown)(h->sent, (uint64_t)in->sent_segments << 8);
	h->resent = TL(startup_grown)(h->resent, (uint64_t)resent << 8);
	if (in->rtt_us > 0 && in->rtt_min_us > 0) {
		const uint64_t least = (uint64_t)tl_clamp_us(in->rtt_min_us, 1, TL_RTT_MAX_US);
		const uint64_t rtt = (uint64_t)tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US);

		/* an RTT of 0.1 s adds 25,000 to the sum, so the sum of 40 million RTTs stays below 2^40 */
		h->rtt = TL(startup_grown)(h->rtt, (rtt < least ? least : rtt) >> 2);
		h->rtt_min = TL(startup_grown)(h->rtt_min, least >> 2);
	}
}

TL_FN void TL(startup_history_handshake)(struct TL(startup_history) *h, const struct tl_handshake *in)
{
	h->handshakes = TL(startup_grown)(h->handshakes, 256);
	if (in->loss != TL_HANDSHAKE_WHOLE)
		h->lost = TL(startup_grown)(h->lost, 256);
}

/* Returns whether part / whole is at least permille / 1000; 0 if `whole` is 0. */
TL_FN int TL(startup_share_reaches)(uint64_t part, uint64_t whole, uint32_t permille)
{
	return whole > 0 && part * 1000 >= whole * permille;
}
