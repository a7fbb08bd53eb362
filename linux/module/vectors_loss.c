// SPDX-License-Identifier: GPL-2.0-only
/* The golden vectors of the classifiers of losses, replayed in the kernel. Lines, each behind "l ":
 *
 *   s                                      a new series of events, in their order:
 *   a TIME RTT DELIVERED DUPLICATE           an ACK
 *   d TIME FLIGHT CWND SSTHRESH TRUTH        a fast retransmit: to be decided on
 *   g TIME FLIGHT CWND SSTHRESH CHANGE CAUSE a change; cause 2: as was decided
 *   c NAME                                 a case of this classifier; p KEY VALUE: a parameter, times 2^30
 *   q CAUSE PROBABILITY                    the next decision, times 2^30
 *   f INDEX VALUE                          a feature at the next fast retransmit, times 2^30; from 0
 *   e                                      the case ends: every event must have been used
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "loss_classifiers.h"
#include "vector_scores.h"
#include "vectors_loss.h"

#define EVENTS_MAX 8192

static struct event {
	char kind;
	struct tl_loss_ack ack;
	struct tl_loss_moment at;
	u32 change, cause;
} *events;
static u32 event_count, at;

static const struct tl_kernel_loss *subject;
static u8 params[TL_PARAMS_BYTES_MAX] __aligned(8);
static void *state;
static bool begun;
static struct tl_loss_answer said;
static s64 features_q30[TL_LOSS_FEATURE_COUNT];
static const struct tl_algorithm *tl_at(u32 i)
{
	return &tl_kernel_losses[i].algorithm;
}

static struct tl_scores scores = { .kind = "loss", .at = tl_at };

static struct tl_score *tl_score(void)
{
	return &scores.of[subject - tl_kernel_losses];
}

static void tl_compare(const char *what, s64 found, s64 expected)
{
	tl_score()->answers++;
	if (found == expected)
		return;
	tl_score()->wrong++;
	if (!scores.wrong[0])
		snprintf(scores.wrong, sizeof(scores.wrong), "%s after %u events: %s %lld, should be %lld", subject->algorithm.name, at, what,
			 found, expected);
}

/* The next event; whether it was a fast retransmit. */
static bool tl_play(void)
{
	const struct event *e = &events[at++];

	switch (e->kind) {
	case 'a':
		tl_kernel_loss_observe(state, &e->ack);
		return false;
	case 'g':
		subject->change(state, &e->at, e->change, e->cause < 2 ? e->cause : said.cause);
		return false;
	}
	tl_kernel_loss_features(state, &e->at, features_q30);
	subject->judge(state, features_q30, &e->at, &said);
	return true;
}

static int tl_to_decision(void)
{
	if (!subject)
		return -EINVAL;
	if (!begun)
		subject->algorithm.init(state, params);
	begun = true;
	while (at < event_count)
		if (tl_play())
			return 0;
	return -EINVAL;
}

static int tl_feature(u32 index, s64 expected)
{
	if (index >= TL_LOSS_FEATURE_COUNT || (index == 0 && tl_to_decision()) || !begun)
		return -EINVAL;
	tl_compare("a feature is", features_q30[index], expected);
	return 0;
}

static int tl_decision(u32 cause, s64 expected)
{
	if (tl_to_decision())
		return -EINVAL;
	tl_compare("the cause is", said.cause, cause);
	tl_compare("the probability is", said.congestion_q30, expected);
	return 0;
}

static int tl_end(void)
{
	if (!subject)
		return -EINVAL;
	if (!begun)
		subject->algorithm.init(state, params);
	while (at < event_count)
		if (tl_play())
			return -EINVAL;
	return 0;
}

static int tl_loss_case(const char *name)
{
	int i = tl_scores_find(&scores, name);

	subject = i < 0 ? NULL : &tl_kernel_losses[i];
	if (!subject || !event_count)
		return -EINVAL;
	memset(params, 0, sizeof(params));
	subject->algorithm.defaults(params);
	memset(&said, 0, sizeof(said));
	tl_score()->cases++;
	begun = false;
	at = 0;
	return 0;
}

static int tl_event(char kind, const char *text)
{
	struct event *e = &events[event_count];
	int want = kind == 'a' ? 4 : kind == 'd' ? 5 : 6, got;

	if (event_count == EVENTS_MAX)
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->at.truth = TL_LOSS_UNKNOWN;
	if (kind == 'a')
		got = sscanf(text, "%lld %lld %u %u", &e->ack.time_us, &e->ack.rtt_us, &e->ack.delivered_segments,
			     &e->ack.duplicate);
	else
		got = sscanf(text, "%lld %u %u %u %u %u", &e->at.time_us, &e->at.flight_segments,
			     &e->at.cwnd_segments, &e->at.ssthresh_segments,
			     kind == 'd' ? &e->at.truth : &e->change, &e->cause);
	if (got != want)
		return -EINVAL;
	event_count++;
	return 0;
}

int tl_loss_line(char *text)
{
	u32 n;
	s64 x;

	switch (text[0]) {
	case 's':
		event_count = 0;
		return 0;
	case 'a':
	case 'd':
	case 'g':
		return tl_event(text[0], text + 1);
	case 'c':
		return tl_loss_case(strim(text + 1));
	case 'p':
		if (!subject)
			return -EINVAL;
		return tl_vector_parameter(&subject->algorithm, params, text + 1);
	case 'q':
		return sscanf(text + 1, "%u %lld", &n, &x) == 2 ? tl_decision(n, x) : -EINVAL;
	case 'f':
		return sscanf(text + 1, "%u %lld", &n, &x) == 2 ? tl_feature(n, x) : -EINVAL;
	case 'e':
		return tl_end();
	}
	return -EINVAL;
}

void tl_loss_show(struct seq_file *out)
{
	tl_scores_show(&scores, out);
}

int tl_loss_vectors_init(void)
{
	events = kvcalloc(EVENTS_MAX, sizeof(*events), GFP_KERNEL);
	state = kzalloc(tl_kernel_loss_bytes_max, GFP_KERNEL);
	if (events && state && !tl_scores_init(&scores, tl_kernel_loss_count))
		return 0;
	tl_loss_vectors_exit();
	return -ENOMEM;
}

void tl_loss_vectors_exit(void)
{
	kvfree(events);
	kfree(state);
	kfree(scores.of);
}
