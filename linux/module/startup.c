// SPDX-License-Identifier: GPL-2.0-only
/* net.tcplearn.startup: the startup policy of a network namespace, its known destination prefixes, and
 * the initial windows of its connections. tcp_init_transfer sets the windows just before `init`, and the
 * kernel does not set them again before the first data. */
#include <linux/slab.h>
#include <net/dst.h>
#include <net/inet_sock.h>

#include "choice.h"
#include "counters.h"
#include "log.h"
#include "places.h"
#include "startup.h"
#include "startups.h"

/* 2^6 rows of four: 256 destination prefixes for each namespace. */
#define TL_STARTUP_ROW_BITS 6
/* A connection reports after this many segments, or at its end. */
#define TL_REPORT_SEGMENTS 32

static const struct tl_kernel_startup *tl_policy(const struct tl_choice *choice)
{
	return choice ? container_of(choice->algorithm, struct tl_kernel_startup, algorithm) : NULL;
}

/* The caller holds the lock. */
static struct tl_choice *tl_startup_choice(struct tl_startup_net *of)
{
	return rcu_dereference_protected(of->choice, lockdep_is_held(&of->lock));
}

bool tl_startup_remembers(const struct net *net)
{
	const struct tl_kernel_startup *p;
	bool remembers;

	rcu_read_lock();
	p = tl_policy(rcu_dereference(tl_net_of(net)->startup.choice));
	remembers = p && p->remembers;
	rcu_read_unlock();
	return remembers;
}

static int tl_startup_put(void *net, struct tl_choice *choice)
{
	struct tl_startup_net *of = net;
	const struct tl_kernel_startup *p = tl_policy(choice);
	struct tl_places *places = NULL, *before;

	if (p && p->remembers) {
		places = tl_places_new(TL_STARTUP_ROW_BITS, choice->bytes, TL_PLACE_PREFIX);
		if (!places) {
			kfree(choice);
			return -ENOMEM;
		}
	}
	spin_lock_bh(&of->lock);
	before = of->places;
	of->places = places;
	choice = rcu_replace_pointer(of->choice, choice, lockdep_is_held(&of->lock));
	spin_unlock_bh(&of->lock);
	tl_places_free(before);
	if (choice)
		kfree_rcu(choice, rcu);
	return 0;
}

void tl_startup_net_init(struct tl_startup_net *of)
{
	spin_lock_init(&of->lock);
}

void tl_startup_net_exit(struct tl_startup_net *of)
{
	tl_startup_put(of, NULL);
}

int tl_do_startup(tl_ctl_table *table, int write, void *buffer, size_t *length, loff_t *position)
{
	struct tl_startup_net *of = table->data;

	return tl_do_choice_by(table, write, buffer, length, position, &of->choice, tl_startup_put, of);
}

/* Returns whether the handshake has just ended. It excludes a later change of the congestion control:
 * before the first data, a server's socket is in TCP_SYN_RECV, and a client has sent its SYN and
 * retransmissions of it, but no ACK. */
static bool tl_startup_begins(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return sk->sk_state == TCP_SYN_RECV ||
	       (sk->sk_state == TCP_ESTABLISHED && tp->segs_out <= 1 + tp->total_retrans);
}

/* After a lost SYN-ACK, this end often sends two SYN-ACKs at about the same time: one by its timer, and
 * one in answer to the client's retransmitted SYN. total_retrans counts both, so half of it is taken as
 * the number of timeouts if the timer sent one. undo_marker shows that; it is cleared if a timestamp
 * shows that the first SYN-ACK had arrived. */
static void tl_startup_passive(const struct tcp_sock *tp, s64 echo_us, struct tl_handshake *h)
{
	h->loss = TL_HANDSHAKE_SYN_ACK;
	h->resends = tp->undo_marker ? (tp->total_retrans + 1) / 2 : tp->total_retrans;
	/* the answered SYN-ACK was sent before any timer could expire, so it was late and not lost */
	if (!tp->undo_marker && echo_us >= jiffies_to_usecs(TCP_TIMEOUT_INIT)) {
		h->loss = TL_HANDSHAKE_WHOLE;
		h->resends = 0;
	}
}

