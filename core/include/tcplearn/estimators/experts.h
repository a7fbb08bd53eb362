/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `experts`: nunes2014's Algorithm 1, experts on a grid of fixed RTTs that share weight. The weights stand
 * behind the state: reserve TL(experts_bytes)(params). Weights are kept with sum 1 and each loss is taken
 * less the smallest one; both cancel in the prediction and stand for the paper's "periodic rescaling"
 * (section 3.2). Included once for each number model. */

#define TL_EXPERTS_PARAMS(X) \
	X(count, n, 100, 2, TL_EXPERTS_MAX, "number of experts N") \
	X(ratio, eta, TL_RATIO(2, 1), 0, 64, "learning rate, per unit of loss") \
	X(ratio, alpha, TL_RATIO(8, 100), 0, 0.999, \
	  "share of weight given round at each trial; share = variable: for a loss of one") \
	X(choice, share, TL_SHARE_FIXED, "fixed|variable|past", 2, \
	  "step 4: to all alike, by each one's loss, or as the weights were in the past") \
	X(choice, loss, TL_LOSS_NUNES2014, "nunes2014|squared|linear|absolute|pinball", 4, \
	  "step 2 of Algorithm 1, another loss in its place") \
	X(ratio, over, TL_RATIO(1, 1), 0, 64, "cost of a tick too high, for the linear loss") \
	X(ratio, under, TL_RATIO(1, 1), 0, 64, "cost of a tick too low, for the linear loss") \
	X(ratio, quantile, TL_RATIO(1, 2), 0, 1, \
	  "tau of the pinball loss: tau a tick too low, 1 - tau a tick too high") \
	X(us, tick, 500000, 1, 1000000000, "tick") \
	X(count, scale, 1, 1, 1000, "ticks to a unit of the grid") \
	X(ratio, rtt_min, TL_RATIO(1, 1), 0, 2000, "RTTmin in units") \
	X(ratio, rtt_max, TL_RATIO(128, 1), 0.001, 2000, "RTTmax in units") \
	X(count, per_octave, 4, 1, 256, "experts to a factor of two: x_i = RTTmin + RTTmax 2^((i-N)/this)") \
	X(count, fit, 0, 0, 1024, "not 0: unit = first RTT / this, again whenever an RTT leaves the grid") \
	X(choice, variance, TL_VARIANCE_EQ2, "eq2|eq4", 1, "RTTVAR by equation 2 or 4") \
	X(ratio, beta, TL_RATIO(1, 4), 0, 1, "gain of RTTVAR") \
	X(ratio, k, TL_RATIO(4, 1), 0, 64, "RTTVARs added to the prediction (equation 3)") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample") \
	X(us, rto_min, 1000000, 0, 4294967296, "floor of the RTO: 2 ticks of 500 ms (section 2.1)") \
	X(us, rto_max, 32000000, 1, 4294967296, "cap of the RTO: 64 ticks of 500 ms") \
	X(us, quantum, 0, 0, 10000000, "clock tick that samples are rounded up to; 0: none") \
	X(choice, sampling, TL_EVERY_ACK, "every-ack|one-per-rtt", 1, "which ACKs are timed")

struct TL(experts_params) {
	TL_EXPERTS_PARAMS(TL_FIELD)
};

struct TL(experts) {
	struct TL(experts_params) params;
	struct tl_sampler sampler;
	num_t rtt, rttvar;
	num_t last;
	int64_t unit_us; /* what one unit of the grid lasts */
	uint32_t samples;
	uint32_t trials; /* of share = past: posteriors in the sums */
	/* x[n] in units, rising; of share = past the sums of the weights before step 4; then w[n] */
};

TL_FN uint32_t TL(experts_bytes)(const struct TL(experts_params) *p)
{
	uint32_t each = sizeof(tick_t) + sizeof(weight_t);

	if (p->share == TL_SHARE_PAST)
		each += sizeof(weight_sum_t);
	return (uint32_t)sizeof(struct TL(experts)) + p->n * each;
}

TL_FN tick_t *TL(experts_grid)(const struct TL(experts) *s)
{
	return (tick_t *)(s + 1);
}

TL_FN weight_sum_t *TL(experts_past)(const struct TL(experts) *s)
{
	return (weight_sum_t *)(TL(experts_grid)(s) + s->params.n);
}

TL_FN weight_t *TL(experts_weights)(const struct TL(experts) *s)
{
	return (weight_t *)(TL(experts_past)(s) + (s->params.share == TL_SHARE_PAST ? s->params.n : 0));
}

TL_FN uint32_t TL(experts_count)(const struct TL(experts) *s)
{
	return s->params.n < TL_EXPERTS_MAX ? s->params.n : TL_EXPERTS_MAX;
}

/* section 3.2: x_i = RTTmin + RTTmax 2^((i - N) / 4), i = 1 ... N */
TL_FN tick_t TL(experts_x)(const struct TL(experts_params) *p, uint32_t i)
{
	return tick_from_ratio(p->rtt_min + ratio_mul(p->rtt_max, ratio_exp2_neg(p->n - i, p->per_octave)));
}

TL_FN void TL(experts_defaults)(struct TL(experts_params) *p) { TL_EXPERTS_PARAMS(TL_DEFAULT) }

