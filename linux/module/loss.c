// SPDX-License-Identifier: GPL-2.0-only
/* Applies a loss classifier. The classifier observes each ACK, and decides on the cause when the kernel
 * is about to begin fast recovery. After a loss that it calls random, cwnd and ssthresh stay as they were
 * (ML-TCP); only the segment is retransmitted.
 *
 * tcp_enter_recovery calls ssthresh() before it sets the state. The window is reduced to the returned
 * value (PRR, RFC 6937), and tcp_end_cwnd_reduction sets cwnd to it. If ssthresh() returns the present
 * cwnd, neither reduces the window. The old ssthresh is restored afterwards, at CA_EVENT_COMPLETE_CWR.
 * The ssthresh() of the base (reno or cubic) is not called in this case, because it would record a loss
 * (CUBIC's last maximum and epoch). */
#include <linux/slab.h>

#include "allocation.h"
#include "choice.h"
#include "counters.h"
#include "log.h"
#include "loss.h"
#include "loss_model.h"

static struct kmem_cache *cache;

int tl_loss_init(void)
{
	cache = TL_ALLOC(kmem_cache_create("tcplearn_loss", sizeof(struct tl_loss) + tl_kernel_loss_bytes_max, 0,
					   SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL));
	return cache ? 0 : -ENOMEM;
}

void tl_loss_exit(void)
{
	kmem_cache_destroy(cache);
}

/* Begins a connection's classifier; if allocation fails, the base congestion control reacts to losses. */
void tl_loss_start(struct sock *sk, struct tl_connection *c)
{
	struct tl_choice_start start =
		tl_choice_start(sk, &tl_net_of(sock_net(sk))->loss, cache, offsetof(struct tl_loss, state));

	c->loss = start.memory;
	if (c->loss) {
		c->loss->classifier = container_of(start.algorithm, struct tl_kernel_loss, algorithm);
		c->loss->own = tl_own_model_get(sock_net(sk), c->loss->state);
		c->loss->acked = tcp_sk(sk)->snd_una;
	}
}

void tl_loss_free(struct tl_connection *c)
{
	if (!c->loss)
		return;
	tl_own_model_put(c->loss->own);
	kmem_cache_free(cache, c->loss);
}

static struct tl_loss_moment tl_moment(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_loss_moment at = {
		.time_us = tp->tcp_mstamp,
		.flight_segments = tp->packets_out,
		.cwnd_segments = tcp_snd_cwnd(tp),
		.ssthresh_segments = tp->snd_ssthresh,
		.truth = TL_LOSS_UNKNOWN,
	};

	return at;
}

/* Logs the classifier's inputs and its answer, from which each decision can be repeated elsewhere. */
static void tl_log_loss(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at,
			const s64 *features_q30, const struct tl_loss_answer *answer)
{
	struct tl_log_loss r = {
		.congestion_q30 = answer->congestion_q30,
		.cause = answer->cause,
		.flight_segments = at->flight_segments,
		.cwnd = at->cwnd_segments,
		.ssthresh = at->ssthresh_segments,
		.first = tcp_sk(sk)->snd_una,
		.end = tcp_sk(sk)->snd_nxt,
	};

	BUILD_BUG_ON(TL_LOG_LOSS_FEATURES != TL_LOSS_FEATURE_COUNT);
	memcpy(r.features_q30, features_q30, sizeof(r.features_q30));
	tl_log(sk, c, &r, sizeof(r), TL_LOG_LOSS, 0);
}

static void tl_log_loss_change(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at,
			       u32 change, u32 cause)
{
	struct tl_log_loss_change r = { .change = change, .cause = cause, .cwnd = at->cwnd_segments };

	tl_log(sk, c, &r, sizeof(r), TL_LOG_LOSS_CHANGE, 0);
}

static void tl_change(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at, u32 change,
		      u32 cause)
{
	c->loss->classifier->change(c->loss->state, at, change, cause);
	if (c->logs)
		tl_log_loss_change(sk, c, at, change, cause);
}

/* Gives the classifier an ACK, with the same inputs as in training: RTTs of cumulative ACKs only, and a
 * duplicate ACK counts as one delivered segment. */
void tl_loss_ack(const struct sock *sk, struct tl_connection *c, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_loss *l = c->loss;
	struct tl_loss_ack in = { .time_us = tp->tcp_mstamp };

	in.duplicate = tp->snd_una == l->acked && tp->packets_out;
	in.delivered_segments = in.duplicate ? 1 : sample->pkts_acked;
	in.rtt_us = in.duplicate ? 0 : max_t(s32, c->rtt_us, 0);
	l->acked = tp->snd_una;
	l->flags = TL_LOG_OBSERVED | (in.duplicate ? TL_LOG_DUPLICATE : 0);
	if (l->undoable && !tp->undo_marker && inet_csk(sk)->icsk_ca_state < TCP_CA_CWR) {
		/* after the recovery, duplicate SACKs arrived for everything that was retransmitted */
		struct tl_loss_moment at = tl_moment(sk);

		l->undoable = false;
		tl_change(sk, c, &at, TL_LOSS_UNDONE, TL_LOSS_RANDOM);
	}
	tl_kernel_loss_observe(l->state, &in);
}

