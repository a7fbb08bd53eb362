/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The waits of the retry timer: those of the resend policy `priced` for one request at a time, the share of needless
 * resends that a rate keeps, the longest wait, and what a timer inherits. */
#include "retry_model.h"

/* With a price, the first wait of one request at a time is that of a connection under `priced` with one segment
 * at a time, and each later one at least twice the one before. */
static void as_priced(void)
{
	const struct tl_resend_policy *p = tl_resend_find("priced", TL_FIX);
	int64_t params[TL_PARAMS_BYTES_MAX / 8], state[128];
	struct tl_retry_settings how;
	static struct modelled m;
	uint64_t seed = 9, id;
	int64_t now_us = 0;

	tl_retry_defaults(&how);
	how.min_wait_us = 1;
	CHECK(modelled_begin(&m, &how) == TL_RETRY_OK, "not begun");
	p->algorithm.defaults(params);
	CHECK(p->algorithm.state_bytes(params) <= sizeof(state), "a larger state");
	p->algorithm.init(state, params);
	for (id = 0; id < 20000; id++) {
		struct tl_resend_event event = { now_us, 1 };
		struct tl_resend_wait wait;
		int64_t took_us = 30 * MS + random_below(&seed, random_below(&seed, 50) ? 8 * MS : 300 * MS);
		int64_t sent_us = now_us;
		uint32_t copy = 0, lost = random_below(&seed, 40) == 0;

		p->send(state, &event, &wait);
		modelled_sent(&m, id, now_us);
		CHECK(tl_retry_deadline(&m.timer) == now_us + wait.wait_us, "request %u waits %lld, not %lld",
		      (unsigned)id, (long long)(tl_retry_deadline(&m.timer) - now_us),
		      (long long)wait.wait_us);
		while (lost || tl_retry_deadline(&m.timer) < sent_us + took_us) {
			const int64_t waited_us = tl_retry_deadline(&m.timer) - now_us;

			event.time_us = now_us = tl_retry_deadline(&m.timer);
			p->timer(state, &event, &wait);
			modelled_fired(&m, now_us);
			CHECK(tl_retry_deadline(&m.timer) - now_us >= 2 * waited_us, "resend of %u",
			      (unsigned)id);
			if (lost) {
				sent_us = now_us;
				copy = 1;
				lost = 0;
			}
		}
		now_us = sent_us + took_us;
		{
			const struct tl_resend_ack ack = { now_us, took_us, 0, copy };

			p->ack(state, &ack, &wait);
		}
		modelled_answered(&m, id, copy, now_us);
		now_us += 100 * MS;
	}
}

/* Returns needless resends over requests with a chosen rate, on latencies of a kind. */
static double kept(uint32_t rate_ppm, unsigned kind)
{
	const struct tl_retry_settings how = by_rate(rate_ppm);
	const unsigned requests = kind == 4 ? 600000 : 40000;
	static struct tl_retry timer;
	uint64_t seed = kind, id;
	int64_t now_us = 0;

	tl_retry_init(&timer, &how);
	for (id = 0; id < requests; id++) {
		const double u = (double)(1 + random_below(&seed, 1 << 30)) / (1 << 30);
		const double level = kind % 4 == 1 ? (id / 5000 % 2 ? 90e3 : 20e3) : 30e3;
		const double noise = kind % 4 == 2 ? pow(u, -0.6) : 1 - 0.3 * log(u);
		const int64_t times = kind == 4 && random_below(&seed, 3000) == 0 ? 20 : 1;
		int64_t took_us = (int64_t)(level * noise) * times, sent_us = now_us;
		uint32_t lost = kind % 4 == 3 && random_below(&seed, 50) == 0, copy = 0;
		struct tl_retry_again again;

		tl_retry_sent(&timer, id, now_us);
		while (lost || tl_retry_deadline(&timer) < sent_us + took_us) {
			tl_retry_fired(&timer, tl_retry_deadline(&timer), &again);
			if (lost) {
				sent_us = timer.now_us;
				copy = again.copy;
				lost = 0;
			}
		}
		now_us = sent_us + took_us;
		tl_retry_answered(&timer, id, copy, now_us);
		now_us += 10 * MS;
	}
	return (double)timer.counts.needless / requests;
}

static void rates(void)
{
	static const uint32_t ppm[] = { 3000, 10000, 50000, 200000 };
	unsigned k, kind;

	for (k = 0; k < 4; k++) {
		for (kind = 0; kind < 4; kind++) {
			const double share = kept(ppm[k], kind) * 1e6 / ppm[k];

			CHECK(share > 0.8 && share < 1.2, "kind %u, %u in a million: %.2f of it", kind,
			      ppm[k], share);
		}
	}
	/* answers that take twenty times as long, three times as often as the rate */
	CHECK(kept(100, 4) < 130e-6, "%.0f in a million for 100", 1e6 * kept(100, 4));
}

