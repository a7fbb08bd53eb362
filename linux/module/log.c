// SPDX-License-Identifier: GPL-2.0-only
/* The files in /sys/kernel/debug/tcplearn: the counters, and for each network namespace whose log is on a
 * folder net-INODE with a relay, one file for each CPU: log0, log1 ... A log that is off takes no memory. */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#include "allocation.h"
#include "counters.h"
#include "log.h"

static unsigned int log_kb = 4096;
module_param(log_kb, uint, 0444);
MODULE_PARM_DESC(log_kb, "room of the log for each CPU in KB (4096), while it is on; 0: no log");

#define TL_LOG_PART_BYTES (64u * 1024)

static struct dentry *top;
static DEFINE_MUTEX(switching);

static struct dentry *tl_log_create(const char *name, struct dentry *parent, umode_t mode, struct rchan_buf *buf,
				    int *is_global)
{
	return debugfs_create_file(name, mode, parent, buf, &relay_file_operations);
}

static int tl_log_remove(struct dentry *file)
{
	debugfs_remove(file);
	return 0;
}

/* If the buffer is full, the new record is dropped and counted. */
TL_SUBBUF_START(tl_log_next, buf)
{
	if (!relay_buf_full(buf))
		return 1;
	return 0;
}

static const struct rchan_callbacks tl_log_callbacks = {
	.create_buf_file = tl_log_create,
	.remove_buf_file = tl_log_remove,
	.subbuf_start = tl_log_next,
};

/* Switches the log on. Fails without debugfs, or if memory cannot be allocated. */
static int tl_log_on(const struct net *net, struct tl_log *log)
{
	unsigned int parts = max(2u, min(log_kb, 1u << 20) / (TL_LOG_PART_BYTES / 1024));
	struct rchan *channel;
	char name[24];

	if (!log_kb || IS_ERR_OR_NULL(top))
		return -ENODEV;
	snprintf(name, sizeof(name), "net-%u", net->ns.inum);
	log->directory = TL_ALLOC_ERR_PTR(debugfs_create_dir(name, top));
	if (IS_ERR(log->directory))
		return PTR_ERR(log->directory);
	/* A processor that is starting gets its buffer before it is online, from each channel that there is then, and
	 * relay_open() makes buffers of those that are online: it must come before or after both. */
	cpus_read_lock();
	channel = TL_ALLOC(relay_open("log", log->directory, TL_LOG_PART_BYTES, parts, &tl_log_callbacks, NULL));
	cpus_read_unlock();
	if (!channel) {
		debugfs_remove(log->directory);
		return -ENOMEM;
	}
	rcu_assign_pointer(log->channel, channel);
	return 0;
}

int tl_log_switch(const struct net *net, bool on)
{
	struct tl_log *log = &tl_net_of(net)->log;
	struct rchan *channel;
	int error = 0;

	mutex_lock(&switching);
	channel = rcu_dereference_protected(log->channel, lockdep_is_held(&switching));
	if (on && !channel) {
		error = tl_log_on(net, log);
	} else if (!on && channel) {
		rcu_assign_pointer(log->channel, NULL);
		synchronize_rcu();
		relay_close(channel);
		debugfs_remove(log->directory);
	}
	mutex_unlock(&switching);
	return error;
}

void tl_log(const struct sock *sk, struct tl_connection *c, void *record, u16 size, u8 type, u8 flags)
{
	struct tl_log_header *header = record;
	struct rchan *channel;
	unsigned long irq;
	void *room;

	header->magic = TL_LOG_MAGIC;
	header->size = size;
	header->type = type;
	header->flags = flags;
	header->time_us = tcp_sk(sk)->tcp_mstamp;
	header->connection = c->id;
	header->record = c->records++;
	rcu_read_lock();
	channel = rcu_dereference(tl_net_of(sock_net(sk))->log.channel);
	if (channel) {
		local_irq_save(irq);
		room = relay_reserve(channel, size);
		if (room) {
			memcpy(room, record, size);
			tl_count(log_records);
		} else {
			tl_count(log_drops);
		}
		local_irq_restore(irq);
	}
	rcu_read_unlock();
}

static void tl_address(u8 *out, __be32 v4)
{
	memcpy(out, &v4, sizeof(v4));
}

void tl_log_open(const struct sock *sk, struct tl_connection *c, const char *spec)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct tl_log_open r = {
		.family = sk->sk_family,
		.source_port = ntohs(inet->inet_sport),
		.destination_port = ntohs(inet->inet_dport),
		.hz = HZ,
		.rtt_q8 = c->answer.rtt_q8,
		.rto_q8 = c->answer.rto_q8,
		.netns = sock_net(sk)->ns.inum,
	};

	strscpy(r.estimator, c->estimator ? c->estimator->algorithm.name : tl_estimators.nothing, sizeof(r.estimator));
	strscpy(r.spec, spec, sizeof(r.spec));
	strscpy(r.congestion, inet_csk(sk)->icsk_ca_ops->name, sizeof(r.congestion));
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		memcpy(r.source, &sk->sk_v6_rcv_saddr, sizeof(r.source));
		memcpy(r.destination, &sk->sk_v6_daddr, sizeof(r.destination));
	} else
#endif
	{
		tl_address(r.source, inet->inet_saddr);
		tl_address(r.destination, inet->inet_daddr);
	}
	tl_log(sk, c, &r, sizeof(r), TL_LOG_OPEN, c->estimator && c->estimator->timer_from_head ? TL_LOG_FROM_HEAD : 0);
}

void tl_log_ack(const struct sock *sk, struct tl_connection *c, const struct ack_sample *sample, u8 flags)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	struct tl_log_ack r = {
		.rtt_us = c->rtt_us,
		.last_rtt_us = sample->rtt_us,
		.rtt_q8 = c->answer.rtt_q8,
		.rto_q8 = c->answer.rto_q8,
		.stock_rto_us = jiffies_to_usecs(c->stock_rto),
		.rto_us = jiffies_to_usecs(c->armed_rto),
		.cwnd = tcp_snd_cwnd(tp),
		.ssthresh = tp->snd_ssthresh,
		.flight_segments = tp->packets_out + sample->pkts_acked,
		.acked_segments = sample->pkts_acked,
		.mss_bytes = tp->mss_cache,
		.srtt_us = tp->srtt_us >> 3,
		.head_age_us = head ? tcp_stamp_us_delta(tp->tcp_mstamp, tcp_skb_timestamp_us(head)) : 0,
		.backoff = icsk->icsk_backoff,
		.state = icsk->icsk_ca_state,
	};

	tl_log(sk, c, &r, sizeof(r), TL_LOG_ACK, flags);
}

void tl_log_close(const struct sock *sk, struct tl_connection *c)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_log_close r = {
		.bytes_acked = tp->bytes_acked,
		.bytes_sent = tp->bytes_sent,
		.bytes_retransmitted = tp->bytes_retrans,
		.segments_out = tp->data_segs_out,
		.retransmitted = tp->total_retrans,
	};

	tl_log(sk, c, &r, sizeof(r), TL_LOG_CLOSE, 0);
}

void tl_log_init(void)
{
	/* debugfs functions accept an error pointer as the parent */
	top = TL_ALLOC_ERR_PTR(debugfs_create_dir("tcplearn", NULL));
	tl_counters_create(top);
}

void tl_log_exit(void)
{
	debugfs_remove(top);
}
