/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs a retry timer on bytes from a fuzzer, beside the plain model of retry_model.h. The first 8 bytes choose the
 * settings. Each event is a byte that chooses the call and how hostile it is, the request's number in 1 or 8
 * bytes, and the time: 3 bytes after the call before, or 8 bytes of any value. The timer is also copied in
 * between, saved and replaced by one that inherits from it. */
#include "bytes.h"
#include "retry_model.h"

static void settings(struct bytes *b, struct tl_retry_settings *how)
{
	const uint64_t flags = take(b, 1);

	tl_retry_defaults(how);
	how->rate_ppm = flags & 1 ? 100 + (uint32_t)take(b, 3) % 499901 : 0;
	how->price_us = (int64_t)(take(b, 4) >> (flags & 2 ? 0 : 12));
	how->budget = flags & 4 ? (uint32_t)(flags >> 4) : 40;
	how->min_wait_us = flags & 8 ? 1 + (int64_t)take(b, 2) : 1;
	how->max_wait_us = flags & 16 ? how->min_wait_us + (int64_t)take(b, 3) : 120000000;
	how->first_wait_us = flags & 32 ? (int64_t)1 << 32 : 1000000;
}

/* Replaces the timer by one that inherits from it. */
static void successor(struct modelled *m)
{
	static struct modelled later;

	CHECK(modelled_begin(&later, &m->how) == TL_RETRY_OK, "not begun");
	CHECK(tl_retry_inherit(&later.timer, &m->timer) == TL_RETRY_OK, "not inherited");
	*m = later;
}

static void event(struct bytes *b, struct modelled *m)
{
	const uint64_t what = take(b, 1), hostile = what & 8;
	const uint64_t id = what & 16 ? take(b, 8) : take(b, 1) % 80;
	const int64_t now_us = hostile ? (int64_t)take(b, 8)
				       : (m->now_us < 0 ? 0 : m->now_us) + (int64_t)(take(b, 3) >> what % 16);
	const uint32_t copy = what & 64 ? TL_RETRY_ANY : (uint32_t)(what >> 7);

	switch (what % 8) {
	case 0:
	case 1:
	case 2: modelled_sent(m, id, now_us); break;
	case 3:
	case 4: modelled_answered(m, id, copy, now_us); break;
	case 5: modelled_fired(m, now_us); break;
	case 6:
		if (tl_retry_deadline(&m->timer) != TL_RETRY_NEVER)
			modelled_fired(m, tl_retry_deadline(&m->timer));
		break;
	default:
		if (what < 240)
			modelled_cancelled(m, id);
		else
			successor(m);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct modelled m;
	struct bytes b = { data, size };
	struct tl_retry_settings how;

	settings(&b, &how);
	CHECK(modelled_begin(&m, &how) == TL_RETRY_OK, "not begun");
	while (b.left > 0)
		event(&b, &m);
	if (failures)
		abort();
	return 0;
}
