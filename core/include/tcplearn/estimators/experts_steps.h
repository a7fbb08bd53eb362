/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Steps 2 to 4 of nunes2014's Algorithm 1 for the estimator `experts`. An expert is a fixed RTT, and its
 * loss measures how far it was from the sample. The steps are: the losses, their effect on the weights,
 * and the sharing of weight. Included twice: for double precision and for fixed point. */

TL_FN uint32_t TL(experts_linear)(const struct TL(experts_params) *p)
{
	return p->loss == TL_EXPERTS_LOSS_LINEAR || p->loss == TL_EXPERTS_LOSS_ABSOLUTE ||
	       p->loss == TL_EXPERTS_LOSS_PINBALL;
}

/* The next two functions return the cost of one unit of error of an expert that is too high, and of one that
 * is too low, for the linear losses. */
TL_FN ratio_t TL(experts_over)(const struct TL(experts_params) *p)
{
	return p->loss == TL_EXPERTS_LOSS_LINEAR    ? p->over
	       : p->loss == TL_EXPERTS_LOSS_PINBALL ? TL_RATIO(1, 1) - p->quantile
						    : TL_RATIO(1, 1);
}

TL_FN ratio_t TL(experts_under)(const struct TL(experts_params) *p)
{
	return p->loss == TL_EXPERTS_LOSS_LINEAR    ? p->under
	       : p->loss == TL_EXPERTS_LOSS_PINBALL ? p->quantile
						    : TL_RATIO(1, 1);
}

/* Step 2: the next two functions return the loss of an expert too high, or too low, by `d` units. */
TL_FN TL(loss) TL(experts_loss_over)(const struct TL(experts_params) *p, TL(tick) d)
{
	return TL(experts_linear)(p) ? TL(loss_mul)(TL(loss_from_tick)(d), TL(experts_over)(p))
				     : TL(loss_square)(d);
}

TL_FN TL(loss) TL(experts_loss_under)(const struct TL(experts_params) *p, TL(tick) d, TL(tick) y)
{
	return TL(experts_linear)(p) ? TL(loss_mul)(TL(loss_from_tick)(d), TL(experts_under)(p))
	       : p->loss == TL_EXPERTS_LOSS_SQUARED ? TL(loss_square)(d)
						    : TL(loss_from_tick)(2 * y);
}

/* Returns the index of the first expert that is not below `y`. */
TL_FN uint32_t TL(experts_first)(const TL(tick) *x, uint32_t n, TL(tick) y)
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

/* Returns the index of the first expert, from `from` on, whose loss is above `limit`. The experts from `from`
 * on are above `y`, so the loss rises from each to the next, and all later experts have losses above `limit`
 * too. */
