/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks the properties of the first RTO that make a wrong model harmless. */
#include "check.h"
#include "tcplearn/wrap.h"

static void any_line(uint64_t *seed, struct tl_first_rto_line *l)
{
	l->constant_us = random_below(seed, TL_FIRST_RTO_US_MAX + 1);
	l->last_q16 = random_below(seed, TL_FIRST_RTO_WEIGHT_MAX + 1);
	l->high_q16 = random_below(seed, TL_FIRST_RTO_WEIGHT_MAX + 1);
	l->hop_us = random_below(seed, 1000001);
	l->there = (uint32_t)random_below(seed, 2);
}

/* Checks that, with any model and history, the RTO is within floor and cap, and longer for a destination
 * whose last handshake had retransmissions. */
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

/* Checks a destination with an RTT of 60 ms and an RTO of 86 ms: a handshake that looks like a lost SYN-ACK
 * is exempt once, and one whose RTT has grown never. */
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

/* Checks that the shipped models become parameters of policies, and these parameters the same models
 * again. */
static void shipped_models(void)
{
	static const char *const names[TL_FIRST_RTO_MODEL_COUNT] = { "rfc6298", "emulated" };
	uint32_t i;

	for (i = 0; i < TL_FIRST_RTO_MODEL_COUNT; i++) {
		const struct tl_first_rto_policy *p = tl_first_rto_find(names[i], TL_FIX);
		struct tl_first_rto_lines_params_fix params;
		struct tl_first_rto_model shipped, found;

		memset(&shipped, 0, sizeof(shipped));
		memset(&found, 0, sizeof(found));
		tl_first_rto_shipped(i, &shipped);
		CHECK(p != NULL, "%s is not registered", names[i]);
		if (!p)
			continue;
		p->algorithm.defaults(&params);
		tl_first_rto_lines_model_fix(&params, &found);
		CHECK(memcmp(&shipped, &found, sizeof(found)) == 0, "%s: not the shipped model", names[i]);
	}
}

int main(void)
{
	wrong_models();
	lost_answers();
	shipped_models();
	return finish();
}
