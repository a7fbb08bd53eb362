/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The retry timer: its golden vectors, the contract of each call also for hostile ones, and RFC 8961. Usage:
 * test_retry VECTORS */
#include "retry_model.h"

static int64_t deadline(const struct tl_retry *timer)
{
	const int64_t us = tl_retry_deadline(timer);

	return us == TL_RETRY_NEVER ? -1 : us;
}

/* Plays the call of one line and writes its answers to `got`. Returns the number of the line's arguments. */
static int play(struct tl_retry *timer, const struct tl_retry *earlier, const char *word, const int64_t *v,
		int64_t *got)
{
	struct tl_retry_again again = { 0, 0 };

	if (strcmp(word, "sent") == 0) {
		got[0] = tl_retry_sent(timer, (uint64_t)v[0], v[1]);
		got[1] = deadline(timer);
		return 2;
	}
	if (strcmp(word, "fired") == 0) {
		got[0] = tl_retry_fired(timer, v[0], &again);
		got[1] = (int64_t)again.id;
		got[2] = again.copy;
		got[3] = deadline(timer);
		return 1;
	}
	if (strcmp(word, "answered") == 0) {
		got[0] = tl_retry_answered(timer, (uint64_t)v[0], v[1] < 0 ? TL_RETRY_ANY : (uint32_t)v[1],
					   v[2]);
		got[1] = deadline(timer);
		return 3;
	}
	if (strcmp(word, "cancelled") == 0) {
		got[0] = tl_retry_cancelled(timer, (uint64_t)v[0]);
		got[1] = deadline(timer);
		return 1;
	}
	if (strcmp(word, "inherit") == 0) {
		got[0] = tl_retry_inherit(timer, earlier);
		got[1] = deadline(timer);
		return 0;
	}
	if (strcmp(word, "paused") == 0) {
		got[0] = timer->silence.paused_q16;
		return 0;
	}
	if (strcmp(word, "sums") == 0) {
		got[0] = (int64_t)timer->counts.requests;
		got[1] = (int64_t)timer->counts.answers;
		got[2] = (int64_t)timer->counts.resends;
		got[3] = (int64_t)timer->counts.needless;
		got[4] = (int64_t)timer->counts.unclear;
		return 0;
	}
	return -1;
}

/* Reads a line's word and numbers; a number may exceed the signed range. Returns the count of numbers. */
static int read_line(char *line, int64_t *v)
{
	char *at = strchr(line, ','), *end;
	int n = 0;

	if (!at)
		at = line + strcspn(line, "\n");
	while (*at == ',' && n < 10) {
		*at++ = 0;
		v[n++] = *at == '-' ? strtoll(at, &end, 10) : (int64_t)strtoull(at, &end, 10);
		at = end;
	}
	return n;
}

static void replay(const char *folder)
{
	static struct tl_retry timer, earlier;
	struct tl_retry_settings how;
	char line[256], path[512];
	unsigned lines = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/retry.csv", folder);
	f = fopen(path, "r");
	CHECK(f != NULL, "%s is missing", path);
	while (f && fgets(line, sizeof(line), f)) {
		int64_t v[10] = { 0 }, got[5];
		const int n = read_line(line, v);
		int given, k;

		lines++;
		if (strcmp(line, "settings") == 0) {
			earlier = timer;
			how.rate_ppm = (uint32_t)v[0];
			how.price_us = v[1];
			how.budget = (uint32_t)v[2];
			how.first_wait_us = v[3];
			how.min_wait_us = v[4];
			how.max_wait_us = v[5];
			CHECK(n == 6 && tl_retry_init(&timer, &how) == TL_RETRY_OK, "line %u", lines);
			continue;
		}
		given = play(&timer, &earlier, line, v, got);
		CHECK(given >= 0 && n > given, "line %u: %s", lines, line);
		for (k = given < 0 ? n : given; k < n; k++)
			CHECK(got[k - given] == v[k], "line %u, %s, number %d: %lld, not %lld", lines, line,
			      k + 1, (long long)got[k - given], (long long)v[k]);
	}
	CHECK(lines > 4000, "%u lines only", lines);
	if (f)
		fclose(f);
}

/* RFC 8961, section 4: 1, at least a second before a sample; 2d, no ambiguous sample; 3, each resend doubles the
 * wait, up to at least 60 s. */