/* A Linux server answers a repeated SYN with the timestamp of the SYN that arrived first, so the echo
 * shows which one that was. This end's kernel clears undo_marker if it was the first SYN. */
static void tl_startup_active(const struct tcp_sock *tp, s64 echo_us, struct tl_handshake *h)
{
	h->resends = tp->total_retrans;
	h->loss = TL_HANDSHAKE_EITHER;
	if (echo_us >= 0 && !tp->undo_marker)
		h->loss = TL_HANDSHAKE_SYN_ACK;
	else if (echo_us >= 0 && h->resends == 1)
		h->loss = TL_HANDSHAKE_SYN;
}

/* Returns the time since the first SYN or SYN-ACK was sent. The kernel does not store it, so it is
 * computed: the timeouts that have expired, by the kernel's schedule, plus the age of the answered copy. */
static s64 tl_startup_took_us(const struct sock *sk, bool passive, s64 echo_us, const struct tl_handshake *h)
{
	u32 linear = passive ? 0 : tl_syn_linear_timeouts(sock_net(sk)), i;
	s64 sum_us = max_t(s64, echo_us, 0);

	if (!h->resends)
		return tcp_sk(sk)->srtt_us >> 3;
	if (!passive && h->loss == TL_HANDSHAKE_SYN_ACK) /* the echo is that of the first SYN */
		return sum_us;
	for (i = 0; i < min(h->resends, 20u); i++)
		sum_us += (s64)jiffies_to_usecs(TCP_TIMEOUT_INIT) << (i > linear ? i - linear : 0);
	return sum_us;
}

static void tl_startup_handshake(struct sock *sk, bool passive, struct tl_handshake *h)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct dst_entry *dst = __sk_dst_get(sk);
	s64 echo_us = tp->rx_opt.saw_tstamp && tp->rx_opt.rcv_tsecr ? tl_echo_us(tp) : -1;

	memset(h, 0, sizeof(*h));
	h->time_us = tp->tcp_mstamp;
	if (tp->total_retrans && passive)
		tl_startup_passive(tp, echo_us, h);
	else if (tp->total_retrans)
		tl_startup_active(tp, echo_us, h);
	h->took_us = tl_startup_took_us(sk, passive, echo_us, h);
	h->iw_segments = (dst ? dst_metric(dst, RTAX_INITCWND) : 0) ?: TCP_INIT_CWND;
	h->iw_segments = min(h->iw_segments, tp->snd_cwnd_clamp);
	h->ssthresh_segments = tp->snd_ssthresh;
}

/* Asks the policy that remembers destination prefixes; NULL if there is none any more. */
static const struct tl_kernel_startup *tl_startup_ask_place(struct sock *sk, struct tl_startup_net *of,
							    const struct tl_handshake *h,
							    struct tl_startup_window *window)
{
	const struct tl_kernel_startup *p = NULL;

	spin_lock_bh(&of->lock);
	if (of->places) {
		struct tl_choice *choice = tl_startup_choice(of);
		void *state = tl_place_of(of->places, sk, choice->blank);

		p = tl_policy(choice);
		p->decide(state, h, window);
		p->note(state, h);
	}
	spin_unlock_bh(&of->lock);
	return p;
}

/* Asks the policy for the windows; NULL: there is none. Only a policy that remembers needs the lock. */
static const struct tl_kernel_startup *tl_startup_ask(struct sock *sk, struct tl_startup_net *of,
						      const struct tl_handshake *h,
						      struct tl_startup_window *window)
{
	const struct tl_kernel_startup *p;
	const struct tl_choice *choice;

	rcu_read_lock();
	choice = rcu_dereference(of->choice);
	p = tl_policy(choice);
	if (p && !p->remembers)
		p->decide(choice->blank, h, window);
	rcu_read_unlock();
	return p && p->remembers ? tl_startup_ask_place(sk, of, h, window) : p;
}