/* Without a miss, a request waits no longer than the cap: here the first wait of Linux, as 1.5 times the longest
 * latency is less. */
static void capped(void)
{
	const struct tl_retry_settings how = by_rate(10000);
	struct tl_retry timer;
	uint64_t id;

	tl_retry_init(&timer, &how);
	for (id = 0; id < 2000; id++) {
		tl_retry_sent(&timer, id, (int64_t)id * 1000 * MS);
		tl_retry_answered(&timer, id, 0, (int64_t)id * 1000 * MS + 20 * MS + (int64_t)(id % 5) * MS);
		CHECK(id == 0 || timer.out.at[0].wait_us <= 300 * MS, "request %u waits %lld us",
		      (unsigned)id, (long long)timer.out.at[0].wait_us);
	}
}

/* A client that sends a request each 10 ms for two minutes, and gets answers after 20 ms, with some noise. Each ten
 * seconds the path is changed for 400 ms: if `loses`, all transmissions then are lost, otherwise their answers come
 * at the end of that time. Returns the most requests that were sent again within one such time. */
static unsigned with_pauses(struct tl_retry *timer, unsigned loses, unsigned clear)
{
	static struct {
		int64_t at_us;
		uint64_t id;
		uint32_t copy;
	} answers[4096];
	unsigned count = 0, k, again_in_pause = 0, most = 0;
	uint64_t seed = 4, id = 0;
	int64_t now_us;

	for (now_us = 0; now_us < 120000 * MS; now_us += MS) {
		const unsigned pauses = now_us % (10000 * MS) >= 9000 * MS &&
					now_us % (10000 * MS) < 9400 * MS;
		struct tl_retry_again again = { 0, 0 };
		unsigned due = now_us % (10 * MS) == 0;

		again_in_pause = pauses ? again_in_pause : 0;
		for (k = 0; k < count;) {
			if (answers[k].at_us > now_us) {
				k++;
				continue;
			}
			tl_retry_answered(timer, answers[k].id, clear ? answers[k].copy : TL_RETRY_ANY,
					  now_us);
			answers[k] = answers[--count];
		}
		if (due) {
			again.id = ++id;
			CHECK(tl_retry_sent(timer, id, now_us) == TL_RETRY_OK, "request %u", (unsigned)id);
		}
		while (due || tl_retry_fired(timer, now_us, &again) == TL_RETRY_DUE) {
			const int64_t noise_us = random_below(&seed,
							      random_below(&seed, 200) ? 8 * MS : 60 * MS);
			const int64_t left_us = 9400 * MS - now_us % (10000 * MS);

			again_in_pause += pauses && again.copy == 1;
			if (again_in_pause > most)
				most = again_in_pause;
			if (!(pauses && loses) && count < 4096) {
				answers[count].at_us = now_us + 16 * MS + noise_us + (pauses ? left_us : 0);
				answers[count].id = again.id;
				answers[count++].copy = due ? 0 : again.copy;
			}
			due = 0;
			again.copy = 0;
		}
	}
	return most;
}

/* Answers `count` requests, sent one after another, after 20 ms each, and returns the time then. */
static int64_t calm(struct tl_retry *timer, int64_t now_us, unsigned count, uint64_t id)
{
	for (; count > 0; count--, now_us += 30 * MS) {
		CHECK(tl_retry_sent(timer, ++id, now_us) == TL_RETRY_OK, "not sent");
		CHECK(tl_retry_answered(timer, id, 0, now_us + 20 * MS) == TL_RETRY_OK, "not answered");
	}
	return now_us;
}

/* Fires all that is due until `until_us`. Returns the first time at which `id` is sent again; 0: it is not. */
static int64_t fires(struct tl_retry *timer, uint64_t id, int64_t until_us)
{
	struct tl_retry_again again;
	int64_t first_us = 0;

	while (tl_retry_deadline(timer) <= until_us) {
		const int64_t now_us = tl_retry_deadline(timer) > timer->now_us ? tl_retry_deadline(timer)
										: timer->now_us;

		if (tl_retry_fired(timer, now_us, &again) == TL_RETRY_DUE && again.id == id && first_us == 0)
			first_us = now_us;
	}
	return first_us;
}

/* A request is held for at most the wait before the first sample, however many others nobody answers; and a silence
 * ends when no request waits any longer, or nothing has been sent again for so long. */
