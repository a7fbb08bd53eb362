// SPDX-License-Identifier: GPL-2.0-only
/* One connection: its memory, and the path from an ACK to the estimator's answer. */
#include <linux/slab.h>

#include "allocation.h"
#include "choice.h"
#include "connection.h"
#include "counters.h"
#include "log.h"
#include "loss.h"
#include "resend.h"
#include "startup.h"
#include "timer.h"

static atomic_t last_id = ATOMIC_INIT(0);

/* Each estimator has a slab for states up to the size with default parameters. Entry 0: no estimator. */
struct tl_slab {
	struct kmem_cache *cache;
	u32 bytes;
	char name[48];
};
static struct tl_slab *slabs;

static int tl_slab_init(struct tl_slab *slab, const struct tl_algorithm *a)
{
	if (a) {
		void *params = TL_ALLOC(kzalloc(TL_PARAMS_BYTES_MAX, GFP_KERNEL));

		if (!params)
			return -ENOMEM;
		a->defaults(params);
		slab->bytes = a->state_bytes(params);
		kfree(params);
	}
	snprintf(slab->name, sizeof(slab->name), "tcplearn_%s", a ? a->name : "stock");
	strreplace(slab->name, '/', '-');
	slab->cache = TL_ALLOC(kmem_cache_create(slab->name, sizeof(struct tl_connection) + slab->bytes, 0,
						 SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT, NULL));
	return slab->cache ? 0 : -ENOMEM;
}

static void tl_slabs_exit(void)
{
	u32 i;

	for (i = 0; i <= tl_estimators.kind.count; i++)
		kmem_cache_destroy(slabs[i].cache);
	kfree(slabs);
}

