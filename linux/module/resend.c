// SPDX-License-Identifier: GPL-2.0-only
/* Sets the times of a connection's retransmissions by a resend policy of the core. The module writes the
 * policy's wait to icsk_rto just before the kernel arms a timer. The kernel sends a tail loss probe no
 * later than at the RTO; so the first retransmission is a probe, and the kernel arms the RTO after it.
 *
 * - Before segments are sent, and at each ACK of new data, the module writes the first wait, which is at
 *   most the kernel's own.
 * - After a probe, tcp_send_loss_probe arms the present icsk_rto without calling the congestion control. So
 *   the wait is written at the tracepoint of the retransmission, or for a probe with new data at
 *   min_tso_segs.
 * - At a timeout the kernel doubles icsk_rto after set_state, so half of the wait is written.
 * - No wait is longer than the stock kernel's after as many timeouts, and each obeys a configured rto_min.
 *
 * Every event and answer is logged, so that the answers can be compared with those of the core elsewhere. */
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "allocation.h"
#include "choice.h"
#include "counters.h"
#include "log.h"
#include "resend.h"
#include "resend_places.h"
#include "timer.h"

enum { TL_SEND, TL_TIMER, TL_ACK }; /* kinds of event in a log record */

/* The time in us by which the kernel's own probe timeout exceeds two SRTT (tcp_schedule_loss_probe). */
#define TL_PROBE_MIN_US 2000
/* The largest number of segments in flight that is given to a policy; it means this many or more. */
#define TL_MANY 4

static struct kmem_cache *cache;
static struct tracepoint *resending;

/* Begins a connection's resend policy; if allocation fails, the estimator's or the kernel's RTO stays. */
void tl_resend_start(struct sock *sk, struct tl_connection *c)
{
	struct tl_choice_start start =
		tl_choice_start(sk, &tl_net_of(sock_net(sk))->resend, cache, offsetof(struct tl_resend, state));
	struct tl_resend *r = start.memory;

	c->resend = r;
	if (!r)
		return;
	r->policy = container_of(start.algorithm, struct tl_kernel_resend, algorithm) - tl_kernel_resends;
	r->delivered = tcp_sk(sk)->delivered;
	r->timeouts = inet_csk(sk)->icsk_backoff;
	tl_resend_inherit(sk, tl_resend_policy(r), r->state);
}

void tl_resend_free(struct tl_connection *c)
{
	if (c->resend)
		kmem_cache_free(cache, c->resend);
}

static void tl_log_resend(const struct sock *sk, struct tl_connection *c, u8 event, u32 out_segments,
			  const struct tl_resend_ack *ack, const struct tl_resend_wait *wait, u32 rto)
{
	u64 begun = c->measures ? get_cycles() : 0;
	struct tl_log_resend r = {
		.wait_us = wait->wait_us,
		.out_segments = out_segments,
		.event = event,
		.probe = wait->probe,
		.rto_us = jiffies_to_usecs(rto),
	};

	if (!c->logs)
		return;
	if (ack) {
		r.rtt_us = ack->rtt_us;
		r.answers = ack->answers;
	}
	tl_log(sk, c, &r, sizeof(r), TL_LOG_RESEND, 0);
	/* the measured cycles of an ACK include logging, which is counted here */
	if (ack && c->measures)
		tl_count_add(cycles_resend_log, get_cycles() - begun);
}

static u32 tl_jiffies_of(const struct sock *sk, s64 wait_us)
{
	/* round up, because a timer must not be early */
	return clamp_t(u64, ((u64)wait_us * HZ + USEC_PER_SEC - 1) / USEC_PER_SEC, TL_JIFFIES_MIN, tl_rto_max(sk));
}

static u32 tl_kept_us(s64 wait_us)
{
	return min_t(s64, wait_us, U32_MAX);
}

static void tl_write(struct sock *sk, struct tl_connection *c, u32 rto)
{
	inet_csk(sk)->icsk_rto = c->rto = c->armed_rto = rto;
	c->ours = true;
}

bool tl_resend_kernel_probes(const struct sock *sk)
{
	u8 early_retrans = READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_early_retrans);

	return tcp_is_sack(tcp_sk(sk)) && (early_retrans == 3 || early_retrans == 4);
}

