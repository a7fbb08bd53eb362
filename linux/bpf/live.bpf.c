/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Learns a floor for each connection of a cgroup: the least time that the RTO adds to SRTT, 200 ms in a stock
 * kernel. This is a sock_ops program for an unmodified kernel with BTF, 6.1 or later. It learns by the core's
 * resend policy `priced`, whose state is in socket storage. A round is a request and its answer, or a flight
 * of segments and its ACK. A connection is stock if it has the kernel's own timer. A host is a peer: an IPv4
 * address, or a /64 of IPv6.
 *
 * What it sees. The kernel calls the program once a round (RTT_CB), at each timeout (RTO_CB) and at each
 * retransmission (RETRANS_CB). A retransmission after RTO_CB is a timeout; another one, in a congestion state
 * below Recovery, is a tail loss probe; all others were not sent by a timer. The peer's timestamps and DSACKs
 * show whether a retransmission was spurious (live_answers.h).
 *
 * When it does not lower floors. The policy's guard against overload allows no lower floor while the
 * connection loses too much. By the same limits the program watches the share of rounds with a loss over all
 * connections with the host (live_losses.h).
 *
 * What it sets. TCP_BPF_RTO_MIN is the minimum of the RTO's variance term; the kernel adds it also to the
 * wait for the probe of a single segment. It is a number of whole ticks of the kernel's clock, at least two,
 * and never more than the floor that the kernel had before. The backoff is the kernel's, unless it is to be
 * bounded (live_backoff.h).
 *
 * A queue of this machine. If a segment waits in a queue of this machine for longer than the learned RTO, the
 * timer expires although no answer is overdue. The program is not called before that, so it cannot prevent
 * it. From then on the connection is stock, and for an hour so are new connections to the same host.
 *
 * No floor above the current RTTVAR. The kernel raises RTTVAR only when the mean deviation exceeds the floor,
 * so with a floor above RTTVAR late answers would no longer lengthen the timer. For the same reason a floor
 * that was lowered cannot be raised again on an open connection.
 *
 * An accepted connection has its first RTT sample, with the kernel's floor, before the program is called. So
 * its RTTVAR falls only over some twenty rounds, while its probe follows a lower floor at once. A connection
 * that this machine opens has its floor from the SYN on. A floor set on a listener would hold for all of its
 * peers, so the program sets none there.
 *
 * Control group. Only a share of the connections, drawn at random, gets floors; the others are only observed
 * (live_arms.h). */
#include "live_answers.h"
#include "live_arms.h"
#include "live_backoff.h"
#include "live_connection.h"
#include "live_counts.h"
#include "live_kernel.h"
#include "live_losses.h"
#include "live_places.h"
#include "live_policy.h"
#include "live_scene.h"

#define TL_STOCK_US 200000 /* the longest floor that TCP_BPF_RTO_MIN takes */

/* Returns whether the floors that are chosen for this connection are also set. */
static __always_inline int acts(const struct scene *at, const struct connection *c)
{
	return live_is_ours(&c->member) && !at->settings->observe;
}

static __always_inline void set_floor(const struct scene *at, struct connection *c, uint32_t ticks)
{
	int us = (int)us_of(at, ticks);

	if (ticks == c->ticks)
		return;
	if (acts(at, c)) {
		if (bpf_setsockopt(at->ctx, TL_SOL_TCP, TCP_BPF_RTO_MIN, &us, sizeof(us))) {
			COUNT(at, floors_refused);
			return;
		}
		COUNT(at, floors_set);
	}
	c->ticks = ticks;
}

/* Returns the policy's candidate floor number `rank` in ticks, at most the kernel's own floor. */
static __always_inline uint32_t ticks_of(const struct scene *at, const struct connection *c, uint32_t rank)
{
	uint32_t ticks = c->base_ticks;

	if (rank < TL_RESEND_FLOORS)
		ticks = ticks_up(at, live_floor_us(rank));
	if (ticks < TL_TICKS_LEAST)
		ticks = TL_TICKS_LEAST;
	return ticks < c->base_ticks ? ticks : c->base_ticks;
}

/* Returns whether the connection is to have the kernel's own floor in the next round, and counts why. */
static __always_inline int is_careful(const struct scene *at, const struct connection *c)
{
	const int by_itself = c->queued || tl_resend_priced_careful_fix(&c->policy);
	const int careful = by_itself || live_host_loses(&c->loss, &c->policy);

	if (careful && live_is_ours(&c->member)) {
		COUNT(at, rounds_careful);
		if (!by_itself)
			COUNT(at, rounds_host_careful);
	}
	return careful;
}