static int tl_slabs_init(void)
{
	u32 i;

	slabs = TL_ALLOC(kcalloc(tl_estimators.kind.count + 1, sizeof(*slabs), GFP_KERNEL));
	if (!slabs)
		return -ENOMEM;
	for (i = 0; i <= tl_estimators.kind.count; i++) {
		if (tl_slab_init(&slabs[i], i ? tl_estimators.kind.at(i - 1) : NULL)) {
			tl_slabs_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

void tl_connection_exit(void)
{
	tl_resend_exit();
	tl_loss_exit();
	tl_slabs_exit();
}

int tl_connection_init(void)
{
	int error = tl_slabs_init();

	if (error)
		return error;
	error = tl_loss_init();
	if (error)
		goto slabs;
	error = tl_resend_init();
	if (!error)
		return 0;
	tl_loss_exit();
slabs:
	tl_slabs_exit();
	return error;
}

/* Allocates a connection. Copies the estimator's initial state, since softirq has no time to compute it. */
static struct tl_connection *tl_connection_begun(const struct sock *sk, const struct tl_choice *choice, char *spec)
{
	const struct tl_kernel_estimator *e =
		choice ? container_of(choice->algorithm, struct tl_kernel_estimator, algorithm) : NULL;
	const u32 bytes = choice ? choice->bytes : 0;
	const struct tl_slab *slab = &slabs[e ? 1 + (e - tl_kernel_estimators) : 0];
	struct kmem_cache *cache = bytes <= slab->bytes ? slab->cache : NULL;
	struct tl_connection *c = tl_alloc(sk, cache, sizeof(*c) + bytes);

	if (!c)
		return NULL;
	c->cache = cache;
	c->estimator = e;
	if (e) {
		memcpy(c->state, choice->blank, bytes);
		e->query(c->state, &c->answer);
	}
	strscpy(spec, choice ? choice->text : tl_estimators.nothing, TL_CHOICE_TEXT_BYTES);
	return c;
}

/* Returns the kernel's own RTO without backoff. A backed-off RTO may have been limited, so it is computed
 * anew, as the kernel does after an ICMP error. */
static u32 tl_kernels_rto(const struct sock *sk)
{
	if (!inet_csk(sk)->icsk_backoff)
		return inet_csk(sk)->icsk_rto;
	return tcp_sk(sk)->srtt_us ? min(__tcp_set_rto(tcp_sk(sk)), tl_rto_max(sk)) : TCP_TIMEOUT_INIT;
}

struct tl_connection *tl_connection_new(struct sock *sk, char *spec)
{
	const struct tl_settings *settings = &tl_net_of(sock_net(sk))->settings;
	struct tl_connection *c;

	rcu_read_lock();
	c = tl_connection_begun(sk, rcu_dereference(tl_net_of(sock_net(sk))->estimator), spec);
	rcu_read_unlock();
	if (!c) {
		tl_count(fallbacks);
		return NULL;
	}
	tl_count(connections);
	c->id = atomic_inc_return(&last_id);
	c->sets_srtt = settings->set_srtt;
	c->logs = settings->log;
	c->measures = settings->measure;
	c->srtt_before = tcp_sk(sk)->srtt_us;
	c->armed_rto = inet_csk(sk)->icsk_rto;
	c->stock_rto = tl_kernels_rto(sk);
	c->reports = tl_startup_remembers(sock_net(sk));
	c->fast_open = !!rcu_access_pointer(tcp_sk(sk)->fastopen_rsk);
	return c;
}

void tl_connection_free(struct tl_connection *c)
{
	tl_count(connections_ended);
	tl_loss_free(c);
	tl_resend_free(c);
	if (c->cache)
		kmem_cache_free(c->cache, c);
	else
		kfree(c);
}

static __always_inline void tl_update(const struct sock *sk, struct tl_connection *c, s32 rtt_us, u32 acked_segments)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct tl_sample in = {
		.time_us = tp->tcp_mstamp,
		.sent_us = tp->tcp_mstamp - rtt_us,
		.rtt_us = rtt_us,
		.flight_segments = tp->packets_out + acked_segments,
	};

	c->estimator->update(c->state, &in, &c->answer);
}

/* Gives the estimator the handshake's RTT sample, taken before this connection had a state. */
static noinline void tl_handshake(struct sock *sk, struct tl_connection *c, s32 rtt_us)
{
	struct ack_sample sample = { .pkts_acked = 1, .rtt_us = rtt_us };

	tl_count(handshakes);
	c->rtt_us = rtt_us;
	if (c->resend)
		tl_resend_handshake(sk, c, rtt_us);
	if (c->estimator) {
		/* The RTO of the first flight stays the kernel's: SYNs are small and are answered at
		 * once, and the kernel's RTO may contain an RTT from its destination cache. */
		tl_update(sk, c, rtt_us, sample.pkts_acked);
	} else {
		c->answer.rtt_q8 = (s64)rtt_us << 8;
		c->answer.rto_q8 = (s64)jiffies_to_usecs(c->stock_rto) << 8;
	}
	if (c->logs)
		tl_log_ack(sk, c, &sample, tl_loss_ack_flags(c));
}

/* Called once, before the first sample of the connection's own data. */
void tl_connection_handshake(struct sock *sk, struct tl_connection *c)
{
	c->srtt_before = tcp_sk(sk)->srtt_us;
	if (c->srtt_before) {
		c->fast_open = false;
		c->stock_rto = inet_csk(sk)->icsk_rto;
		tl_handshake(sk, c, c->srtt_before >> 3);
	}
}

/* Returns the sample that tcp_rtt_estimator received. The kernel passes the sample of the first
 * acknowledged segment to its estimator, but that of the last one to the congestion control. The
 * estimator's sample m follows exactly from srtt' = srtt - (srtt >> 3) + m, and at the first sample from
 * m << 3. Only m = 0 (a path below 1 us) can be off, by 1, because the kernel keeps srtt above 0. */
static s32 tl_sample_us(struct sock *sk, struct tl_connection *c, s32 last_us)
{
	u32 before = c->srtt_before, after = tcp_sk(sk)->srtt_us;

	if (before)
		return (s32)(after - before + (before >> 3));
	if (c->fast_open && sk->sk_state != TCP_SYN_RECV) {
		/* Data was sent before the last ACK of the handshake, whose RTT sample no operation gets. The
		 * kernel's new srtt, srtt', contains the sample h of the handshake and the sample m of this
		 * ACK as 7 h + m. The sample that the congestion control gets is taken as m. */
		c->fast_open = false;
		tl_handshake(sk, c, max_t(s32, (s32)(after - last_us) / 7, 1));
		return last_us;
	}
	return (s32)(after >> 3);
}

/* Handles an ACK. Compiled twice, so that connections without a resend policy do not pay for its code. */
static __always_inline void tl_ack(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample,
				   const bool resends)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	s32 rtt_us = -1;

	/* With a sample the kernel has just written icsk_rto; without one the whole RTO is restored here. */
	tl_timer_settle(sk, c, sample->rtt_us >= 0 ? TL_NEXT_SAMPLE : TL_NEXT_EVENT);
	tl_count(acks);
	if (sample->rtt_us >= 0) {
		c->stock_rto = icsk->icsk_rto;
		rtt_us = tl_sample_us(sk, c, sample->rtt_us);
		tl_count(samples);
		if (rtt_us != sample->rtt_us)
			tl_count(samples_differ);
		if (c->estimator) {
			if (likely(rtt_us >= 0)) {
				tl_update(sk, c, rtt_us, sample->pkts_acked);
				if (!resends)
					tl_timer_answer(sk, c);
				if (c->sets_srtt)
					tp->srtt_us = clamp_t(s64, c->answer.rtt_q8 >> 5, 1, U32_MAX >> 1);
			}
			if (!resends)
				tl_timer_sampled(sk, c);
		} else {
			c->answer.rtt_q8 = (s64)tp->srtt_us << 5;
			c->answer.rto_q8 = (s64)jiffies_to_usecs(c->stock_rto) << 8;
			c->armed_rto = c->stock_rto;
		}
		c->srtt_before = tp->srtt_us;
	} else {
		tl_count(no_sample);
		if (!resends)
			tl_timer_not_sampled(sk, c);
	}
	if (resends)
		tl_resend_ack(sk, c, rtt_us);
	tl_timer_expect(sk, c);
	c->rtt_us = rtt_us;
	if (c->loss)
		tl_loss_ack(sk, c, sample);
}

static noinline void tl_ack_with_resends(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample)
{
	tl_ack(sk, c, sample, true);
}

void tl_connection_ack(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample)
{
	if (unlikely(c->resend))
		tl_ack_with_resends(sk, c, sample);
	else
		tl_ack(sk, c, sample, false);
}

void tl_connection_tx_start(struct sock *sk, struct tl_connection *c)
{
	if (tcp_sk(sk)->packets_out)
		return;
	if (c->resend)
		tl_resend_send(sk, c);
	else
		tl_timer_start(sk, c);
}

void tl_connection_before_send(struct sock *sk, struct tl_connection *c)
{
	const struct sk_buff *next = tcp_send_head(sk);

	if (!c->estimator && !c->resend)
		return;
	tl_timer_before_send(sk, c);
	if (next && !next->len) /* a FIN without data: no event announces it */
		tl_connection_tx_start(sk, c);
	if (c->resend && next && tcp_sk(sk)->packets_out)
		tl_resend_send(sk, c);
	tl_timer_hold_stamp(sk, c);
}
