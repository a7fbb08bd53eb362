/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the module know of each other. */
#ifndef TCPLEARN_MODULE_H
#define TCPLEARN_MODULE_H

#include <linux/percpu.h>
#include <net/tcp.h>

#include "allocation.h"
#include "estimators.h"
#include "kernel_versions.h"
#include "log_format.h"

/* One connection: behind the pointer at the tail of the congestion control's private area. RTOs and
 * moments are in jiffies. */
struct tl_connection {
	const struct tl_kernel_estimator *estimator; /* NULL: stock, which writes nothing and logs what the kernel does */
	struct kmem_cache *cache; /* that this is from; NULL: none */
	struct tl_loss *loss; /* NULL: the base decides what a loss means */
	struct tl_resend *resend; /* NULL: the RTO is the estimator's */
	u32 id;
	u32 records;        /* written to the log, so that its reader sees a gap */
	u32 srtt_before;    /* tp->srtt_us before the kernel's estimator ran */
	u32 stock_rto;      /* the kernel's own, of the last sample, not backed off */
	u32 rto;            /* the estimator's, backed off as the kernel has done it; 0: none yet */
	u32 armed_rto;      /* what is in icsk_rto while this ACK arms the timer */
	u32 armed_at;
	u32 pacing_delay;   /* that the kernel adds */
	u32 timeout_before; /* when the timer would have fired without this ACK */
	u32 stamp;          /* tp->snd_cwnd_stamp, and what is shown in its place */
	u32 stamp_shown;
	s32 rtt_us;         /* the last ACK's sample */
	bool stamp_held;
	bool ours;          /* icsk_rto is the estimator's */
	bool unchecked;     /* the arming of the last ACK has not been looked at */
	bool fast_open;     /* the handshake's sample may come after data */
	bool sets_srtt;
	bool logs;
	bool measures;
	bool reports; /* to its place */
	struct tl_answer answer;
	u64 state[];
};

/* settings.c: for each network namespace, copied when a connection starts */
struct tl_settings {
	u8 set_srtt;
	u8 log;
	u8 measure;
};

/* A relay while it is on: readers under RCU. */
struct tl_log {
	struct rchan __rcu *channel;
	struct dentry *directory;
};

const struct tl_settings *tl_settings_of(const struct net *net);
bool tl_settings_any(const struct net *net);
struct tl_log *tl_log_of(const struct net *net);
struct tl_choice __rcu **tl_estimator_choice_of(const struct net *net);
struct tl_choice __rcu **tl_loss_choice_of(const struct net *net);
struct tl_choice __rcu **tl_resend_choice_of(const struct net *net);
int tl_may_write(void); /* a setting: -EPERM */
struct tl_resend_net *tl_resend_net_of(const struct net *net);
struct tl_startup_net *tl_startup_of(const struct net *net);
int tl_settings_init(void);
void tl_settings_exit(void);

/* connection.c */
int tl_connection_init(void);
void tl_connection_exit(void);
/* NULL: no memory. `spec` (TL_CHOICE_TEXT_BYTES): the estimator as it was chosen. */
struct tl_connection *tl_connection_new(struct sock *sk, char *spec);
void tl_connection_free(struct tl_connection *c);
void *tl_alloc(const struct sock *sk, struct kmem_cache *cache); /* zeroed, charged to the socket's cgroup */
void tl_connection_ack(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample);

void tl_connection_handshake(struct sock *sk, struct tl_connection *c);

/* timer.c, timer.h */
/* When the arming of an ACK's timer is looked at. */
enum tl_when {
	TL_SAME_ACK, /* tcp_set_xmit_timer has run for this ACK, and nothing else since */
	TL_NEXT_EVENT, /* the timer fired, segments are sent, or an ACK without a sample came */
	TL_NEXT_SAMPLE, /* an ACK with a sample came: tcp_set_rto has run again */
};
void tl_timer_start(struct sock *sk, struct tl_connection *c);
void tl_timer_before_send(struct sock *sk, struct tl_connection *c);
void tl_timer_release(struct sock *sk, struct tl_connection *c);
void tl_timer_look(struct sock *sk, struct tl_connection *c, enum tl_when when);

