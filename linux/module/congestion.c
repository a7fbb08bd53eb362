// SPDX-License-Identifier: GPL-2.0-only
/* tcplearn: the RTT and RTO estimation of a connection replaced, over reno, cubic or vegas.
 *
 * Each algorithm is its base's operations with three of them preceded by ours. The base's own
 * functions are not exported; a socket that uses it has them. */
#define pr_fmt(fmt) "tcplearn: " fmt
#include <linux/module.h>
#include <linux/net.h>

#include "tcplearn_module.h"

enum tl_base { TL_RENO, TL_CUBIC, TL_VEGAS, TL_BASES };
static const char *const base_names[TL_BASES] = { "reno", "cubic", "vegas" };
static const struct tcp_congestion_ops *bases[TL_BASES];
static struct tcp_congestion_ops ours[TL_BASES] __read_mostly;
static bool registered[TL_BASES];

/* The tail of the private area: the three bases use at most 60 of its 104 bytes (Linux 6.1). */
struct tl_private {
	u8 of_base[ICSK_CA_PRIV_SIZE - sizeof(struct tl_connection *)];
	struct tl_connection *connection;
};

static struct tl_private *tl_private(const struct sock *sk)
{
	BUILD_BUG_ON(sizeof(struct tl_private) > ICSK_CA_PRIV_SIZE);
	return inet_csk_ca(sk);
}

/* NULL before init (the area is zeroed), after release, and where there was no memory. */
static struct tl_connection *tl_connection(const struct sock *sk)
{
	return tl_private(sk)->connection;
}

static void tl_init(struct sock *sk, const struct tcp_congestion_ops *base)
{
	struct tl_connection *c = tl_connection_new(sk);

	tl_private(sk)->connection = c;
	if (base->init)
		base->init(sk);
	if (c && c->logs)
		tl_log_open(sk, c);
}

static void tl_release(struct sock *sk, const struct tcp_congestion_ops *base)
{
	struct tl_connection *c = tl_connection(sk);

	if (base->release)
		base->release(sk);
	tl_private(sk)->connection = NULL;
	if (!c)
		return;
	if (c->logs)
		tl_log_close(sk, c);
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
	if (c && c->logs)
		tl_log_ack(sk, c, sample);
}

/* Runs after tcp_set_xmit_timer has armed the timer for this ACK. */
static void tl_cong_avoid(struct sock *sk, const struct tcp_congestion_ops *base, u32 ack, u32 acked)
{
	struct tl_connection *c = tl_connection(sk);

	if (c)
		tl_connection_settle(sk, c, TL_SAME_ACK);
	base->cong_avoid(sk, ack, acked);
}

static void tl_cwnd_event(struct sock *sk, const struct tcp_congestion_ops *base, enum tcp_ca_event event)
{
	struct tl_connection *c = tl_connection(sk);

	if (c && event == CA_EVENT_LOSS) { /* the timer fired; its RTO is about to be doubled */
		tl_count(timeouts);
		tl_connection_settle(sk, c, TL_NEXT_EVENT);
	}
	if (base->cwnd_event)
		base->cwnd_event(sk, event);
}

/* The operations get no pointer to their own table: one set of functions for each base. */
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
	static void tl_##name##_cwnd_event(struct sock *sk, enum tcp_ca_event event) \
	{ \
		tl_cwnd_event(sk, bases[index], event); \
	} \
	static void tl_##name##_take(struct tcp_congestion_ops *ops) \
	{ \
		ops->init = tl_##name##_init; \
		ops->release = tl_##name##_release; \
		ops->pkts_acked = tl_##name##_pkts_acked; \
		ops->cong_avoid = tl_##name##_cong_avoid; \
		ops->cwnd_event = tl_##name##_cwnd_event; \
	}
TL_BASE(reno, TL_RENO)
TL_BASE(cubic, TL_CUBIC)
TL_BASE(vegas, TL_VEGAS)

static void (*const take[TL_BASES])(struct tcp_congestion_ops *) = { tl_reno_take, tl_cubic_take, tl_vegas_take };

/* The base's operations, its module pinned; NULL where this kernel has it not. */
static const struct tcp_congestion_ops *tl_find_base(const char *name)
{
	const struct tcp_congestion_ops *base = NULL;
	struct socket *socket;

	if (sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &socket))
		return NULL;
	if (!socket->ops->setsockopt(socket, SOL_TCP, TCP_CONGESTION, KERNEL_SOCKPTR((void *)name), strlen(name))) {
		base = inet_csk(socket->sk)->icsk_ca_ops;
		if (!try_module_get(base->owner))
			base = NULL;
	}
	sock_release(socket);
	return base;
}

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

	bases[i] = tl_find_base(base_names[i]);
	if (!bases[i]) {
		pr_info("this kernel has no %s, so there is no tl-%s\n", base_names[i], base_names[i]);
		return 0;
	}
	*ops = *bases[i];
	INIT_LIST_HEAD(&ops->list);
	ops->key = 0;
	ops->owner = THIS_MODULE;
	snprintf(ops->name, sizeof(ops->name), "tl-%s", base_names[i]);
	take[i](ops);
	error = tcp_register_congestion_control(ops);
	registered[i] = !error;
	return error;
}

static int __init tl_module_init(void)
{
	int i, error = tl_connection_init();

	if (error)
		return error;
	error = tl_log_init();
	if (error)
		goto no_log;
	error = tl_settings_init();
	if (error)
		goto no_settings;
	for (i = 0; i < TL_BASES; i++) {
		error = tl_take_base(i);
		if (error)
			goto no_base;
	}
	return 0;
no_base:
	for (i = 0; i < TL_BASES; i++)
		tl_drop_base(i);
	tl_settings_exit();
no_settings:
	tl_log_exit();
no_log:
	tl_connection_exit();
	return error;
}

static void __exit tl_module_exit(void)
{
	int i;

	/* no socket uses us: each one holds a reference to the module */
	for (i = 0; i < TL_BASES; i++)
		tl_drop_base(i);
	tl_settings_exit();
	tl_log_exit();
	tl_connection_exit();
}

module_init(tl_module_init);
module_exit(tl_module_exit);
MODULE_DESCRIPTION("Learned RTT and RTO estimation for TCP, over reno, cubic and vegas");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
MODULE_SOFTDEP("pre: tcp_vegas");
