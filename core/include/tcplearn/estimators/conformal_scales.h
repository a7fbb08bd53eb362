/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The width of the estimator `conformal/first`: 2^u * sqrt(slow * fast). `slow` and `fast` are means of
 * |y - p| with gains 1/256 and 1/4 (y: RTT sample, p: prediction). A PI controller sets u so that the
 * rate of misses (samples longer than the RTO) becomes alpha. docs/algorithms/conformal.md has the
 * identity, the bound and its proof. Included twice: for double precision and for fixed point. */

/* The state of the width of the interval alone; the prediction p may come from any estimator. */
struct TL(interval) {
	TL(level) miss, u, excess; /* excess: sum of miss - alpha over counted samples */
	TL(level) deferred;        /* misses that u does not include yet */
	num_t slow_fine, fast_fine;
	uint32_t slow_n;
	/* a suspected change of level (stage > 0): samples since then, its side, the level before */
	uint32_t stage, side_up, missed, epoch_end, epoch_n, quick;
	num_t before, epoch_fine;
	uint32_t samples;
};

/* Returns the least u: the width is then 1/16 of the mean error. */
TL_FN TL(level) TL(interval_least)(void)
{
	return TL(level_of)(-4, 1);
}

TL_FN void TL(interval_init)(struct TL(interval) *s, ratio_t miss)
{
	s->miss = TL(level_from_ratio)(miss);
	s->u = TL(level_start)(s->miss);
	s->excess = s->deferred = TL(level_of)(0, 1);
	s->slow_fine = s->fast_fine = num_fine(num_from_us(1));
	s->slow_n = 4;
	s->stage = s->side_up = s->missed = s->epoch_n = s->quick = 0;
	s->epoch_end = 8;
	s->before = s->epoch_fine = num_from_us(0);
	s->samples = 0;
}

TL_FN num_t TL(interval_raw)(const struct TL(interval) *s, num_t p)
{
	return p + num_coarse(TL(width)(s->u, s->slow_fine, s->fast_fine));
}

/* Watches for a change of the level of RTTs. A change is suspected when `y` is above 3/2 or below 2/3 of
 * the prediction, for as long as the samples stay that far from the old level. */
TL_FN void TL(interval_watch)(struct TL(interval) *s, num_t y, num_t p)
{
	if (s->stage > 0) {
		uint32_t stays = s->side_up ? 2 * y > 3 * s->before : 3 * y < 2 * s->before;
		s->stage = stays ? s->stage + 1 : 0;
	}
	if (s->stage == 0 && (2 * y > 3 * p || 3 * y < 2 * p)) {
		s->stage = 1;
		s->side_up = y > p;
		s->before = p;
		s->missed = 0;
		s->epoch_n = 0;
		s->epoch_fine = num_from_us(0);
		s->epoch_end = 8;
	}
}

/* Counts a sample: updates u (the width has the factor 2^u) and `excess`, the sum of miss - alpha, where miss
 * is 1 or 0. If u_0 is the initial u and I the sum of the integral steps of the controller,
 * excess = 4 (u - u_0) + deferred - 4 I, exactly. */
TL_FN void TL(interval_count)(struct TL(interval) *s, uint32_t missed, uint32_t integral)
{
	TL(level) e;

	s->u -= TL(level_shr)(s->miss, 2);
	s->excess -= s->miss;
	if (missed) {
		s->excess += TL(level_of)(1, 1);
		if (s->stage > 8 &&
		    s->deferred <=
			    TL(level_of)(5, 1)) { /* deferred, because the new level is still being learned */
			s->deferred += TL(level_of)(1, 1);
		} else {
			s->u += TL(level_of)(1, 4);
			s->missed += s->stage > 0;
		}
	}
	if (s->deferred > TL(level_of)(0, 1)) { /* at each sample, alpha / 16 of a deferred miss enters u */
		TL(level) part = TL(level_shr)(s->miss, 4);
		part = s->deferred < part ? s->deferred : part;
		s->deferred -= part;
		s->u += TL(level_shr)(part, 2);
	}
	if (!integral)
		return;
	e = s->excess - s->deferred; /* an excess of one miss has no effect; beyond it up to 7 count */
	if (e > TL(level_of)(1, 1))
		e = e - TL(level_of)(1, 1) < TL(level_of)(7, 1) ? e - TL(level_of)(1, 1) : TL(level_of)(7, 1);
	else if (e < TL(level_of)(-1, 1))
		e = e + TL(level_of)(1, 1) > TL(level_of)(-7, 1) ? e + TL(level_of)(1, 1)
								 : TL(level_of)(-7, 1);
	else
		e = TL(level_of)(0, 1);
	s->u += TL(level_shr)(TL(level_mul)(s->miss, e), 5);
}

