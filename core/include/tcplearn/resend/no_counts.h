/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replaces counts.h if TL_RESEND_NO_SPACING is defined. Nothing is counted, and learned spacing (waits after
 * the first retransmission that need not double) never applies, so later waits are those of `priced` without
 * it. First waits do not change. The state of a connection is smaller, and the BPF verifier accepts the
 * program: with the square root of counts.h it would need more than the million steps that it allows. */
#ifndef TCPLEARN_RESEND_NO_COUNTS_H
#define TCPLEARN_RESEND_NO_COUNTS_H

#include "../deps.h"

struct tl_resend_counts {
	uint32_t none;
};

/* Always says that every RTT is longer than the wait and that no loss episode is, so that learned spacing
 * never applies. */
struct tl_resend_tail {
	uint32_t beyond, all;
};

TL_FN void tl_resend_counts_init(struct tl_resend_counts *c)
{
	c->none = 0;
}

TL_FN void tl_resend_counts_inherit(struct tl_resend_counts *c, const struct tl_resend_counts *earlier,
				    uint32_t n, uint32_t d)
{
	(void)c, (void)earlier, (void)n, (void)d;
}

TL_FN void tl_resend_count_rtt(struct tl_resend_counts *c, int64_t us)
{
	(void)c, (void)us;
}

TL_FN void tl_resend_count_episode(struct tl_resend_counts *c, int64_t us)
{
	(void)c, (void)us;
}

TL_FN void tl_resend_later_rtts(const struct tl_resend_counts *c, int64_t us, struct tl_resend_tail *out)
{
	(void)c, (void)us;
	out->beyond = out->all = 1;
}

TL_FN void tl_resend_longer_episodes(const struct tl_resend_counts *c, int64_t us, struct tl_resend_tail *out)
{
	(void)c, (void)us;
	out->beyond = 0;
	out->all = 1;
}

TL_FN int64_t tl_resend_hazard_us(const struct tl_resend_counts *c, int64_t waited_us, int64_t first_us)
{
	(void)c, (void)waited_us;
	return first_us;
}

#endif
