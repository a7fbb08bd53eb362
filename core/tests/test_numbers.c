/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compares both arithmetics with 128-bit integers and long double. */
#include <float.h>

#include "check.h"
#include "tcplearn/estimators.h"

__extension__ typedef __int128 i128;

/* Returns n / d rounded to nearest, halves away from zero. Range: d > 0. */
static i128 nearest(i128 n, i128 d)
{
	i128 mag = n < 0 ? -n : n;

	mag = (2 * mag + d) / (2 * d);
	return n < 0 ? -mag : mag;
}

/* Returns a number of either sign with a random number of bits up to `bits`, so small values are as frequent
 * as large ones. */
static int64_t random_signed(uint64_t *seed, unsigned bits)
{
	uint64_t mag = random_next(seed) >> (64 - 1 - random_next(seed) % bits) >> 1;

	return random_next(seed) & 1 ? -(int64_t)mag : (int64_t)mag;
}

static int64_t mag_of(int64_t a)
{
	return a < 0 ? -a : a;
}

static void check_fix(uint64_t *seed)
{
	const i128 one = (i128)1 << 30, top = (i128)1 << 62;
	int64_t a = random_signed(seed, 62), b = random_signed(seed, 62), small = random_signed(seed, 58);
	uint32_t k = 1 + (uint32_t)random_below(seed, 32), n = 1 + (uint32_t)random_below(seed, 0xffffffff);
	int64_t r = 1 + random_below(seed, (int64_t)1 << 30), d = mag_of(random_signed(seed, 62)) + 1;
	i128 product = nearest((i128)a * b, one), many = (i128)a * n;

	CHECK(tl_fix_shr(a, k) == nearest(a, (i128)1 << k), "shr(%lld, %u)", (long long)a, k);
	if (product < top && product > -top) {
		CHECK(tl_fix_mul(a, b) == product, "mul(%lld, %lld)", (long long)a, (long long)b);
		CHECK(tl_fix_mul_parts(a, b) == product, "mul_parts(%lld, %lld)", (long long)a, (long long)b);
	}
	many = many > top ? top : many < -top ? -top : many;
	CHECK(tl_fix_mul_count(a, n) == many, "mul_count(%lld, %u)", (long long)a, n);
	CHECK(tl_fix_div(a, d) == nearest(a, d), "div(%lld, %lld)", (long long)a, (long long)d);
	if (nearest((i128)small * one, r) < top && nearest((i128)small * one, r) > -top)
		CHECK(tl_fix_over(small, r) == nearest((i128)small * one, r), "over(%lld, %lld)",
		      (long long)small, (long long)r);
	CHECK(tl_coarse_over_fix(small, r | 1 << 20) ==
		      nearest(nearest(nearest(small, 64) * one, r | 1 << 20), 1024),
	      "coarse_over(%lld, %lld)", (long long)small, (long long)r);
	CHECK(tl_fix_over(a, 0) == (a < 0 ? -top : top), "over(%lld, 0)", (long long)a);
}

static void check_ticks(uint64_t *seed)
{
	const int64_t most = (int64_t)2048 << 20;
	int64_t us = 1 + random_below(seed, ((int64_t)1 << 32) + 10000000);
	int64_t tick_us = 1 + (mag_of(random_signed(seed, 30)));
	int64_t x = random_below(seed, (int64_t)1 << 32), loss = random_below(seed, ((int64_t)1 << 50) + 1);
	int64_t ratio = random_below(seed, ((int64_t)64 << 30) + 1);
	i128 ticks = nearest((i128)us << 20, tick_us);

	CHECK(tl_tick_from_us_fix(us, tick_us) == (ticks > most ? most : ticks), "tick(%lld, %lld)",
	      (long long)us, (long long)tick_us);
	CHECK(tl_tick_to_num_fix(x, tick_us) == nearest((i128)x * tick_us, 4096), "tick_to_num(%lld, %lld)",
	      (long long)x, (long long)tick_us);
	CHECK((i128)tl_loss_mul_fix((uint64_t)loss, ratio) == nearest((i128)loss * ratio, (i128)1 << 30),
	      "loss_mul(%lld, %lld)", (long long)loss, (long long)ratio);
}

/* Checks 2^-x in fixed point: the error is at most 2^-29, a larger x never gives a larger result, and the
 * result is 0 for large x. Within a piece of the approximation it is monotone by construction. */
