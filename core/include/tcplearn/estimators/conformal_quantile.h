/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The width of the estimator `conformal`: the (1 - alpha) quantile of y - p, times 2^push (y: RTT sample, p:
 * prediction, alpha: the chosen rate of misses, which are samples longer than the RTO). The quantile comes
 * from a histogram with logarithmic bins. While the histogram has few samples, the quantile is blended with
 * that of a Laplace tail. `push` is 5/128 times the signed square of the number of misses beyond alpha T in T
 * samples. docs/algorithms/conformal.md has the bound. Included twice: for double precision and for fixed
 * point. */

#ifndef TCPLEARN_CONFORMAL_QUANTILE_H
#define TCPLEARN_CONFORMAL_QUANTILE_H
enum {
	TL_BINS_AN_OCTAVE = 4,
	TL_BINS = 26 * TL_BINS_AN_OCTAVE + 1, /* from 1 us to 67 s */
	TL_STEP_EARLY = 8,    /* samples after a change of the mean RTT until its errors widen the RTO */
	TL_STEP_LASTING = 48, /* samples after such a change until the histogram is emptied */
	TL_CAUTION_MOST = 80, /* 5/2 octaves, in units of 1/32 octave */
	TL_PUSH_GAIN = 10     /* `push` for one miss more than alpha T, in 1/256 octave */
};
#endif

struct TL(tail) {
	TL(level) miss, laplace; /* alpha; the (1 - alpha) quantile of a Laplace tail of mean 1, in octaves */
	TL(level) excess;        /* sum of miss - alpha over counted samples */
	TL(level) deferred;      /* misses that push does not include yet (deferred misses) */
	num_t error_fine;        /* mean of |y - p| with gain 1/256; each error is clipped */
	num_t level;             /* slow mean of clipped samples, from which a change of level is measured */
	/* A suspected change of level (stage > 0): the level before, the mean error before, and the mean
	 * errors early and late after the change. */
	num_t before, error_before_fine, early_fine, late_fine;
	uint32_t samples;
	uint32_t flight_q8; /* mean number of samples in a flight, times 256 */
	uint16_t error_n, halve_at;
	uint16_t total, above; /* samples in the histogram; samples in the bins above `bin` */
	uint16_t counts[TL_BINS];
	uint8_t bin;     /* the bin that contains the quantile */
	uint8_t wide;    /* multiplier of the widening: 2 after a miss, then 1, then 0 */
	uint8_t caution; /* widening after a miss in 1/32 octave, learned from how misses cluster */
	uint8_t stage, side_up;
	uint8_t low; /* 1: the count of misses has reduced the width of the interval to its minimum */
};

TL_FN void TL(tail_forget)(struct TL(tail) *s)
{
	uint32_t k;

	for (k = 0; k < TL_BINS; k++)
		s->counts[k] = 0;
	s->total = s->above = 0;
	s->bin = s->wide = 0;
}

TL_FN void TL(tail_init)(struct TL(tail) *s, ratio_t miss)
{
	s->miss = TL(level_from_ratio)(miss);
	s->laplace = TL(level_start)(s->miss);
	s->excess = s->deferred = TL(level_of)(0, 1);
	s->caution = TL_CAUTION_MOST / 2;
	s->halve_at = (uint16_t)TL(tail_memory)(s->miss);
	s->flight_q8 = 256;
	s->samples = s->stage = s->side_up = s->low = 0;
	TL(tail_forget)(s);
}

/* Starts with the first sample `y`. The guarantee on misses counts from the second sample. */
TL_FN void TL(tail_start)(struct TL(tail) *s, num_t y)
{
	s->error_fine = TL(max)(num_fine(num_div_count(y, 5)), num_least);
	s->error_n = 5;
	s->level = s->before = y;
	s->error_before_fine = s->early_fine = s->late_fine = num_fine(num_from_us(0));
	s->samples = 1;
}

/* Sets `bin` to the highest bin for which it and the bins above have at least `need` samples. */
TL_FN void TL(tail_seek)(struct TL(tail) *s, TL(level) need)
{
	uint32_t bin = s->bin, above = s->above;

	while (bin < TL_BINS - 1 && TL(level_of)(above, 1) >= need)
		above -= s->counts[++bin];
	while (bin > 0 && TL(level_of)(above + s->counts[bin], 1) < need)
		above += s->counts[bin--];
	s->bin = (uint8_t)bin;
	s->above = (uint16_t)above;
}

