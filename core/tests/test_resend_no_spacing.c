/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks that `priced` gives the same waits without the histograms of learned spacing (TL_RESEND_NO_SPACING), as
 * in BPF, as in the library, which has them. */
#define TL_RESEND_NO_SPACING

#include "resend_check.h"

#include "tcplearn/wrap.h"

static struct tl_resend_priced_fix without;

static void same(struct tl_resend_wait w, struct tl_resend_wait library)
{
	CHECK(w.wait_us == library.wait_us && w.probe == library.probe, "%lld us, with the histograms %lld",
	      (long long)w.wait_us, (long long)library.wait_us);
}

/* A segment, perhaps retransmissions of it, and an ACK. */
static void flight(struct resender *s, uint64_t *seed, int64_t *now_us)
{
	const uint32_t out = 1 + (uint32_t)random_below(seed, 5);
	struct tl_resend_event in;
	struct tl_resend_ack ack;
	struct tl_resend_wait w;
	int64_t left;

	in.time_us = *now_us += random_below(seed, 100000);
	in.out_segments = out;
	tl_wrap_send_resend_priced_fix(&without, &in, &w);
	same(w, resender_send(s, in.time_us, out));
	for (left = random_below(seed, 8) - 4; left > 0; left--) {
		in.time_us = *now_us += w.wait_us;
		tl_wrap_timer_resend_priced_fix(&without, &in, &w);
		same(w, resender_timer(s, in.time_us, out));
	}
	ack.time_us = *now_us += 20000;
	ack.rtt_us = 15000 + random_below(seed, 10000);
	ack.out_segments = (uint32_t)random_below(seed, out + 1);
	ack.answers = (uint32_t)random_below(seed, 3);
	tl_wrap_ack_resend_priced_fix(&without, &ack, &w);
	same(w, resender_ack(s, ack.time_us, ack.rtt_us, ack.out_segments, ack.answers));
}

static void connection(struct resender *s, uint64_t *seed, int64_t *now_us)
{
	int k;

	for (k = 0; k < 500; k++)
		flight(s, seed, now_us);
}

int main(void)
{
	struct tl_resend_priced_params_fix params;
	struct tl_resend_priced_fix earlier;
	uint64_t seed = 1;
	int64_t now_us = 1000000;
	struct resender s;
	int k;

	tl_wrap_defaults_resend_priced_fix(&params);
	tl_wrap_init_resend_priced_fix(&without, &params);
	resender_defaults(&s, tl_resend_find("priced", TL_FIX));
	resender_start(&s);
	connection(&s, &seed, &now_us);
	for (k = 0; k < 20; k++) {
		earlier = without;
		tl_wrap_init_resend_priced_fix(&without, &params);
		tl_wrap_inherit_resend_priced_fix(&without, &earlier);
		resender_next(&s);
		connection(&s, &seed, &now_us);
	}
	resender_stop(&s);
	return finish();
}
