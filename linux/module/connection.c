// SPDX-License-Identifier: GPL-2.0-only
/* One connection: from the ACK to the sample, and from the estimator's answer to icsk_rto. */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "tcplearn_module.h"

DEFINE_PER_CPU(struct tl_counter_set, tl_counts);
static atomic_t last_id = ATOMIC_INIT(0);

/* For each estimator its slab and a state as init leaves it: a connection starts with a copy, so
 * that no grid of experts is computed in softirq. Entry 0 is stock. */
struct tl_kind {
	struct kmem_cache *cache;
	u32 bytes;
	void *blank;
	char name[TL_NAME_BYTES + 16];
};
static struct tl_kind *kinds;

static int tl_kind_init(struct tl_kind *kind, const struct tl_kernel_estimator *e)
{
	if (e) {
		void *params = kzalloc(TL_PARAMS_BYTES_MAX, GFP_KERNEL);

		if (!params)
			return -ENOMEM;
		e->defaults(params);
		kind->bytes = e->state_bytes(params);
		kind->blank = kzalloc(kind->bytes, GFP_KERNEL);
		if (kind->blank)
			e->init(kind->blank, params);
		kfree(params);
		if (!kind->blank)
			return -ENOMEM;
	}
	snprintf(kind->name, sizeof(kind->name), "tcplearn_%s", e ? e->name : "stock");
	strreplace(kind->name, '/', '-');
	kind->cache = kmem_cache_create(kind->name, sizeof(struct tl_connection) + kind->bytes, 0,
					SLAB_HWCACHE_ALIGN, NULL);
	return kind->cache ? 0 : -ENOMEM;
}

void tl_connection_exit(void)
{
	u32 i;

	for (i = 0; i <= tl_kernel_estimator_count; i++) {
		kmem_cache_destroy(kinds[i].cache);
		kfree(kinds[i].blank);
	}
	kfree(kinds);
}

