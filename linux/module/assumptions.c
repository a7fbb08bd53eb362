// SPDX-License-Identifier: GPL-2.0-only
/* What the module assumes about the kernel's TCP: when it computes the RTO, arms its timer, calls the operations of
 * a congestion control and the tracepoint of retransmissions, and doubles. No header says any of this, so it is
 * tried when the module is loaded, on a connection of this machine with itself (127.0.0.1). A kernel in which
 * something else happens is refused, and so is a kernel whose structs differ from those of its headers.
 *
 * The client's congestion control is that of this file. It writes an RTO wherever the module would, and looks what
 * the kernel has made of it. No ACK comes while the server's end is locked, since its segments then wait in the
 * backlog of its socket; so timers fire although nothing was lost.
 *
 * The values written are much shorter than the kernel's own RTO and probe, 200 ms at least, or much longer. */
#define pr_fmt(fmt) "tcplearn: " fmt
#include <linux/in.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "allocation.h"
#include "assumptions.h"
#include "assumptions_trial.h"
#include "resend.h"
#include "timer.h"

#ifdef TL_FAIL_ALLOC
static int fail_assumption;
module_param(fail_assumption, int, 0444);
MODULE_PARM_DESC(fail_assumption, "which assumption about the kernel is taken not to hold, from 1");
#else
enum { fail_assumption };
#endif

static void tl_assume(struct tl_trial *t, enum tl_assumption which, bool holds)
{
	__set_bit(which, &t->tried);
	if (!holds || fail_assumption == which + 1)
		__set_bit(which, &t->wrong);
}

static void tl_trial_start(struct sock *sk)
{
	struct tl_trial *t = *tl_trial_at(sk);

	if (t->step != TL_IDLE && !tcp_sk(sk)->packets_out) {
		t->srtt_before = tcp_sk(sk)->srtt_us;
		tl_set_rto(sk, t, TL_SHORT);
	}
}

static void tl_trial_event(struct sock *sk, enum tcp_ca_event event)
{
#ifndef TL_TX_START_APART
	if (event == CA_EVENT_TX_START)
		tl_trial_start(sk);
#endif
}

static u32 tl_trial_min_tso_segs(struct sock *sk)
{
	struct tl_trial *t = *tl_trial_at(sk);

	if (t->step == TL_ACKED && tcp_sk(sk)->packets_out) {
		tl_assume(t, TL_ASSUMES_FIRST, tl_armed(sk, t));
		tl_assume(t, TL_ASSUMES_NEW_DATA, !tl_resend_probes_with_new_data(sk));
	}
	if (t->step == TL_NEW_DATA && !t->probed && tcp_sk(sk)->packets_out && tl_resend_probes_with_new_data(sk)) {
		t->probed = true;
		tl_set_rto(sk, t, TL_LONG);
	}
	return 2;
}

static void tl_trial_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct tl_trial *t = *tl_trial_at(sk);
	const u32 before = t->srtt_before;

	if (t->step != TL_ACKED || t->two_out || !tcp_sk(sk)->packets_out || sample->rtt_us < 0 || !before)
		return;
	t->two_out = true;
	tl_assume(t, TL_ASSUMES_COMPUTED, inet_csk(sk)->icsk_rto != t->wrote);
	tl_assume(t, TL_ASSUMES_SRTT,
		  abs((s32)(tcp_sk(sk)->srtt_us - (before - (before >> 3) + sample->rtt_us))) <= 1);
	tl_set_rto(sk, t, TL_AFTER_ACK);
}

static void tl_trial_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tl_trial *t = *tl_trial_at(sk);

	if (t->step == TL_ACKED && t->wrote == TL_AFTER_ACK && !test_bit(TL_ASSUMES_ACK, &t->tried))
		tl_assume(t, TL_ASSUMES_ACK, tl_armed(sk, t));
}

static void tl_trial_set_state(struct sock *sk, u8 state)
{
	struct tl_trial *t = *tl_trial_at(sk);

	if (t->step != TL_LOST || state != TCP_CA_Loss || t->timed_out)
		return;
	t->timed_out = true;
	tl_assume(t, TL_ASSUMES_PROBE, t->probed);
	/* the timer has ended, and still says when it had to */
	tl_assume(t, TL_ASSUMES_TIMEOUT, !inet_csk(sk)->icsk_pending);
	tl_assume(t, TL_ASSUMES_PROBE_ARMS, (u32)(tl_timeout(sk) - t->wrote_at - t->wrote) <= TL_LATE);
	tl_set_rto(sk, t, TL_LONG);
	inet_csk(sk)->icsk_backoff = TL_BACKOFF;
}

static struct tcp_congestion_ops trial_ops __read_mostly = {
	.name = "tl-trial",
	.ssthresh = tcp_reno_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.cong_avoid = tl_trial_cong_avoid,
	.set_state = tl_trial_set_state,
	.cwnd_event = tl_trial_event,
#ifdef TL_TX_START_APART
	.cwnd_event_tx_start = tl_trial_start,
#endif
	.pkts_acked = tl_trial_acked,
	.min_tso_segs = tl_trial_min_tso_segs,
};

