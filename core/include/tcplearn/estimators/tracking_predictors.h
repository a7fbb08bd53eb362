/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The predictors that the estimator `tracking` combines; each is small and moves with the path. There are
 * three kinds: predictors that follow the level of the RTT, predictors that learn which RTT follows a
 * deviation from the level, and the last value. Those of the second kind keep a value for each cell, which is
 * a class of recent deviations by their size relative to the running scale (the mean distance of the RTT from
 * its level). Included twice: for double precision and for fixed point. */

#ifndef TCPLEARN_TRACKING_PREDICTORS_H
#define TCPLEARN_TRACKING_PREDICTORS_H
enum tl_warm_up { TL_WARM_UP_MEDIAN = 0, TL_WARM_UP_FIRST = 1 };
enum tl_drift { TL_DRIFT_BY_TWO = 0, TL_DRIFT_BY_OUTLIER = 1 };

#define TL_PREDICTORS 12
enum tl_predictor { /* in the order of the bits of the parameter `predictors` */
		    TL_P_LAST,
		    TL_P_EWMA8,
		    TL_P_EWMA32,
		    TL_P_MEDIAN5,
		    TL_P_SLOW_HUB,
		    TL_P_STEP_MEDIAN,
		    TL_P_DRIFT,
		    TL_P_HALF,
		    TL_P_RATIO,
		    TL_P_MAP8,
		    TL_P_MAP16,
		    TL_P_AFFINE
};

/* Parameters of `tracking` that affect how the predictors learn. They are not in the state, so a compiler
 * removes the code that a constant choice does not use. */
struct tl_predictor_choices {
	uint32_t warm_up, exact_ties, drift_by_outlier;
};
#endif

struct TL(predictors) {
	num_t x[TL_PREDICTORS];           /* prediction of each predictor */
	num_t hub;                        /* the level: clipped mean with gain 1/16 (slow hub in x: 1/64) */
	num_t scale;                      /* mean clipped distance from the hub */
	num_t ring[5];                    /* the last five samples */
	num_t drift[16], drift_scale[16]; /* by the cell of 16; in `tracking/first` by the cell of outliers */
	num_t offset[4];                  /* by the cell of outliers */
	num_t map8[8], map16[16];         /* expected deviation of each cell */
	uint32_t samples;                 /* number of samples; saturates */
	int8_t slope[4], ratio[8];        /* ratio of the next deviation to this one, in 1/16 */
	uint8_t cell4, cell8, cell16, was_out;
};

TL_FN int32_t TL(sign)(num_t a, num_t dead)
{
	return a > dead ? 1 : a < num_from_us(0) - dead ? -1 : 0;
}

TL_FN int8_t TL(clamp_slope)(int32_t a)
{
	return (int8_t)(a < -4 ? -4 : a > 20 ? 20 : a); /* clamped to -1/4 ... 5/4 */
}

/* Returns a / samples, or a / 2^k from 2^k samples on: the step of a mean that becomes an EWMA. */
TL_FN num_t TL(mean_step)(num_t a, uint32_t samples, uint32_t k)
{
	return samples >= (1u << k) ? num_shr(a, k) : num_div_count(a, samples);
}

/* Sorts the `n` values of v, at most five. */
TL_FN void TL(sort5)(num_t *v, uint32_t n)
{
	uint32_t i, j;

	for (i = 1; i < 5; i++) {
		for (j = 4; j > 0; j--) { /* fixed bounds, for BPF */
			if (j <= i && i < n && v[j - 1] > v[j]) {
				num_t t = v[j];
				v[j] = v[j - 1];
				v[j - 1] = t;
			}
		}
	}
}

/* Returns the median of the last five samples. The least and the greatest of four of them cannot be it,
 * so it is the middle one of the other two and the fifth. */
TL_FN num_t TL(ring_median)(const struct TL(predictors) *s)
{
	const num_t *v = s->ring;
	num_t low = TL(max)(TL(min)(v[0], v[1]), TL(min)(v[2], v[3]));
	num_t high = TL(min)(TL(max)(v[0], v[1]), TL(max)(v[2], v[3]));

	return low < high ? TL(clamp)(v[4], low, high) : TL(clamp)(v[4], high, low);
}