TL_FN uint32_t TL(experts_reach)(const struct TL(experts) *s, uint32_t from, TL(tick) y, TL(loss) limit)
{
	const TL(tick) *x = TL(experts_grid)(s);
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

/* Step 3 for the experts `from` to `to` - 1, whose predictions exceed the RTT `y`: w' = w e^(-eta (L - least)),
 * where L is the expert's loss, least the smallest loss of all experts and eta the learning rate. */
TL_FN void TL(experts_punish_over)(struct TL(experts) *s, uint32_t from, uint32_t to, TL(tick) y,
				   TL(loss) least, TL(rate) rate)
{
	const struct TL(experts_params) *p = &s->params;
	const TL(tick) *x = TL(experts_grid)(s), *end = x + to;
	TL(weight) *w = TL(experts_weights)(s);
	uint32_t i;

	if (TL(experts_linear)(p)) {
		for (i = from; i < to; i++)
			w[i] = TL(weight_decay)(w[i], TL(experts_loss_over)(p, x[i] - y) - least, rate);
	} else {
		for (x += from, w += from; x + 1 < end;
		     x += 2, w += 2) { /* unrolled to halve the cost of the loop itself */
			w[0] = TL(weight_decay)(w[0], TL(loss_square_less)(x[0] - y, least), rate);
			w[1] = TL(weight_decay)(w[1], TL(loss_square_less)(x[1] - y, least), rate);
		}
		if (x < end)
			w[0] = TL(weight_decay)(w[0], TL(loss_square_less)(x[0] - y, least), rate);
	}
}

/* Step 3 for the experts before `to`, which are too low: w' = w e^(-eta (L - least)). */
TL_FN void TL(experts_punish_under)(struct TL(experts) *s, uint32_t to, TL(tick) y, TL(loss) least,
				    TL(rate) rate, TL(loss) limit)
{
	const struct TL(experts_params) *p = &s->params;
	const TL(tick) *x = TL(experts_grid)(s);
	TL(weight) *w = TL(experts_weights)(s);
	uint32_t i;

	if (p->loss == TL_EXPERTS_LOSS_NUNES2014) { /* these experts all have the loss 2 y */
		const TL(loss) loss = TL(loss_from_tick)(2 * y) - least;
		const TL(weight_ratio) e = loss <= limit ? TL(decay)(loss, rate) : 0;
		for (i = 0; i < to; i++)
			w[i] = TL(weight_decayed)(w[i], e);
	} else {
		for (i = 0; i < to; i++) {
			const TL(loss) loss = TL(experts_loss_under)(p, y - x[i], y) - least;
			w[i] = loss <= limit ? TL(weight_decay)(w[i], loss, rate) : 0;
		}
	}
}

/* Returns the sum of the weights, by four partial sums, because additions of doubles wait for each other. */
TL_FN TL(weight_sum) TL(experts_sum)(const TL(weight) *w, uint32_t n)
{
	TL(weight_sum) a = 0, b = 0, c = 0, d = 0;
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

/* Step 4 for one expert: w = (1 - alpha) w' + pool / N, divided by the sum of all w'. The pool is the weight
 * that all N experts give up. */
TL_FN void TL(experts_mix_one)(TL(weight) *w, TL(tick) x, TL(weight_ratio) keep, TL(weight_ratio) share,
			       TL(weight_sum) *sum, TL(weight_dot) *dot)
{
	const TL(weight) v = TL(weight_mix)(*w, keep, share);

	*w = v;
	*sum += v;
	*dot += TL(weight_dot_one)(v, x);
}

TL_FN TL(weight_dot) TL(experts_dot)(const TL(weight) *w, const TL(tick) *x, uint32_t n)
{
	TL(weight_dot) a = 0, b = 0, c = 0, d = 0;
	uint32_t i;

	for (i = 0; i + 3 < n; i += 4) {
		a += TL(weight_dot_one)(w[i], x[i]);
		b += TL(weight_dot_one)(w[i + 1], x[i + 1]);
		c += TL(weight_dot_one)(w[i + 2], x[i + 2]);
		d += TL(weight_dot_one)(w[i + 3], x[i + 3]);
	}
	for (; i < n; i++)
		a += TL(weight_dot_one)(w[i], x[i]);
	return (a + b) + (c + d);
}

/* Step 4 with fixed share. Returns the prediction of the next trial (step 1) in units, computed in the
 * same pass. Here and in the next two functions, w' is 0 from the expert `reach` on. */
TL_FN TL(tick) TL(experts_share_fixed)(struct TL(experts) *s, uint32_t reach, TL(weight_sum) total)
{
	const TL(tick) *x = TL(experts_grid)(s);
	TL(weight) *w = TL(experts_weights)(s);
	uint32_t i, n = TL(experts_count)(s);
	TL(weight_ratio) keep = TL(weight_keep)(s->params.alpha, total),
			 share = TL(weight_share)(s->params.alpha, n);
	TL(weight_sum) a = 0, b = 0, c = 0, d = 0;
	TL(weight_dot) e = 0, f = 0, g = 0, h = 0;
	TL(tick) above = 0;

	for (i = 0; i + 3 < reach; i += 4) {
		TL(experts_mix_one)(w + i, x[i], keep, share, &a, &e);
		TL(experts_mix_one)(w + i + 1, x[i + 1], keep, share, &b, &f);
		TL(experts_mix_one)(w + i + 2, x[i + 2], keep, share, &c, &g);
		TL(experts_mix_one)(w + i + 3, x[i + 3], keep, share, &d, &h);
	}
	for (; i < reach; i++)
		TL(experts_mix_one)(w + i, x[i], keep, share, &a, &e);
	for (; i < n; i++) {
		w[i] = (TL(weight))share;
		above += x[i];
	}
	a += (b + c) + (d + (TL(weight_sum))share * (TL(weight_sum))(n - reach));
	e += (f + g) + (h + TL(weight_dot_one)((TL(weight))share, above));
	return TL(weight_mean)(e, a);
}

/* Step 4 with variable share (Herbster and Warmuth 1998): an expert with a larger loss gives away more.
 * The pool is the sum of (1 - e^(-alpha L)) w', so an expert without loss keeps its whole weight. The
 * pool can be 0; a weight that rounds to 0 would then stay 0, so every weight is kept at 2^-30 or more. */
TL_FN void TL(experts_share_variable)(struct TL(experts) *s, uint32_t reach, TL(weight_sum) sum, TL(tick) y)
{
	const struct TL(experts_params) *p = &s->params;
	const TL(tick) *x = TL(experts_grid)(s);
	TL(weight) *w = TL(experts_weights)(s);
	uint32_t i, n = TL(experts_count)(s);
	const TL(rate) rate = TL(decay_rate)(p->alpha);
	const TL(loss) limit = TL(decay_limit)(rate);
	TL(weight_ratio) scale = TL(weight_keep)(TL_RATIO(0, 1), sum), share;
	TL(weight_sum) pool = 0;

	for (i = 0; i < reach; i++) {
		TL(loss) loss = x[i] < y ? TL(experts_loss_under)(p, y - x[i], y)
					 : TL(experts_loss_over)(p, x[i] - y);
		TL(weight) kept = loss <= limit ? TL(weight_decay)(w[i], loss, rate) : 0;
		pool += w[i] - kept;
		w[i] = kept;
	}
	share = TL(weight_pool)(pool, scale, n);
	for (i = 0; i < n; i++) {
		TL(weight) mixed = TL(weight_mix)(i < reach ? w[i] : 0, scale, share);
		w[i] = TL(weight_floor)(mixed);
	}
}

/* Step 4 with mixing past posteriors (Bousquet and Warmuth 2002) and a uniform past: each expert keeps
 * 1 - alpha of its weight and gets alpha times the mean of its weights before step 4 in all earlier
 * trials. Every weight is kept at 2^-30 or more. */
TL_FN void TL(experts_share_past)(struct TL(experts) *s, uint32_t reach, TL(weight_sum) sum)
{
	TL(weight) *w = TL(experts_weights)(s);
	TL(weight_sum) *past = TL(experts_past)(s);
	const ratio_t alpha = s->params.alpha;
	TL(weight_ratio) scale = TL(weight_keep)(TL_RATIO(0, 1), sum),
			 keep = TL(weight_keep)(alpha, TL(weight_one)());
	uint32_t i, n = TL(experts_count)(s), more = s->trials < 4000000000u;

	for (i = 0; i < n; i++) {
		TL(weight) posterior = TL(weight_mix)(i < reach ? w[i] : 0, scale, 0);
		TL(weight) mixed = TL(weight_mix)(posterior, keep,
						  TL(weight_past)(past[i], s->trials, alpha));
		w[i] = TL(weight_floor)(mixed);
		if (more)
			past[i] += posterior;
	}
	s->trials += more;
}