/* Returns whether a segment of the connection is still in a queue of this host. Then nothing is overdue: a
 * probe would find its segment unsent, and become a timeout in the next jiffy (tcp_send_loss_probe). A queue
 * that delays packets counts none of their bytes, but keeps the copies of segments busy; one that splits
 * them counts bytes. A pure ACK counts 2 bytes. A first segment that is leaving now is counted already, but is
 * not in the retransmission queue yet. */
static bool tl_queued_here(const struct sock *sk)
{
	const struct sk_buff *last = tcp_rtx_queue_tail(sk);

	return last && (skb_fclone_busy(sk, last) || sk_wmem_alloc_get(sk) > SKB_TRUESIZE(1));
}

/* Returns the RTO of the stock kernel after as many timeouts. The policy's waits do not exceed it. */
static u32 tl_most_rto(const struct sock *sk, const struct tl_connection *c)
{
	return max_t(u32, tl_doubled(sk, c->stock_rto, c->resend->timeouts), TL_JIFFIES_MIN);
}

/* Returns a wait that is at least SRTT plus a configured rto_min. */
static s64 tl_floored_us(const struct sock *sk, const struct tl_connection *c, s64 wait_us)
{
	const u32 floor_us = c->resend->floor_us;

	return unlikely(floor_us) ? max_t(s64, wait_us, (tcp_sk(sk)->srtt_us >> 3) + floor_us) : wait_us;
}

/* Returns the first wait as an RTO in jiffies, counted from the oldest segment, which was sent `age_us`
 * ago. It is at least SRTT plus a configured rto_min, and at most the kernel's own RTO. If the kernel's
 * tail loss probe comes before the policy's wait ends, it is the kernel's own RTO. With TL_MANY or more
 * segments in flight this holds even if the kernel sends no probes, and likewise while a segment is in a queue
 * of this host. */
static u32 tl_first_rto(struct sock *sk, const struct tl_connection *c, const struct tl_resend_wait *wait,
			u32 out_segments, u32 age_us)
{
	u32 stock = tl_most_rto(sk, c), rto;

	c->resend->floor_us = tl_floor_us(sk);
	if (wait->probe && out_segments > 1 && wait->wait_us >= (tcp_sk(sk)->srtt_us >> 2) + TL_PROBE_MIN_US &&
	    (out_segments >= TL_MANY || tl_resend_kernel_probes(sk)))
		return stock;
	rto = tl_jiffies_of(sk, tl_floored_us(sk, c, wait->wait_us) + age_us);
	return rto < stock && !tl_queued_here(sk) ? rto : stock;
}

/* Returns the last RTO doubled if the policy has at least doubled its wait, or grown by half if the policy has
 * done just that (`priced/backoff-1.5`); 0 for other growth. A growth by half is carried over only from an RTO
 * that is more than the policy's last wait in an even number of jiffies; else rounding up would add up. */
static u32 tl_grown_rto(const struct sock *sk, const struct tl_connection *c, u32 last, s64 wait_us)
{
	const s64 answer_us = c->resend->answer_us;

	if (wait_us >= 2 * answer_us)
		return tl_doubled(sk, last, 1);
	return wait_us != 3 * answer_us / 2 || last <= 2 * DIV_ROUND_UP(tl_jiffies_of(sk, answer_us), 2) ? 0 :
	       min(last + DIV_ROUND_UP(last, 2), tl_rto_max(sk));
}

/* Returns the wait after a retransmission as an RTO in jiffies, for the policy's answer `wait_us`; `timeout`:
 * it was not a probe. If the policy has let its wait grow exponentially, the RTO is at least the last one grown
 * as much, which may have been longer than the policy's (a configured rto_min; no probe during recovery). If the
 * kernel has changed the RTO since (after an ICMP error, RFC 6069, or because its own queue was full), it is at
 * most twice that. */
static u32 tl_later_rto(const struct sock *sk, const struct tl_connection *c, s64 wait_us, bool timeout)
{
	const u32 last = inet_csk(sk)->icsk_rto;
	u32 rto = tl_jiffies_of(sk, tl_floored_us(sk, c, wait_us));

	if (timeout && tl_queued_here(sk))
		return tl_most_rto(sk, c);
	if (timeout)
		rto = last != c->rto ? min(rto, tl_doubled(sk, last, 1)) :
				       max(rto, tl_grown_rto(sk, c, last, wait_us));
	return min(rto, tl_most_rto(sk, c));
}