TL_FN void TL(predictors_start)(struct TL(predictors) *s, num_t y)
{
	uint32_t i;

	s->scale = TL(max)(num_shr(y, 3), num_least);
	s->hub = s->x[TL_P_SLOW_HUB] = s->x[TL_P_STEP_MEDIAN] = s->x[TL_P_EWMA8] = s->x[TL_P_EWMA32] =
		s->x[TL_P_MEDIAN5] = y;
	for (i = 0; i < TL_PREDICTORS; i++)
		s->x[i] = y;
	for (i = 0; i < 5; i++)
		s->ring[i] = y;
	for (i = 0; i < 4; i++) {
		s->offset[i] = num_from_us(0);
		s->slope[i] = 8;
	}
	for (i = 0; i < 8; i++) {
		s->ratio[i] = 8;
		s->map8[i] = num_from_us(0);
	}
	for (i = 0; i < 16; i++) {
		s->map16[i] = s->drift[i] = num_from_us(0);
		s->drift_scale[i] = s->scale;
	}
	s->cell4 = s->was_out = 0;
	s->cell8 = 3;
	s->cell16 = 5;
	s->samples = 0;
}

/* Returns the cell whose drift (the expected change from one sample to the next) applies. It depends on the
 * last two deviations from the level, or in `tracking/first` on whether they were outliers. */
TL_FN uint32_t TL(drift_cell)(const struct TL(predictors) *s, const struct tl_predictor_choices *how)
{
	return how->drift_by_outlier ? s->cell4 & 3 : s->cell16 & 15;
}

/* Learns from the sample `y`: updates the values of the cells (classes of recent deviations) that predicted
 * it. */
TL_FN void TL(predictors_learn)(struct TL(predictors) *s, const struct tl_predictor_choices *how, num_t y,
				num_t dead)
{
	uint32_t c = s->cell4 & 3, b = s->cell8 & 7, m = s->cell16 & 15, d = TL(drift_cell)(s, how);
	num_t last = s->x[TL_P_LAST], deviation = last - s->hub;
	num_t follows = y - s->hub, at = s->drift_scale[d], wander = y - last - s->drift[d];
	int32_t side = TL(sign)(deviation, dead);
	num_t off = follows - num_shr(s->slope[c] * deviation, 4) - s->offset[c];
	num_t eighth = num_shr(s->scale, 3), at8 = num_shr(at, 3);
	num_t most = num_shr(at, how->drift_by_outlier ? 2 : 1);
	num_t rest = follows - num_shr(s->ratio[b] * deviation, 4);

	s->drift[d] += TL(clamp)(wander, -most, most);
	s->drift_scale[d] = TL(max)(at + num_shr(TL(min)(TL(abs)(wander), 4 * at) - at, 4),
				    TL(max)(num_shr(s->hub, 12), num_least));
	s->slope[c] = TL(clamp_slope)(s->slope[c] + TL(sign)(off, dead) * side);
	s->offset[c] += TL(clamp)(off, -at8, at8);
	s->ratio[b] = TL(clamp_slope)(s->ratio[b] + TL(sign)(rest, dead) * side);
	s->map8[b] += TL(clamp)(follows - s->map8[b], -eighth, eighth);
	s->map16[m] += TL(clamp)(follows - s->map16[m], -eighth, eighth);
}

/* Computes the cells (classes of recent deviations) by which the next sample is predicted, from those of this
 * sample and its deviation from the level. */
TL_FN void TL(predictors_cells)(struct TL(predictors) *s, num_t deviation, num_t dead)
{
	num_t scale = s->scale;
	uint32_t out = TL(abs)(deviation) > 4 * scale;

	s->cell4 = out ? (s->was_out ? 2 : 1) : (s->was_out ? 3 : 0);
	s->was_out = (uint8_t)out;
	if (s->cell4 == 1)
		s->cell8 = deviation > num_from_us(0) ? 5 : 0;
	else if (s->cell4 != 0)
		s->cell8 = s->cell4 == 2 ? 6 : 7;
	else
		s->cell8 = deviation < -scale ? 1 : deviation < -dead ? 2 : deviation < scale ? 3 : 4;
	s->cell16 = (uint8_t)((s->cell16 & 3) * 4 + (4 * deviation < -3 * scale  ? 0
						     : 4 * deviation < scale     ? 1
						     : 2 * deviation < 3 * scale ? 2
										 : 3));
}

/* Handles the first five samples: every level is the lower median of the samples so far, so after the
 * third sample one outlier has no effect; the scale is 5/4 of the median distance from that level. */