/* Sets the floor for the next round. */
static __always_inline void apply(const struct scene *at, struct connection *c)
{
	const int careful = is_careful(at, c);
	uint32_t ticks = ticks_of(at, c, careful ? TL_RESEND_FLOORS : live_chosen(&c->policy));
	uint32_t most = ticks_down(at, at->tp->rttvar_us);

	if (live_is_ours(&c->member) && !careful && ticks < c->base_ticks)
		COUNT(at, rounds_lowered);
	if (c->ticks == c->base_ticks && ticks == c->base_ticks)
		return;
	most = most > TL_TICKS_LEAST ? most : TL_TICKS_LEAST;
	if (acts(at, c) && ticks > most) {
		ticks = most;
		COUNT(at, floors_held);
	}
	set_floor(at, c, ticks);
}

/* Begins to learn from a connection. Returns its state, or NULL if nothing is learned from it. */
static __always_inline struct connection *begin(const struct scene *at)
{
	struct connection *c = bpf_sk_storage_get(&connections, at->sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	const uint32_t stock = ticks_up(at, TL_STOCK_US), own = at->tp->inet_conn.icsk_rto_min;
	const tl_live_policy *earlier;

	if (!c) {
		COUNT(at, no_memory);
		return NULL;
	}
	c->resent = c->timeout = c->rounds = 0;
	c->uncounted.until_us = 0;
	c->saved_us = c->silent_us = 0;
	c->bound_ms = 0;
	c->kept_rounds = c->learned = 0;
	live_host_of(at->ctx, &c->host);
	c->queued = live_was_queued(&c->host);
	live_read_losses(&c->host, &c->loss);
	/* a floor above 200 ms was set by somebody else, and TCP_BPF_RTO_MIN could not restore it */
	c->base_ticks = c->ticks = own <= stock && !route_sets_floor(at->tp) ? own : 0;
	if (c->base_ticks == 0) {
		if (at->ctx->op != BPF_SOCK_OPS_TCP_CONNECT_CB) /* begin() runs again when established */
			COUNT(at, connections_fixed);
		return NULL;
	}
	tl_resend_priced_defaults_fix(&c->policy.params);
	live_policy_start(&c->policy);
	COUNT(at, connections);
	if (c->queued)
		COUNT(at, connections_queued);
	live_join(&c->host, &c->member, *(const volatile uint64_t *)&at->settings->assignment);
	earlier = live_recall(&c->host);
	if (earlier) {
		live_policy_inherit(&c->policy, earlier);
		COUNT(at, inherited);
		if (at->ctx->op == BPF_SOCK_OPS_TCP_CONNECT_CB && !c->queued &&
		    !live_host_loses(&c->loss, &c->policy))
			set_floor(at, c, ticks_of(at, c, live_rank(earlier)));
	}
	return c;
}

static __always_inline struct connection *known(const struct scene *at)
{
	struct connection *c = bpf_sk_storage_get(&connections, at->sk, NULL, 0);

	return c && c->base_ticks && !route_sets_floor(at->tp) ? c : NULL;
}

/* Tells the policy that a segment is sent, which begins a flight. The kernel does not call the program when a
 * segment is sent, so this is done at the ACK before. The time is then too early; on_resend() corrects it. */
static __always_inline void open_flight(struct connection *c, uint64_t now_us)
{
	struct tl_resend_event in = { .time_us = (int64_t)now_us, .out_segments = 1 };
	struct tl_resend_wait wait = { 0 };

	live_policy_send(&c->policy, &in, &wait);
}

static __always_inline void on_established(const struct scene *at)
{
	struct connection *c = at->ctx->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB ? known(at) : NULL;
	struct tl_resend_ack ack = { .time_us = (int64_t)at->tp->tcp_mstamp };
	struct tl_resend_wait wait = { 0 };

	c = c ? c : begin(at);
	if (!c)
		return;
	bpf_sock_ops_cb_flags_set(at->ctx, at->ctx->bpf_sock_ops_cb_flags | TL_LIVE_EVENTS);
	if (at->tp->srtt_us == 0 || at->tp->total_retrans) /* the RTT of a resent SYN-ACK is ambiguous */
		return;
	ack.rtt_us = at->tp->srtt_us >> 3;
	live_policy_ack(&c->policy, &ack, &wait);
	open_flight(c, at->tp->tcp_mstamp);
	apply(at, c);
}

/* Corrects what the policy has learned from a flight that it took for lost, when a DSACK has shown that the
 * first copy was only late. When that copy arrived is not known, only that it was after the retransmission.
 * The loss is taken back, and the policy gets the flight a second time, with the time until the
 * retransmission was answered as its RTT. So the flight counts twice in the number of flights; and if the
 * loss has already been added to those of the host, it stays there. */
static __attribute__((noinline)) int learn_late(struct connection *c, uint64_t now_us)
{
	struct tl_resend_event in = { .time_us = (int64_t)now_us, .out_segments = 1 };
	struct tl_resend_ack ack = { .time_us = (int64_t)now_us, .answers = TL_RESEND_FIRST };
	struct tl_resend_wait wait = { 0 };

	if (!c)
		return 0;
	c->uncounted.running = c->policy.flight;
	live_policy_retract(&c->policy);
	c->loss.lost -= c->loss.lost > 0;
	c->policy.flight.open = 0;
	open_flight(c, now_us - c->uncounted.waited_us);
	live_policy_timer(&c->policy, &in, &wait);
	ack.rtt_us = (int64_t)c->uncounted.waited_us;
	live_policy_ack(&c->policy, &ack, &wait);
	c->policy.flight = c->uncounted.running;
	c->learned = 1;
	return 0;
}

/* Counts the round of `c->uncounted`, if there is one, as spurious if DSACKs have shown this by now;
 * otherwise as needed if `must` is set; otherwise it is not counted yet. Returns whether it was counted. */
static __always_inline int settle(const struct scene *at, struct connection *c, int must)
{
	uint32_t answers;

	if (c->uncounted.until_us == 0)
		return 0;
	answers = answer_by_dsack(at, c);
	if (answers != TL_RESEND_FIRST && !must)
		return 0;
	c->uncounted.until_us = 0;
	count_answer(at, c, answers, c->uncounted.waited_us, c->uncounted.less_us);
	if (answers == TL_RESEND_FIRST)
		learn_late(c, at->tp->tcp_mstamp);
	return 1;
}

/* Tells the policy of an answer, and adds the round, and what the policy takes for a loss, to those of the
 * host. */
static __always_inline void learn(const struct scene *at, struct connection *c, const struct tl_resend_ack *ack)
{
	const int64_t before = c->policy.recent;
	struct tl_resend_wait wait = { 0 };

	live_policy_ack(&c->policy, ack, &wait);
	c->loss.rounds++;
	c->loss.lost += c->policy.recent > before;
	if (c->loss.rounds >= TL_LIVE_LOSS_BATCH)
		live_add_losses(&c->host, &c->loss);
}

static __always_inline void on_round(const struct scene *at, struct connection *c)
{
	const uint64_t now_us = at->tp->tcp_mstamp;
	/* before Linux 6.12 the callback has no argument, and this is 0 */
	const uint32_t measured_us = TL_LOAD(at->ctx->args[0]);
	const int64_t srtt_us = (c->policy.rtt.srtt + 128) >> 8;
	struct tl_resend_ack ack = { .time_us = (int64_t)now_us, .out_segments = at->tp->packets_out };
	const int is_settled = settle(at, c, now_us > c->uncounted.until_us);

	COUNT(at, rounds);
	c->rounds++;
	ack.rtt_us = measured_us ? measured_us : at->tp->rack.rtt_us;
	if (c->resent) {
		ack.answers = answer_of(at, c, &ack.rtt_us);
	} else if (c->ticks < c->base_ticks && srtt_us > 0 &&
		   ack.rtt_us > 2 * srtt_us + us_of(at, c->ticks)) {
		COUNT(at, rounds_late);
	}
	count_round(at, c, ack.answers, is_settled);
	learn(at, c, &ack);
	if (at->tp->packets_out == 0)
		open_flight(c, now_us);
	c->resent = c->timeout = 0;
	end_backoff(at, c);
	apply(at, c);
}

/* Runs when the retransmission timer has expired. If a segment of the connection is still in a queue of this
 * machine, no answer is overdue: the kernel wanted to send a tail loss probe, found the segment in the queue,
 * and armed the RTO for the next tick instead. The RTO cannot be lengthened on an open connection, so the
 * program can only take note of it, for the floors of this connection and of later ones. */
static __always_inline void on_timeout(const struct scene *at, struct connection *c)
{
	c->timeout = 1;
	if (acts(at, c))
		bound_backoff(at, c, TL_LOAD(at->ctx->args[0]));
	if (at->tp->inet_conn.icsk_inet.sk.sk_wmem_alloc.refs.counter < TL_QUEUED_BYTES)
		return;
	COUNT(at, timeouts_queued);
	c->queued = 1;
	live_note_queued(&c->host);
}

static __always_inline void on_resend(const struct scene *at, struct connection *c)
{
	const uint64_t now_us = at->tp->tcp_mstamp;
	const uint32_t rto_us = us_of(at, at->tp->inet_conn.icsk_rto);
	const uint32_t probe_us = (at->tp->srtt_us >> 2) + us_of(at, at->tp->inet_conn.icsk_rto_min);
	struct tl_resend_event in = { .time_us = (int64_t)now_us, .out_segments = at->tp->packets_out };
	struct tl_resend_wait wait = { 0 };
	struct live_arm_counts *n = live_counts_of(&c->member);

	settle(at, c, 1);
	if (!c->timeout && BPF_CORE_READ_BITFIELD(at->tp, inet_conn.icsk_ca_state) >= TL_CA_RECOVERY) {
		if (n)
			n->repairs++;
		return;
	}
	if (n)
		n->timers++;
	if (c->timeout)
		COUNT(at, timeouts);
	else
		COUNT(at, probes);
	if (c->resent++ == 0) {
		c->resent_us = now_us;
		c->dsacks = at->tp->dsack_dups;
	}
	if (c->policy.flight.resends == 0)
		c->policy.flight.armed_us =
			(int64_t)(now_us - (c->timeout || rto_us < probe_us ? rto_us : probe_us));
	c->timeout = 0;
	live_policy_timer(&c->policy, &in, &wait);
}

/* Runs when the first end closes the connection, and when both have (concerns_us()). Stores what was learned:
 * at first, because the next connection may begin before both have closed, and then again if there was more
 * since than the round of the FIN. */
static __always_inline void on_state(const struct scene *at, struct connection *c)
{
	const int is_end = TL_LOAD(at->ctx->args[1]) == BPF_TCP_CLOSE;

	settle(at, c, is_end);
	if (c->kept_rounds == 0 || c->rounds > c->kept_rounds + 1 || c->learned)
		live_remember(&c->host, &c->policy);
	c->kept_rounds = c->rounds;
	c->learned = 0;
	if (!is_end)
		return;
	COUNT(at, remembered);
	flush(at, c);
	if (c->loss.rounds > 0)
		live_add_losses(&c->host, &c->loss);
}

static __always_inline void on_event(const struct scene *at)
{
	struct connection *c;

	switch (at->ctx->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB: begin(at); return;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB: on_established(at); return;
	}
	c = known(at);
	if (!c)
		return;
	switch (at->ctx->op) {
	case BPF_SOCK_OPS_RTT_CB: on_round(at, c); break;
	case BPF_SOCK_OPS_RTO_CB: on_timeout(at, c); break;
	case BPF_SOCK_OPS_RETRANS_CB: on_resend(at, c); break;
	case BPF_SOCK_OPS_STATE_CB:
		if (c->rounds > 0)
			on_state(at, c);
		break;
	}
}

static __always_inline void handle(struct bpf_sock_ops *ctx)
{
	const uint32_t zero = 0;
	struct bpf_sock *sk = ctx->sk;
	struct counts *n = bpf_map_lookup_elem(&counts, &zero);
	struct scene at = { .ctx = ctx, .sk = sk, .settings = bpf_map_lookup_elem(&settings, &zero) };

	if (!sk || !n || !at.settings || at.settings->ticks_per_second == 0)
		return;
	at.tp = bpf_skc_to_tcp_sock(sk);
	if (!at.tp)
		return;
	at.n = n->n;
	on_event(&at);
}

SEC("sockops")
int live(struct bpf_sock_ops *ctx)
{
	if (concerns_us(ctx))
		handle(ctx);
	return 1;
}

char _license[] SEC("license") = "GPL";