int tl_connection_init(void)
{
	u32 i;

	kinds = kcalloc(tl_kernel_estimator_count + 1, sizeof(*kinds), GFP_KERNEL);
	if (!kinds)
		return -ENOMEM;
	for (i = 0; i <= tl_kernel_estimator_count; i++) {
		if (tl_kind_init(&kinds[i], i ? &tl_kernel_estimators[i - 1] : NULL)) {
			tl_connection_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

struct tl_connection *tl_connection_new(struct sock *sk)
{
	const struct tl_settings *settings = tl_settings_of(sock_net(sk));
	int chosen = READ_ONCE(settings->estimator);
	const struct tl_kind *kind = &kinds[chosen];
	/* the state of a passive connection starts in softirq */
	struct tl_connection *c = kmem_cache_zalloc(kind->cache, GFP_ATOMIC | __GFP_NOWARN);

	if (!c) {
		tl_count(fallbacks);
		return NULL;
	}
	tl_count(connections);
	c->cache = kind->cache;
	c->id = atomic_inc_return(&last_id);
	c->sets_srtt = settings->set_srtt;
	c->logs = settings->log;
	c->measures = settings->measure;
	/* the handshake's sample is in it already */
	c->srtt_before = tcp_sk(sk)->srtt_us;
	if (chosen != TL_STOCK) {
		c->estimator = &tl_kernel_estimators[chosen - 1];
		memcpy(c->state, kind->blank, kind->bytes);
		c->estimator->query(c->state, &c->answer);
	}
	return c;
}

void tl_connection_free(struct tl_connection *c)
{
	tl_count(connections_ended);
	kmem_cache_free(c->cache, c);
}

/* The sample that tcp_rtt_estimator was given. The congestion control gets that of the last
 * segment acknowledged, the estimator that of the first; srtt' = srtt - (srtt >> 3) + m, and m << 3
 * at the first, give it back exactly. srtt stays above 0, so only m = 0 (a path below 1 us) could
 * be off, by 1. */
static s32 tl_sample_us(const struct tcp_sock *tp, u32 before)
{
	u32 after = tp->srtt_us;

	return before ? (s32)(after - before + (before >> 3)) : (s32)(after >> 3);
}

static u32 tl_rto_jiffies(s64 rto_q8)
{
	u64 us = (u64)max_t(s64, rto_q8, 0);

	/* rounded up: a timer must not be early. Two jiffies: the first one may end at once. */
	us = min_t(u64, (us + 255) >> 8, (u64)TCP_RTO_MAX * (USEC_PER_SEC / HZ));
	return max_t(u32, usecs_to_jiffies((u32)us), 2);
}

static u32 tl_head_age_us(const struct sock *sk)
{
	const struct sk_buff *head = tcp_rtx_queue_head(sk);

	return head ? tcp_stamp_us_delta(tcp_sk(sk)->tcp_mstamp, tcp_skb_timestamp_us(head)) : 0;
}

static void tl_write(struct sock *sk, struct tl_connection *c)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	c->rto = tl_rto_jiffies(c->answer.rto_q8);
	c->armed_rto = c->rto;
	if (c->estimator->timer_from_head) {
		/* the kernel counts from the ACK; settle() puts the whole RTO back */
		u32 age = usecs_to_jiffies(tl_head_age_us(sk));

		c->armed_rto = c->rto > age + 2 ? c->rto - age : 2;
	}
	icsk->icsk_rto = c->armed_rto;
}

void tl_connection_ack(struct sock *sk, struct tl_connection *c, const struct ack_sample *sample)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	s32 rtt_us = -1;
	u32 stock_rto;

	/* a new sample has overwritten icsk_rto by now; without one, settle() has made it whole again */
	tl_connection_settle(sk, c, sample->rtt_us >= 0 ? TL_NEXT_SAMPLE : TL_NEXT_EVENT);
	stock_rto = icsk->icsk_rto;
	tl_count(acks);
	if (sample->rtt_us >= 0) {
		rtt_us = tl_sample_us(tp, c->srtt_before);
		tl_count(samples);
		if (rtt_us != sample->rtt_us)
			tl_count(samples_differ);
		if (c->estimator && rtt_us >= 0) {
			struct tl_sample in = {
				.time_us = tp->tcp_mstamp,
				.sent_us = tp->tcp_mstamp - rtt_us,
				.rtt_us = rtt_us,
				.flight_segments = tp->packets_out + sample->pkts_acked,
			};

			c->estimator->update(c->state, &in);
			c->estimator->query(c->state, &c->answer);
			tl_write(sk, c);
			if (c->sets_srtt)
				tp->srtt_us = clamp_t(s64, c->answer.rtt_q8 >> 5, 1, U32_MAX >> 1);
		} else if (!c->estimator) {
			c->rto = c->armed_rto = stock_rto;
			c->answer.rtt_q8 = (s64)tp->srtt_us << 5;
			c->answer.rto_q8 = (s64)jiffies_to_usecs(stock_rto) << 8;
		}
		c->srtt_before = tp->srtt_us;
	} else {
		/* Karn, RFC 6298 section 3: tcp_set_rto did not run, and a backed-off RTO stays */
		tl_count(no_sample);
		c->rto = c->armed_rto = stock_rto;
	}
	c->armed_at = tcp_jiffies32;
	c->timeout_before = icsk->icsk_timeout;
	c->unchecked = true;
	c->rtt_us = rtt_us;
	c->stock_rto = stock_rto;
}

static void tl_check_arming(const struct sock *sk, const struct tl_connection *c, enum tl_when when)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	bool ours;

	switch (icsk->icsk_pending) {
	case ICSK_TIME_RETRANS:
		ours = (u32)icsk->icsk_timeout - c->armed_at == c->armed_rto;
		if (!ours && (u32)icsk->icsk_timeout == c->timeout_before) {
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

/* At the first event after an ACK: what was armed, and the whole RTO back in its place. */
void tl_connection_settle(struct sock *sk, struct tl_connection *c, enum tl_when when)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (!c->unchecked)
		return;
	c->unchecked = false;
	tl_check_arming(sk, c, when);
	if (when == TL_NEXT_SAMPLE)
		return;
	if (icsk->icsk_rto != c->armed_rto)
		tl_count(lost_rto);
	else
		icsk->icsk_rto = c->rto;
}
