// SPDX-License-Identifier: GPL-2.0-only
/* Controls the value of icsk_rto over time. The kernel uses icsk_rto not only for the timer, but also to
 * reduce cwnd after idle time and while the application limits the rate, for delayed ACKs, FIN-WAIT-2 and
 * TIME-WAIT (docs/kernel.md lists all uses). So icsk_rto has the kernel's own value while nothing is in
 * flight, and the estimator's value from the first segment sent until the last is acknowledged. */
#include "timer.h"

/* Called when a segment is about to leave, and to start the timer, while nothing is in flight. */
void tl_timer_start(struct sock *sk, struct tl_connection *c)
{
	if (!c->estimator || !c->rto || c->ours)
		return;
	inet_csk(sk)->icsk_rto = c->rto;
	c->ours = true;
}

static void tl_put_stamp_back(struct tcp_sock *tp, const struct tl_connection *c)
{
	if (c->stamp_held && tp->snd_cwnd_stamp == c->stamp_shown)
		tp->snd_cwnd_stamp = c->stamp;
}

/* Called before segments are sent: checks the timer that the last ACK armed, restores snd_cwnd_stamp, and
 * gives icsk_rto back to the kernel if nothing was sent last time. */
void tl_timer_before_send(struct sock *sk, struct tl_connection *c)
{
	tl_timer_settle(sk, c, TL_NEXT_EVENT);
	tl_put_stamp_back(tcp_sk(sk), c);
	c->stamp_held = false;
	if (c->ours && !tcp_sk(sk)->packets_out) /* nothing was sent last time */
		tl_withdraw(sk, c);
}

/* Changes snd_cwnd_stamp for a while. The kernel's tcp_cwnd_validate shrinks the window if the age of this
 * stamp exceeds icsk_rto, which has the estimator's value by then. With the changed stamp, the comparison
 * gives the same result as with the kernel's RTO. The true stamp is restored at the next opportunity, unless
 * the kernel has set a new one. */
void tl_timer_hold_stamp(struct sock *sk, struct tl_connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 age, stock;

	if (!c->ours && !c->rto)
		return;
	age = tcp_jiffies32 - tp->snd_cwnd_stamp;
	stock = tl_stock_rto(sk, c);
	if (age < TL_JIFFIES_MIN && age < stock)
		return;
	c->stamp_held = true;
	c->stamp = tp->snd_cwnd_stamp;
	c->stamp_shown = tcp_jiffies32 - (age < stock ? 1 : max3(age, c->rto, inet_csk(sk)->icsk_rto));
	tp->snd_cwnd_stamp = c->stamp_shown;
}

/* Called when the connection leaves this congestion control: restores the kernel's values. */
void tl_timer_release(struct sock *sk, struct tl_connection *c)
{
	tl_put_stamp_back(tcp_sk(sk), c);
	/* a socket that was closed or disconnected has been reset already */
	if (c->ours && tcp_sk(sk)->packets_out)
		tl_withdraw(sk, c);
}

/* Sets icsk_backoff at a timeout after which the timer waits for `rto`. For the kernel, icsk_backoff is the
 * number of doublings of its own RTO: after an ICMP error it waits for that RTO doubled once less (RFC 6069),
 * and so does a zero-window probe. A wait of the module may have been doubled more often, from a shorter
 * value. The kernel adds 1 after this call, so the result is at least 1, as after a first timeout of the
 * kernel's; but it adds nothing if the peer has closed its window. */
void tl_timer_backoff(struct sock *sk, const struct tl_connection *c, u32 rto)
{
	if (!tcp_sk(sk)->snd_wnd && !sock_flag(sk, SOCK_DEAD))
		return;
	inet_csk(sk)->icsk_backoff = max(ilog2(max(rto / max(c->stock_rto, 1u), 1u)), 1) - 1;
}

/* Called at a timeout of a connection whose RTO is the estimator's; the kernel doubles it after this call. */
void tl_timer_fired(struct sock *sk, const struct tl_connection *c)
{
	if (c->ours)
		tl_timer_backoff(sk, c, tl_doubled(sk, inet_csk(sk)->icsk_rto, 1));
}

static void tl_check_arming(const struct sock *sk, const struct tl_connection *c, enum tl_when when)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	u32 timeout = tl_timeout(sk);
	bool ours;

	switch (icsk->icsk_pending) {
	case ICSK_TIME_RETRANS:
		ours = timeout - c->armed_at == min_t(u32, c->armed_rto + c->pacing_delay, tl_rto_max(sk));
		if (!ours && timeout == c->timeout_before) {
			tl_count(kept);
			break;
		}
		tl_count(armed);
		if (ours)
			tl_count(armed_ours);
		if (when != TL_SAME_ACK) {
			tl_count(armed_late);
			if (ours)
				tl_count(armed_late_ours);
		}
		break;
	case ICSK_TIME_LOSS_PROBE:
		tl_count(probe);
		break;
	case ICSK_TIME_REO_TIMEOUT:
		tl_count(reorder);
		break;
	default:
		tl_count(idle);
	}
}

/* Called at the first event after an ACK: checks the armed timer, and restores the whole RTO. */
void tl_timer_look(struct sock *sk, struct tl_connection *c, enum tl_when when)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	c->unchecked = false;
	tl_check_arming(sk, c, when);
	if (when == TL_NEXT_SAMPLE || !c->ours)
		return;
	if (icsk->icsk_rto != c->armed_rto)
		tl_count(lost_rto);
	else
		icsk->icsk_rto = c->rto;
}
