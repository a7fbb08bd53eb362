/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Steps 2 to 4 of Algorithm 1: losses, what they do to the weights, and how weight is shared. Included once
 * for each number model, after experts_grid.h. */

TL_FN uint32_t TL(experts_linear)(const struct TL(experts_params) *p)
{
	return p->loss == TL_LOSS_LINEAR || p->loss == TL_LOSS_ABSOLUTE || p->loss == TL_LOSS_PINBALL;
}

/* What a tick too high costs, and one too low, where the loss is linear on each side. */
TL_FN ratio_t TL(experts_over)(const struct TL(experts_params) *p)
{
	return p->loss == TL_LOSS_LINEAR    ? p->over
	       : p->loss == TL_LOSS_PINBALL ? TL_RATIO(1, 1) - p->quantile
					    : TL_RATIO(1, 1);
}

TL_FN ratio_t TL(experts_under)(const struct TL(experts_params) *p)
{
	return p->loss == TL_LOSS_LINEAR    ? p->under
	       : p->loss == TL_LOSS_PINBALL ? p->quantile
					    : TL_RATIO(1, 1);
}

/* Step 2 for an expert too high by d units, and for one too low (y is the sample). */
TL_FN loss_t TL(experts_loss_over)(const struct TL(experts_params) *p, tick_t d)
{
	return TL(experts_linear)(p) ? loss_mul(loss_from_tick(d), TL(experts_over)(p)) : loss_square(d);
}

TL_FN loss_t TL(experts_loss_under)(const struct TL(experts_params) *p, tick_t d, tick_t y)
{
	return TL(experts_linear)(p)        ? loss_mul(loss_from_tick(d), TL(experts_under)(p))
	       : p->loss == TL_LOSS_SQUARED ? loss_square(d)
					    : loss_from_tick(2 * y);
}

/* The first expert that is not below y. */
TL_FN uint32_t TL(experts_first)(const tick_t *x, uint32_t n, tick_t y)
{
	uint32_t from = 0, to = n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		if (x[middle] < y)
			from = middle + 1;
		else
			to = middle;
	}
	return to;
}

/* The first expert from `from` on, all of them too high, whose loss is beyond the limit. A loss rises with
 * the distance, so those above it lose more. */
TL_FN uint32_t TL(experts_reach)(const struct TL(experts) *s, uint32_t from, tick_t y, loss_t limit)
{
	const tick_t *x = TL(experts_grid)(s);
	uint32_t to = TL(experts_count)(s);

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		if (TL(experts_loss_over)(&s->params, x[middle] - y) <= limit)
			from = middle + 1;
		else
			to = middle;
	}
	return to;
}

/* Step 3 for the experts from `from` to before `to`, which are too high: w' = w e^(-eta (L - least)). */
TL_FN void TL(experts_punish_over)(struct TL(experts) *s, uint32_t from, uint32_t to, tick_t y, loss_t least,
				   decay_rate_t rate)
{
	const struct TL(experts_params) *p = &s->params;
	const tick_t *x = TL(experts_grid)(s), *end = x + to;
	weight_t *w = TL(experts_weights)(s);
	uint32_t i;

	if (TL(experts_linear)(p)) {
		for (i = from; i < to; i++)
			w[i] = weight_decay(w[i], TL(experts_loss_over)(p, x[i] - y) - least, rate);
	} else {
		for (x += from, w += from; x + 1 < end; x += 2, w += 2) { /* the loop's own cost is felt */
			w[0] = weight_decay(w[0], loss_square_less(x[0] - y, least), rate);
			w[1] = weight_decay(w[1], loss_square_less(x[1] - y, least), rate);
		}
		if (x < end)
			w[0] = weight_decay(w[0], loss_square_less(x[0] - y, least), rate);
	}
}

/* Step 3 for the experts before `to`, which are too low. */
TL_FN void TL(experts_punish_under)(struct TL(experts) *s, uint32_t to, tick_t y, loss_t least,
				    decay_rate_t rate, loss_t limit)
{
	const struct TL(experts_params) *p = &s->params;
	const tick_t *x = TL(experts_grid)(s);
	weight_t *w = TL(experts_weights)(s);
	uint32_t i;

	if (p->loss == TL_LOSS_NUNES2014) { /* the same for all: 2 y */
		const loss_t loss = loss_from_tick(2 * y) - least;
		const decay_t e = loss <= limit ? decay_of(loss, rate) : 0;
		for (i = 0; i < to; i++)
			w[i] = weight_decayed(w[i], e);
	} else {
		for (i = 0; i < to; i++) {
			const loss_t loss = TL(experts_loss_under)(p, y - x[i], y) - least;
			w[i] = loss <= limit ? weight_decay(w[i], loss, rate) : 0;
		}
	}
}

/* Sums in four chains: an addition of doubles waits for the one before it. */
TL_FN weight_sum_t TL(experts_sum)(const weight_t *w, uint32_t n)
{
	weight_sum_t a = 0, b = 0, c = 0, d = 0;
	uint32_t i;

	for (i = 0; i + 3 < n; i += 4) {
		a += w[i];
		b += w[i + 1];
		c += w[i + 2];
		d += w[i + 3];
	}
	for (; i < n; i++)
		a += w[i];
	return (a + b) + (c + d);
}