static void check_fix_exp(void)
{
	uint32_t before = 1u << 30;
	uint64_t x;

	for (x = 0; x < (uint64_t)40 << 30; x += 9973) {
		uint32_t e = tl_fix_exp2_neg(x);
		long double exact = exp2l(-(long double)x / (1 << 30)) * (1 << 30);
		CHECK(fabsl((long double)e - exact) <= 2, "2^-%.9Lf is off by %Lg",
		      (long double)x / (1 << 30), (long double)e - exact);
		CHECK(e <= before, "2^-x rises at %llu", (unsigned long long)x);
		before = e;
	}
	for (x = 0; x < (uint64_t)31 << 8; x++) { /* where two pieces meet */
		uint64_t joint = (x + 1) << 22;
		CHECK(tl_fix_exp2_neg(joint) <= tl_fix_exp2_neg(joint - 1), "2^-x rises at %llu",
		      (unsigned long long)joint);
	}
	CHECK(tl_fix_exp2_neg(~(uint64_t)0) == 0 && tl_fix_exp2_neg((uint64_t)31 << 30) == 0, "far out");
	CHECK(tl_fix_exp2_neg(0) == 1u << 30, "at 0");
}

/* Checks e^(-eta loss) up to the largest loss whose exponent is within 31 octaves. */
static void check_decay(int64_t eta)
{
	uint64_t rate = tl_decay_rate_fix(eta), limit = tl_decay_limit_fix(rate), k;
	long double octaves = (long double)rate / (1 << 30) / (1 << 24);

	for (k = 0; k <= 20000; k++) {
		uint64_t loss = k < 10000 ? k * (limit / 20000000 + 1) : limit / 20000 * k;
		long double exact = exp2l(-(long double)loss * octaves) * (1 << 30);
		if (loss > limit)
			loss = limit;
		CHECK(fabsl((long double)tl_decay_fix(loss, rate) - exact) <= 3, "e^-(%lld, %llu)",
		      (long long)eta, (unsigned long long)loss);
	}
	CHECK(rate == 0 || ((i128)limit * rate + (1 << 23) < (i128)31 << 54 &&
			    ((i128)limit + 1) * rate + (1 << 23) >= (i128)31 << 54),
	      "limit of %lld", (long long)eta);
	CHECK(tl_decay_fix(0, rate) == 1u << 30, "no loss at %lld", (long long)eta);
}

/* Checks every z up to 12.0 and some larger ones. The check fails if an exact value is so near to a half that
 * long double cannot decide how it is rounded; there is no such value. */
static void check_q16_exp(void)
{
	long double margin = 1;
	uint32_t z;

	for (z = 0; z <= 13u << 16; z++) {
		long double exact = expl(-(long double)z / 65536) * 65536;
		margin = fminl(margin, fabsl(exact - floorl(exact) - 0.5L));
		CHECK(tl_q16_exp_neg(z) == (tl_q16)floorl(exact + 0.5L), "e^-(%u/65536) = %u, not %.6Lf", z,
		      tl_q16_exp_neg(z), exact);
	}
	CHECK(margin > 1e-9L, "long double can't decide: %Lg", margin);
	CHECK(tl_q16_exp_neg(0xffffffffu) == 0, "far out");
	printf("e^-z in Q16.16: %u values correctly rounded, nearest half %.2Lg away\n", (13u << 16) + 1,
	       margin);
}

static void check_q16(uint64_t *seed)
{
	const i128 top = 0xffffffffu;
	uint32_t a = (uint32_t)mag_of(random_signed(seed, 32)),
		 b = 1 + (uint32_t)random_below(seed, 0xffffffff);
	i128 product = ((i128)a * b) >> 16, quotient = ((i128)a << 16) / b;

	CHECK(tl_q16_mul(a, b) == (product > top ? top : product), "q16_mul(%u, %u)", a, b);
	CHECK(tl_q16_div(a, b) == (quotient > top ? top : quotient), "q16_div(%u, %u)", a, b);
}

static double ulps(double x)
{
	long double exact = expl((long double)x);
	double rounded = (double)exact;

	return (double)(fabsl((long double)tl_f64_exp(x) - exact) / (nextafter(rounded, INFINITY) - rounded));
}

static void check_f64_exp(uint64_t *seed)
{
	double x, worst = 0;
	int k;

	for (x = -708; x <= 0; x += 1.0 / 2048 + 1e-9)
		worst = fmax(worst, ulps(x));
	for (k = 0; k < 1000000; k++) /* small ones too */
		worst = fmax(worst, ulps(-ldexp((double)(random_next(seed) >> 11),
						-53 - (int)(random_next(seed) % 40))));
	CHECK(worst <= 2, "e^x is %g ulp off", worst);
	CHECK(tl_f64_exp(0) == 1 && tl_f64_exp(-0.0) == 1, "e^0");
	CHECK(tl_f64_exp(-708.5) == 0 && tl_f64_exp(-1e300) == 0 && tl_f64_exp(-INFINITY) == 0, "far out");
	printf("e^x in double: within %.2f ulp\n", worst);
}

