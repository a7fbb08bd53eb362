/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Learns the floor of the retransmission timer for each connection of a cgroup: a sock_ops program for an
 * unmodified kernel with BTF, 6.1 or later. The learner is the core's resend policy `priced`; its state is in
 * socket storage.
 *
 * Sensor. The kernel calls the program once a round (RTT_CB), so once a request, and at each retransmission
 * (RETRANS_CB). A retransmission in a state below Recovery is a tail loss probe, one after RTO_CB a timeout;
 * others are not the timer's. Whether it was spurious is shown by the peer's timestamps and DSACKs (live_answers.h).
 *
 * Caution. The policy's guard against overload sees the losses of one connection. The share of lost rounds of all
 * connections with a host is watched too (live_losses.h), by the same limits.
 *
 * Actuator. TCP_BPF_RTO_MIN, the floor under the variance term of the RTO and of a lone segment's probe: whole
 * ticks of the kernel's clock, two at least, and never more than the floor that the kernel had before. Backoff
 * stays the kernel's, unless it is to be bounded (live_backoff.h).
 *
 * A queue of this host that is longer than a learned RTO lets the timer end although nothing is overdue. The program
 * is not called before that. After it this connection, and for an hour the next ones to the same host, are stock.
 *
 * Law: never ask for more than the current RTTVAR. The kernel raises RTTVAR only when the mean deviation
 * exceeds the floor, so a floor above RTTVAR would keep late answers from lengthening the timer. For the same
 * reason a floor that was lowered cannot be lifted on an open connection.
 *
 * An accepting connection has its first RTT sample before the program sees it, with the kernel's floor. So its
 * RTTVAR comes down within some twenty rounds, while its probe follows at once; a connecting one has its floor
 * from the SYN on. What a listener is given would apply to every place alike, so listeners are left alone.
 *
 * Control group. Only a drawn share of the connections gets its floors; the others are observed (live_arms.h). */
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

/* Returns whether this connection gets what is chosen for it. */
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

/* Returns the floor of a candidate in ticks, at most the kernel's own. */
static __always_inline uint32_t ticks_of(const struct scene *at, const struct connection *c, uint32_t rank)
{
	uint32_t ticks = c->base_ticks;

	if (rank < TL_RESEND_FLOORS)
		ticks = ticks_up(at, live_floor_us(rank));
	if (ticks < TL_TICKS_LEAST)
		ticks = TL_TICKS_LEAST;
	return ticks < c->base_ticks ? ticks : c->base_ticks;
}

/* Returns whether the kernel's floor is right for now, and counts why. */
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

/* Begins to learn from a connection. */
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
	/* a longer floor was asked for by somebody, and TCP_BPF_RTO_MIN could not give it back */
	c->base_ticks = c->ticks = own <= stock && !route_sets_floor(at->tp) ? own : 0;
	if (c->base_ticks == 0) {
		if (at->ctx->op != BPF_SOCK_OPS_TCP_CONNECT_CB) /* begun once more when it is established */
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

/* The next segment begins a flight. The kernel does not call the program when a segment is sent, so it begins
 * at the ACK before; where times count, at the timer, they are put right. */
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

/* Tells the policy that a first copy was late: DSACK has shown it after the policy took it for lost. When it arrived
 * is not known, but it was later than the retransmission. The flight is told to it a second time, so it counts twice
 * where flights are counted; and where the host has been told of the loss already, that remains. */
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

/* Counts a round that was left open, if it is known what it was for, or if it `must` be, and learns from it. Returns
 * whether it was counted. */
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

/* Tells the policy of an answer, and its host of what the policy takes for a loss. */
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
	/* before 6.12 the callback has no argument */
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

/* The retransmission timer has ended. If a segment of the connection is still in a queue of this host, nothing is
 * overdue: a tail loss probe has found it there, and the kernel has armed the RTO for the next tick. The RTO cannot be
 * lengthened on an open connection, so all that can be done is to learn from it. */
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

/* What was learned is written when the first end closes, because the next connection may begin before both have, and
 * again at the end: concerns_us() lets these two changes through. The FIN is a round too, for which alone nothing is
 * written. */
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
