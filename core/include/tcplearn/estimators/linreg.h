/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The estimator `linreg`: the linear regression of baddam2018, rtt = b0 + b1 hops + b2 min + b3 max + b4
 * ttl in ms, with the connection's own minimum and maximum RTT. Presets are the coefficients that the paper
 * published for each kernel, and what the kernels in its authors' repository do instead. Included twice:
 * for double precision and for fixed point. */

#ifndef TCPLEARN_LINREG_H
#define TCPLEARN_LINREG_H
enum tl_error { TL_ERROR_SIGNED = 0, TL_ERROR_MAGNITUDE = 1, TL_ERROR_NONE = 2, TL_ERROR_KERNEL = 3 };
#endif

#define TL_LINREG_PARAMS(X) \
	X(ratio, b0_ms, TL_RATIO(-52218434, 100000000), -1000, 1000, "intercept in ms") \
	X(ratio, b1_hops_ms, TL_RATIO(1509783, 100000000), -64, 64, "ms a hop") \
	X(ratio, b2_min, TL_RATIO(58899585, 100000000), -64, 64, "weight of the minimum") \
	X(ratio, b3_max, TL_RATIO(41376639, 100000000), -64, 64, "weight of the maximum") \
	X(ratio, b4_ttl_ms, TL_RATIO(157301, 100000000), -64, 64, "ms for each unit of TTL") \
	X(choice, error, TL_ERROR_SIGNED, "signed|magnitude|none|kernel", 3, \
	  "running error as in the paper, its magnitude, none as in the first attempt, or as in the " \
	  "authors' kernel") \
	X(count, error_times, 1, 1, 8, "multiples of the running error in the RTO") \
	X(count, hops, 12, 1, 255, "hops if the TTL does not show them") \
	X(count, ttl, 52, 1, 255, "TTL if it is not known") \
	X(us, rto_initial, 1000000, 1, 4294967296, "RTO before any sample") \
	X(us, rto_max, 120000000, 1, 4294967296, "cap of the RTO")

struct TL(linreg_params) {
	TL_LINREG_PARAMS(TL_FIELD)
};

struct TL(linreg) {
	struct TL(linreg_params) params;
	int64_t min_us, max_us;
	num_t rtt, error;
	uint32_t samples;
};

TL_FN void TL(linreg_defaults)(struct TL(linreg_params) *p) { TL_LINREG_PARAMS(TL_DEFAULT) }

TL_FN void TL(linreg_reno)(struct TL(linreg_params) *p)
{
	p->b0_ms = TL_RATIO(12877645, 100000000);
	p->b1_hops_ms = TL_RATIO(-1079089, 100000000);
	p->b2_min = TL_RATIO(9933091, 10000000);
	p->b3_max = TL_RATIO(4338126, 100000000);
	p->b4_ttl_ms = TL_RATIO(-311428, 100000000);
}

TL_FN void TL(linreg_vegas)(struct TL(linreg_params) *p)
{
	p->b0_ms = TL_RATIO(-34314743, 100000000);
	p->b1_hops_ms = TL_RATIO(493765, 100000000);
	p->b2_min = TL_RATIO(6949473, 10000000);
	p->b3_max = TL_RATIO(3145146, 10000000);
	p->b4_ttl_ms = TL_RATIO(192231, 100000000);
}

TL_FN void TL(linreg_magnitude)(struct TL(linreg_params) *p)
{
	p->error = TL_ERROR_MAGNITUDE;
}

TL_FN void TL(linreg_no_error)(struct TL(linreg_params) *p)
{
	p->error = TL_ERROR_NONE;
}

TL_FN void TL(linreg_reno_magnitude)(struct TL(linreg_params) *p)
{
	TL(linreg_reno)(p);
	TL(linreg_magnitude)(p);
}

TL_FN void TL(linreg_reno_no_error)(struct TL(linreg_params) *p)
{
	TL(linreg_reno)(p);
	TL(linreg_no_error)(p);
}

TL_FN void TL(linreg_vegas_magnitude)(struct TL(linreg_params) *p)
{
	TL(linreg_vegas)(p);
	TL(linreg_magnitude)(p);
}

