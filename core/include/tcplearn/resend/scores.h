/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Scores of the seven candidates for a flight's first wait, for the resend policy `priced`. Every flight
 * scores each candidate, whether it was used or not: how long a lost segment would have waited, and how
 * many spurious retransmissions a late ACK would have caused. Included twice: for double precision and
 * for fixed point. */

#ifndef TCPLEARN_RESEND_SCORES_H
#define TCPLEARN_RESEND_SCORES_H
#define TL_RESEND_FLOORS 6
#define TL_RESEND_CANDIDATES 7 /* the last one is the first wait of `stock`, the Linux rule */
#define TL_RESEND_FORGET 10    /* at each flight a score loses 1/2^10 of its value */
/* A score of spurious retransmissions begins with one fifth of its prior (the assumed number). The other four
 * fifths are added while the candidate's floor, the minimum of the term 4 mdev in its wait
 * (tl_resend_floor_us), is below 8 mdev (mdev: mean deviation of the RTT). */
#define TL_RESEND_PRIOR_PARTS 5
/* The share of lost flights is a mean over at most 512 flights, of which the prior counts as 62. */
#define TL_RESEND_LOSS_PRIOR 62
#define TL_RESEND_LOSS_MAX 512
/* A new connection inherits the scores of at most this many flights; if the earlier connection has no
 * more than that, 1/32 of them is forgotten. */
#define TL_RESEND_INHERITED 32

/* The factor n / d for scores that a new connection inherits. */
struct tl_resend_share {
	uint32_t n, d;
};

TL_FN struct tl_resend_share tl_resend_share_of(uint32_t flights)
{
	struct tl_resend_share share = { TL_RESEND_INHERITED - 1, TL_RESEND_INHERITED };

	if (flights > TL_RESEND_INHERITED) {
		share.n = TL_RESEND_INHERITED;
		share.d = flights;
	}
	return share;
}

/* Returns the floor of candidate `i` in microseconds: its wait is SRTT + max(4 mdev, floor). */
TL_FN int64_t tl_resend_floor_us(uint32_t i)
{
	static const int32_t floor_us[TL_RESEND_FLOORS] = { 1000, 5000, 10000, 20000, 50000, 100000 };

	return floor_us[i];
}
#endif

struct TL(resend_scores) {
	num_t waits[TL_RESEND_CANDIDATES]; /* discounted sums of each candidate's waits */
	ratio_t misses
		[TL_RESEND_CANDIDATES]; /* discounted sums of each candidate's spurious retransmissions */
	num_t srtt, mdev4;              /* values at the start of the flight, from which the waits follow */
	int64_t stock_us; /* first wait of `stock` at the start of the flight; 0: not known yet */
	ratio_t loss;     /* share of flights whose timed segment was lost */
	uint32_t flights;
	uint32_t chosen;
};

/* Returns n/5 of the prior (assumed spurious retransmissions) of candidate `i`. The full prior of the first
 * candidate, which has the lowest floor, is `prior`; that of each further candidate is a sixth of `prior`
 * less than that of the candidate before it. */
TL_FN ratio_t TL(resend_scores_prior)(ratio_t prior, uint32_t i, uint32_t n)
{
	return num_div_count(num_mul_count(prior, n * (TL_RESEND_FLOORS - i)),
			     TL_RESEND_PRIOR_PARTS * TL_RESEND_FLOORS);
}

TL_FN void TL(resend_scores_init)(struct TL(resend_scores) *s, ratio_t prior, ratio_t loss)
{
	uint32_t i;

	for (i = 0; i < TL_RESEND_CANDIDATES; i++) {
		s->waits[i] = num_from_us(0);
		s->misses[i] = i < TL_RESEND_FLOORS ? TL(resend_scores_prior)(prior, i, 1)
						    : ratio_from_whole(0);
	}
	s->srtt = s->mdev4 = num_from_us(0);
	s->stock_us = 0;
	s->loss = loss;
	s->flights = 0;
	s->chosen = TL_RESEND_FLOORS;
}

/* Returns the wait of candidate `i`, one of the six floors, in this flight, in microseconds. */
TL_FN int64_t TL(resend_scores_floor_wait_us)(const struct TL(resend_scores) *s, uint32_t i)
{
	return num_to_us(s->srtt + TL(max)(s->mdev4, num_from_us(tl_resend_floor_us(i))));
}

/* Takes over the scores of an earlier connection. Called after init: adds to each initial score `share`
 * times the amount by which the earlier score differs from it. */
TL_FN void TL(resend_scores_inherit)(struct TL(resend_scores) *s, const struct TL(resend_scores) *earlier,
				     struct tl_resend_share share)
{
	uint32_t i;

