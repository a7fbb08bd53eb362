// SPDX-License-Identifier: GPL-2.0-only
/* The golden vectors of the resend policies, replayed in the kernel. Lines, each behind "w ":
 *
 *   s                        a new series of events, in their order:
 *   d TIME OUT                 a segment is sent
 *   t TIME OUT                 the timer has sent again
 *   a TIME RTT OUT ANSWERS     an ACK
 *   n                          the connection ends, and another one to its place begins
 *   c NAME                   a case of this policy; p KEY VALUE: a parameter, times 2^30
 *   q WAIT PROBE             the next event's answer
 *   e                        the case ends: every event must have been used
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "resend_policies.h"
#include "vector_scores.h"
#include "vectors_resend.h"

#define EVENTS_MAX 4096

static struct event {
	char kind;
	struct tl_resend_event sent;
	struct tl_resend_ack ack;
} events[EVENTS_MAX];
static u32 event_count, at;

static const struct tl_kernel_resend *subject;
static u8 params[TL_PARAMS_BYTES_MAX] __aligned(8);
static void *state, *earlier;
static bool begun;
static const struct tl_algorithm *tl_at(u32 i)
{
	return &tl_kernel_resends[i].algorithm;
}

static struct tl_scores scores = { .kind = "resend", .at = tl_at };

static int tl_event(char kind, const char *text)
{
	struct event *e = &events[event_count];
	int want = kind == 'n' ? 0 : kind == 'a' ? 4 : 2, got;

	if (event_count == EVENTS_MAX)
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	e->kind = kind;
	if (kind == 'n')
		got = 0;
	else if (kind == 'a')
		got = sscanf(text, "%lld %lld %u %u", &e->ack.time_us, &e->ack.rtt_us, &e->ack.out_segments,
			     &e->ack.answers);
	else
		got = sscanf(text, "%lld %u", &e->sent.time_us, &e->sent.out_segments);
	if (got != want)
		return -EINVAL;
	event_count++;
	return 0;
}

static int tl_case(const char *name)
{
	int i = tl_scores_find(&scores, name);

	subject = i < 0 ? NULL : &tl_kernel_resends[i];
	if (!subject || !event_count)
		return -EINVAL;
	memset(params, 0, sizeof(params));
	subject->algorithm.defaults(params);
	scores.of[i].cases++;
	begun = false;
	at = 0;
	return 0;
}

static void tl_next_connection(struct tl_resend_wait *out)
{
	memcpy(earlier, state, tl_kernel_resend_bytes_max);
	subject->algorithm.init(state, params);
	subject->inherit(state, earlier);
	memset(out, 0, sizeof(*out));
}

static int tl_answer(s64 wait_us, u32 probe)
{
	struct tl_score *score;
	struct tl_resend_wait out;
	const struct event *e;

	if (!subject || at >= event_count)
		return -EINVAL;
	if (!begun)
		subject->algorithm.init(state, params);
	begun = true;
	e = &events[at++];
	if (e->kind == 'n')
		tl_next_connection(&out);
	else if (e->kind == 'a')
		subject->ack(state, &e->ack, &out);
	else if (e->kind == 't')
		subject->timer(state, &e->sent, &out);
	else
		subject->send(state, &e->sent, &out);
	score = &scores.of[subject - tl_kernel_resends];
	score->answers++;
	if (out.wait_us == wait_us && out.probe == probe)
		return 0;
	score->wrong++;
	if (!scores.wrong[0])
		snprintf(scores.wrong, sizeof(scores.wrong), "%s after %u events: %lld, %u, should be %lld, %u",
			 subject->algorithm.name, at, out.wait_us, out.probe, wait_us, probe);
	return 0;
}

int tl_resend_line(char *text)
{
	s64 wait_us;
	u32 probe;

	switch (text[0]) {
	case 's':
		event_count = 0;
		return 0;
	case 'd':
	case 't':
	case 'a':
	case 'n':
		return tl_event(text[0], text + 1);
	case 'c':
		return tl_case(strim(text + 1));
	case 'p':
		return subject && !begun ? tl_vector_parameter(&subject->algorithm, params, text + 1) : -EINVAL;
	case 'q':
		return sscanf(text + 1, "%lld %u", &wait_us, &probe) == 2 ? tl_answer(wait_us, probe) : -EINVAL;
	case 'e':
		return at == event_count ? 0 : -EINVAL;
	}
	return -EINVAL;
}

void tl_resend_show(struct seq_file *out)
{
	tl_scores_show(&scores, out);
}

int tl_resend_vectors_init(void)
{
	int error = tl_scores_init(&scores, tl_kernel_resend_count);

	/* a state, and the one before it */
	state = error ? NULL : kcalloc(2, tl_kernel_resend_bytes_max, GFP_KERNEL);
	if (!state)
		kfree(scores.of);
	else
		earlier = state + tl_kernel_resend_bytes_max;
	return state ? 0 : -ENOMEM;
}

void tl_resend_vectors_exit(void)
{
	kfree(state);
	kfree(scores.of);
}
