// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "estimators.h"
#include "first_rtos.h"
#include "loss_classifiers.h"
#include "resend_policies.h"
#include "startups.h"
#include "vector_players.h"

#define STATE_BYTES_MAX 65536
/* The first-RTO vectors use several states; other kinds use one or two. */
#define STATES 4

static void *states[STATES];
static u64 params[TL_PARAMS_BYTES_MAX / sizeof(u64)];
static struct tl_loss_answer said;
static struct tl_answer updated; /* the answer of an estimator's update, which is also the query's */
static bool is_updated;

static int tl_begin(void *unused, const struct tl_algorithm *a, const void *of)
{
	u32 i;

	if (a->state_bytes(of) > STATE_BYTES_MAX)
		return -1;
	memcpy(params, of, sizeof(params));
	for (i = 0; i < STATES; i++)
		a->init(states[i], params);
	memset(&said, 0, sizeof(said));
	is_updated = false;
	return 0;
}

/* Sets an answer of two numbers. */
static int tl_answered(struct tl_vector_answer *answer, s64 first, s64 second)
{
	answer->count = 2;
	answer->whole[0] = first;
	answer->whole[1] = second;
	return 1;
}

static int tl_play_estimator(void *unused, const struct tl_algorithm *a, const struct tl_vector_event *e,
			     struct tl_vector_answer *answer)
{
	const struct tl_kernel_estimator *estimator = container_of(a, struct tl_kernel_estimator, algorithm);
	struct tl_sample in = {
		.time_us = e->number[0] + e->later_us,
		.sent_us = e->number[1] + e->later_us,
		.rtt_us = e->number[2],
		.ack_delay_us = e->number[3],
		.flight_segments = e->number[4],
		.ttl = e->number[5],
		.hops = e->number[6],
	};
	struct tl_answer asked;

	if (e->word != TL_VECTOR_BEGIN) {
		if (e->count != 7)
			return -1;
		estimator->update(states[0], &in, &updated);
		is_updated = true;
	}
	if (!e->asked)
		return 0;
	estimator->query(states[0], &asked);
	if (is_updated && (updated.rtt_q8 != asked.rtt_q8 || updated.rto_q8 != asked.rto_q8))
		return -1;
	return tl_answered(answer, asked.rtt_q8, asked.rto_q8);
}

/* The events are ack, decide, change. Returns 1 at a decision, with its features as the answer. */
static int tl_play_features(void *unused, const struct tl_algorithm *a, const struct tl_vector_event *e,
			    struct tl_vector_answer *answer)
{
	const struct tl_kernel_loss *classifier = container_of(a, struct tl_kernel_loss, algorithm);
	const struct tl_loss_ack ack = { e->number[0], e->number[1], e->number[2], e->number[3] };
	const struct tl_loss_moment at = {
		.time_us = e->number[0],
		.flight_segments = e->number[1],
		.cwnd_segments = e->number[2],
		.ssthresh_segments = e->number[3],
		.truth = e->word == 1 ? e->number[4] : TL_LOSS_UNKNOWN,
	};

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != (e->word == 0 ? 4 : e->word == 1 ? 5 : 6))
		return -1;
	if (e->word == 0) {
		classifier->observe(states[0], &ack);
		return 0;
	}
	if (e->word == 2) {
		classifier->change(states[0], &at, e->number[4], e->number[5] < 2 ? e->number[5] : said.cause);
		return 0;
	}
	BUILD_BUG_ON(TL_LOSS_FEATURE_COUNT > TL_VECTOR_ANSWERS);
	tl_kernel_loss_features(states[0], &at, answer->whole);
	answer->count = TL_LOSS_FEATURE_COUNT;
	classifier->judge(states[0], answer->whole, &at, &said);
	return 1;
}

static int tl_play_loss(void *host, const struct tl_algorithm *a, const struct tl_vector_event *e,
			struct tl_vector_answer *answer)
{
	const int found = tl_play_features(host, a, e, answer);

	if (found != 1)
		return found;
	return tl_answered(answer, said.cause, said.congestion_q30);
}

