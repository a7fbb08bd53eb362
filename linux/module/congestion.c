// SPDX-License-Identifier: GPL-2.0-only
/* The congestion controls tl-reno, tl-cubic and tl-vegas: reno, cubic and vegas with tcplearn's RTT and
 * RTO estimation.
 *
 * Each has the operations of its base, some of them preceded by the module's own. The base's functions
 * are not exported, so they are taken from a socket that uses the base. */
#define pr_fmt(fmt) "tcplearn: " fmt
#include <linux/module.h>

#include "allocation.h"
#include "assumptions.h"
#include "base.h"
#include "choice.h"
#include "connection.h"
#include "counters.h"
#include "log.h"
#include "loss.h"
#include "resend.h"
#include "resend_places.h"
#include "settings.h"
#include "startup.h"
#include "timer.h"

enum tl_base { TL_RENO, TL_CUBIC, TL_VEGAS, TL_BASES };
static const char *const base_names[TL_BASES] = { "reno", "cubic", "vegas" };
static const struct tcp_congestion_ops *bases[TL_BASES];
static struct tcp_congestion_ops ours[TL_BASES] __read_mostly;
static bool registered[TL_BASES];

static void tl_start(struct sock *sk, const struct tcp_congestion_ops *base)
{
	char spec[TL_CHOICE_TEXT_BYTES];
	struct tl_connection *c = tl_connection_new(sk, spec);

	tl_private(sk)->connection = c;
	if (!c)
		return;
	/* vegas has its own reaction to a loss, and no paper uses it as a base */
	if (base != bases[TL_VEGAS])
		tl_loss_start(sk, c);
	tl_resend_start(sk, c);
	tl_private(sk)->reported.sent = tcp_sk(sk)->data_segs_out;
	tl_private(sk)->reported.resent = tcp_sk(sk)->total_retrans;
	if (c->logs) {
		tl_log_open(sk, c, spec);
		tl_log_startup(sk, c, &tl_private(sk)->startup);
	}
	if (!tcp_sk(sk)->data_segs_out)
		tl_connection_handshake(sk, c);
}

/* Begins a connection. Its state is allocated only when it first sends data: an accepted connection has
 * no cgroup to charge before then, and many connections never send any. Without any setting in the
 * namespace there is no state, and this congestion control does exactly what its base does. */
static void tl_init(struct sock *sk, const struct tcp_congestion_ops *base)
{
	const bool any = tl_settings_any(sock_net(sk));

	tl_private(sk)->connection = any ? TL_LATER : NULL;
	if (base->init)
		base->init(sk);
	tl_startup_begin(sk, &tl_private(sk)->startup, any);
	if (tcp_sk(sk)->packets_out && tl_private(sk)->connection)
		tl_start(sk, base);
}

static void tl_release(struct sock *sk, const struct tcp_congestion_ops *base)
{
	struct tl_connection *c = tl_connection(sk);

	if (base->release)
		base->release(sk);
	tl_private(sk)->connection = NULL;
	if (!c)
		return;
	tl_timer_release(sk, c);
	if (c->reports)
		tl_startup_report(sk, &tl_private(sk)->reported, true);
	if (c->logs)
		tl_log_close(sk, c);
	if (c->resend)
		tl_resend_remember(sk, tl_resend_policy(c->resend), c->resend->state);
	tl_connection_free(c);
}

static void tl_measured_ack(struct sock *sk, struct tl_connection *c, const struct tcp_congestion_ops *base,
			    const struct ack_sample *sample)
{
	u64 t0 = get_cycles(), t1 = get_cycles(), t2, t3;

	if (base->pkts_acked)
		base->pkts_acked(sk, sample);
	t2 = get_cycles();
	tl_connection_ack(sk, c, sample);
	t3 = get_cycles();
	tl_count(measured);
	tl_count_add(cycles_clock, t1 - t0);
	tl_count_add(cycles_base, t2 - t1);
	tl_count_add(cycles_all, t3 - t1);
}

static void tl_pkts_acked(struct sock *sk, const struct tcp_congestion_ops *base, const struct ack_sample *sample)
{
	struct tl_connection *c = tl_connection(sk);

	if (c && c->measures) {
		tl_measured_ack(sk, c, base, sample);
	} else {
		if (base->pkts_acked)
			base->pkts_acked(sk, sample);
		if (c)
			tl_connection_ack(sk, c, sample);
	}
	if (c && c->reports)
		tl_startup_report(sk, &tl_private(sk)->reported, false);
	if (c && c->logs)
		tl_log_ack(sk, c, sample, tl_loss_ack_flags(c));
}