/* Returns how many queued segments the windows allow to send, at most TL_MANY. */
static u32 tl_about_to_leave(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 in_flight = tcp_packets_in_flight(tp), cwnd = tcp_snd_cwnd(tp);
	u32 end = tp->write_seq;

	if (!before(tp->snd_nxt, tcp_wnd_end(tp)) || in_flight >= cwnd)
		return 0;
	if (before(tcp_wnd_end(tp), end))
		end = tcp_wnd_end(tp);
	return min3(DIV_ROUND_UP(end - tp->snd_nxt, max(tp->mss_cache, 1u)), cwnd - in_flight, (u32)TL_MANY);
}

static void tl_begin(u64 *at)
{
	at[0] = get_cycles();
	at[1] = get_cycles();
}

static void tl_measured(const struct tl_connection *c, const u64 *at)
{
	u64 end = get_cycles();

	if (!c->measures)
		return;
	tl_count(resend_measured);
	tl_count_add(cycles_resend, end - at[1]);
	tl_count_add(cycles_resend_clock, at[1] - at[0]);
}

/* Tells the policy that the timer has retransmitted; `timeout`: not a probe. Returns the next RTO. */
static u32 tl_fired(struct sock *sk, struct tl_connection *c, u32 out_segments, bool timeout)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_resend_event in = { .time_us = tp->tcp_mstamp, .out_segments = out_segments };
	struct tl_resend *r = c->resend;
	struct tl_resend_wait wait;
	u64 at[2];
	u32 rto;

	tl_begin(at);
	tl_resend_policy(r)->timer(r->state, &in, &wait);
	tl_measured(c, at);
	if (!r->resent)
		r->resent_at = tl_timestamp(tp, tp->tcp_mstamp);
	r->resent = true;
	rto = tl_later_rto(sk, c, wait.wait_us, timeout);
	r->answer_us = tl_kept_us(wait.wait_us);
	tl_log_resend(sk, c, TL_TIMER, in.out_segments, NULL, &wait, rto);
	return rto;
}

static void tl_probed(struct sock *sk, struct tl_connection *c, u32 out_segments)
{
	tl_timer_settle(sk, c, TL_NEXT_EVENT);
	tl_count(resend_probes);
	tl_write(sk, c, tl_fired(sk, c, out_segments, false));
}

void tl_resend_timeout(struct sock *sk, struct tl_connection *c)
{
	u32 half;

	if (c->resend->timeouts < U8_MAX)
		c->resend->timeouts++;
	half = DIV_ROUND_UP(tl_fired(sk, c, tcp_sk(sk)->packets_out, true), 2);
	tl_count(resend_timeouts);
	tl_write(sk, c, 2 * half);
	inet_csk(sk)->icsk_rto = half;
	tl_timer_backoff(sk, c, 2 * half);
}

bool tl_resend_probes_with_new_data(const struct sock *sk)
{
	return !tcp_sk(sk)->tlp_high_seq && inet_csk(sk)->icsk_pending == ICSK_TIME_LOSS_PROBE &&
	       (s32)(tcp_jiffies32 - tl_timeout(sk)) >= 0 && !timer_pending(tl_timer_of(sk)) &&
	       !test_bit(TCP_WRITE_TIMER_DEFERRED, &sk->sk_tsq_flags);
}

void tl_resend_send(struct sock *sk, struct tl_connection *c)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_resend_event in = { .time_us = tp->tcp_mstamp };
	/* if nothing is in flight, at least one segment leaves, because the caller announces one */
	u32 leaving = max(tl_about_to_leave(sk), tp->packets_out ? 0u : 1u), i;
	struct tl_resend *r = c->resend;
	struct tl_resend_wait wait;
	const struct sk_buff *head;
	u32 age_us = 0;
	u64 at[2];

	if (tp->packets_out && tl_resend_probes_with_new_data(sk)) { /* a probe is sent regardless of cwnd */
		tl_probed(sk, c, tp->packets_out + 1);
		return;
	}
	if (!leaving)
		return;
	for (i = 0; i < min(leaving, 2u); i++) {
		in.out_segments = tp->packets_out + leaving;
		tl_begin(at);
		tl_resend_policy(r)->send(r->state, &in, &wait);
		tl_measured(c, at);
		tl_log_resend(sk, c, TL_SEND, in.out_segments, NULL, &wait, 0);
	}
	if (!r->resent)
		r->answer_us = tl_kept_us(wait.wait_us);
	/* a running RTO stays as it is (RFC 6298, 5.1) */
	if (tp->packets_out && inet_csk(sk)->icsk_pending != ICSK_TIME_LOSS_PROBE)
		return;
	tl_count(resend_first);
	head = tcp_rtx_queue_head(sk);
	if (head)
		age_us = tcp_stamp_us_delta(tp->tcp_mstamp, tcp_skb_timestamp_us(head));
	tl_write(sk, c, tl_first_rto(sk, c, &wait, in.out_segments, age_us));
}