/* Decides on the windows and sets them. Without a policy, records the kernel's windows. */
static void tl_startup_decide(struct sock *sk, struct tl_startup_net *of, const struct tl_handshake *h,
			      struct tl_startup_decision *out)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct tl_startup_window window = { tcp_snd_cwnd(tp), tp->snd_ssthresh };
	const struct tl_kernel_startup *p = tl_startup_ask(sk, of, h, &window);

	out->policy = p ? 1 + (p - tl_kernel_startups) : 0;
	/* after a handshake without losses, values set by others, such as BPF, stay */
	if (p && (h->loss != TL_HANDSHAKE_WHOLE || window.iw_segments != h->iw_segments ||
		  window.ssthresh_segments != h->ssthresh_segments)) {
		tcp_snd_cwnd_set(tp, min(window.iw_segments, tp->snd_cwnd_clamp));
		tp->snd_ssthresh = window.ssthresh_segments;
	}
	out->iw = tcp_snd_cwnd(tp);
	out->ssthresh = tp->snd_ssthresh;
}

void tl_startup_begin(struct sock *sk, struct tl_startup_decision *out, bool wanted)
{
	struct tl_startup_net *of = &tl_net_of(sock_net(sk))->startup;
	bool passive = sk->sk_state == TCP_SYN_RECV;
	struct tl_handshake h;

	memset(out, 0, sizeof(*out));
	if (!rcu_access_pointer(of->choice) && !wanted)
		return;
	if (!tl_startup_begins(sk))
		return;
	tl_startup_handshake(sk, passive, &h);
	tl_startup_decide(sk, of, &h, out);
	out->took_us = min_t(s64, h.took_us, U32_MAX);
	out->whole_iw = h.iw_segments;
	out->whole_ssthresh = h.ssthresh_segments;
	out->resends = min(h.resends, 255u);
	out->retransmitted = min(tcp_sk(sk)->total_retrans, 255u);
	out->loss = h.loss;
	out->passive = passive;
	tl_count(startups);
	if (h.loss != TL_HANDSHAKE_WHOLE)
		tl_count(startups_lost);
}

/* Reports the segments since the last report to the destination prefix; if `last`, even a few. */
void tl_startup_report(const struct sock *sk, struct tl_startup_reported *so_far, bool last)
{
	struct tl_startup_net *of = &tl_net_of(sock_net(sk))->startup;
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_startup_report report = {
		.time_us = tp->tcp_mstamp,
		.sent_segments = tp->data_segs_out - so_far->sent,
		.resent_segments = tp->total_retrans - so_far->resent,
		.rtt_us = tp->srtt_us >> 3,
		.rtt_min_us = tp->srtt_us ? tcp_min_rtt(tp) : 0,
	};

	if (report.sent_segments < (last ? 1 : TL_REPORT_SEGMENTS))
		return;
	spin_lock_bh(&of->lock);
	if (of->places) {
		struct tl_choice *choice = tl_startup_choice(of);

		tl_policy(choice)->report(tl_place_of(of->places, sk, choice->blank), &report);
	}
	spin_unlock_bh(&of->lock);
	so_far->sent = tp->data_segs_out;
	so_far->resent = tp->total_retrans;
}

void tl_log_startup(const struct sock *sk, struct tl_connection *c, const struct tl_startup_decision *d)
{
	struct tl_log_startup r = {
		.took_us = d->took_us,
		.iw = d->iw,
		.ssthresh = d->ssthresh,
		.whole_iw = d->whole_iw,
		.whole_ssthresh = d->whole_ssthresh,
		.loss = d->loss,
		.passive = d->passive,
		.resends = d->resends,
		.retransmitted = d->retransmitted,
	};

	if (!d->whole_iw)
		return;
	strscpy(r.policy, d->policy ? tl_kernel_startups[d->policy - 1].algorithm.name : tl_startups.nothing,
		sizeof(r.policy));
	tl_log(sk, c, &r, sizeof(r), TL_LOG_STARTUP, 0);
}