	for (i = 0; i < TL_RESEND_CANDIDATES; i++) {
		s->waits[i] = num_div_count(num_mul_count(earlier->waits[i], share.n), (int64_t)share.d);
		s->misses[i] += num_div_count(num_mul_count(earlier->misses[i] - s->misses[i], share.n),
					      (int64_t)share.d);
	}
	s->loss = earlier->loss;
	s->flights = (uint32_t)((uint64_t)earlier->flights * share.n / share.d);
}

/* Returns the wait of candidate `i` in this flight, in microseconds; 0: not known yet. */
TL_FN int64_t TL(resend_scores_wait_us)(const struct TL(resend_scores) *s, uint32_t i)
{
	if (i >= TL_RESEND_FLOORS || s->stock_us == 0)
		return s->stock_us;
	return TL(resend_scores_floor_wait_us)(s, i);
}

/* Returns the spurious retransmissions of candidate `i` for the comparison of costs. If the candidate's
 * floor is below `swing_us` (8 mdev), this includes four fifths of the prior (assumed spurious
 * retransmissions), which are never forgotten. */
TL_FN ratio_t TL(resend_scores_misses)(const struct TL(resend_scores) *s, uint32_t i, int64_t swing_us,
				       ratio_t prior)
{
	ratio_t misses = s->misses[i];

	if (i < TL_RESEND_FLOORS && tl_resend_floor_us(i) < swing_us)
		misses += TL(resend_scores_prior)(prior, i, TL_RESEND_PRIOR_PARTS - 1);
	return misses;
}

/* Sets the candidates' waits for a new flight and chooses the cheapest. The cost of a candidate is (share
 * of lost flights) * (sum of its waits) + (price) * (its spurious retransmissions). Of two equal costs
 * the shorter wait is chosen. */
TL_FN void TL(resend_scores_choose)(struct TL(resend_scores) *s, const struct TL(linux_tcp) *rtt,
				    int64_t stock_us, int64_t price_us, ratio_t prior)
{
	const int64_t swing_us = 2 * num_to_us(rtt->mdev4);
	num_t least = num_from_us(0);
	uint32_t i;

	s->srtt = rtt->srtt;
	s->mdev4 = rtt->mdev4;
	s->stock_us = stock_us;
	for (i = 0; i < TL_RESEND_CANDIDATES; i++) {
		const num_t cost = num_mul(s->waits[i], s->loss) +
				   num_mul(num_from_us(price_us),
					   TL(resend_scores_misses)(s, i, swing_us, prior));

		if (i == 0 || cost < least) {
			least = cost;
			s->chosen = i;
		}
	}
}

/* Returns how many spurious retransmissions an ACK after `rtt_us` causes with a first wait of `wait_us`:
 * one, and one more for each doubling of the wait in between. */
TL_FN ratio_t TL(resend_scores_drawn)(int64_t rtt_us, int64_t wait_us)
{
	const uint32_t doublings = tl_resend_log2((uint64_t)rtt_us) - tl_resend_log2((uint64_t)wait_us);

	return num_shr(ratio_from_whole(TL_RESEND_ONE + doublings), 16);
}

/* Updates the scores of candidate `i` with the RTT sample of a flight. */
TL_FN void TL(resend_scores_judge_one)(struct TL(resend_scores) *s, uint32_t i, int64_t wait_us,
				       int64_t rtt_us)
{
	const ratio_t forgotten = num_shr_positive(s->misses[i], TL_RESEND_FORGET);

	s->waits[i] += num_from_us(wait_us) - num_shr_positive(s->waits[i], TL_RESEND_FORGET);
	if (rtt_us > wait_us)
		s->misses[i] += TL(resend_scores_drawn)(rtt_us, wait_us) - forgotten;
	else
		s->misses[i] -= forgotten;
}

TL_FN void TL(resend_scores_judge)(struct TL(resend_scores) *s, int64_t rtt_us)
{
	uint32_t i;

	if (s->stock_us == 0)
		return;
	for (i = 0; i < TL_RESEND_FLOORS; i++)
		TL(resend_scores_judge_one)(s, i, TL(resend_scores_floor_wait_us)(s, i), rtt_us);
	TL(resend_scores_judge_one)(s, TL_RESEND_FLOORS, s->stock_us, rtt_us);
}

TL_FN void TL(resend_scores_flight)(struct TL(resend_scores) *s, uint32_t lost)
{
	const ratio_t is = ratio_from_whole(lost ? 1 : 0);

	if (s->flights < TL_RESEND_LOSS_MAX - TL_RESEND_LOSS_PRIOR)
		s->flights++;
	s->loss += num_div_count(is - s->loss, (int32_t)(s->flights + TL_RESEND_LOSS_PRIOR));
}