/* The same algorithm on a grid fitted to the path: the first RTT is 16 units, the experts reach from
 * 1/6 to 8 of it in steps of 4 %, and the RTO is bounded as in RFC 6298's other estimators here. */
TL_FN void TL(experts_fitted)(struct TL(experts_params) *p)
{
	p->fit = 16;
	p->per_octave = 16;
	p->rto_min_us = 0;
	p->rto_max_us = 60000000;
}

TL_FN void TL(experts_uniform)(struct TL(experts) *s)
{
	const tick_t *x = TL(experts_grid)(s);
	weight_t *w = TL(experts_weights)(s);
	uint32_t i, n = TL(experts_count)(s);
	tick_t sum = 0;

	for (i = 0; i < n; i++) { /* w_1,i = 1/N */
		w[i] = weight_uniform(n);
		if (s->params.share == TL_SHARE_PAST)
			TL(experts_past)(s)[i] = weight_uniform(n);
		sum += x[i];
	}
	s->trials = 1;
	s->rtt = tick_to_num(tick_mean(sum, n), s->unit_us);
}

TL_FN void TL(experts_init)(struct TL(experts) *s, const struct TL(experts_params) *p)
{
	tick_t *x;
	uint32_t i;

	s->params = *p;
	tl_sampler_init(&s->sampler);
	s->unit_us = tl_clamp_us(p->tick_us * (int64_t)p->scale, 1, TL_UNIT_MAX_US);
	s->rttvar = s->last = num_from_us(0);
	s->samples = 0;
	x = TL(experts_grid)(s);
	for (i = 0; i < TL(experts_count)(s); i++)
		x[i] = TL(experts_x)(p, i + 1);
	TL(experts_uniform)(s);
}

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

/* One trial. Weights sum to 1 before and after. */
TL_FN void TL(experts_trial)(struct TL(experts) *s, tick_t y)
{
	const struct TL(experts_params) *p = &s->params;
	const tick_t *x = TL(experts_grid)(s);
	weight_t *w = TL(experts_weights)(s);
	const decay_rate_t rate = decay_rate(p->eta);
	const loss_t limit = decay_limit(rate);
	uint32_t n = TL(experts_count)(s), first, reach;
	weight_sum_t sum;
	loss_t least;

	first = TL(experts_first)(x, n, y);
	/* the nearest expert on either side has the smallest loss of its side */
	least = first == n ? TL(experts_loss_under)(p, y - x[n - 1], y)
			   : TL(experts_loss_over)(p, x[first] - y);
	if (first > 0 && first < n) {
		loss_t under = TL(experts_loss_under)(p, y - x[first - 1], y);
		least = under < least ? under : least;
	}
	reach = TL(experts_reach)(s, first, y, limit + least);
	TL(experts_punish_under)(s, first, y, least, rate, limit);
	TL(experts_punish_over)(s, first, reach, y, least, rate);
	sum = TL(experts_sum)(w, reach);
	if (!(sum > weight_sum_least)) { /* only where alpha is 0 or nearly: every weight has died out */
		TL(experts_uniform)(s);
		return;
	}
	if (p->share == TL_SHARE_FIXED) {
		s->rtt = tick_to_num(TL(experts_share_fixed)(s, reach, sum), s->unit_us);
		return;
	}
	if (p->share == TL_SHARE_VARIABLE)
		TL(experts_share_variable)(s, reach, sum, y);
	else
		TL(experts_share_past)(s, reach, sum);
	/* step 1 of the next trial; rounding leaves the sum beside 1 */
	s->rtt = tick_to_num(weight_mean(TL(experts_dot)(w, x, n), TL(experts_sum)(w, n)), s->unit_us);
}

TL_FN void TL(experts_update)(struct TL(experts) *s, const struct tl_sample *in)
{
	const struct TL(experts_params) *p = &s->params;
	int64_t rtt_us = tl_sampler_take(&s->sampler, in, p->sampling, p->quantum_us);
	num_t r = num_from_us(rtt_us);
	const tick_t *x = TL(experts_grid)(s);
	tick_t y;

	if (rtt_us == 0)
		return;
	y = tick_from_us(rtt_us, s->unit_us);
	if (p->fit != 0 && (s->samples == 0 || y < x[0] || y > x[p->n - 1])) {
		s->unit_us = tl_clamp_us((int64_t)((uint64_t)rtt_us / p->fit), 1, TL_UNIT_MAX_US);
		y = tick_from_us(rtt_us, s->unit_us);
		TL(experts_uniform)(s);
	}
	if (s->samples == 0) /* as RFC 6298, 2.2; the paper is silent */
		s->rttvar = num_shr(r, 1);
	else /* equation 2 with the prediction that stood, or equation 4 */
		s->rttvar +=
			num_mul(TL(abs)(r - (p->variance == TL_VARIANCE_EQ2 ? s->rtt : s->last)) - s->rttvar,
				p->beta);
	s->last = r;
	s->samples += s->samples == 0;
	TL(experts_trial)(s, y);
}

TL_FN void TL(experts_query)(const struct TL(experts) *s, struct TL(answer) *out)
{
	out->rtt = s->rtt;
	out->rto = TL(rto)(s->samples, s->rtt, num_mul(s->rttvar, s->params.k), 0, s->params.rto_initial_us,
			   s->params.rto_min_us, s->params.rto_max_us);
}
