/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two histograms over the logarithm of time, for learned spacing (waits after the first retransmission
 * that need not double): of RTTs, and of loss episodes, which are the times for which a path delivered
 * nothing. All arithmetic is integer; counts and logarithms have 16 fractional bits. */
#ifndef TCPLEARN_RESEND_COUNTS_H
#define TCPLEARN_RESEND_COUNTS_H

#include "logarithm.h"

#define TL_RESEND_LATE_BINS \
	28 /* half octaves from 512 us; the first also counts shorter RTTs, the last all above 4.2 s */
#define TL_RESEND_EPISODE_BINS \
	20 /* octaves from 1,024 us; the first also counts shorter episodes, the last all above 9 minutes */
/* The counts of RTTs are halved when their sum reaches this number, so 768 to 1,536 RTTs count. */
#define TL_RESEND_LATE_MAX 1536

struct tl_resend_counts {
	uint32_t late_total;
	/* sum at most 2^21: each episode removes a 32nd of the earlier counts */
	uint32_t episode[TL_RESEND_EPISODE_BINS];
	uint16_t late[TL_RESEND_LATE_BINS];
};

/* Sums of all counts and of those beyond some time, with 16 fractional bits. 0 < beyond <= all < 2^28. */
struct tl_resend_tail {
	uint32_t beyond, all;
};

/* Returns floor(sqrt(x)). */
TL_FN uint32_t tl_resend_root(uint64_t x)
{
	uint64_t root = 0, bit;

	for (bit = (uint64_t)1 << 62; bit > 0; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint32_t)root;
}

TL_FN void tl_resend_counts_init(struct tl_resend_counts *c)
{
	uint32_t i;

	c->late_total = 0;
	for (i = 0; i < TL_RESEND_LATE_BINS; i++)
		c->late[i] = 0;
	for (i = 0; i < TL_RESEND_EPISODE_BINS; i++)
		c->episode[i] = 0;
}

/* Returns the bin of the RTT `us`, and in `into` the position in the bin, in 1/65,536. Range: us > 0. */
TL_FN uint32_t tl_resend_late_bin(int64_t us, uint32_t *into)
{
	const uint32_t halves = us < 512 ? 0 : (tl_resend_log2((uint64_t)us) - (9u << 16)) * 2;
	const uint32_t bin = us < 512 ? 0 : 1 + (halves >> 16);

	*into = us < 512 ? 0 : halves & 0xffff;
	if (bin < TL_RESEND_LATE_BINS)
		return bin;
	*into = TL_RESEND_ONE;
	return TL_RESEND_LATE_BINS - 1;
}

TL_FN uint32_t tl_resend_episode_bin(int64_t us, uint32_t *into)
{
	const uint32_t octaves = us < 1024 ? 0 : tl_resend_log2((uint64_t)us) - (10u << 16);

	*into = octaves & 0xffff;
	if (octaves >> 16 < TL_RESEND_EPISODE_BINS)
		return octaves >> 16;
	*into = TL_RESEND_ONE;
	return TL_RESEND_EPISODE_BINS - 1;
}

/* Sets `c` to n/d of the counts in `earlier`, each rounded down. Range: n <= d. */
TL_FN void tl_resend_counts_inherit(struct tl_resend_counts *c, const struct tl_resend_counts *earlier,
				    uint32_t n, uint32_t d)
{
	uint32_t i;

	c->late_total = 0;
	for (i = 0; i < TL_RESEND_LATE_BINS; i++) {
		c->late[i] = (uint16_t)((uint32_t)earlier->late[i] * n / d);
		c->late_total += c->late[i];
	}
	for (i = 0; i < TL_RESEND_EPISODE_BINS; i++)
		c->episode[i] = (uint32_t)((uint64_t)earlier->episode[i] * n / d);
}

TL_FN void tl_resend_count_rtt(struct tl_resend_counts *c, int64_t us)
{
	uint32_t into, i;

	c->late[tl_resend_late_bin(us, &into)]++;
	if (++c->late_total < TL_RESEND_LATE_MAX)
		return;
	c->late_total = 0;
	for (i = 0; i < TL_RESEND_LATE_BINS; i++) {
		c->late[i] = (uint16_t)(c->late[i] / 2);
		c->late_total += c->late[i];
	}
}

TL_FN void tl_resend_count_episode(struct tl_resend_counts *c, int64_t us)
{
	uint32_t into, i;

	for (i = 0; i < TL_RESEND_EPISODE_BINS; i++)
		c->episode[i] -= c->episode[i] >> 5;
	c->episode[tl_resend_episode_bin(us, &into)] += TL_RESEND_ONE;
}

/* Computes how many of the counted RTTs are longer than `us` microseconds. A prior of half an RTT is
 * added, half of which is longer than any time. */
TL_FN void tl_resend_later_rtts(const struct tl_resend_counts *c, int64_t us, struct tl_resend_tail *out)
{
	uint32_t into, i, bin = tl_resend_late_bin(us, &into);

	out->beyond = TL_RESEND_ONE / 4 + c->late[bin] * (TL_RESEND_ONE - into);
	for (i = bin + 1; i < TL_RESEND_LATE_BINS; i++)
		out->beyond += c->late[i] * TL_RESEND_ONE;
	out->all = TL_RESEND_ONE / 2 + c->late_total * TL_RESEND_ONE;
}

#define TL_RESEND_PRIOR_EPISODE 9830u /* prior count of each bin, 0.15 */

/* Computes how many loss episodes, with the prior counts, are longer than `us` microseconds. */
TL_FN void tl_resend_longer_episodes(const struct tl_resend_counts *c, int64_t us, struct tl_resend_tail *out)
{
	uint32_t into, i, bin = tl_resend_episode_bin(us, &into);

	out->beyond = out->all = 3277; /* prior count of episodes longer than all bins, 0.05 */
	for (i = 0; i < TL_RESEND_EPISODE_BINS; i++) {
		const uint32_t count = c->episode[i] + TL_RESEND_PRIOR_EPISODE;

		out->all += count;
		if (i > bin)
			out->beyond += count;
		else if (i == bin)
			out->beyond += (uint32_t)((uint64_t)count * (TL_RESEND_ONE - into) >> 16);
	}
}

/* Returns the `hazard` spacing of retransmissions, in microseconds:
 * sqrt(2 * lambda * first_us * waited_us / h') with lambda = 0.1. `first_us` is the flight's first wait and
 * `waited_us` the time waited so far. lambda is the price of a retransmission in multiples of `first_us`; h'
 * is the chance that the loss episode ends before the wait has doubled, estimated as the share of the
 * episodes of at least `waited_us` that did. */
TL_FN int64_t tl_resend_hazard_us(const struct tl_resend_counts *c, int64_t waited_us, int64_t first_us)
{
	const uint64_t most = (uint64_t)1 << 31;
	const uint64_t waited = (uint64_t)waited_us < most ? (uint64_t)waited_us : most;
	const uint64_t first = (uint64_t)first_us < most ? (uint64_t)first_us : most;
	uint32_t into, i, bin = tl_resend_episode_bin(waited_us, &into);
	const uint64_t here = c->episode[bin] + TL_RESEND_PRIOR_EPISODE;
	uint64_t beyond = here;

	for (i = bin + 1; i < TL_RESEND_EPISODE_BINS; i++)
		beyond += c->episode[i] + TL_RESEND_PRIOR_EPISODE;
	return (int64_t)((uint64_t)tl_resend_root(first * waited) *
				 tl_resend_root((beyond << 32) / (5 * here)) >>
			 16);
}

#endif