/* Checks the mean weighted by the 18 leading bits of the weights, and the error that the other bits cause. */
static void check_positive_mean(uint64_t *seed)
{
	int64_t w[12], x[12], low = INT64_MAX, high = 0, mean;
	long double dot = 0, sum = 0;
	uint64_t top = random_next(seed) | 1;
	int k;

	for (k = 0; k < 12; k++) {
		w[k] = random_signed(seed, 48);
		x[k] = mag_of(random_signed(seed, 41));
		if (w[k] <= 0)
			continue;
		dot += (long double)w[k] * (long double)x[k];
		sum += (long double)w[k];
		low = x[k] < low ? x[k] : low;
		high = x[k] > high ? x[k] : high;
	}
	mean = tl_positive_mean_fix(w, x, 12, -7);
	if (!(sum > 0))
		CHECK(mean == -7, "no weight: %lld", (long long)mean);
	else
		CHECK(mean >= low && mean <= high &&
			      fabsl((long double)mean - dot / sum) <= 12e-5L * (long double)high + 1,
		      "mean %lld, should be %Lg", (long long)mean, dot / sum);
	CHECK(tl_fix_top_bit(top) == 63 - (uint32_t)__builtin_clzll(top), "top bit");
	CHECK(tl_fix_top_bit_halved(top) == tl_fix_top_bit(top), "top bit of %llu", (unsigned long long)top);
}

static void check_near_logarithms(uint64_t *seed)
{
	double worst_log = 0, worst_exp = 0, x;
	int64_t before = 0, a;
	int k;

	for (k = 0; k < 1000000; k++) {
		x = ldexp(1 + (double)(random_next(seed) >> 11) * 0x1p-53,
			  (int)(random_next(seed) % 120) - 60);
		worst_log = fmax(worst_log, fabs(tl_f64_log2_near(x) - log2(x)));
		x = (double)(int64_t)(random_next(seed) >> 11) * 0x1p-47 - 32;
		worst_exp = fmax(worst_exp, fabs(log2(tl_f64_exp2_near(x)) - x));
		a = 1 + (mag_of(random_signed(seed, 61)));
		CHECK(fabs((double)tl_fix_log2_near(a) / 65536 - tl_f64_log2_near((double)a)) <= 5.0 / 65536,
		      "log2 of %lld", (long long)a);
	}
	for (a = -(int64_t)40 * 65536; a < (int64_t)70 * 65536; a += 61) {
		int64_t e = tl_fix_exp2_near(a);
		double exact = tl_f64_exp2_near(fmin((double)a / 65536, 58));
		CHECK(fabs((double)e - exact) <= 0.5001 + exact * 0x1p-16, "2^(%lld/65536): %lld",
		      (long long)a, (long long)e);
		CHECK(e >= before, "2^x falls at %lld", (long long)a);
		before = e;
	}
	CHECK(worst_log < 0.0081 && worst_exp < 0.0047, "near logarithms: %g, %g", worst_log, worst_exp);
	for (x = 1.0 / 16384; x <= 0.5; x *= 1.01)
		CHECK(fabs((double)tl_level_start_fix((int64_t)(x * 0x1p32)) / 0x1p32 -
			   tl_level_start_f64(x)) < 1e-3 &&
			      fabs(tl_level_start_f64(x) - log2(1.25 * -log(2 * fmin(x, 0.2)))) < 0.03,
		      "start for %g", x);
	printf("near logarithms: log2 within %.4f, 2^x within %.4f octaves\n", worst_log, worst_exp);
}

int main(void)
{
	uint64_t seed = 1;
	int k;

	for (k = 0; k < 1000000; k++) {
		check_fix(&seed);
		check_ticks(&seed);
		check_q16(&seed);
		check_positive_mean(&seed);
	}
	check_near_logarithms(&seed);
	check_fix_exp();
	check_decay(0);
	check_decay(1);
	check_decay((int64_t)1 << 20);
	check_decay((int64_t)2 << 30);
	check_decay((int64_t)64 << 30);
	check_q16_exp();
	check_f64_exp(&seed);
	return finish();
}