static void bounds_of_a_hold(void)
{
	uint32_t rate_ppm;

	for (rate_ppm = 0; rate_ppm <= 10000; rate_ppm += 10000) {
		struct tl_retry_settings how = by_rate(rate_ppm);
		static struct tl_retry timer;
		int64_t now_us, us;
		uint64_t id;

		tl_retry_init(&timer, &how);
		now_us = calm(&timer, 0, 300, 0);
		for (id = 1000; id < 1060; id++)
			tl_retry_sent(&timer, id, now_us);
		fires(&timer, 0, now_us += 2000 * MS);
		tl_retry_sent(&timer, 1, now_us);
		us = fires(&timer, 1, now_us + 5000 * MS) - now_us;
		CHECK(us > 0 && us < 1300 * MS, "sent again after %lld us", (long long)us);

		tl_retry_init(&timer, &how);
		now_us = calm(&timer, 0, 300, 0);
		for (id = 1000; id < 1005; id++) { /* one after another, each given up */
			tl_retry_sent(&timer, id, now_us);
			fires(&timer, 0, now_us += 300 * MS);
			tl_retry_cancelled(&timer, id);
		}
		tl_retry_sent(&timer, 1, now_us);
		us = fires(&timer, 1, now_us + 5000 * MS) - now_us;
		CHECK(us > 0 && us < 60 * MS, "one at a time: sent again after %lld us", (long long)us);

		how.max_wait_us = 200 * MS;
		tl_retry_init(&timer, &how);
		now_us = calm(&timer, 0, 300, 0);
		for (id = 1; id <= 60; id++)
			tl_retry_sent(&timer, id, now_us);
		for (id = 1; id <= 60; id++) {
			us = fires(&timer, id, now_us + 400 * MS);
			CHECK(us > 0, "request %u is not sent again within 400 ms", (unsigned)id);
			now_us = timer.now_us;
		}
	}
}

/* If a server pauses, only some of the requests that wait are sent again, and the chosen rate is kept. If the path
 * loses them instead, the timer learns that it must not hold requests. */
static void pauses(void)
{
	const struct tl_retry_settings how = by_rate(10000);
	static struct tl_retry timer;
	unsigned most;
	double share;
	uint64_t id;

	tl_retry_init(&timer, &how);
	most = with_pauses(&timer, 0, 1);
	share = (double)timer.counts.needless / (double)timer.counts.requests;
	CHECK(most >= 3 && most <= 8, "%u of 40 requests are sent again in a pause", most);
	CHECK(share > 0.008 && share < 0.012, "%.4f needless resends of a request", share);
	CHECK(timer.silence.paused_q16 > 60000, "%u", timer.silence.paused_q16);
	tl_retry_init(&timer, &how);
	most = with_pauses(&timer, 1, 1);
	CHECK(most > 20, "%u of 40 lost requests are sent again in an outage", most);
	CHECK(timer.silence.paused_q16 < 10000, "%u", timer.silence.paused_q16);
	tl_retry_init(&timer, &how);
	with_pauses(&timer, 1, 0);
	CHECK(timer.silence.paused_q16 < 10000, "%u if it is not known what is answered",
	      timer.silence.paused_q16);
	for (id = 0; id <= 12000; id++)
		tl_retry_cancelled(&timer, id);
	timer.now_us = timer.heard_us = timer.silence.last_us = -((int64_t)1
								  << 61); /* the clock begins again */
	with_pauses(&timer, 0, 1);
	CHECK(timer.silence.paused_q16 > 50000, "%u after pauses again", timer.silence.paused_q16);
}

static void inherits(void)
{
	uint32_t rate_ppm;

	for (rate_ppm = 0; rate_ppm <= 10000; rate_ppm += 10000) {
		const struct tl_retry_settings how = by_rate(rate_ppm);
		struct tl_retry earlier, timer;
		int64_t earlier_us, us;
		uint64_t id;

		tl_retry_init(&earlier, &how);
		for (id = 0; id < 3000; id++) {
			tl_retry_sent(&earlier, id, (int64_t)id * 100 * MS);
			tl_retry_answered(&earlier, id, 0,
					  (int64_t)id * 100 * MS + 20 * MS + (int64_t)(id % 7) * 100);
		}
		tl_retry_sent(&earlier, id, (int64_t)id * 100 * MS);
		earlier_us = tl_retry_deadline(&earlier) - (int64_t)id * 100 * MS;
		tl_retry_init(&timer, &how);
		CHECK(tl_retry_inherit(&timer, &earlier) == TL_RETRY_OK, "not inherited");
		tl_retry_sent(&timer, 1, -5);
		us = tl_retry_deadline(&timer) + 5;
		CHECK(us <= 250 * MS && us >= earlier_us / 2, "%lld us after %lld", (long long)us,
		      (long long)earlier_us);
		CHECK(tl_retry_inherit(&timer, &earlier) == TL_RETRY_BEGUN, "it inherits after a request");
	}
}

int main(void)
{
	as_priced();
	rates();
	capped();
	pauses();
	bounds_of_a_hold();
	inherits();
	return finish();
}