static void tl_trial_resent(const struct sock *sk)
{
	struct tl_trial *t;

	if (!sk_fullsock(sk) || sk->sk_protocol != IPPROTO_TCP || inet_csk(sk)->icsk_ca_ops != &trial_ops)
		return;
	t = *tl_trial_at(sk);
	if (t->step == TL_LOST && !t->timed_out && !t->probed &&
	    inet_csk(sk)->icsk_pending == ICSK_TIME_LOSS_PROBE && inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery) {
		t->probed = true;
		tl_set_rto((struct sock *)sk, t, TL_SHORT);
	}
}

TL_RETRANSMIT_PROBE(tl_trial_probe, tl_trial_resent)

static int tl_trial_socket(struct socket **of)
{
	int error = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, of);

	if (!error)
		(*of)->sk->sk_sndtimeo = (*of)->sk->sk_rcvtimeo = HZ;
	return error;
}

static int tl_trial_connect(struct tl_trial *t)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sock *sk;
	int error = tl_trial_socket(&t->listener);

	error = error ?: tl_bind(t->listener, &at);
	error = error ?: kernel_listen(t->listener, 1);
	error = error ?: min(kernel_getsockname(t->listener, (struct sockaddr *)&at), 0);
	error = error ?: tl_trial_socket(&t->client);
	if (error)
		return error;
	sk = t->client->sk;
	lock_sock(sk);
	t->before = inet_csk(sk)->icsk_ca_ops;
	inet_csk(sk)->icsk_ca_ops = &trial_ops;
	*tl_trial_at(sk) = t;
	release_sock(sk);
	error = tl_connect(t->client, &at);
	error = error ?: kernel_accept(t->listener, &t->server, 0);
	if (!error)
		tcp_sock_set_nodelay(sk);
	return error;
}

static void tl_trial_release(struct socket *of)
{
	if (!of)
		return;
	sock_no_linger(of->sk);
	sock_release(of);
}

static void tl_trial_end(struct tl_trial *t)
{
	struct sock *sk = t->client ? t->client->sk : NULL;

	if (sk) {
		lock_sock(sk);
		if (inet_csk(sk)->icsk_ca_ops == &trial_ops) {
			inet_csk(sk)->icsk_ca_ops = t->before;
			inet_csk(sk)->icsk_ca_initialized = 0;
			*tl_trial_at(sk) = NULL;
		}
		sk->sk_prot->disconnect(sk, 0); /* ends the timers */
		release_sock(sk);
	}
	tl_trial_release(t->client);
	tl_trial_release(t->server);
	tl_trial_release(t->listener);
}

/* Sends `count` segments, under the socket's lock. */
static int tl_trial_send(struct sock *sk, u32 count)
{
	static char byte; /* not on the stack, which may be virtual memory */
	int sent = 1;

	while (count-- && sent > 0) {
		struct kvec vec = { &byte, sizeof(byte) };
		struct msghdr message = { .msg_flags = MSG_DONTWAIT };

		iov_iter_kvec(&message.msg_iter, ITER_SOURCE, &vec, 1, sizeof(byte));
		sent = tcp_sendmsg_locked(sk, &message, sizeof(byte));
	}
	return min(sent, 0);
}

static bool tl_trial_all_acked(const struct sock *sk, const struct tl_trial *t)
{
	return !tcp_sk(sk)->packets_out;
}

static bool tl_trial_probed(const struct sock *sk, const struct tl_trial *t)
{
	return t->probed || tcp_sk(sk)->tlp_high_seq;
}

static bool tl_trial_timed_out(const struct sock *sk, const struct tl_trial *t)
{
	return t->timed_out && inet_csk(sk)->icsk_pending;
}

