/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses the first RTO of a connection, before its first RTT sample, from earlier handshakes with the
 * same destination or its prefix. RFC 6298, 2.1 uses one second for every connection. All arithmetic is
 * integer; weights have 16 fractional bits.
 *
 * A wrong model does little harm. The RTO is at most cap_us, so a lost handshake packet is never
 * retransmitted later than without a model. Each retransmission doubles the RTO as usual. Each handshake
 * with retransmitted packets, which may have been spurious, multiplies the destination's next RTO by four
 * until an RTT is measured again. One handshake that looks like a lost SYN-ACK from a known destination
 * is exempt. */
#ifndef TCPLEARN_FIRST_RTO_H
#define TCPLEARN_FIRST_RTO_H

#include "sample.h"

#define TL_FIRST_RTO_WEIGHT_MAX ((int64_t)64 << 16)
#define TL_FIRST_RTO_US_MAX 60000000
#define TL_FIRST_RTO_HOPS_UNKNOWN (-1)
/* 4^5 = 1024: raises an RTO of 1 ms to 1 s */
#define TL_FIRST_RTO_DOUBTS_MAX 5

/* A linear model of the RTO: constant_us + last * (last RTT) + high * (high RTT) + hop_us * hops.
 * tl_first_rto_report() computes the high RTT. */
struct tl_first_rto_line {
	int64_t constant_us, last_q16, high_q16, hop_us;
	uint32_t there; /* 0: this line is not used */
};

/* A model of the first RTO: up to four lines, tried in this order: RTTs of the destination, RTTs of its
 * prefix, number of hops, a constant. The first line that exists and whose inputs are known decides. */
struct tl_first_rto_model {
	struct tl_first_rto_line place, prefix, hops, nothing;
	int64_t floor_us, cap_us, max_age_us;
};

/* RTTs of earlier handshakes with one destination, or with any destination of a prefix. */
struct tl_first_rto_place {
	int64_t last_us, high_us; /* RTT of the last handshake; high RTT (tl_first_rto_report); 0: none yet */
	int64_t time_us;          /* of the last report */
	uint32_t doubts;          /* number of latest handshakes with retransmissions, perhaps spurious */
	uint32_t excused;         /* 1: since the last RTT one handshake was treated as a lost SYN-ACK */
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

/* Marks a line of the model as not used. */
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

/* Records the RTT of a segment that was not retransmitted. The high RTT rises to a larger RTT at once and
 * falls by an eighth of the difference, like the RTT that Linux stores for a destination (tcp_metrics). */
TL_FN void tl_first_rto_report(struct tl_first_rto_place *p, int64_t rtt_us, int64_t time_us)
{
	rtt_us = tl_clamp_us(rtt_us, 1, TL_RTT_MAX_US);
	p->high_us = rtt_us >= p->high_us ? rtt_us : p->high_us - ((p->high_us - rtt_us) >> 3);
	p->last_us = rtt_us;
	p->time_us = time_us;
	p->doubts = p->excused = 0;
}

/* Records a handshake with retransmissions of which it is not known whether they were spurious. */
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

/* Returns the RTO of line `l` in microseconds. No overflow: the RTTs are at most 2^32 and the weights at
 * most 2^22, so each product is at most 2^54; constant and hops add at most 2^26 + 2^28. */
TL_FN int64_t tl_first_rto_line_us(const struct tl_first_rto_line *l, const struct tl_first_rto_place *p,
				   int32_t hops)
{
	const int64_t rtts_q16 = l->last_q16 * p->last_us + l->high_q16 * p->high_us;

	return l->constant_us + (rtts_q16 >> 16) + l->hop_us * (hops > 0 ? hops : 0);
}

/* Returns the first RTO in microseconds of a connection. `place` is the history of its destination,
 * `prefix` that of the prefix. `hops` is 0 to 255, or TL_FIRST_RTO_HOPS_UNKNOWN. */
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

		us = by_hops < us ? by_hops : us; /* hops can only lower the RTO of an unknown destination */
	}
	us = tl_clamp_us(us, m->floor_us, m->cap_us);
	return tl_clamp_us(us << 2 * doubts, m->floor_us, m->cap_us);
}

/* Returns the first RTO of the end that accepts the connection: an eighth longer than `rto_us`. After a
 * lost SYN-ACK both ends would retransmit; the longer RTO lets the repeated SYN arrive first, and the
 * answer to that SYN restarts the accepting end's timer. */
TL_FN int64_t tl_first_rto_accepting_us(const struct tl_first_rto_model *m, int64_t rto_us)
{
	return tl_clamp_us(rto_us + (rto_us >> 3), m->floor_us, m->cap_us);
}

/* Returns whether a lost SYN-ACK explains an RTT above the RTO. The retransmitted SYN-ACK echoes the
 * timestamp of the first SYN, so the RTT from timestamps is the RTO plus one round trip. That round trip is
 * near the last RTT of this destination. A path whose RTT has really grown is taken for one with a lost
 * SYN-ACK only if its RTT has become more than 1.75 times the last one. */
TL_FN int tl_first_rto_is_lost_answer(const struct tl_first_rto_place *p, int64_t rtt_us, int64_t rto_us)
{
	return p->last_us > 0 && rto_us >= p->last_us && rtt_us - rto_us > p->last_us - (p->last_us >> 2);
}

/* Records a handshake whose packets were retransmitted: `rtt_us` is its RTT from timestamps (RFC 7323; 0
 * without them), and `rto_us` is its first RTO. An RTT up to that RTO is a valid sample: the timestamp
 * then answers the retransmission, so the first packet was lost. */
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
