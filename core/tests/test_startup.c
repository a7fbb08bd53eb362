/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks properties of every registered startup policy. */
#include "check.h"
#include "tcplearn/startup.h"

#define WORDS 64

struct policy {
	const struct tl_startup_policy *p;
	int64_t state[WORDS], params[WORDS];
};

static void begin(struct policy *p, const struct tl_startup_policy *of)
{
	p->p = of;
	of->algorithm.defaults(p->params);
	CHECK(of->algorithm.state_bytes(p->params) <= sizeof(p->state), "%s: a state of %u bytes",
	      of->algorithm.name, of->algorithm.state_bytes(p->params));
	of->algorithm.init(p->state, p->params);
}

/* Checks that a handshake without loss never gets smaller windows, that a query changes nothing, and that
 * values out of bounds are refused. */
static void properties(const struct tl_startup_policy *of)
{
	struct policy p;
	struct tl_handshake h = { 1000, 50000, TL_HANDSHAKE_WHOLE, 0, 3, TL_SSTHRESH_NONE };
	struct tl_startup_window a, b;
	int64_t before[WORDS];
	begin(&p, of);
	of->decide(p.state, &h, &a);
	CHECK(a.iw_segments >= 3 && a.ssthresh_segments == TL_SSTHRESH_NONE, "%s: a whole handshake: %u,%u",
	      of->algorithm.name, a.iw_segments, a.ssthresh_segments);
	memcpy(before, p.state, sizeof(before));
	h.loss = TL_HANDSHAKE_EITHER;
	h.resends = 1;
	of->decide(p.state, &h, &a);
	of->decide(p.state, &h, &b);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0 &&
		      memcmp(before, p.state, of->algorithm.state_bytes(p.params)) == 0,
	      "%s: a query changes the state", of->algorithm.name);
}

/* The counts of a destination stop at 2^32 segments, with 8 fractional bits. */
static void largest_counts(void)
{
	struct tl_startup_history_fix h;
	struct tl_startup_report in = { 0 };
	int k;

	in.sent_segments = in.resent_segments = UINT32_MAX;
	tl_startup_history_init_fix(&h);
	for (k = 0; k < 3; k++)
		tl_startup_history_report_fix(&h, &in);
	CHECK(h.sent == (uint64_t)1 << 40 && h.resent == h.sent, "counts of %llu and %llu",
	      (unsigned long long)h.sent, (unsigned long long)h.resent);
}

int main(void)
{
	const struct tl_startup_policy *p;
	size_t i;

	for (i = 0; (p = tl_startup_at(i, TL_FIX)) != NULL; i++) {
		properties(p);
		CHECK(tl_startup_find(p->algorithm.name, TL_F64) == p, "a name twice");
	}
	largest_counts();
	CHECK(i > 3 && tl_startup_find("none", TL_FIX) == NULL, "past the end");
	return finish();
}
