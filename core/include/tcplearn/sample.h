/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The input of an estimator, one RTT sample, the same in double precision and in fixed point. */
#ifndef TCPLEARN_SAMPLE_H
#define TCPLEARN_SAMPLE_H

#include "deps.h"

/* Longest RTT, 2^32 us (71 minutes). Longer samples are clamped to it. */
#define TL_RTT_MAX_US ((int64_t)1 << 32)
#define TL_FLIGHT_MAX ((uint32_t)1 << 20)

struct tl_sample {
	int64_t time_us;          /* time of the ACK; any epoch, never decreasing */
	int64_t sent_us;          /* time at which the timed segment was sent */
	int64_t rtt_us;           /* at least 1; the caller applies Karn's rule (RFC 6298, section 3) */
	int64_t ack_delay_us;     /* delay that the peer reports (QUIC); 0 in TCP */
	uint32_t flight_segments; /* segments in flight just before the ACK; 0: not known */
	uint8_t ttl;              /* of the ACK; 0: not known */
	uint8_t hops;             /* to the peer; 0: not known */
};

TL_FN int64_t tl_clamp_us(int64_t us, int64_t low_us, int64_t high_us)
{
	return us < low_us ? low_us : us > high_us ? high_us : us;
}

/* Which samples an estimator uses: every ACK; one per RTT; or one per RTT, with the RTT counted in ticks
 * of a coarse clock. */
enum tl_sampling { TL_EVERY_ACK = 0, TL_ONE_PER_RTT = 1, TL_COUNTED = 2 };

/* Returns the RTT in clock ticks as a 4.4BSD TCP counts it: one, plus one for each tick of a free-running
 * clock during the RTT. The RTT ends at `time_us`; the clock ticks at multiples of `tick_us` (Stevens,
 * TCP/IP Illustrated, volume 2, chapter 25). */
TL_FN int64_t tl_counted_ticks(int64_t time_us, int64_t rtt_us, int64_t tick_us)
{
	uint64_t tick = (uint64_t)tick_us;
	uint64_t since = time_us >= 0 ? (uint64_t)time_us % tick : tick - 1 - (uint64_t)(-1 - time_us) % tick;

	return (uint64_t)rtt_us <= since ? 1 : 1 + (int64_t)(((uint64_t)rtt_us - since + tick - 1) / tick);
}

struct tl_sampler {
	int64_t next_sent_us; /* a segment sent before this is not timed */
};

/* Returns the RTT to use in microseconds, or 0 to skip this sample.
 * quantum_us > 1: the RTT is rounded up to whole ticks of quantum_us, at least one tick.
 * TL_ONE_PER_RTT: the next timed segment is one that is sent after this ACK.
 * TL_COUNTED: as TL_ONE_PER_RTT, with the RTT counted in clock ticks, as timers of the 1990s did. If
 * quantum_us is at most 1, there is no clock and TL_COUNTED equals TL_ONE_PER_RTT. */
TL_FN int64_t tl_sampler_take(struct tl_sampler *s, const struct tl_sample *in, uint32_t sampling,
			      int64_t quantum_us)
{
	int64_t rtt_us = tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US);

	if (sampling != TL_EVERY_ACK) {
		if (in->sent_us < s->next_sent_us)
			return 0;
		s->next_sent_us = in->time_us;
	}
	if (quantum_us > 1 && sampling == TL_COUNTED)
		return tl_counted_ticks(in->time_us, rtt_us, quantum_us) * quantum_us;
	if (quantum_us > 1) {
		uint64_t q = (uint64_t)quantum_us;
		rtt_us = (int64_t)(((uint64_t)rtt_us + q - 1) / q * q);
	}
	return rtt_us;
}

/* Starts with next_sent_us before any time, so that every segment may be timed. */
TL_FN void tl_sampler_init(struct tl_sampler *s)
{
	s->next_sent_us = -(((int64_t)1) << 62);
}

#endif