/* log.c */
#define TL_COUNTERS(X) \
	X(connections, "started with an estimator or as stock, at their first data") \
	X(connections_ended, "of them, ended") \
	X(fallbacks, "started as the plain base: no memory") \
	X(acks, "ACKs that were looked at") \
	X(samples, "of them, with a sample of the RTT") \
	X(no_sample, "of them, without: Karn's rule, RTO and backoff left as they are") \
	X(handshakes, "samples that the kernel had taken of a handshake") \
	X(samples_differ, "samples that differ from the congestion control's (the last segment's)") \
	X(armed, "ACKs that armed the retransmission timer") \
	X(armed_ours, "of them, for what the module wrote") \
	X(armed_late, "of them, looked at no earlier than the next event") \
	X(armed_late_ours, "of these, for what the module wrote") \
	X(kept, "ACKs that left the running timer as it was: duplicates, and old data in recovery") \
	X(probe, "ACKs after which a tail loss probe is due first") \
	X(reorder, "ACKs after which the reordering timer is due first") \
	X(idle, "ACKs after which no timer runs: nothing is out") \
	X(lost_rto, "times that another part of the kernel had changed the RTO before the next ACK") \
	X(timeouts, "times that the retransmission timer fired") \
	X(startups, "handshakes whose startup was decided, or noted under stock") \
	X(startups_lost, "of them, with a lost SYN or SYN-ACK") \
	X(log_records, "written") \
	X(log_drops, "not written: the buffer was full") \
	X(loss_decisions, "fast recoveries whose cause was decided on") \
	X(loss_kept, "of them, random: the window was kept") \
	X(loss_measured, "decisions whose cost was measured") \
	X(cycles_loss, "of these") \
	X(cycles_loss_clock, "of reading the clock, to be taken off each") \
	X(resend_inherited, "connections whose resend policy began with what an earlier one had learned") \
	X(resend_first, "waits of a resend policy, written before segments leave or at an ACK") \
	X(resend_probes, "tail loss probes after which a resend policy's wait was written") \
	X(resend_timeouts, "timeouts, likewise") \
	X(resend_measured, "sendings, probes and timeouts whose cost to a resend policy was measured") \
	X(cycles_resend, "of these") \
	X(cycles_resend_clock, "of reading the clock, to be taken off each") \
	X(cycles_resend_log, "of logging what a resend policy says of ACKs, to be taken off cycles_all") \
	X(measured, "ACKs whose cost was measured") \
	X(cycles_base, "of the base's pkts_acked") \
	X(cycles_all, "of the base's and the module's") \
	X(cycles_clock, "of reading the clock, to be taken off each")

enum tl_counter {
#define TL_COUNTER_ID(name, text) TL_COUNT_##name,
	TL_COUNTERS(TL_COUNTER_ID)
	TL_COUNTER_COUNT
};

struct tl_counter_set {
	u64 of[TL_COUNTER_COUNT];
};
DECLARE_PER_CPU(struct tl_counter_set, tl_counts);
#define tl_count(name) this_cpu_inc(tl_counts.of[TL_COUNT_##name])
#define tl_count_add(name, n) this_cpu_add(tl_counts.of[TL_COUNT_##name], n)

void tl_log_init(void);
void tl_log_exit(void);
int tl_log_switch(const struct net *net, bool on);
void tl_log(const struct sock *sk, struct tl_connection *c, void *record, u16 size, u8 type, u8 flags);
void tl_log_open(const struct sock *sk, struct tl_connection *c, const char *spec);
void tl_log_ack(const struct sock *sk, struct tl_connection *c, const struct ack_sample *sample);
void tl_log_close(const struct sock *sk, struct tl_connection *c);

/* loss_log.c */
struct tl_loss_moment;
struct tl_loss_answer;
void tl_log_loss(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at,
		 const s64 *features_q30, const struct tl_loss_answer *answer);
void tl_log_loss_change(const struct sock *sk, struct tl_connection *c, const struct tl_loss_moment *at, u32 change,
			u32 cause);

#endif
