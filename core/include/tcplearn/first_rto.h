/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first RTO of a connection, before it has any sample, from the history of its place. RFC 6298, 2.1 has
 * one second for all. It uses only integers; weights have 16 fractional bits.
 *
 * A wrong model is harmless: the RTO is at most cap_us, so a lost handshake packet is never sent again
 * later than without a model; each resend doubles the RTO as usual; and each handshake whose packets were
 * sent again, perhaps spuriously, makes the place's RTO four times as long, until there is an RTT again.
 * One handshake that looks like a lost SYN-ACK of a known place is tolerated. */
#ifndef TCPLEARN_FIRST_RTO_H
#define TCPLEARN_FIRST_RTO_H

#include "sample.h"

#define TL_FIRST_RTO_WEIGHT_MAX ((int64_t)64 << 16)
#define TL_FIRST_RTO_US_MAX 60000000
#define TL_FIRST_RTO_HOPS_UNKNOWN (-1)
/* 4^5: from a millisecond to a second */
#define TL_FIRST_RTO_DOUBTS_MAX 5

/* constant_us + last the last RTT + high the high one + hop_us a hop */
struct tl_first_rto_line {
	int64_t constant_us, last_q16, high_q16, hop_us;
	uint32_t there; /* 0: the next step decides */
};

/* The first step that exists and has the knowledge that it needs decides. */
struct tl_first_rto_model {
	struct tl_first_rto_line place, prefix, hops, nothing;
	int64_t floor_us, cap_us, max_age_us;
};

/* RTTs of handshakes with a place, or with any of its neighbours. */
struct tl_first_rto_place {
	int64_t last_us, high_us; /* 0: none yet */
	int64_t time_us;          /* of the last */
	uint32_t doubts;          /* resent handshakes among the last ones, perhaps spurious */
	uint32_t excused;         /* since the last RTT one handshake was treated as a lost SYN-ACK */
};

TL_FN void tl_first_rto_set(struct tl_first_rto_line *l, int64_t constant_us, int64_t last_q16,
			    int64_t high_q16, int64_t hop_us)
{
	l->constant_us = constant_us;
	l->last_q16 = last_q16;
	l->high_q16 = high_q16;
	l->hop_us = hop_us;
	l->there = 1;
}

/* A step that does not apply. */
TL_FN void tl_first_rto_leave(struct tl_first_rto_line *l)
{
	tl_first_rto_set(l, 0, 0, 0, 0);
	l->there = 0;
}

TL_FN void tl_first_rto_place_init(struct tl_first_rto_place *p)
{
	p->last_us = p->high_us = p->time_us = 0;
	p->doubts = p->excused = 0;
}

/* Takes an RTT of a segment that was not sent twice. The high RTT rises at once and falls by an eighth, as
 * the RTT that Linux stores for a destination. */
TL_FN void tl_first_rto_report(struct tl_first_rto_place *p, int64_t rtt_us, int64_t time_us)
{
	rtt_us = tl_clamp_us(rtt_us, 1, TL_RTT_MAX_US);
	p->high_us = rtt_us >= p->high_us ? rtt_us : p->high_us - ((p->high_us - rtt_us) >> 3);
	p->last_us = rtt_us;
	p->time_us = time_us;
	p->doubts = p->excused = 0;
}

/* Takes a handshake whose packets were sent again; it is not known whether this was spurious. */
TL_FN void tl_first_rto_doubt(struct tl_first_rto_place *p, int64_t time_us)
{
	p->time_us = time_us;
	p->doubts += p->doubts < TL_FIRST_RTO_DOUBTS_MAX;
}

TL_FN int tl_first_rto_is_known(const struct tl_first_rto_model *m, const struct tl_first_rto_place *p,
				int64_t time_us)
{
	return p->last_us > 0 && time_us - p->time_us <= m->max_age_us;
}

/* Up to 2^54 + 2^54 + 2^26 + 2^28: last and high are at most 2^32, weights 2^22. */
TL_FN int64_t tl_first_rto_line_us(const struct tl_first_rto_line *l, const struct tl_first_rto_place *p,
				   int32_t hops)
{
	const int64_t rtts_q16 = l->last_q16 * p->last_us + l->high_q16 * p->high_us;

	return l->constant_us + (rtts_q16 >> 16) + l->hop_us * (hops > 0 ? hops : 0);
}

/* hops: 0 to 255, or TL_FIRST_RTO_HOPS_UNKNOWN. */
TL_FN int64_t tl_first_rto_us(const struct tl_first_rto_model *m, const struct tl_first_rto_place *place,
			      const struct tl_first_rto_place *prefix, int32_t hops, int64_t time_us)
{
	const uint32_t doubts = time_us - place->time_us <= m->max_age_us ? place->doubts : 0;
	int64_t us = m->nothing.there ? m->nothing.constant_us : m->cap_us;

	if (m->place.there && tl_first_rto_is_known(m, place, time_us)) {
		us = tl_first_rto_line_us(&m->place, place, hops);
	} else if (m->prefix.there && tl_first_rto_is_known(m, prefix, time_us)) {
		us = tl_first_rto_line_us(&m->prefix, prefix, hops);
	} else if (m->hops.there && hops >= 0) {
		const int64_t by_hops = tl_first_rto_line_us(&m->hops, place, hops > 255 ? 255 : hops);

		us = by_hops < us ? by_hops : us; /* hops never give more than the RTO of an unknown place */
	}
	us = tl_clamp_us(us, m->floor_us, m->cap_us);
	return tl_clamp_us(us << 2 * doubts, m->floor_us, m->cap_us);
}

/* The RTO of the accepting end, an eighth longer. If a SYN-ACK was lost both ends send again; then the SYN
 * arrives first, and its answer restarts this timer. */
TL_FN int64_t tl_first_rto_accepting_us(const struct tl_first_rto_model *m, int64_t rto_us)
{
	return tl_clamp_us(rto_us + (rto_us >> 3), m->floor_us, m->cap_us);
}

/* Returns whether a lost SYN-ACK explains an RTT above the RTO. The SYN-ACK that is sent again echoes the
 * timestamp of the first SYN, so the RTT by timestamps is the RTO plus one round trip, which is near the last RTT
 * known of this destination. A true RTT that has grown looks the same only if it is more than twice the last. */
TL_FN int tl_first_rto_is_lost_answer(const struct tl_first_rto_place *p, int64_t rtt_us, int64_t rto_us)
{
	return p->last_us > 0 && rto_us >= p->last_us && rtt_us - rto_us > p->last_us - (p->last_us >> 2);
}

/* Takes a handshake whose packets were sent again: its RTT by timestamps (RFC 7323), 0 without them, and
 * its first RTO. An RTT below that RTO is valid, because the packet sent again was lost. */
TL_FN void tl_first_rto_resent(struct tl_first_rto_place *p, int64_t rtt_us, int64_t rto_us, int64_t time_us)
{
	if (rtt_us > 0 && rtt_us <= rto_us)
		tl_first_rto_report(p, rtt_us, time_us);
	else if (!p->excused && tl_first_rto_is_lost_answer(p, rtt_us, rto_us))
		p->excused = 1;
	else
		tl_first_rto_doubt(p, time_us);
}

#endif