TL_FN void TL(predictors_warm_up)(struct TL(predictors) *s, uint32_t n)
{
	num_t v[5];
	uint32_t i;

	for (i = 0; i < 5; i++)
		v[i] = i < n ? s->ring[i] : num_from_us(0);
	TL(sort5)(v, n);
	s->hub = s->x[TL_P_SLOW_HUB] = s->x[TL_P_STEP_MEDIAN] = s->x[TL_P_MEDIAN5] = v[((n - 1) / 2) & 3];
	if (n < 2)
		return;
	for (i = 0; i < 5; i++)
		v[i] = i < n ? TL(abs)(s->ring[i] - s->hub) : num_from_us(0);
	TL(sort5)(v, n);
	s->scale = num_shr(v[(n / 2) & 3] * 5, 2);
}

TL_FN void TL(predictors_track)(struct TL(predictors) *s, const struct tl_predictor_choices *how, num_t y,
				num_t deviation)
{
	uint32_t n = s->samples + 1;
	num_t distance = TL(abs)(deviation), eighth = num_shr(s->scale, 3), reach = 2 * s->scale;
	uint32_t clipped = n > 4 || how->warm_up == TL_WARM_UP_MEDIAN;

	s->ring[s->samples % 5] = y;
	s->x[TL_P_EWMA8] += num_shr(y - s->x[TL_P_EWMA8], 3);
	s->x[TL_P_EWMA32] += how->warm_up == TL_WARM_UP_MEDIAN ? TL(mean_step)(y - s->x[TL_P_EWMA32], n, 5)
							       : num_shr(y - s->x[TL_P_EWMA32], 5);
	if (n <= 5 && how->warm_up == TL_WARM_UP_MEDIAN) {
		TL(predictors_warm_up)(s, n);
	} else {
		num_t far = y - s->x[TL_P_SLOW_HUB];
		s->x[TL_P_MEDIAN5] = TL(ring_median)(s);
		s->x[TL_P_SLOW_HUB] += TL(mean_step)(clipped ? TL(clamp)(far, -reach, reach) : far, n, 6);
		s->x[TL_P_STEP_MEDIAN] += TL(clamp)(y - s->x[TL_P_STEP_MEDIAN], -eighth, eighth);
		s->hub += TL(mean_step)(clipped ? TL(clamp)(deviation, -reach, reach) : deviation, n, 4);
		distance = clipped ? TL(min)(distance, 3 * s->scale) : distance;
		s->scale += n == 1 ? num_shr(distance - s->scale, 4)
				   : TL(mean_step)(distance - s->scale, n, 4);
	}
	s->scale = TL(max)(s->scale, TL(max)(num_shr(s->hub, 12), num_least));
	s->x[TL_P_LAST] = y;
	s->samples += s->samples < 4000000000u;
}

TL_FN void TL(predictors_answer)(struct TL(predictors) *s, const struct tl_predictor_choices *how)
{
	num_t hub = s->hub, last = s->x[TL_P_LAST], g = last - hub, zero = num_from_us(0);
	num_t dead = how->exact_ties ? zero : num_shr(s->scale, 5);
	uint32_t c = s->cell4 & 3;
	num_t drifted = last + s->drift[TL(drift_cell)(s, how)];
	/* in `tracking/study` a prediction may be negative */
	num_t least = how->exact_ties ? -4 * hub : zero;

	/* in `tracking/first` the drift does not carry the prediction across the hub (the level) */
	s->x[TL_P_DRIFT] = !how->drift_by_outlier         ? TL(max)(drifted, least)
			   : g > dead                     ? TL(max)(drifted, hub)
			   : g < -dead || how->exact_ties ? TL(max)(TL(min)(drifted, hub), least)
							  : last;
	s->x[TL_P_HALF] = hub + num_shr(g, 1);
	s->x[TL_P_RATIO] = TL(max)(hub + num_shr(s->ratio[s->cell8 & 7] * g, 4), least);
	s->x[TL_P_MAP8] = TL(max)(hub + s->map8[s->cell8 & 7], zero);
	s->x[TL_P_MAP16] = TL(max)(hub + s->map16[s->cell16 & 15], zero);
	s->x[TL_P_AFFINE] = TL(max)(hub + num_shr(s->slope[c] * g, 4) + s->offset[c], zero);
}

TL_FN void TL(predictors_update)(struct TL(predictors) *s, const struct tl_predictor_choices *how, num_t y)
{
	num_t dead = how->exact_ties ? num_from_us(0) : num_shr(s->scale, 5);
	num_t deviation = y - s->hub;

	if (s->samples > 0)
		TL(predictors_learn)(s, how, y, dead);
	TL(predictors_cells)(s, deviation, dead);
	TL(predictors_track)(s, how, y, deviation);
	TL(predictors_answer)(s, how);
}
