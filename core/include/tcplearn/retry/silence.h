/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a retry timer (retry.h) does in a silence, while nothing is answered. It holds requests: it does not
 * send them again although their waits have ended. It does so only if in earlier silences most late requests
 * were not lost, because the server had paused. */
#ifndef TCPLEARN_RETRY_SILENCE_H
#define TCPLEARN_RETRY_SILENCE_H

#include "../retry.h"

#define TL_RETRY_TIME_MAX ((int64_t)1 << 62)
/* The number of requests that are sent again at the end of their waits in a silence; others are held. */
#define TL_RETRY_FREE 3
/* paused_q16 of a new timer: above one half, so that requests are held, but below it after two late requests
 * that turn out to be lost. */
#define TL_RETRY_PAUSED 40000

TL_FN int64_t tl_retry_bound(const struct tl_retry *t, int64_t us)
{
	return tl_clamp_us(us, t->min_wait_us, t->max_wait_us);
}

/* Ends a silence: something is answered, or no request waits any longer. */
TL_FN void tl_retry_silence_end(struct tl_retry_silence *s)
{
	s->wait_us = 0;
	s->requests = 0;
	s->until_us = -TL_RETRY_TIME_MAX;
}

TL_FN void tl_retry_silence_init(struct tl_retry *t)
{
	tl_retry_silence_end(&t->silence);
	t->heard_us = t->silence.last_us = -TL_RETRY_TIME_MAX;
	t->silence.paused_q16 = TL_RETRY_PAUSED;
}

/* Returns the longest interval of resends in a silence, and the longest time for which a request is held after the
 * end of its wait: the wait before the first sample. */
TL_FN int64_t tl_retry_longest_hold(const struct tl_retry *t)
{
	return tl_retry_bound(t, t->policy.rtt.params.rto_initial_us);
}

/* Returns when the request `q` is sent again: at the end of its wait or, if it is held, later. Of two
 * requests, the one whose wait ends first is never sent again after the other. */
TL_FN int64_t tl_retry_due(const struct tl_retry *t, const struct tl_retry_request *q)
{
	const int64_t until_us = t->silence.until_us;
	int64_t most_us;

	if (until_us <= q->due_us)
		return q->due_us;
	most_us = q->due_us + tl_retry_longest_hold(t);
	return until_us < most_us ? until_us : most_us;
}

/* Returns whether a transmission has been answered that was made more than half of SRTT after the last
 * transmission of `q`. `q` is then taken for lost, as RACK does by the order of sending (RFC 8985, section
 * 6.2). */
TL_FN uint32_t tl_retry_passed(const struct tl_retry *t, const struct tl_retry_request *q)
{
	return q->last_us + tl_resend_priced_early_us_fix(&t->policy) < t->heard_us;
}

/* Called when the request `q` is sent again at `now_us`, before its next wait of `wait_us` begins. If nothing
 * that was sent after it has been answered, the server may pause or the path may be down, so that all
 * requests are late for one reason. After the third such request, the others are held if most of the late
 * requests in recent silences were not lost: one of them is sent again at the end of each interval. The first
 * interval is `wait_us`, and each later one twice the one before. A silence also ends if nothing has been
 * sent again for the longest interval. */
TL_FN void tl_retry_silent(struct tl_retry *t, struct tl_retry_request *q, int64_t now_us, int64_t wait_us)
{
	const int64_t most_us = tl_retry_longest_hold(t);
	struct tl_retry_silence *s = &t->silence;

	if (tl_retry_passed(t, q))
		return;
	if (now_us > s->last_us + most_us)
		tl_retry_silence_end(s);
	s->last_us = now_us;
	q->late |= s->requests >= TL_RETRY_FREE && q->resends == 0;
	s->requests += q->resends == 0;
	if (s->requests < TL_RETRY_FREE)
		return;
	s->wait_us = s->wait_us == 0 ? wait_us : 2 * s->wait_us;
	if (s->wait_us > most_us)
		s->wait_us = most_us;
	if (s->paused_q16 > 32768)
		s->until_us = now_us + s->wait_us;
}

/* Called when a transmission made at `sent_us` or later is answered, which ends a silence. Requests that were
 * held wait for another `early_us`, half of SRTT, because their answers follow soon if the server had
 * paused. */
TL_FN void tl_retry_heard(struct tl_retry *t, int64_t now_us, int64_t sent_us, int64_t early_us)
{
	const int64_t until_us = t->silence.until_us;
	int64_t due_us;
	uint32_t i;

	if (sent_us > t->heard_us)
		t->heard_us = sent_us;
	tl_retry_silence_end(&t->silence);
	if (until_us == -TL_RETRY_TIME_MAX)
		return;
	due_us = now_us + tl_retry_bound(t, early_us);
	for (i = 0; i < TL_RETRY_OUT; i++) {
		struct tl_retry_request *q = &t->out.at[i];

		if ((t->out.used >> i & 1) == 0 || q->due_us > now_us)
			continue;
		q->late |= q->resends == 0;
		tl_retry_due_at(&t->out, q, due_us);
	}
}

#endif