/* Defers the misses since a suspected change of level, at its eighth sample: moves them from u to
 * `deferred`. If an earlier change left deferred misses, the suspicion ends instead. */
TL_FN void TL(interval_defer)(struct TL(interval) *s)
{
	uint32_t moved = s->missed < 6 ? s->missed : 6;

	if (s->deferred > TL(level_of)(0, 1)) {
		s->stage = 0;
		return;
	}
	if (moved > 0 && s->u - TL(level_of)(1, 4) * (int32_t)moved >= TL(interval_least)()) {
		s->u -= TL(level_of)(1, 4) * (int32_t)moved;
		s->deferred += TL(level_of)(1, 1) * (int32_t)moved;
	}
}

/* Updates the slow and the fast mean of |y - p|. After 8, 16 and 32 samples on a suspected new level,
 * both restart from the mean over the later half of these samples. */
TL_FN void TL(interval_scales)(struct TL(interval) *s, num_t error, num_t p)
{
	num_t fine = num_fine(error), least = TL(max)(num_shr(num_fine(p), 16), num_least);

	s->slow_n += s->slow_n < 256;
	s->fast_fine = TL(max)(s->fast_fine + num_shr(fine - s->fast_fine, 2), least);
	s->slow_fine = TL(max)(s->slow_fine + num_div_count(fine - s->slow_fine, s->slow_n), least);
	if (s->stage > 0) {
		if (2 * s->stage > s->epoch_end) {
			s->epoch_n++;
			s->epoch_fine += num_div_count(fine - s->epoch_fine, s->epoch_n);
		}
		if (s->stage == s->epoch_end) {
			s->slow_fine = s->fast_fine = TL(max)(s->epoch_fine, least);
			s->slow_n = s->epoch_n;
			s->epoch_n = 0;
			s->epoch_fine = num_from_us(0);
			s->epoch_end *= 2;
			s->quick = 64;
			if (s->epoch_end > 32)
				s->stage = 0;
		}
	}
	if (s->quick > 0) { /* a slow mean above three times the fast one forgets faster */
		s->quick--;
		if (s->slow_fine > 3 * s->fast_fine && s->samples > 16)
			s->slow_n = s->slow_n / 2 > 8 ? s->slow_n / 2 : 8;
	}
}

/* Updates the width with the sample `y`, predicted by `p`. `low` and `high` are the minimum and the maximum
 * RTO. */
TL_FN void TL(interval_update)(struct TL(interval) *s, num_t y, num_t p, num_t low, num_t high,
			       uint32_t integral, uint32_t steps)
{
	num_t raw;
	uint32_t missed;

	if (s->samples == 0)
		s->slow_fine = s->fast_fine = TL(max)(num_fine(num_shr(y, 2)), num_least);
	raw = TL(interval_raw)(s, p);
	missed = y > TL(clamp)(raw, low, high);
	if (steps)
		TL(interval_watch)(s, y, p);
	/* anti-windup: a sample does not count if the minimum or maximum RTO decided whether it was a miss */
	if (missed ? raw <= high : raw >= low && s->u > TL(interval_least)())
		TL(interval_count)(s, missed, integral);
	if (s->stage == 8)
		TL(interval_defer)(s);
	TL(interval_scales)(s, TL(abs)(y - p), p);
	s->samples += s->samples < 4000000000u;
}