/* Returns log2 of the width in microseconds, without the adjustment by the count of misses. */
TL_FN TL(level) TL(tail_width)(struct TL(tail) *s)
{
	TL(level) width = s->laplace + TL(level_log2)(s->error_fine), other;

	if (s->total > 0) {
		TL(level) need = TL(level_times)(s->miss, s->total);
		uint32_t here;

		TL(tail_seek)(s, need);
		here = s->counts[s->bin];
		other = TL(level_of)(s->bin + 1, TL_BINS_AN_OCTAVE);
		if (TL(level_of)(s->above + here, 1) < need) /* fewer than alpha of all samples are above p */
			other = TL(level_of)(0, 1);
		else
			other -= TL(level_over)(need - TL(level_of)(s->above, 1), here * TL_BINS_AN_OCTAVE);
		/* the histogram has the weight need / (need + 1/2), the Laplace tail the rest; with
		 * TL_AT_SEND `need` counts flights, not samples */
		if (s->flight_q8 != 256)
			need = TL(level_over)(TL(level_times)(need, 256), s->flight_q8);
		width += TL(level_mul)(TL(level_share)(need), other - width);
	}
	if (s->stage >= TL_STEP_EARLY && s->early_fine > 3 * s->error_before_fine) {
		other = s->laplace + TL(level_log2)(s->early_fine);
		width = other > width ? other : width;
	}
	return width;
}

/* Returns the RTO for a prediction p, before it is limited to the minimum and maximum RTO. The width is
 * multiplied by 2^push; `push` is gain / 256 octaves times the signed square of the number of misses beyond
 * alpha T. If `full` is not 0, of a larger `push` only `full` octaves and a quarter of the rest count. */
TL_FN num_t TL(tail_raw)(struct TL(tail) *s, num_t p, uint32_t gain, uint32_t full)
{
	TL(level) width = TL(tail_width)(s), most;
	TL(level) push = TL(level_times)(TL(level_square)(s->excess - s->deferred), gain);

	push = s->flight_q8 == 256 ? TL(level_shr)(push, 8) : TL(level_over)(push, s->flight_q8);
	if (full == 0 && s->flight_q8 > 256)
		full = 3; /* one missed flight can be many misses at once */
	most = TL(level_of)(full, 1);
	if (full > 0 && push > most)
		push = most + TL(level_shr)(push - most, 2);
	s->low = push <= TL(level_of)(-45, 8);
	if (s->wide > 0)
		width += TL(level_of)(s->caution * s->wide, 64);
	return p + num_coarse(TL(level_exp2)(width + push));
}

/* Returns the samples at which the histogram is halved: those of `halve_at` flights, at most 32,768. */
TL_FN uint32_t TL(tail_most)(const struct TL(tail) *s)
{
	uint64_t most = (uint64_t)s->halve_at * s->flight_q8 / 256;

	return most < 32768 ? (uint32_t)most : 32768;
}

TL_FN void TL(tail_halve)(struct TL(tail) *s)
{
	uint32_t k, carry = 0;

	s->total /= 2;
	s->bin = TL_BINS - 1;
	s->above = 0;
	for (k = TL_BINS; k-- > 0;) { /* an odd count passes 1 down, so no sample is lost */
		carry += s->counts[k];
		s->counts[k] = (uint16_t)(carry / 2);
		carry %= 2;
	}
}

/* Adds y - p to the histogram, and with `count` the outcome to the count of misses. Returns 1 for a miss:
 * `y` is longer than the RTO, which is `raw` clamped to [low, high]. */
TL_FN uint32_t TL(tail_judge)(struct TL(tail) *s, num_t y, num_t p, num_t raw, num_t low, num_t high,
			      uint32_t count)
{
	uint32_t missed = y > TL(clamp)(raw, low, high), k;

	/* anti-windup: a sample does not count if the minimum or maximum RTO decided whether it was a miss */
	if (count && (missed ? raw <= high : raw >= low && !s->low)) {
		TL(level) part = TL(level_shr)(s->miss, 1);
		s->excess += missed ? TL(level_of)(1, 1) - s->miss : -s->miss;
		s->deferred -= s->deferred < part ? s->deferred : part;
	}
	s->total++;
	if (y > p) {
		k = TL(level_bin)(TL(level_log2)(num_fine(y - p)), TL_BINS_AN_OCTAVE, TL_BINS);
		s->counts[k]++;
		if (k > s->bin)
			s->above++;
	}
	if (s->total >= TL(tail_most)(s))
		TL(tail_halve)(s);
	return missed;
}

