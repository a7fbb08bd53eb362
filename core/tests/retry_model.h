/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A plain model of what a retry timer must remember: the requests without an answer in an array, each found by a
 * search through all. Every call is checked against it: its code, the requests that remain, which wait ends first,
 * the bounds of each wait, and that an error leaves every byte of the timer unchanged. test_retry and fuzz_retry
 * share it. */
#ifndef TCPLEARN_TESTS_RETRY_MODEL_H
#define TCPLEARN_TESTS_RETRY_MODEL_H

#include "check.h"
#include "tcplearn/retry.h"

#define MS 1000

static inline struct tl_retry_settings by_rate(uint32_t rate_ppm)
{
	struct tl_retry_settings how;

	tl_retry_defaults(&how);
	how.rate_ppm = rate_ppm;
	return how;
}

struct modelled {
	struct tl_retry timer, before;
	struct tl_retry_settings how;
	struct {
		uint64_t id;
		int64_t first_us, last_us, wait_us, due_us;
		uint32_t resends;
	} out[TL_RETRY_OUT];
	unsigned count;
	int64_t now_us, heard_us, hold_us, interval_us, resent_us;
	unsigned silent;
	struct tl_retry_counts counts;
};

static inline int modelled_begin(struct modelled *m, const struct tl_retry_settings *how)
{
	memset(m, 0, sizeof(*m));
	m->how = *how;
	m->now_us = m->heard_us = m->hold_us = m->resent_us = -((int64_t)1 << 62);
	return tl_retry_init(&m->timer, how);
}

static inline unsigned modelled_place(const struct modelled *m, uint64_t id)
{
	unsigned k = 0;

	while (k < m->count && m->out[k].id != id)
		k++;
	return k;
}

static inline int modelled_time(const struct modelled *m, int64_t now_us)
{
	return now_us >= m->now_us && now_us <= (int64_t)1 << 62;
}

/* Checks a call's code, and that an error has changed nothing. */
static inline int modelled_code(struct modelled *m, int code, int expected)
{
	CHECK(code == expected, "code %d in place of %d", code, expected);
	if (code < 0)
		CHECK(memcmp(&m->timer, &m->before, sizeof(m->timer)) == 0, "code %d has changed the timer",
		      code);
	return code == expected && code >= 0;
}

/* Returns the length of the wait that has just begun for the request `k`, which the timer alone knows. */
static inline int64_t modelled_wait(const struct modelled *m, unsigned k)
{
	const struct tl_retry_requests *out = &m->timer.out;

	return out->at[out->index[tl_retry_entry(out, m->out[k].id)]].wait_us;
}

static inline int modelled_passed(const struct modelled *m, unsigned k)
{
	return m->out[k].last_us + (m->timer.policy.rtt.srtt + 128) / 256 / 2 < m->heard_us;
}

static inline int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t modelled_bound(const struct modelled *m, int64_t us)
{
	return later(sooner(us, m->how.max_wait_us), m->how.min_wait_us);
}

/* The longest time for which a request is held. */
static inline int64_t modelled_longest(const struct modelled *m)
{
	return modelled_bound(m, m->how.first_wait_us);
}

static inline int64_t modelled_again(const struct modelled *m, unsigned k)
{
	return later(m->out[k].due_us, sooner(m->hold_us, m->out[k].due_us + modelled_longest(m)));
}

static inline void modelled_quiet(struct modelled *m)
{
	m->interval_us = m->silent = 0;
	m->hold_us = -((int64_t)1 << 62);
}

/* Checks the wait that has just begun, and when each request is sent again. */
static inline void modelled_check(struct modelled *m, unsigned armed, int64_t now_us)
{
	int64_t first_us = TL_RETRY_NEVER;
	unsigned k;

	if (armed < m->count) {
		const int64_t wait_us = modelled_wait(m, armed);

		CHECK(wait_us >= m->how.min_wait_us && wait_us <= m->how.max_wait_us, "a wait of %lld us",
		      (long long)wait_us);
		m->out[armed].last_us = now_us;
		m->out[armed].wait_us = wait_us;
		m->out[armed].due_us = now_us + wait_us;
	}
	for (k = 0; k < m->count; k++) {
		const int64_t due_us = modelled_again(m, k);

		if (due_us < first_us)
			first_us = due_us;
		CHECK(tl_retry_deadline_of(&m->timer, m->out[k].id) == due_us, "request %u", k);
	}
	CHECK(tl_retry_deadline(&m->timer) == first_us, "the first wait ends at %lld, not %lld",
	      (long long)first_us, (long long)tl_retry_deadline(&m->timer));
	CHECK(m->timer.counts.needless <= m->timer.counts.resends &&
		      m->timer.counts.unclear <= m->timer.counts.answers,
	      "sums of needless resends and unclear answers");
	CHECK(m->timer.counts.requests == m->counts.requests &&
		      m->timer.counts.answers == m->counts.answers &&
		      m->timer.counts.resends == m->counts.resends,
	      "sums of requests, answers and resends");
	CHECK(m->timer.out.count == m->count, "%u requests, not %u", m->timer.out.count, m->count);
}

