/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The state of the flight that a resend policy's timer covers; all arithmetic is integer. A flight is the
 * unit from which a policy learns: a policy chooses waits when the flight begins and judges them when it
 * ends.
 *
 * A flight begins when a segment is sent while nothing is unacknowledged, or when the previous flight has
 * ended. It ends with the first of: nothing is unacknowledged; an ACK arrives after a retransmission by
 * the timer; an ACK answers data that was sent after the flight's first ACK. So it ends at most one round
 * trip after its first ACK. */
#ifndef TCPLEARN_RESEND_FLIGHT_H
#define TCPLEARN_RESEND_FLIGHT_H

#include "../params.h"
#include "../sample.h"
#include "events.h"

/* The longest wait. The shortest is 1 us. */
#define TL_RESEND_WAIT_MAX_US TL_RTT_MAX_US

struct tl_resend_flight {
	int64_t first_us; /* first transmission of the flight */
	int64_t armed_us; /* start of the first wait: the last transmission or ACK before a retransmission */
	int64_t set_us;   /* start of the running wait: armed_us, or the last retransmission */
	int64_t wait_us;  /* length of the running wait */
	int64_t first_ack_us; /* time of the first ACK, if `acked` */
	int64_t rtt_us;       /* last RTT sample of a segment sent in the flight; 0: none */
	uint32_t open, acked;
	uint32_t segments; /* segments sent in the flight, or unacknowledged when it began */
	uint32_t resends;  /* retransmissions by the timer */
};

/* What an ACK shows about a flight. */
struct tl_resend_outcome {
	int64_t rtt_us;     /* RTT sample of this ACK; 0: none */
	int64_t judged_us;  /* RTT sample by which the waits of the flight are judged; 0: none */
	int64_t episode_us; /* if `lost`: from the wait's start to the transmission that arrived */
	int64_t waited_us;  /* from the wait's start to this ACK */
	uint32_t ended;
	uint32_t lost;  /* 1: the timer retransmitted; nothing shows that the first copy had arrived */
	uint32_t clear; /* 1: it is known which transmission was answered */
};

/* Returns b - a, clamped to 0 ... 71 minutes. `a_us` and `b_us` are any two times. */
TL_FN int64_t tl_resend_since(int64_t a_us, int64_t b_us)
{
	const uint64_t us = b_us > a_us ? (uint64_t)b_us - (uint64_t)a_us : 0;

	return us < (uint64_t)TL_RESEND_WAIT_MAX_US ? (int64_t)us : TL_RESEND_WAIT_MAX_US;
}

TL_FN uint32_t tl_resend_more(uint32_t n)
{
	return n < 0xffffffffu ? n + 1 : n;
}

/* Returns us * 2^n, at most high_us. Range: 0 <= us <= 2^32. */
TL_FN int64_t tl_resend_doubled(int64_t us, uint32_t n, int64_t high_us)
{
	const int64_t most_us = n < 28 ? us * ((int64_t)1 << n) : TL_RESEND_WAIT_MAX_US;

	return most_us < high_us ? most_us : high_us;
}

TL_FN void tl_resend_flight_init(struct tl_resend_flight *f)
{
	f->first_us = f->armed_us = f->set_us = f->first_ack_us = 0;
	f->wait_us = 1;
	f->rtt_us = 0;
	f->open = f->acked = f->segments = f->resends = 0;
}

/* Returns 1 if a flight begins at this event; the caller then chooses its waits. */
TL_FN uint32_t tl_resend_begins(struct tl_resend_flight *f, int64_t time_us, uint32_t segments)
{
	if (f->open)
		return 0;
	tl_resend_flight_init(f);
	f->open = 1;
	f->first_us = f->armed_us = f->set_us = time_us;
	f->segments = segments;
	return 1;
}

/* Returns whether a transmission restarts the timer: it restarts the timer of a tail loss probe (RFC
 * 8985, 7.2), but not a running RTO (RFC 6298, 5.1). */
TL_FN uint32_t tl_resend_moves(const struct tl_resend_flight *f, uint32_t probe)
{
	return f->resends == 0 && (probe == TL_ON || f->segments <= 1);
}

TL_FN void tl_resend_arm(struct tl_resend_flight *f, int64_t time_us, int64_t wait_us)
{
	f->armed_us = f->set_us = time_us;
	f->wait_us = tl_clamp_us(wait_us, 1, TL_RESEND_WAIT_MAX_US);
}

/* Records that the timer has retransmitted. Returns the time in us since the flight's first wait began. */
TL_FN int64_t tl_resend_fired(struct tl_resend_flight *f, int64_t time_us)
{
	f->resends = tl_resend_more(f->resends);
	f->set_us = time_us;
	return tl_resend_since(f->armed_us, time_us);
}

/* Writes the remaining part of the running wait to `out`. */
TL_FN void tl_resend_left(const struct tl_resend_flight *f, int64_t time_us, uint32_t probe,
			  struct tl_resend_wait *out)
{
	const int64_t passed_us = tl_resend_since(f->set_us, time_us);

	out->wait_us = passed_us < f->wait_us ? f->wait_us - passed_us : 1;
	out->probe = f->resends == 0 && probe == TL_ON;
}

/* Evaluates an ACK and writes to `out` what it shows about the flight. An ACK less than `early_us` after
 * the only retransmission of a lone segment must answer the first transmission, so nothing was lost. Its
 * RTT is still ambiguous and gives no sample. `early_us` = 0 disables this rule. */
TL_FN void tl_resend_read(struct tl_resend_flight *f, const struct tl_resend_ack *in, int64_t early_us,
			  struct tl_resend_outcome *out)
{
	const int64_t rtt_us = in->rtt_us > 0 ? tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US) : 0;
	const int64_t sent_us = (int64_t)((uint64_t)in->time_us - (uint64_t)rtt_us);
	const uint32_t again = f->open && f->resends > 0;

	out->clear = !again || in->answers < TL_RESEND_UNCLEAR;
	out->lost = again && in->answers != TL_RESEND_FIRST;
	if (!out->clear && f->resends == 1 && f->segments <= 1 &&
	    tl_resend_since(f->set_us, in->time_us) < early_us)
		out->lost = 0;
	out->rtt_us = out->clear ? rtt_us : 0;
	out->waited_us = tl_resend_since(f->armed_us, in->time_us);
	out->episode_us = tl_resend_since(f->armed_us, out->clear && rtt_us > 0 ? sent_us : f->set_us);
	out->ended = again || (f->open && (in->out_segments == 0 ||
					   (f->acked && rtt_us > 0 && sent_us > f->first_ack_us)));
	if (f->open && out->rtt_us > 0 && sent_us >= f->first_us)
		f->rtt_us = out->rtt_us;
	out->judged_us = f->rtt_us;
	if (out->ended)
		f->open = 0;
	if (f->open && !f->acked) {
		f->acked = 1;
		f->first_ack_us = in->time_us;
	}
}

#endif
