// SPDX-License-Identifier: GPL-2.0-only
/* Startup policies against their golden vectors. Lines, beside those of vectors.c:
 *
 *   C NAME                   a case of this policy; P KEY VALUE: a parameter, times 2^30
 *   H TIME TOOK LOSS RESENDS IW SSTHRESH ANSWER_IW ANSWER_SSTHRESH    a handshake
 *   R TIME SENT RESENT RTT RTT_MIN                                    a connection's report */
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "startup_vectors.h"
#include "startups.h"

#define POLICIES_MAX 64

static const struct tl_kernel_startup *subject;
static u64 params[TL_PARAMS_BYTES_MAX / sizeof(u64)], state[TL_STARTUP_STATE_BYTES_MAX / sizeof(u64)];
static struct {
	u32 cases, answers, wrong;
} scores[POLICIES_MAX];
static bool begun;
static char wrong[160]; /* the first one */

static int tl_case(const char *name)
{
	u32 i;

	subject = NULL;
	for (i = 0; i < min_t(u32, tl_kernel_startup_count, POLICIES_MAX); i++)
		if (!strcmp(tl_kernel_startups[i].name, name))
			subject = &tl_kernel_startups[i];
	if (!subject)
		return -EINVAL;
	memset(params, 0, sizeof(params));
	subject->defaults(params);
	scores[subject - tl_kernel_startups].cases++;
	begun = false;
	return 0;
}

static int tl_parameter(const char *text)
{
	char key[64];
	s64 q30;

	if (!subject || begun || sscanf(text, "%63s %lld", key, &q30) != 2)
		return -EINVAL;
	return subject->set(params, tl_param_index(subject->keys, subject->key_count, key), q30) ? -EINVAL : 0;
}

/* "P" lines come before the first event */
static bool tl_ready(void)
{
	if (subject && !begun)
		subject->init(state, params);
	begun = !!subject;
	return begun;
}

static int tl_handshake(const char *text)
{
	struct tl_startup_window out, answer;
	struct tl_handshake h;
	u32 i = subject - tl_kernel_startups;

	if (!tl_ready() || sscanf(text, "%lld %lld %u %u %u %u %u %u", &h.time_us, &h.took_us, &h.loss, &h.resends,
				  &h.iw_segments, &h.ssthresh_segments, &answer.iw_segments,
				  &answer.ssthresh_segments) != 8)
		return -EINVAL;
	subject->decide(state, &h, &out);
	subject->note(state, &h);
	scores[i].answers++;
	if (out.iw_segments != answer.iw_segments || out.ssthresh_segments != answer.ssthresh_segments) {
		if (!wrong[0])
			snprintf(wrong, sizeof(wrong), "%s at %lld us: %u, %u, should be %u, %u", subject->name,
				 h.time_us, out.iw_segments, out.ssthresh_segments, answer.iw_segments,
				 answer.ssthresh_segments);
		scores[i].wrong++;
	}
	return 0;
}

static int tl_report(const char *text)
{
	struct tl_startup_report r;

	if (!tl_ready() || sscanf(text, "%lld %u %u %lld %lld", &r.time_us, &r.sent_segments, &r.resent_segments,
				  &r.rtt_us, &r.rtt_min_us) != 5)
		return -EINVAL;
	subject->report(state, &r);
	return 0;
}

int tl_startup_vectors_line(char *text)
{
	switch (text[0]) {
	case 'C':
		return tl_case(strim(text + 1));
	case 'P':
		return tl_parameter(text + 1);
	case 'H':
		return tl_handshake(text + 1);
	case 'R':
		return tl_report(text + 1);
	}
	return -EINVAL;
}

void tl_startup_vectors_show(struct seq_file *out)
{
	u32 i, cases = 0, answers = 0, failed = 0, silent = 0;

	for (i = 0; i < min_t(u32, tl_kernel_startup_count, POLICIES_MAX); i++) {
		seq_printf(out, "startup %s cases %u answers %u wrong %u\n", tl_kernel_startups[i].name, scores[i].cases,
			   scores[i].answers, scores[i].wrong);
		cases += scores[i].cases;
		answers += scores[i].answers;
		failed += scores[i].wrong;
		silent += !scores[i].answers;
	}
	seq_printf(out, "startups cases %u answers %u wrong %u untried %u\n", cases, answers, failed, silent);
	if (wrong[0])
		seq_printf(out, "first wrong: %s\n", wrong);
}