/* Returns whether tcp_enter_recovery is calling ssthresh(), without ECN congestion experienced. It has
 * then just called tcp_init_undo, with prior_ssthresh 0 in case of ECN. A timeout, at which the timer is
 * no longer pending, calls tcp_init_undo later; tcp_enter_cwr and tail loss probes never do. */
static bool tl_enters_recovery(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return inet_csk(sk)->icsk_pending && tp->undo_marker == tp->snd_una && tp->prior_ssthresh;
}

static void tl_judge(struct sock *sk, struct tl_connection *c)
{
	struct tl_loss_moment at = tl_moment(sk);
	s64 features_q30[TL_LOSS_FEATURE_COUNT];
	struct tl_loss *l = c->loss;
	struct tl_loss_answer answer;
	u64 t0 = get_cycles(), t1 = get_cycles(), t2;

	tl_kernel_loss_features(l->state, &at, features_q30);
	l->classifier->judge(l->state, features_q30, &at, &answer);
	t2 = get_cycles();
	if (c->measures) {
		tl_count(loss_measured);
		tl_count_add(cycles_loss, t2 - t1);
		tl_count_add(cycles_loss_clock, t1 - t0);
	}
	tl_count(loss_decisions);
	l->begun = true;
	l->keeps = answer.cause == TL_LOSS_RANDOM;
	l->undoable = true;
	l->cwnd = at.cwnd_segments;
	l->ssthresh = at.ssthresh_segments;
	if (l->keeps)
		tl_count(loss_kept);
	if (c->logs)
		tl_log_loss(sk, c, &at, features_q30, &answer);
	tl_change(sk, c, &at, TL_LOSS_BEGUN, answer.cause);
}

u32 tl_loss_ssthresh(struct sock *sk, struct tl_connection *c, const struct tcp_congestion_ops *base)
{
	if (!tl_enters_recovery(sk))
		return base->ssthresh(sk);
	tl_judge(sk, c);
	return c->loss->keeps ? c->loss->cwnd : base->ssthresh(sk);
}

/* Sets ssthresh to the value that it would have if the window had not been kept. */
static void tl_reduce_late(struct sock *sk, struct tl_loss *l, const struct tcp_congestion_ops *base)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd = tcp_snd_cwnd(tp);

	tcp_snd_cwnd_set(tp, l->cwnd);
	tp->snd_ssthresh = base->ssthresh(sk);
	tcp_snd_cwnd_set(tp, cwnd);
}

static void tl_left_recovery(struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at)
{
	struct tl_loss *l = c->loss;

	if (tcp_sk(sk)->undo_marker) {
		tl_change(sk, c, at, TL_LOSS_ENDED, TL_LOSS_RANDOM);
		return;
	}
	/* nothing was lost: the kernel has restored cwnd, and perhaps no later event reports this */
	if (l->undoable)
		tl_change(sk, c, at, TL_LOSS_UNDONE, TL_LOSS_RANDOM);
	l->undoable = false;
	if (l->keeps)
		tcp_sk(sk)->snd_ssthresh = l->ssthresh;
	l->keeps = false;
}

void tl_loss_set_state(struct sock *sk, struct tl_connection *c, const struct tcp_congestion_ops *base, u8 state)
{
	u8 before = inet_csk(sk)->icsk_ca_state;
	struct tl_loss_moment at = tl_moment(sk);
	struct tl_loss *l = c->loss;

	if (state == TCP_CA_Loss) {
		bool timeout = !inet_csk(sk)->icsk_pending;

		/* tcp_enter_loss assumes that a recovery in progress has reduced the window */
		if (timeout && l->keeps)
			tl_reduce_late(sk, l, base);
		l->keeps = l->undoable = false;
		if (timeout)
			tl_change(sk, c, &at, TL_LOSS_TIMEOUT, TL_LOSS_CONGESTION);
	} else if (state == TCP_CA_Recovery && before != TCP_CA_Recovery) {
		/* the classifier was not asked: ECN reported congestion, or the window was being reduced
		 * already */
		if (!l->begun)
			tl_change(sk, c, &at, TL_LOSS_BEGUN, TL_LOSS_CONGESTION);
	} else if (before == TCP_CA_Recovery && state != TCP_CA_Recovery) {
		tl_left_recovery(sk, c, &at);
	} else if (state == TCP_CA_CWR) {
		l->undoable = false; /* tcp_enter_cwr clears undo_marker */
	}
	l->begun = false;
}

/* Called at the end of tcp_end_cwnd_reduction, which has restored cwnd. */
void tl_loss_recovery_over(struct sock *sk, struct tl_connection *c)
{
	struct tl_loss *l = c->loss;

	if (!l->keeps)
		return;
	l->keeps = false;
	tcp_snd_cwnd_set(tcp_sk(sk), max(tcp_snd_cwnd(tcp_sk(sk)), l->cwnd));
	/* restored, so that duplicate SACKs that arrive later do not restore another value */
	tcp_sk(sk)->snd_ssthresh = tcp_sk(sk)->prior_ssthresh = l->ssthresh;
}