static int tl_play_startup(void *unused, const struct tl_algorithm *a, const struct tl_vector_event *e,
			   struct tl_vector_answer *answer)
{
	const struct tl_kernel_startup *policy = container_of(a, struct tl_kernel_startup, algorithm);
	const struct tl_handshake handshake = {
		.time_us = e->number[0],
		.took_us = e->number[1],
		.loss = e->number[2],
		.resends = e->number[3],
		.iw_segments = e->number[4],
		.ssthresh_segments = e->number[5],
	};
	const struct tl_startup_report report = {
		.time_us = e->number[0],
		.sent_segments = e->number[1],
		.resent_segments = e->number[2],
		.rtt_us = e->number[3],
		.rtt_min_us = e->number[4],
	};
	struct tl_startup_window window;

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != (e->word == 0 ? 6 : 5))
		return -1;
	if (e->word == 1) {
		policy->report(states[0], &report);
		return 0;
	}
	policy->decide(states[0], &handshake, &window);
	policy->note(states[0], &handshake);
	return tl_answered(answer, window.iw_segments, window.ssthresh_segments);
}

static int tl_play_resend(void *unused, const struct tl_algorithm *a, const struct tl_vector_event *e,
			  struct tl_vector_answer *answer)
{
	const struct tl_kernel_resend *policy = container_of(a, struct tl_kernel_resend, algorithm);
	const struct tl_resend_event sent = { .time_us = e->number[0], .out_segments = e->number[1] };
	const struct tl_resend_ack ack = {
		.time_us = e->number[0],
		.rtt_us = e->number[1],
		.out_segments = e->number[2],
		.answers = e->number[3],
	};
	struct tl_resend_wait wait = {};

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != (e->word == 3 ? 0 : e->word == 2 ? 4 : 2))
		return -1;
	if (e->word == 0) {
		policy->send(states[0], &sent, &wait);
	} else if (e->word == 1) {
		policy->timer(states[0], &sent, &wait);
	} else if (e->word == 2) {
		policy->ack(states[0], &ack, &wait);
	} else { /* the connection ends, and another one to the same destination begins */
		swap(states[0], states[1]);
		a->init(states[0], params);
		policy->inherit(states[0], states[1]);
	}
	return tl_answered(answer, wait.wait_us, wait.probe);
}

static int tl_play_first_rto(void *unused, const struct tl_algorithm *a, const struct tl_vector_event *e,
			     struct tl_vector_answer *answer)
{
	static const u32 counts[] = { 3, 2, 4, 5 };
	const struct tl_kernel_first_rto *policy = container_of(a, struct tl_kernel_first_rto, algorithm);
	const s64 *n = e->number;

	if (e->word == TL_VECTOR_BEGIN)
		return 0;
	if (e->count != counts[e->word] || n[0] < 0 || n[0] >= STATES)
		return -1;
	if (e->word == 3 && (n[1] < 0 || n[1] >= STATES))
		return -1;
	if (e->word == 0)
		policy->report(states[n[0]], n[1], n[2]);
	else if (e->word == 1)
		policy->doubt(states[n[0]], n[1]);
	else if (e->word == 2)
		policy->resent(states[n[0]], n[1], n[2], n[3]);
	if (e->word < 3)
		return 0;
	answer->count = 1;
	answer->whole[0] = policy->rto_us(states[n[0]], states[n[1]], n[3], n[4], n[2]);
	return 1;
}

#define LOSS_WORDS "ack|decide|change"

const struct tl_vector_kind tl_vector_kinds[TL_VECTOR_KINDS] = {
	{ "estimator", { &tl_estimators.kind, "sample", tl_begin, tl_play_estimator } },
	{ "loss/features", { &tl_losses.kind, LOSS_WORDS, tl_begin, tl_play_features } },
	{ "loss", { &tl_losses.kind, LOSS_WORDS, tl_begin, tl_play_loss } },
	{ "startup", { &tl_startups.kind, "handshake|report", tl_begin, tl_play_startup } },
	{ "resend", { &tl_resends.kind, "send|timer|ack|next", tl_begin, tl_play_resend } },
	{ "first-rto", { &tl_first_rtos.kind, "report|doubt|resent|query", tl_begin, tl_play_first_rto } },
};

void tl_vector_players_exit(void)
{
	u32 i;

	for (i = 0; i < STATES; i++)
		kvfree(states[i]);
}

int tl_vector_players_init(void)
{
	u32 i;

	for (i = 0; i < STATES; i++) {
		states[i] = kvzalloc(STATE_BYTES_MAX, GFP_KERNEL);
		if (!states[i]) {
			tl_vector_players_exit();
			return -ENOMEM;
		}
	}
	return 0;
}
