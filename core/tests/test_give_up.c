/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks the computation of how long an unanswered handshake continues: its golden vectors, and its bounds
 * for all settings. Usage: test_give_up VECTORS */
#include "check.h"
#include "tcplearn/give_up.h"

static void replay(const char *folder)
{
	char line[256], kind[16], path[512];
	unsigned lines = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/give_up.csv", folder);
	f = fopen(path, "r");
	CHECK(f != NULL, "%s is missing", path);
	while (f && fgets(line, sizeof(line), f)) {
		struct tl_syn_plan plan;
		struct tl_first_ticks first = { 0, 0 };
		struct tl_vain_handshake end;
		struct tl_retry_limits h;
		unsigned v[9];

		CHECK(sscanf(line, "%15[^,],%u,%u,%u,%u,%u,%u,%u,%u,%u", kind, &v[0], &v[1], &v[2], &v[3],
			     &v[4], &v[5], &v[6], &v[7], &v[8]) == 10,
		      "%s", line);
		h.second_ticks = v[0];
		h.max_ticks = v[1];
		h.linear = v[2];
		h.retries = v[3];
		lines++;
		if (strcmp(kind, "listener") == 0) {
			const int there = tl_plan_listener(&h, &first);

			CHECK(there == (v[5] > 0) && (!there || (first.low == v[5] && first.high == v[6])),
			      "%s gives %u to %u", line, first.low, first.high);
			continue;
		}
		tl_plan_syn(&h, v[4], &plan);
		tl_unanswered(&h, plan.first_ticks, plan.retries, &end);
		CHECK(plan.first_ticks == v[5] && plan.retries == v[6], "%s gives %u, %u", line,
		      plan.first_ticks, plan.retries);
		CHECK(end.ticks == v[7] && end.packets == v[8], "%s gives %u, %u", line, end.ticks,
		      end.packets);
	}
	CHECK(lines > 400, "%u lines only", lines);
	if (f)
		fclose(f);
}

/* Computes the end of a handshake by the number of timeouts alone, as kernels before 5.x did. */
static void by_count(const struct tl_retry_limits *h, uint32_t first, uint32_t retries,
		     struct tl_vain_handshake *out)
{
	uint64_t rto = first, ticks = first;
	uint32_t resent;

	for (resent = 1; resent <= retries; resent++) {
		rto = rto * 2 < h->max_ticks ? rto * 2 : h->max_ticks;
		ticks += rto;
	}
	out->ticks = (uint32_t)ticks;
	out->packets = retries + 1;
}

/* Checks a plan: the time until giving up is between that of an unmodified kernel and twice that time, at
 * most seven more SYNs are sent, and the first RTO is not below the learned one. */
static void check_plan(const struct tl_retry_limits *h, uint32_t learned)
{
	struct tl_vain_handshake stock, end, counted;
	struct tl_syn_plan plan;

	tl_unanswered(h, h->second_ticks, h->retries, &stock);
	tl_plan_syn(h, learned, &plan);
	tl_unanswered(h, plan.first_ticks, plan.retries, &end);
	CHECK(stock.ticks <= end.ticks && end.ticks <= 2 * stock.ticks &&
		      end.packets <= stock.packets + TL_MORE_SYNS,
	      "HZ %u, %u retries, %u linear, %u ticks: %u for %u with %u SYNs for %u", h->second_ticks,
	      h->retries, h->linear, learned, end.ticks, stock.ticks, end.packets, stock.packets);
	CHECK(plan.first_ticks >= learned || plan.first_ticks == h->second_ticks, "%u for %u",
	      plan.first_ticks, learned);
	CHECK(plan.retries >= h->retries && plan.retries <= TL_RETRIES_MAX, "%u retries", plan.retries);
	if (h->linear == 0) {
		by_count(h, plan.first_ticks, plan.retries, &counted);
		CHECK(counted.ticks == end.ticks && counted.packets == end.packets, "%u by the count, %u",
		      counted.ticks, end.ticks);
	}
	/* with first RTOs from 20 ms to half a second and few retries, the first RTO is raised only a
	 * little */
	if (h->second_ticks >= 100 && h->max_ticks == 120 * h->second_ticks && h->retries > 1 &&
	    h->retries <= 6 && h->linear <= 4 && learned >= h->second_ticks / 50 &&
	    learned <= h->second_ticks / 2)
		CHECK(plan.first_ticks <= 2 * learned, "HZ %u, %u retries, %u linear: %u for %u",
		      h->second_ticks, h->retries, h->linear, plan.first_ticks, learned);
}

static void bounds(void)
{
	static const uint32_t hz[] = { 24, 100, 250, 300, 1000, 1200 }, longest_s[] = { 1, 8, 120 };
	static const uint32_t linear[] = { 0, 1, 2, 3, 4, 5, 8, 40, 127 };
	struct tl_first_ticks first;
	struct tl_retry_limits h;
	unsigned i, j, k;

	for (i = 0; i < 6 * 3 * 9; i++) {
		h.second_ticks = hz[i / 27];
		h.max_ticks = h.second_ticks * longest_s[i / 9 % 3];
		h.linear = linear[i % 9];
		for (j = 1; j <= TL_RETRIES_MAX; j += j < 16 ? 1 : 37) {
			const unsigned step = 1 + h.second_ticks / 100;

			h.retries = j;
			for (k = 0; k <= h.second_ticks + 1; k += step)
				check_plan(&h, k);
		}
	}
	h.linear = 0;
	for (i = 0; i < 6 * TL_RETRIES_MAX; i++) {
		struct tl_vain_handshake stock, low, high;

		h.second_ticks = hz[i / TL_RETRIES_MAX];
		h.max_ticks = 120 * h.second_ticks;
		h.retries = i % TL_RETRIES_MAX;
		if (!tl_plan_listener(&h, &first))
			continue;
		tl_unanswered(&h, h.second_ticks, h.retries, &stock);
		by_count(&h, first.low, h.retries + 1, &low);
		by_count(&h, first.high, h.retries + 1, &high);
		CHECK(first.low <= first.high && first.high < h.second_ticks && stock.ticks <= low.ticks &&
			      high.ticks <= 2 * stock.ticks,
		      "HZ %u, %u retries: %u to %u for %u", h.second_ticks, h.retries, low.ticks, high.ticks,
		      stock.ticks);
	}
}

int main(int argc, char **argv)
{
	CHECK(argc == 2, "usage: test_give_up VECTORS");
	if (argc == 2)
		replay(argv[1]);
	bounds();
	return finish();
}