static void rfc8961(void)
{
	uint32_t rate_ppm;

	for (rate_ppm = 0; rate_ppm <= 10000; rate_ppm += 10000) {
		const struct tl_retry_settings how = by_rate(rate_ppm);
		static struct modelled m;
		int64_t wait_us = 1000 * MS, now_us = 0, srtt;

		CHECK(modelled_begin(&m, &how) == TL_RETRY_OK, "not begun");
		modelled_sent(&m, 1, 0);
		for (; wait_us < 60000 * MS; wait_us *= 2) {
			CHECK(tl_retry_deadline(&m.timer) == now_us + wait_us, "%lld",
			      (long long)tl_retry_deadline(&m.timer));
			modelled_fired(&m, now_us += wait_us);
		}
		modelled_answered(&m, 1, TL_RETRY_ANY, now_us + 40 * MS);
		CHECK(m.timer.policy.rtt.samples == 0, "an ambiguous sample");
		modelled_sent(&m, 2, now_us += 50 * MS);
		modelled_answered(&m, 2, TL_RETRY_ANY, now_us += 40 * MS);
		srtt = m.timer.policy.rtt.srtt;
		CHECK(srtt == 40 * MS * 256, "SRTT %lld", (long long)srtt);
	}
}

static void settings(void)
{
	struct tl_retry_settings how;
	struct tl_retry timer, before;
	unsigned k;

	memset(&timer, 7, sizeof(timer));
	before = timer;
	for (k = 0; k < 10; k++) {
		tl_retry_defaults(&how);
		if (k == 0)
			how.rate_ppm = 99;
		if (k == 1)
			how.rate_ppm = 500001;
		if (k == 2)
			how.price_us = -1;
		if (k == 3)
			how.price_us = ((int64_t)1 << 32) + 1;
		if (k == 4)
			how.budget = 100001;
		if (k == 5)
			how.first_wait_us = 0;
		if (k == 6)
			how.min_wait_us = 0;
		if (k == 7)
			how.max_wait_us = ((int64_t)1 << 32) + 1;
		if (k == 8)
			how.max_wait_us = how.min_wait_us - 1;
		if (k == 9)
			how.first_wait_us = INT64_MAX;
		CHECK(tl_retry_init(&timer, &how) == TL_RETRY_SETTINGS, "setting %u is not refused", k);
		CHECK(memcmp(&timer, &before, sizeof(timer)) == 0, "setting %u has changed the timer", k);
	}
}

/* Plays random calls beside the plain model: few numbers, so that requests meet; numbers that all begin their
 * search at one entry of the index; and any number. */
static void calls(uint64_t seed)
{
	static struct modelled m;
	const struct tl_retry_settings how = by_rate(seed % 2 ? 20000 : 0);
	int64_t now_us = 0;
	unsigned k;

	CHECK(modelled_begin(&m, &how) == TL_RETRY_OK, "not begun");
	for (k = 0; k < 20000; k++) {
		const int64_t what = random_below(&seed, 16);
		uint64_t id = (uint64_t)random_below(&seed, 90);

		if (seed % 3 == 0)
			while (tl_retry_home(id) != 5)
				id += 90;
		now_us += random_below(&seed, k % 1000 < 900 ? 3 * MS : 900 * MS);
		if (what < 7)
			modelled_sent(&m, id, now_us);
		else if (what < 12)
			modelled_answered(&m, id, what % 2 ? TL_RETRY_ANY : (uint32_t)random_below(&seed, 3),
					  now_us);
		else if (what < 13)
			modelled_cancelled(&m, id);
		else if (what < 14)
			modelled_sent(&m, random_next(&seed), (int64_t)random_next(&seed) / 4 - now_us);
		else
			modelled_fired(&m, now_us);
		if (m.now_us > now_us)
			now_us = m.now_us < (int64_t)1 << 61 ? m.now_us : now_us;
		if (m.now_us >= (int64_t)1 << 61)
			break; /* the clock has run to its end */
	}
}