/* Waits until the client's end is so. */
static int tl_trial_wait(struct tl_trial *t, bool (*so)(const struct sock *sk, const struct tl_trial *t))
{
	const unsigned long end = jiffies + TL_LIMIT;
	struct sock *sk = t->client->sk;
	bool is_so;

	do {
		lock_sock(sk);
		is_so = so(sk, t);
		release_sock(sk);
		if (is_so)
			return 0;
		schedule_timeout_uninterruptible(1);
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

/* Begins a step: sends segments, under the socket's lock. */
static int tl_trial_step(struct sock *sk, struct tl_trial *t, enum tl_step step, u32 count, u32 cwnd)
{
	t->step = step;
	t->probed = t->timed_out = false;
	tcp_snd_cwnd_set(tcp_sk(sk), cwnd);
	return tl_trial_send(sk, count);
}

/* Two ACKs wait in the client's backlog, which would join them if their timestamps were the same; so the first comes
 * with data out. */
static int tl_trial_acks(struct tl_trial *t)
{
	struct sock *sk = t->client->sk;
	int error;

	lock_sock(sk);
	error = tl_trial_step(sk, t, TL_ACKED, 1, TCP_INIT_CWND);
	usleep_range(2000, 3000);
	error = error ?: tl_trial_send(sk, 1);
	release_sock(sk);
	return error ?: tl_trial_wait(t, tl_trial_all_acked);
}

/* Begins a step whose segments get no ACK while the server's end is locked. */
static int tl_trial_unanswered(struct tl_trial *t, enum tl_step step, u32 count, u32 cwnd)
{
	struct sock *sk = t->client->sk;
	int error;

	lock_sock(sk);
	error = tl_trial_step(sk, t, step, count, cwnd);
	release_sock(sk);
	return error;
}

/* The window lets only one of two segments leave, so that the probe is the other. */
static int tl_trial_new_data(struct tl_trial *t)
{
	struct sock *sk = t->client->sk;
	int error;

	lock_sock(t->server->sk);
	error = tl_trial_unanswered(t, TL_NEW_DATA, 2, 1);
	error = error ?: tl_trial_wait(t, tl_trial_probed);
	if (error == -ETIMEDOUT)
		tl_assume(t, TL_ASSUMES_NEW_DATA, false);
	if (!error) {
		lock_sock(sk);
		tl_assume(t, TL_ASSUMES_NEW_DATA, t->probed);
		tl_assume(t, TL_ASSUMES_NEW_DATA_ARMS, tl_armed(sk, t));
		t->step = TL_IDLE;
		release_sock(sk);
	}
	release_sock(t->server->sk);
	return error ?: tl_trial_wait(t, tl_trial_all_acked);
}

static int tl_trial_lost(struct tl_trial *t)
{
	struct sock *sk = t->client->sk;
	int error;

	lock_sock(t->server->sk);
	error = tl_trial_unanswered(t, TL_LOST, 1, TCP_INIT_CWND);
	error = error ?: tl_trial_wait(t, tl_trial_timed_out);
	if (error == -ETIMEDOUT)
		tl_assume(t, TL_ASSUMES_TIMEOUT, false);
	if (!error) {
		lock_sock(sk);
		t->wrote *= 2;
		tl_assume(t, TL_ASSUMES_DOUBLES, inet_csk(sk)->icsk_rto == t->wrote && tl_armed(sk, t));
		tl_assume(t, TL_ASSUMES_BACKOFF, inet_csk(sk)->icsk_backoff == TL_BACKOFF + 1);
		t->step = TL_IDLE;
		release_sock(sk);
	}
	release_sock(t->server->sk);
	return error;
}

/* Returns whether the kernel has its usual timers. An administrator can set another rto_min, no probes, and thin
 * linear timeouts, and without timestamps the two ACKs of the first step would be one. */
static int tl_trial_usual(struct sock *sk)
{
	const bool usual = !tl_floor_us(sk) && tl_resend_kernel_probes(sk) && tcp_sk(sk)->rx_opt.tstamp_ok &&
			   !READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_thin_linear_timeouts);

	return usual ? 0 : -EOPNOTSUPP;
}

static int tl_trial_run(struct tl_trial *t)
{
	int error = tl_trial_connect(t);

	error = error ?: tl_trial_usual(t->client->sk);
	error = error ?: tl_trial_acks(t);
	error = error ?: tl_trial_new_data(t);
	error = error ?: tl_trial_lost(t);
	tl_trial_end(t);
	return error;
}

static int tl_assumptions_of(struct tl_trial *t)
{
	int error, i;

	for (i = 0; i < TL_TRIES; i++) {
		memset(t, 0, sizeof(*t));
		error = tl_trial_run(t);
		if (!error && !t->wrong && t->tried == GENMASK(TL_ASSUMPTION_COUNT - 1, 0))
			return 0;
	}
	if (t->wrong) {
		pr_err("not loaded: this kernel does not %s\n", texts[__ffs(t->wrong)]);
		return -EOPNOTSUPP;
	}
	pr_warn("the module could not try what it assumes about this kernel, over 127.0.0.1: error %d\n", -error);
	return 0;
}

int tl_assumptions_try(void)
{
	struct tl_trial *t = TL_ALLOC(kzalloc(sizeof(*t), GFP_KERNEL));
	int error;

	BUILD_BUG_ON(ARRAY_SIZE(texts) != TL_ASSUMPTION_COUNT || TL_ASSUMPTION_COUNT > BITS_PER_LONG);
	/* tl_doubled() shifts by 31 at most, and tl_timer_backoff() counts doublings in a byte, which the kernel uses as a
	 * shift of 64 bits */
	BUILD_BUG_ON((u64)TCP_RTO_MAX << 31 >> 31 != TCP_RTO_MAX);
	if (!t)
		return -ENOMEM;
	error = TL_ALLOC_ERROR(tl_resend_watch((void *)tl_trial_probe, true));
	if (!error) {
		error = tl_assumptions_of(t);
		tl_resend_watch((void *)tl_trial_probe, false);
	}
	kfree(t);
	return error;
}