/* Runs after tcp_set_xmit_timer has armed the timer for this ACK. */
static void tl_cong_avoid(struct sock *sk, const struct tcp_congestion_ops *base, u32 ack, u32 acked)
{
	struct tl_connection *c = tl_connection(sk);

	if (c)
		tl_timer_settle(sk, c, TL_SAME_ACK);
	base->cong_avoid(sk, ack, acked);
}

static u32 tl_ssthresh(struct sock *sk, const struct tcp_congestion_ops *base)
{
	struct tl_connection *c = tl_connection(sk);

	return c && c->loss ? tl_loss_ssthresh(sk, c, base) : base->ssthresh(sk);
}

#ifdef TL_TX_START_APART
static inline void tl_start_event(struct sock *sk, struct tl_connection *c, enum tcp_ca_event event)
{
}

static void tl_tx_start(struct sock *sk, const struct tcp_congestion_ops *base)
{
	struct tl_connection *c = tl_connection(sk);

	if (c)
		tl_connection_tx_start(sk, c);
	if (base->cwnd_event_tx_start)
		base->cwnd_event_tx_start(sk);
}
#define TL_TX_START(name, index) \
	static void tl_##name##_tx_start(struct sock *sk) \
	{ \
		tl_tx_start(sk, bases[index]); \
	}
#define TL_TAKE_TX_START(name) ops->cwnd_event_tx_start = tl_##name##_tx_start
#else
static inline void tl_start_event(struct sock *sk, struct tl_connection *c, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		tl_connection_tx_start(sk, c);
}

#define TL_TX_START(name, index)
#define TL_TAKE_TX_START(name)
#endif

static void tl_cwnd_event(struct sock *sk, const struct tcp_congestion_ops *base, enum tcp_ca_event event)
{
	struct tl_connection *c = tl_connection(sk);

	if (c) {
		tl_start_event(sk, c, event);
		if (c->loss && event == CA_EVENT_COMPLETE_CWR)
			tl_loss_recovery_over(sk, c);
	}
	if (base->cwnd_event)
		base->cwnd_event(sk, event);
}

/* Returns whether the state changes to TCP_CA_Loss because of a timeout. The timer is not pending any more,
 * except if an ICMP error has made the kernel retransmit at once (tcp_ld_RTO_revert), which needs an earlier
 * timeout. tcp_simple_retransmit (a smaller MTU) changes the state too, but not if it is TCP_CA_Loss. */
static bool tl_has_fired(const struct sock *sk)
{
	return !inet_csk(sk)->icsk_pending || inet_csk(sk)->icsk_ca_state == TCP_CA_Loss;
}

/* Called before the state changes. tcp_enter_loss calls it at every timeout, also during recovery, and
 * before the RTO is doubled. */
static void tl_set_state(struct sock *sk, const struct tcp_congestion_ops *base, u8 state)
{
	struct tl_connection *c = tl_connection(sk);

	if (c && state == TCP_CA_Loss && tl_has_fired(sk)) {
		tl_count(timeouts);
		tl_timer_settle(sk, c, TL_NEXT_EVENT);
		if (c->resend)
			tl_resend_timeout(sk, c);
		else
			tl_timer_fired(sk, c);
	}
	if (c && c->loss)
		tl_loss_set_state(sk, c, base, state);
	if (base->set_state)
		base->set_state(sk, state);
}

/* This operation is the only one that the kernel calls before each round of sending. */
static u32 tl_min_tso_segs(struct sock *sk, const struct tcp_congestion_ops *base)
{
	struct tl_connection *c;

	if (tl_private(sk)->connection == TL_LATER)
		tl_start(sk, base);
	c = tl_connection(sk);
	if (c) {
		if (!c->srtt_before && tcp_sk(sk)->srtt_us)
			tl_connection_handshake(sk, c);
		tl_connection_before_send(sk, c);
	}
	return base->min_tso_segs ? base->min_tso_segs(sk) : READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs);
}