static void tl_give_ack(const struct sock *sk, struct tl_connection *c, s32 rtt_us, struct tl_resend_wait *wait)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_resend_ack in = {
		.time_us = tp->tcp_mstamp,
		.rtt_us = max(rtt_us, 0),
		.out_segments = tp->packets_out,
	};
	struct tl_resend *r = c->resend;

	if (r->resent && tp->rx_opt.saw_tstamp && tp->rx_opt.rcv_tsecr)
		in.answers = before(tp->rx_opt.rcv_tsecr, r->resent_at) ? TL_RESEND_FIRST : TL_RESEND_LATER;
	else if (r->resent)
		in.answers = TL_RESEND_UNCLEAR;
	r->resent = false;
	tl_resend_policy(r)->ack(r->state, &in, wait);
	r->answer_us = tl_kept_us(wait->wait_us);
	tl_log_resend(sk, c, TL_ACK, in.out_segments, &in, wait, 0);
}

void tl_resend_handshake(const struct sock *sk, struct tl_connection *c, s32 rtt_us)
{
	struct tl_resend_wait wait;

	tl_give_ack(sk, c, rtt_us, &wait);
}

void tl_resend_ack(struct sock *sk, struct tl_connection *c, s32 rtt_us)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_resend *r = c->resend;
	struct tl_resend_wait wait;

	if (r->delivered == tp->delivered && rtt_us < 0) { /* the ACK acknowledges nothing new */
		tl_timer_not_sampled(sk, c);
		return;
	}
	r->delivered = tp->delivered;
	if (rtt_us >= 0)
		r->timeouts = 0;
	if (rtt_us < 0 && !tp->packets_out)
		tl_timer_not_sampled(sk, c); /* restores the kernel's own RTO */
	tl_give_ack(sk, c, rtt_us, &wait);
	if (!tp->packets_out) { /* with a sample, icsk_rto has the kernel's own value already */
		c->armed_rto = inet_csk(sk)->icsk_rto;
		c->ours = false;
		return;
	}
	tl_count(resend_first);
	tl_write(sk, c, tl_first_rto(sk, c, &wait, tp->packets_out, 0));
}

/* Handles a tail loss probe that is a retransmission, under the socket's lock. */
static void tl_resent(const struct sock *sk)
{
	struct tl_connection *c;

	if (!sk_fullsock(sk) || sk->sk_protocol != IPPROTO_TCP)
		return;
	c = tl_connection_of(sk);
	if (c && c->resend && inet_csk(sk)->icsk_pending == ICSK_TIME_LOSS_PROBE &&
	    inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		tl_probed((struct sock *)sk, c, tcp_sk(sk)->packets_out);
}

TL_RETRANSMIT_PROBE(tl_retransmit_probe, tl_resent)

static void tl_look_for(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "tcp_retransmit_skb"))
		resending = tracepoint;
}

int tl_resend_watch(void *probe, bool on)
{
	int error = on ? tracepoint_probe_register(resending, probe, NULL) :
			 tracepoint_probe_unregister(resending, probe, NULL);

	if (!on)
		tracepoint_synchronize_unregister();
	return error;
}

int tl_resend_init(void)
{
	int error;

	cache = TL_ALLOC(kmem_cache_create("tcplearn_resend", sizeof(struct tl_resend) + tl_kernel_resend_bytes_max, 0,
					   SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL));
	if (!cache)
		return -ENOMEM;
	for_each_kernel_tracepoint(tl_look_for, NULL);
	error = !resending ? -ENOENT : TL_ALLOC_ERROR(tl_resend_watch((void *)tl_retransmit_probe, true));
	if (error)
		kmem_cache_destroy(cache);
	return error;
}

void tl_resend_exit(void)
{
	tl_resend_watch((void *)tl_retransmit_probe, false);
	kmem_cache_destroy(cache);
}