static void full_and_many(void)
{
	static struct modelled m;
	const struct tl_retry_settings how = by_rate(10000);
	uint64_t id;

	CHECK(modelled_begin(&m, &how) == TL_RETRY_OK, "not begun");
	for (id = 0; id < 1000000; id++) {
		CHECK(tl_retry_sent(&m.timer, id, (int64_t)id) ==
			      (id < TL_RETRY_OUT ? TL_RETRY_OK : TL_RETRY_FULL),
		      "request %u", (unsigned)id);
	}
	for (id = 0; id < 1000000; id++)
		CHECK(tl_retry_answered(&m.timer, id, 0, 1000000) ==
			      (id < TL_RETRY_OUT ? TL_RETRY_OK : TL_RETRY_UNKNOWN),
		      "request %u", (unsigned)id);
	CHECK(tl_retry_deadline(&m.timer) == TL_RETRY_NEVER && m.timer.out.used == 0, "something is left");
	for (id = 0; id < 1000000; id++) {
		CHECK(tl_retry_sent(&m.timer, id, 2000000 + 100 * (int64_t)id) == TL_RETRY_OK, "not sent");
		CHECK(tl_retry_answered(&m.timer, id, TL_RETRY_ANY, 2000050 + 100 * (int64_t)id) ==
			      TL_RETRY_OK,
		      "not answered");
	}
}

/* Every counter at its greatest value: none turns over. */
static void overflow(void)
{
	static struct modelled m;
	const struct tl_retry_settings how = by_rate(10000);
	struct tl_retry_again again;

	CHECK(modelled_begin(&m, &how) == TL_RETRY_OK, "not begun");
	m.timer.counts.requests = m.timer.counts.answers = m.timer.counts.resends = UINT64_MAX;
	m.timer.counts.needless = m.timer.counts.unclear = UINT64_MAX - 1;
	m.timer.width.samples = UINT32_MAX;
	CHECK(tl_retry_sent(&m.timer, 1, 0) == TL_RETRY_OK, "not sent");
	m.timer.out.at[0].resends = UINT32_MAX - 1;
	CHECK(tl_retry_fired(&m.timer, 2000 * MS, &again) == TL_RETRY_DUE && again.copy == UINT32_MAX,
	      "not due");
	CHECK(tl_retry_fired(&m.timer, 900000 * MS, &again) == TL_RETRY_DUE && again.copy == UINT32_MAX,
	      "it turned over");
	CHECK(tl_retry_answered(&m.timer, 1, 0, 900001 * (int64_t)MS) == TL_RETRY_OK, "not answered");
	CHECK(m.timer.counts.requests == UINT64_MAX && m.timer.counts.needless == UINT64_MAX &&
		      m.timer.counts.unclear == UINT64_MAX - 1,
	      "a sum turned over");
}

/* A copy of a timer goes on as the timer, at another address. */
static void copies(void)
{
	const struct tl_retry_settings how = by_rate(10000);
	struct tl_retry timer, *copy = malloc(sizeof(*copy));
	struct tl_retry_again a, b;
	uint64_t seed = 3, id;
	int64_t now_us = 0;

	if (!copy)
		abort();
	memset(&timer, 0, sizeof(timer));
	CHECK(tl_retry_init(&timer, &how) == TL_RETRY_OK, "not begun");
	for (id = 0; id < 5000; id++) {
		const int64_t took_us = 10 * MS + random_below(&seed, 30 * MS);

		tl_retry_sent(&timer, id, now_us);
		memcpy(copy, &timer, sizeof(timer));
		memset(&a, 0, sizeof(a));
		memset(&b, 0, sizeof(b));
		CHECK(tl_retry_fired(copy, now_us + took_us, &a) ==
				      tl_retry_fired(&timer, now_us + took_us, &b) &&
			      memcmp(&a, &b, sizeof(a)) == 0,
		      "other resends");
		tl_retry_answered(&timer, id, 0, now_us + took_us);
		tl_retry_answered(copy, id, 0, now_us + took_us);
		CHECK(memcmp(copy, &timer, sizeof(timer)) == 0, "the copy differs after %u", (unsigned)id);
		timer = *copy;
		now_us += 50 * MS;
	}
	free(copy);
}

int main(int argc, char **argv)
{
	uint64_t seed;

	CHECK(argc == 2, "usage: test_retry VECTORS");
	if (argc == 2)
		replay(argv[1]);
	rfc8961();
	settings();
	for (seed = 0; seed < 12; seed++)
		calls(seed);
	full_and_many();
	overflow();
	copies();
	return finish();
}