/* Step 4 for one expert, divided by the sum of the w': w = (1 - alpha) w' + pool / N. */
TL_FN void TL(experts_mix_one)(weight_t *w, tick_t x, weight_ratio_t keep, weight_ratio_t share,
			       weight_sum_t *sum, weight_dot_t *dot)
{
	const weight_t v = weight_mix(*w, keep, share);

	*w = v;
	*sum += v;
	*dot += weight_dot(v, x);
}

TL_FN weight_dot_t TL(experts_dot)(const weight_t *w, const tick_t *x, uint32_t n)
{
	weight_dot_t a = 0, b = 0, c = 0, d = 0;
	uint32_t i;

	for (i = 0; i + 3 < n; i += 4) {
		a += weight_dot(w[i], x[i]);
		b += weight_dot(w[i + 1], x[i + 1]);
		c += weight_dot(w[i + 2], x[i + 2]);
		d += weight_dot(w[i + 3], x[i + 3]);
	}
	for (; i < n; i++)
		a += weight_dot(w[i], x[i]);
	return (a + b) + (c + d);
}

/* Step 4, and in the same pass step 1 of the next trial, in ticks. Here and below: from reach on w' is 0. */
TL_FN tick_t TL(experts_share_fixed)(struct TL(experts) *s, uint32_t reach, weight_sum_t total)
{
	const tick_t *x = TL(experts_grid)(s);
	weight_t *w = TL(experts_weights)(s);
	uint32_t i, n = TL(experts_count)(s);
	weight_ratio_t keep = weight_keep(s->params.alpha, total), share = weight_share(s->params.alpha, n);
	weight_sum_t a = 0, b = 0, c = 0, d = 0;
	weight_dot_t e = 0, f = 0, g = 0, h = 0;
	tick_t above = 0;

	for (i = 0; i + 3 < reach; i += 4) {
		TL(experts_mix_one)(w + i, x[i], keep, share, &a, &e);
		TL(experts_mix_one)(w + i + 1, x[i + 1], keep, share, &b, &f);
		TL(experts_mix_one)(w + i + 2, x[i + 2], keep, share, &c, &g);
		TL(experts_mix_one)(w + i + 3, x[i + 3], keep, share, &d, &h);
	}
	for (; i < reach; i++)
		TL(experts_mix_one)(w + i, x[i], keep, share, &a, &e);
	for (; i < n; i++) {
		w[i] = (weight_t)share;
		above += x[i];
	}
	a += (b + c) + (d + (weight_sum_t)share * (weight_sum_t)(n - reach));
	e += (f + g) + (h + weight_dot((weight_t)share, above));
	return weight_mean(e, a);
}

/* Variable share (Herbster and Warmuth 1998): who was wrong gives more. The pool is that of
 * (1 - e^(-alpha L)) w', so that the expert without loss keeps all it has. In this sharing and the next no
 * weight falls below 2^-30: fixed point could not bring it back. */
TL_FN void TL(experts_share_variable)(struct TL(experts) *s, uint32_t reach, weight_sum_t sum, tick_t y)
{
	const struct TL(experts_params) *p = &s->params;
	const tick_t *x = TL(experts_grid)(s);
	weight_t *w = TL(experts_weights)(s);
	uint32_t i, n = TL(experts_count)(s);
	const decay_rate_t rate = decay_rate(p->alpha);
	const loss_t limit = decay_limit(rate);
	weight_ratio_t scale = weight_keep(TL_RATIO(0, 1), sum), share;
	weight_sum_t pool = 0;

	for (i = 0; i < reach; i++) {
		loss_t loss = x[i] < y ? TL(experts_loss_under)(p, y - x[i], y)
				       : TL(experts_loss_over)(p, x[i] - y);
		weight_t kept = loss <= limit ? weight_decay(w[i], loss, rate) : 0;
		pool += w[i] - kept;
		w[i] = kept;
	}
	share = weight_pool(pool, scale, n);
	for (i = 0; i < n; i++) {
		weight_t mixed = weight_mix(i < reach ? w[i] : 0, scale, share);
		w[i] = weight_alive(mixed);
	}
}

/* Mixing past posteriors (Bousquet and Warmuth 2002), the uniform past: the share of alpha goes to the
 * experts as the mean of all earlier weights before step 4 has it. */
TL_FN void TL(experts_share_past)(struct TL(experts) *s, uint32_t reach, weight_sum_t sum)
{
	weight_t *w = TL(experts_weights)(s);
	weight_sum_t *past = TL(experts_past)(s);
	const ratio_t alpha = s->params.alpha;
	weight_ratio_t scale = weight_keep(TL_RATIO(0, 1), sum), keep = weight_keep(alpha, weight_one);
	uint32_t i, n = TL(experts_count)(s), more = s->trials < 4000000000u;

	for (i = 0; i < n; i++) {
		weight_t posterior = weight_mix(i < reach ? w[i] : 0, scale, 0);
		weight_t mixed = weight_mix(posterior, keep, weight_past(past[i], s->trials, alpha));
		w[i] = weight_alive(mixed);
		if (more)
			past[i] += posterior;
	}
	s->trials += more;
}