TL_FN void TL(linreg_vegas_no_error)(struct TL(linreg_params) *p)
{
	TL(linreg_vegas)(p);
	TL(linreg_no_error)(p);
}

/* The kernels in the authors' repository predict a constant, a whole number of ms, whatever the samples
 * are. */
TL_FN void TL(linreg_constant)(struct TL(linreg_params) *p, ratio_t ms, uint32_t error_times)
{
	p->b0_ms = ms;
	p->b1_hops_ms = p->b2_min = p->b3_max = p->b4_ttl_ms = ratio_from_whole(0);
	p->error = TL_ERROR_KERNEL;
	p->error_times = error_times;
}

TL_FN void TL(linreg_kernel)(struct TL(linreg_params) *p)
{
	TL(linreg_constant)(p, ratio_from_whole(9), 2);
}

TL_FN void TL(linreg_reno_kernel)(struct TL(linreg_params) *p)
{
	TL(linreg_constant)(p, ratio_from_whole(93), 1);
}

TL_FN void TL(linreg_vegas_kernel)(struct TL(linreg_params) *p)
{
	TL(linreg_constant)(p, ratio_from_whole(93), 2);
}

TL_FN void TL(linreg_init)(struct TL(linreg) *s, const struct TL(linreg_params) *p)
{
	s->params = *p;
	s->min_us = s->max_us = 0;
	s->rtt = s->error = num_from_us(0);
	s->samples = 0;
}

/* Returns the number of hops that an observed TTL implies. Hosts send with a TTL of 64, 128 or 255. */
TL_FN uint32_t TL(linreg_hops)(uint32_t ttl)
{
	return (ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255) - ttl;
}

TL_FN void TL(linreg_update)(struct TL(linreg) *s, const struct tl_sample *in)
{
	int64_t rtt_us = tl_clamp_us(in->rtt_us, 1, TL_RTT_MAX_US);
	uint32_t ttl = in->ttl != 0 ? in->ttl : s->params.ttl;
	uint32_t hops = in->hops != 0 ? in->hops : in->ttl != 0 ? TL(linreg_hops)(in->ttl) : s->params.hops;
	num_t ms = num_from_us(1000);
	num_t error;

	s->min_us = s->samples == 0 || rtt_us < s->min_us ? rtt_us : s->min_us;
	s->max_us = s->samples == 0 || rtt_us > s->max_us ? rtt_us : s->max_us;
	s->rtt = num_mul(ms, s->params.b0_ms) +
		 num_mul(num_mul_count(ms, hops + 1) - ms, s->params.b1_hops_ms) +
		 num_mul(num_from_us(s->min_us), s->params.b2_min) +
		 num_mul(num_from_us(s->max_us), s->params.b3_max) +
		 num_mul(num_mul_count(ms, ttl), s->params.b4_ttl_ms);
	/* the error has the sign of the paper: a prediction that is too low shortens the RTO */
	error = s->rtt - num_from_us(rtt_us);
	if (s->params.error == TL_ERROR_MAGNITUDE)
		error = TL(abs)(error);
	if (s->params.error == TL_ERROR_NONE)
		error = num_from_us(0);
	/* in the authors' kernels a negative error counts as 3 ms, and the first error is added to the
	 * initial 1 s */
	if (s->params.error == TL_ERROR_KERNEL && error < num_from_us(0))
		error = num_from_us(3000);
	if (s->params.error == TL_ERROR_KERNEL && s->samples == 0)
		error += num_from_us(1000000);
	s->error = s->samples == 0 ? error : num_shr(s->error + error, 1);
	s->samples = 1;
}

TL_FN void TL(linreg_query)(const struct TL(linreg) *s, struct TL(prediction) *out)
{
	num_t least = num_from_us(1), most = num_from_us(s->params.rto_max_us);
	num_t error = num_mul_count(s->error, s->params.error_times);

	out->rtt = s->rtt;
	out->rto = s->samples == 0 ? num_from_us(s->params.rto_initial_us) : TL(max)(s->rtt + error, least);
	out->rto = TL(min)(out->rto, most);
}
