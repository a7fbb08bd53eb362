/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Definitions that all algorithms use. Included twice: for double precision and for fixed point. */

struct TL(prediction) {
	num_t rtt; /* predicted next RTT; 0 before the first sample, unless the estimator assumes an RTT */
	num_t rto;
};

TL_FN num_t TL(abs)(num_t a)
{
	return a < num_from_us(0) ? num_from_us(0) - a : a;
}

TL_FN num_t TL(max)(num_t a, num_t b)
{
	return a > b ? a : b;
}

TL_FN num_t TL(min)(num_t a, num_t b)
{
	return a < b ? a : b;
}

TL_FN num_t TL(clamp)(num_t a, num_t low, num_t high)
{
	return a < low ? low : a > high ? high : a;
}

/* Returns the RTO by RFC 6298, 2.1 to 2.5: `initial_us` before the first sample, later `centre` + max(G,
 * `variance`) with G = `granularity_us`. The result is clamped to `min_us` and `max_us`; it is never 0. */
TL_FN num_t TL(rto)(uint32_t samples, num_t centre, num_t variance, int64_t granularity_us,
		    int64_t initial_us, int64_t min_us, int64_t max_us)
{
	num_t rto = samples == 0 ? num_from_us(initial_us)
				 : centre + TL(max)(variance, num_from_us(granularity_us));

	return TL(min)(TL(max)(rto, num_from_us(min_us > 0 ? min_us : 1)), num_from_us(max_us));
}