/* Makes functions for each base congestion control, because operations get no pointer to their table. */
#define TL_BASE(name, index) \
	static void tl_##name##_init(struct sock *sk) \
	{ \
		tl_init(sk, bases[index]); \
	} \
	static void tl_##name##_release(struct sock *sk) \
	{ \
		tl_release(sk, bases[index]); \
	} \
	static void tl_##name##_pkts_acked(struct sock *sk, const struct ack_sample *sample) \
	{ \
		tl_pkts_acked(sk, bases[index], sample); \
	} \
	static void tl_##name##_cong_avoid(struct sock *sk, u32 ack, u32 acked) \
	{ \
		tl_cong_avoid(sk, bases[index], ack, acked); \
	} \
	TL_TX_START(name, index) \
	static void tl_##name##_cwnd_event(struct sock *sk, enum tcp_ca_event event) \
	{ \
		tl_cwnd_event(sk, bases[index], event); \
	} \
	static u32 tl_##name##_ssthresh(struct sock *sk) \
	{ \
		return tl_ssthresh(sk, bases[index]); \
	} \
	static void tl_##name##_set_state(struct sock *sk, u8 state) \
	{ \
		tl_set_state(sk, bases[index], state); \
	} \
	static u32 tl_##name##_min_tso_segs(struct sock *sk) \
	{ \
		return tl_min_tso_segs(sk, bases[index]); \
	} \
	static void tl_##name##_take(struct tcp_congestion_ops *ops) \
	{ \
		ops->init = tl_##name##_init; \
		ops->release = tl_##name##_release; \
		ops->pkts_acked = tl_##name##_pkts_acked; \
		ops->cong_avoid = tl_##name##_cong_avoid; \
		TL_TAKE_TX_START(name); \
		ops->cwnd_event = tl_##name##_cwnd_event; \
		ops->ssthresh = tl_##name##_ssthresh; \
		ops->set_state = tl_##name##_set_state; \
		ops->min_tso_segs = tl_##name##_min_tso_segs; \
	}
TL_BASE(reno, TL_RENO)
TL_BASE(cubic, TL_CUBIC)
TL_BASE(vegas, TL_VEGAS)

static void (*const take[TL_BASES])(struct tcp_congestion_ops *) = { tl_reno_take, tl_cubic_take, tl_vegas_take };

static void tl_drop_base(enum tl_base i)
{
	if (registered[i])
		tcp_unregister_congestion_control(&ours[i]);
	registered[i] = false;
	if (bases[i])
		module_put(bases[i]->owner);
	bases[i] = NULL;
}

static int tl_take_base(enum tl_base i)
{
	struct tcp_congestion_ops *ops = &ours[i];
	int error;

	bases[i] = tl_base_find(base_names[i]);
	if (!bases[i]) {
		pr_info("this kernel has no %s of its own that fits, so there is no tl-%s\n", base_names[i],
			base_names[i]);
		return -ENOENT;
	}
	*ops = *bases[i];
	INIT_LIST_HEAD(&ops->list);
	ops->key = 0;
	ops->owner = THIS_MODULE;
	snprintf(ops->name, sizeof(ops->name), "tl-%s", base_names[i]);
	take[i](ops);
	error = TL_ALLOC_ERROR(tcp_register_congestion_control(ops));
	registered[i] = !error;
	if (error) {
		pr_warn("%s cannot be registered: error %d\n", ops->name, -error);
		tl_drop_base(i);
	}
	return error;
}

/* Registers the congestion controls. One that cannot be registered is left out; those registered before
 * may be in use already, so they stay. */
static int tl_take_bases(void)
{
	int i, found = 0, error = 0;

	for (i = 0; i < TL_BASES; i++) {
		int one = tl_take_base(i);

		found += !one;
		error = error ?: one;
	}
	return found ? 0 : error;
}

static void tl_module_clean(void)
{
	int i;

	/* no socket uses these any more, because each one holds a reference to the module */
	for (i = 0; i < TL_BASES; i++)
		tl_drop_base(i);
	tl_settings_exit();
	tl_log_exit();
	tl_connection_exit();
}

static int __init tl_module_init(void)
{
	int error = tl_connection_init();

	if (error)
		return error;
	error = tl_assumptions_try();
	if (error) {
		tl_connection_exit();
		return error;
	}
	tl_log_init();
	error = tl_settings_init();
	if (error) {
		tl_log_exit();
		tl_connection_exit();
		return error;
	}
	error = tl_take_bases();
	if (error)
		tl_module_clean();
	return error;
}

module_init(tl_module_init);
module_exit(tl_module_clean);
MODULE_DESCRIPTION("Learned RTT and RTO estimation for TCP, over reno, cubic and vegas");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_SOFTDEP("pre: tcp_vegas");
/* the names by which the kernel asks for a congestion control that is not loaded */
MODULE_ALIAS("tcp_tl-reno");
MODULE_ALIAS("tcp_tl-cubic");
MODULE_ALIAS("tcp_tl-vegas");
