/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the answers to retransmissions by timer show, and how the rounds with such retransmissions are
 * counted. A round is a request and its answer, or a flight of segments and its ACK.
 *
 * Timestamps. A retransmission was spurious if the peer echoes a timestamp from before it (RFC 7323). An echo
 * that cannot be true (from the future, or from before the flight) is not used.
 *
 * DSACK (RFC 2883). If the first copy is late, and a retransmission overtakes it, the peer echoes the
 * timestamp of the retransmission, as after a loss. When the first copy arrives, the peer reports a
 * duplicate. So a round with such an echo is counted only when the report has come, or after a second, or
 * when something else is retransmitted, or when the connection is closed. It was spurious if all copies but
 * one were reported as duplicates. If the first copy was lost, one report fewer comes.
 *
 * The report may have come before the program is called for the answer. Then the first copy had arrived
 * before the retransmission, and its ACK was late or lost; or the kernel did not call the program for the
 * answer itself, as it calls it only once a round. In both cases the round counts as needed.
 */
#ifndef TCPLEARN_BPF_LIVE_ANSWERS_H
#define TCPLEARN_BPF_LIVE_ANSWERS_H

#include "live_arms.h"
#include "live_scene.h"

#define TL_LIVE_UNCOUNTED_US 1000000

static __always_inline void flush(const struct scene *at, struct connection *c)
{
	live_flush(&c->host, &c->member, at->tp->tcp_mstamp, at->tp->srtt_us >> 3, us_of(at, c->ticks));
}

/* Returns which transmission an ACK after a retransmission answers. Sets `rtt_us` to the RTT by the echoed
 * timestamp, or to 0 if that is not known. */
static __always_inline uint32_t answer_of(const struct scene *at, const struct connection *c, int64_t *rtt_us)
{
	const struct tcp_sock *tp = at->tp;
	uint64_t unit_us = 1000, now_us = tp->tcp_mstamp;
	const uint32_t echo = tp->rx_opt.rcv_tsecr;
	uint32_t ago, resent_ago;

	*rtt_us = 0;
	if (!BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp) || !echo)
		return TL_RESEND_UNCLEAR;
	if (bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
		unit_us = 1;
	ago = (uint32_t)(now_us / unit_us) - echo;
	resent_ago = (uint32_t)(now_us / unit_us) - (uint32_t)(c->resent_us / unit_us);
	/* from the future, or from before the flight began */
	if (ago >
	    (uint32_t)(tl_resend_since(c->policy.flight.first_us, (int64_t)now_us) / (int64_t)unit_us) + 1)
		return TL_RESEND_UNCLEAR;
	*rtt_us = (int64_t)((uint64_t)ago * unit_us);
	return ago > resent_ago ? TL_RESEND_FIRST : TL_RESEND_LATER;
}

/* Counts the retransmissions of a round as spurious, needed or unclear, by `answers`: which transmission was
 * answered. `waited_us` is the time from the start of the timer to the answer; `less_us` is how much lower
 * the floor was than the kernel's. */
static __always_inline void count_answer(const struct scene *at, struct connection *c, uint32_t answers,
					 uint64_t waited_us, uint32_t less_us)
{
	if (answers == TL_RESEND_FIRST) {
		COUNT(at, resent_spurious);
	} else if (answers == TL_RESEND_LATER) {
		COUNT(at, resent_needed);
		if (live_is_ours(&c->member)) {
			at->n[TL_LIVE_saved_us] += less_us;
			c->saved_us += less_us;
		}
	} else {
		COUNT(at, resent_unclear);
	}
	live_answered_round(&c->member, answers, waited_us);
}

/* Returns which transmission was answered in the round of `c->uncounted`, as far as DSACKs show by now. As in
 * the kernel, DSACKs show nothing if there are more of them than retransmissions: then the network duplicates
 * packets, or the peer reports duplicates that did not come. */
static __always_inline uint32_t answer_by_dsack(const struct scene *at, const struct connection *c)
{
	const uint32_t dups = at->tp->dsack_dups;
	const int is_late = dups - c->uncounted.dsacks >= c->uncounted.resends && dups <= at->tp->total_retrans;

	return is_late ? TL_RESEND_FIRST : TL_RESEND_LATER;
}

/* Counts a round for the connection's group (arm), and from time to time adds the connection's counts to
 * those of its destination prefix (place). `is_settled`: settle() has just counted an earlier round. */
static __always_inline void count_round(const struct scene *at, struct connection *c, uint32_t answers,
					int is_settled)
{
	const uint64_t now_us = at->tp->tcp_mstamp;
	const uint64_t armed_us = (uint64_t)c->policy.flight.armed_us;
	const uint64_t waited_us = now_us > armed_us ? now_us - armed_us : 0;
	const uint32_t less_us = us_of(at, c->base_ticks) - us_of(at, c->ticks);
	struct live_arm_counts *n = live_counts_of(&c->member);

	if (!n)
		return;
	n->rounds++;
	n->rounds_lowered += c->ticks < c->base_ticks;
	if (c->rounds <= TL_LIVE_EARLY_ROUNDS && c->member.resent == 0) {
		n->rounds_early++;
		n->resent_early += c->resent > 0;
	}
	c->member.fresh.rounds++;
	if (c->resent) {
		live_resent_round(&c->member, n);
		c->learned = 1;
		if (answers == TL_RESEND_LATER && at->tp->dsack_dups - c->dsacks < c->resent) {
			c->uncounted.until_us = now_us + TL_LIVE_UNCOUNTED_US;
			c->uncounted.waited_us = waited_us;
			c->uncounted.dsacks = c->dsacks;
			c->uncounted.resends = c->resent;
			c->uncounted.less_us = less_us;
		} else {
			count_answer(at, c, answers, waited_us, less_us);
		}
	}
	if (c->resent || is_settled || c->member.fresh.rounds >= TL_LIVE_FLUSH_ROUNDS)
		flush(at, c);
}

#endif
