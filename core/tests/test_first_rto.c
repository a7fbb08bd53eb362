/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first RTO: its golden vectors, and what makes a wrong model harmless. Usage: test_first_rto VECTORS */
#include "check.h"
#include "tcplearn/first_rto_models.h"

#define PLACES 4

static void replay(const char *folder)
{
	FILE *f = open_vectors(folder, "expected", "first_rto");
	struct tl_first_rto_place places[PLACES];
	char line[256], kind[16];
	unsigned i, queries = 0;

	for (i = 0; i < PLACES; i++)
		tl_first_rto_place_init(&places[i]);
	while (f && fgets(line, sizeof(line), f)) {
		struct tl_first_rto_model m;
		long long v[6] = { 0 };
		int64_t us;

		sscanf(line, "%15[^,],%lld,%lld,%lld,%lld,%lld,%lld", kind, &v[0], &v[1], &v[2], &v[3], &v[4],
		       &v[5]);
		if (strcmp(kind, "report") == 0) {
			tl_first_rto_report(&places[v[0]], v[1], v[2]);
			continue;
		}
		if (strcmp(kind, "doubt") == 0) {
			tl_first_rto_doubt(&places[v[0]], v[2]);
			continue;
		}
		if (strcmp(kind, "resent") == 0) {
			tl_first_rto_resent(&places[v[0]], v[1], v[3], v[2]);
			continue;
		}
		tl_first_rto_shipped((uint32_t)v[3], &m);
		us = tl_first_rto_us(&m, &places[v[0]], &places[v[1]], (int32_t)v[4], v[2]);
		CHECK(us == v[5], "%s gives %lld", line, (long long)us);
		queries++;
	}
	CHECK(queries > 1000, "%u queries only", queries);
	if (f)
		fclose(f);
}

static void any_line(uint64_t *seed, struct tl_first_rto_line *l)
{
	l->constant_us = random_below(seed, TL_FIRST_RTO_US_MAX + 1);
	l->last_q16 = random_below(seed, TL_FIRST_RTO_WEIGHT_MAX + 1);
	l->high_q16 = random_below(seed, TL_FIRST_RTO_WEIGHT_MAX + 1);
	l->hop_us = random_below(seed, 1000001);
	l->there = (uint32_t)random_below(seed, 2);
}

/* Whatever the model and the history: within floor and cap, and longer while a place is in doubt. */
static void wrong_models(void)
{
	uint64_t seed = 7;
	int k;

	for (k = 0; k < 100000; k++) {
		struct tl_first_rto_model m;
		struct tl_first_rto_place place, prefix;
		const int64_t now_us = random_below(&seed, (int64_t)1 << 60);
		int64_t us, after_us;
		int j;

		any_line(&seed, &m.place);
		any_line(&seed, &m.prefix);
		any_line(&seed, &m.hops);
		any_line(&seed, &m.nothing);
		m.floor_us = 1000 + random_below(&seed, 100000);
		m.cap_us = m.floor_us + random_below(&seed, 1000000);
		m.max_age_us = random_below(&seed, (int64_t)1 << 45);
		tl_first_rto_place_init(&place);
		tl_first_rto_place_init(&prefix);
		tl_first_rto_report(&place, (int64_t)random_next(&seed), now_us - random_below(&seed, 1000));
		tl_first_rto_report(&prefix, (int64_t)random_next(&seed), now_us - random_below(&seed, 1000));
		us = tl_first_rto_us(&m, &place, &prefix, (int32_t)random_next(&seed), now_us);
		CHECK(m.floor_us <= us && us <= m.cap_us, "%lld is out of its bounds", (long long)us);
		tl_first_rto_resent(&place, us + 1, us, now_us);
		after_us = tl_first_rto_us(&m, &place, &prefix, TL_FIRST_RTO_HOPS_UNKNOWN, now_us);
		CHECK(place.doubts == 1 && m.floor_us <= after_us && after_us <= m.cap_us, "in doubt: %lld",
		      (long long)after_us);
		for (j = 0; j < 6; j++)
			tl_first_rto_resent(&place, 0, us, now_us);
		after_us = tl_first_rto_us(&m, &place, &prefix, TL_FIRST_RTO_HOPS_UNKNOWN, now_us);
		CHECK(after_us == m.cap_us, "in doubt again and again: %lld", (long long)after_us);
		tl_first_rto_resent(&place, us, us, now_us);
		CHECK(place.doubts == 0 && place.last_us == us, "a lost packet is no doubt");
		tl_first_rto_report(&place, 1000, now_us);
		us = tl_first_rto_us(&m, &place, &prefix, 3, now_us);
		CHECK(place.doubts == 0 && us <= m.cap_us, "an RTT ends the doubt");
	}
}

/* A known place of 60 ms whose RTO is 86: a lost SYN-ACK is let pass once, and an RTT that has grown never. */
static void lost_answers(void)
{
	struct tl_first_rto_place p;

	tl_first_rto_place_init(&p);
	tl_first_rto_resent(&p, 146000, 86000, 1);
	CHECK(p.doubts == 1, "nothing is known of the place");
	tl_first_rto_report(&p, 60000, 2);
	tl_first_rto_resent(&p, 146000, 86000, 3);
	CHECK(p.doubts == 0 && p.last_us == 60000, "a lost SYN-ACK is no doubt");
	tl_first_rto_resent(&p, 146000, 86000, 4);
	CHECK(p.doubts == 1, "the second in a row is one");
	tl_first_rto_report(&p, 60000, 5);
	tl_first_rto_resent(&p, 120000, 86000, 6);
	CHECK(p.doubts == 1, "an RTT of 120 ms is one");
	tl_first_rto_report(&p, 60000, 7);
	tl_first_rto_resent(&p, 146000, 20000, 8);
	CHECK(p.doubts == 1, "an RTO below the RTT is one");
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: test_first_rto VECTORS");
	if (argc == 2)
		replay(argv[1]);
	wrong_models();
	lost_answers();
	return finish();
}