/* Accepts a suspected change of level (the slow mean of the RTT) that has lasted: `y` is the new level.
 * Empties the histogram if the mean error has changed by more than a factor of three. */
TL_FN void TL(tail_renew)(struct TL(tail) *s, num_t y, num_t least)
{
	num_t error = TL(max)(num_div_count(s->late_fine, TL_STEP_LASTING / 2), least);

	s->stage = 0;
	s->level = y;
	if (3 * error >= s->error_before_fine && error <= 3 * s->error_before_fine)
		return;
	s->error_fine = error;
	s->error_n = TL_STEP_LASTING / 2;
	TL(tail_forget)(s);
	/* After a step upward, up to three misses are deferred, because they do not show which width the
	 * new level needs. A step to 16 times the level or more is an outage; its misses count at once. */
	if (s->deferred == TL(level_of)(0, 1) && s->side_up && y < 16 * s->before &&
	    s->excess > TL(level_of)(0, 1))
		s->deferred = s->excess < TL(level_of)(3, 1) ? s->excess : TL(level_of)(3, 1);
}

/* Returns 1 if y is above 3/2 of `level`, -1 if it is below 2/3 of it, otherwise 0. */
TL_FN int32_t TL(tail_side)(num_t y, num_t level)
{
	return 2 * y > 3 * level ? 1 : 3 * y < 2 * level ? -1 : 0;
}

/* Watches for a change of the level (the slow mean of the RTT). A change is suspected when `y` is above
 * 3/2 or below 2/3 of the level, for as long as the samples stay on that side. */
TL_FN void TL(tail_watch)(struct TL(tail) *s, num_t y, num_t error_fine, num_t before_fine)
{
	int32_t side = TL(tail_side)(y, s->stage > 0 ? s->before : s->level);

	if (s->stage > 0 && side != (s->side_up ? 1 : -1)) {
		s->stage = 0;
		side = TL(tail_side)(y, s->level);
	}
	if (side == 0)
		return;
	if (s->stage == 0) {
		s->before = s->level;
		s->side_up = side > 0;
		s->error_before_fine = before_fine;
		s->early_fine = s->late_fine = num_fine(num_from_us(0));
	}
	s->stage++;
	if (s->stage > TL_STEP_EARLY / 2) {
		uint32_t n = s->stage - TL_STEP_EARLY / 2;
		s->early_fine += num_div_count(error_fine - s->early_fine, n < 16 ? n : 16);
	}
	if (s->stage > TL_STEP_LASTING / 2)
		s->late_fine += error_fine;
}

/* Returns the new caution, the widening after a miss in 1/32 octave. `missed`: the sample after a miss
 * was missed too. The caution is stable if one in 32 of these samples is missed. */
TL_FN uint8_t TL(tail_caution)(uint32_t caution, uint32_t missed)
{
	const uint32_t most = TL_CAUTION_MOST;

	if (missed)
		return (uint8_t)(caution + 31 < most ? caution + 31 : most);
	return (uint8_t)(caution - (caution > 0));
}

/* Learns from a sample `y` with |y - p| = `error`: updates the scale of the errors, the level (the slow
 * mean of the RTT), and the caution (the widening after a miss). */
TL_FN void TL(tail_learn)(struct TL(tail) *s, num_t y, num_t p, num_t error, uint32_t missed, uint32_t wary,
			  uint32_t steps)
{
	num_t fine = num_fine(error), before = s->error_fine, clipped = TL(min)(fine, 4 * before);
	num_t least = TL(max)(num_shr(num_fine(p), 16), num_least);

	if (s->wide == 2)
		s->caution = TL(tail_caution)(s->caution, missed);
	s->wide = (uint8_t)(missed && wary ? 2 : s->wide - (s->wide > 0));
	if (s->error_n < 256)
		s->error_n++;
	s->error_fine += num_div_count((s->samples > 16 ? clipped : fine) - before, s->error_n);
	s->error_fine = TL(max)(s->error_fine, least);
	s->samples += s->samples < 4000000000u;
	if (!steps)
		return;
	TL(tail_watch)(s, y, fine, before);
	s->level += TL(mean_step)(TL(clamp)(y, num_shr(s->level, 1), 2 * s->level) - s->level, s->samples, 6);
	if (s->stage == TL_STEP_LASTING)
		TL(tail_renew)(s, y, least);
}