static inline void modelled_sent(struct modelled *m, uint64_t id, int64_t now_us)
{
	const int expected = !modelled_time(m, now_us)          ? TL_RETRY_TIME
			     : modelled_place(m, id) < m->count ? TL_RETRY_TWICE
			     : m->count == TL_RETRY_OUT         ? TL_RETRY_FULL
								: TL_RETRY_OK;

	m->before = m->timer;
	if (!modelled_code(m, tl_retry_sent(&m->timer, id, now_us), expected))
		return;
	m->now_us = now_us;
	m->out[m->count].id = id;
	m->out[m->count].first_us = now_us;
	m->out[m->count++].resends = 0;
	m->counts.requests++;
	modelled_check(m, m->count - 1, now_us);
}

static inline void modelled_fired(struct modelled *m, int64_t now_us)
{
	struct tl_retry_again again = { 0, 0 };
	const int64_t first_us = tl_retry_deadline(&m->timer);
	const int expected = !modelled_time(m, now_us) ? TL_RETRY_TIME
			     : first_us <= now_us      ? TL_RETRY_DUE
						       : TL_RETRY_OK;
	unsigned k;

	m->before = m->timer;
	if (!modelled_code(m, tl_retry_fired(&m->timer, now_us, &again), expected))
		return;
	m->now_us = now_us;
	if (expected == TL_RETRY_OK)
		return;
	k = modelled_place(m, again.id);
	CHECK(k < m->count && modelled_again(m, k) == first_us && again.copy == ++m->out[k].resends,
	      "the wrong request");
	m->counts.resends++;
	if (!modelled_passed(m, k)) {
		if (now_us > m->resent_us + modelled_longest(m))
			modelled_quiet(m);
		m->resent_us = now_us;
		m->silent += m->out[k].resends == 1;
		if (m->silent >= 3) {
			m->interval_us = m->interval_us > 0 ? 2 * m->interval_us : modelled_wait(m, k);
			if (m->interval_us > modelled_longest(m))
				m->interval_us = modelled_longest(m);
			if (m->timer.silence.paused_q16 > 32768)
				m->hold_us = now_us + m->interval_us;
		}
	}
	modelled_check(m, k, now_us);
}

static inline void modelled_remove(struct modelled *m, unsigned k)
{
	m->out[k] = m->out[--m->count];
	modelled_check(m, m->count, m->now_us);
}

/* A transmission at `sent_us` is answered: what was held waits for another half of SRTT. */
static inline void modelled_heard(struct modelled *m, int64_t sent_us)
{
	const int64_t half_us = (m->before.policy.rtt.srtt + 128) / 256 / 2;
	const int held = m->hold_us != -((int64_t)1 << 62);
	unsigned k;

	m->heard_us = later(m->heard_us, sent_us);
	modelled_quiet(m);
	for (k = 0; held && k < m->count; k++)
		if (m->out[k].due_us <= m->now_us)
			m->out[k].due_us = m->now_us + modelled_bound(m, half_us);
}

static inline void modelled_answered(struct modelled *m, uint64_t id, uint32_t copy, int64_t now_us)
{
	const unsigned k = modelled_place(m, id);
	const int expected = !modelled_time(m, now_us)                          ? TL_RETRY_TIME
			     : k == m->count                                    ? TL_RETRY_UNKNOWN
			     : copy != TL_RETRY_ANY && copy > m->out[k].resends ? TL_RETRY_COPY
										: TL_RETRY_OK;
	int64_t sent_us;
	int last, known;

	m->before = m->timer;
	if (!modelled_code(m, tl_retry_answered(&m->timer, id, copy, now_us), expected))
		return;
	m->now_us = now_us;
	m->counts.answers++;
	last = copy != 0 && copy == m->out[k].resends;
	known = last || copy == 0 || m->out[k].resends == 0;
	sent_us = last ? m->out[k].last_us : m->out[k].first_us;
	/* an RTT is 1 us to TL_RTT_MAX_US */
	modelled_heard(m, known ? later(sooner(sent_us, now_us - 1), now_us - TL_RTT_MAX_US) : sent_us);
	modelled_remove(m, k);
}

static inline void modelled_cancelled(struct modelled *m, uint64_t id)
{
	const unsigned k = modelled_place(m, id);

	m->before = m->timer;
	if (modelled_code(m, tl_retry_cancelled(&m->timer, id),
			  k < m->count ? TL_RETRY_OK : TL_RETRY_UNKNOWN)) {
		if (m->count == 1)
			modelled_quiet(m);
		modelled_remove(m, k);
	}
}

#endif
