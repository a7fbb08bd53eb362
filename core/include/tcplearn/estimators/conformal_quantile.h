/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The width of `conformal`: the (1 - alpha) quantile of y - p from a histogram of logarithmic bins,
 * blended with that of a Laplace tail while the histogram has few samples, times 2^push, push the signed
 * square of the misses beyond alpha T. docs/algorithms/conformal.md has the bound. Included once for each
 * arithmetic. */

#ifndef TCPLEARN_CONFORMAL_QUANTILE_H
#define TCPLEARN_CONFORMAL_QUANTILE_H
enum {
	TL_BINS_AN_OCTAVE = 4,
	TL_BINS = 26 * TL_BINS_AN_OCTAVE + 1, /* from 1 us to 67 s */
	TL_STEP_EARLY = 8,    /* samples on a new level before its errors widen the interval */
	TL_STEP_LASTING = 48, /* and before the histogram is emptied */
	TL_CAUTION_MOST = 80  /* 5/2 octaves */
};
#endif

struct TL(tail) {
	TL(level) miss, laplace; /* alpha; the (1 - alpha) quantile of a Laplace tail of mean 1, in octaves */
	TL(level) excess;        /* sum of miss - alpha over counted samples */
	TL(level) deferred;      /* misses that are not yet in push */
	num_t error_fine;        /* mean of |y - p|, clipped, of 1/256 */
	num_t level;             /* slow and clipped: the level from which a change is measured */
	/* a suspected change of level (stage > 0): the level before, the errors before it, and early and
	 * late since */
	num_t before, error_before_fine, early_fine, late_fine;
	uint32_t samples;
	uint32_t flight_q8; /* mean samples of a flight; 256 if each sample is one */
	uint16_t error_n, halve_at;
	uint16_t total, above; /* in the histogram; in the bins above `bin` */
	uint16_t counts[TL_BINS];
	uint8_t bin;     /* the bin of the quantile */
	uint8_t wide;    /* caution after a miss: 2, 1, 0 */
	uint8_t caution; /* the widening after a miss in 1/32 octave, learned from how misses cluster */
	uint8_t stage, side_up;
	uint8_t low; /* the count has reduced the interval to its minimum */
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

/* The first sample, which the guarantee does not include. */
TL_FN void TL(tail_start)(struct TL(tail) *s, num_t y)
{
	s->error_fine = TL(max)(num_fine(num_div_count(y, 5)), num_least);
	s->error_n = 5;
	s->level = s->before = y;
	s->error_before_fine = s->early_fine = s->late_fine = num_fine(num_from_us(0));
	s->samples = 1;
}

/* Brings `bin` to the highest one with at least alpha of all in it and above. */
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

/* In octaves of a microsecond, before the steering by the count. */
TL_FN TL(level) TL(tail_width)(struct TL(tail) *s)
{
	TL(level) width = s->laplace + TL(level_log2)(s->error_fine), other;

	if (s->total > 0) {
		TL(level) need = TL(level_times)(s->miss, s->total);
		uint32_t here;

		TL(tail_seek)(s, need);
		here = s->counts[s->bin];
		other = TL(level_of)(s->bin + 1, TL_BINS_AN_OCTAVE);
		if (TL(level_of)(s->above + here, 1) < need) /* fewer than alpha are above p at all */
			other = TL(level_of)(0, 1);
		else
			other -= TL(level_over)(need - TL(level_of)(s->above, 1), here * TL_BINS_AN_OCTAVE);
		/* the Laplace tail has the weight of half a miss of the flight's size */
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

/* The RTO over a prediction p, before floor and cap. */
TL_FN num_t TL(tail_raw)(struct TL(tail) *s, num_t p)
{
	TL(level) width = TL(tail_width)(s), most = TL(level_of)(3, 1);
	TL(level) push = TL(level_times)(TL(level_square)(s->excess - s->deferred), 10);

	push = s->flight_q8 == 256 ? TL(level_shr)(push, 8) : TL(level_over)(push, s->flight_q8);
	if (s->flight_q8 > 256 && push > most) /* a flight that is missed is many misses at once */
		push = most + TL(level_shr)(push - most, 2);
	s->low = push <= TL(level_of)(-45, 8);
	if (s->wide > 0)
		width += TL(level_of)(s->caution * s->wide, 64);
	return p + num_coarse(TL(level_exp2)(width + push));
}

/* The histogram's memory is in flights. */
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
	for (k = TL_BINS; k-- > 0;) { /* the remainder of one bin goes to the next, so that no tail is lost */
		carry += s->counts[k];
		s->counts[k] = (uint16_t)(carry / 2);
		carry %= 2;
	}
}

/* Returns whether y outlasted the RTO; counts this, and the distance from p. */
TL_FN uint32_t TL(tail_judge)(struct TL(tail) *s, num_t y, num_t p, num_t raw, num_t low, num_t high,
			      uint32_t count)
{
	uint32_t missed = y > TL(clamp)(raw, low, high), k;

	/* anti-windup: a sample for which the floor or the cap decided does not count */
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

/* Empties the histogram if the errors have changed by more than a factor of three. */
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
	/* the misses of a step upward do not show the width that is needed later, so they are deferred; but a step of
	 * sixteen times or more is an outage */
	if (s->deferred == TL(level_of)(0, 1) && s->side_up && y < 16 * s->before &&
	    s->excess > TL(level_of)(0, 1))
		s->deferred = s->excess < TL(level_of)(3, 1) ? s->excess : TL(level_of)(3, 1);
}

/* The side of y relative to a level: 1 above, -1 below, by half of it. */
TL_FN int32_t TL(tail_side)(num_t y, num_t level)
{
	return 2 * y > 3 * level ? 1 : 3 * y < 2 * level ? -1 : 0;
}

/* A change is suspected when y leaves the slow level by half of it, and as long as y stays on that side. */
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

/* The sample after a miss: the caution is adjusted so that one in 32 of these is missed too. */
TL_FN uint8_t TL(tail_caution)(uint32_t caution, uint32_t missed)
{
	const uint32_t most = TL_CAUTION_MOST;

	if (missed)
		return (uint8_t)(caution + 31 < most ? caution + 31 : most);
	return (uint8_t)(caution - (caution > 0));
}

/* After y, with `error` its distance from p: updates the errors' scale, the level, and the caution. */
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
