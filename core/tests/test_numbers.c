/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The number layers against 128-bit integers and long double. */
#include <float.h>

#include "check.h"
#include "tcplearn/f64.h"
#include "tcplearn/fix.h"
#include "tcplearn/q16.h"

__extension__ typedef __int128 i128;

/* n / d to nearest, halves away from zero; d > 0. */
static i128 nearest(i128 n, i128 d)
{
	i128 mag = n < 0 ? -n : n;

	mag = (2 * mag + d) / (2 * d);
	return n < 0 ? -mag : mag;
}

/* Signed, with a random number of bits up to `bits`: small and large values alike. */
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
	if (product < top && product > -top)
		CHECK(tl_fix_mul(a, b) == product, "mul(%lld, %lld)", (long long)a, (long long)b);
	many = many > top ? top : many < -top ? -top : many;
	CHECK(tl_fix_mul_count(a, n) == many, "mul_count(%lld, %u)", (long long)a, n);
	CHECK(tl_fix_div(a, d) == nearest(a, d), "div(%lld, %lld)", (long long)a, (long long)d);
	if (nearest((i128)small * one, r) < top && nearest((i128)small * one, r) > -top)
		CHECK(tl_fix_over(small, r) == nearest((i128)small * one, r), "over(%lld, %lld)",
		      (long long)small, (long long)r);
	CHECK(tl_fix_coarse_over(small, r | 1 << 20) ==
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

	CHECK(tl_fix_tick(us, tick_us) == (ticks > most ? most : ticks), "tick(%lld, %lld)", (long long)us,
	      (long long)tick_us);
	CHECK(tl_fix_tick_to_num(x, tick_us) == nearest((i128)x * tick_us, 4096), "tick_to_num(%lld, %lld)",
	      (long long)x, (long long)tick_us);
	CHECK((i128)tl_fix_loss_mul((uint64_t)loss, ratio) == nearest((i128)loss * ratio, (i128)1 << 30),
	      "loss_mul(%lld, %lld)", (long long)loss, (long long)ratio);
}

/* 2^-29 off at most, never rising, and 0 far out. */
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
	for (x = 0; x < (uint64_t)40 << 24; x += 101) {
		long double exact = expl(-(long double)x / (1 << 24)) * (1 << 30);
		CHECK(fabsl((long double)tl_fix_exp_neg(x) - exact) <= 3, "e^-%.9Lf",
		      (long double)x / (1 << 24));
	}
	CHECK(tl_fix_exp2_neg(~(uint64_t)0) == 0 && tl_fix_exp_neg(~(uint64_t)0) == 0, "far out");
	CHECK(tl_fix_exp2_neg(0) == 1u << 30 && tl_fix_exp_neg(0) == 1u << 30, "at 0");
}

/* Every z up to 12.0, and some beyond. An exact value nearer to a half than long double can tell
 * apart would make this no proof: there is none. */
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

int main(void)
{
	uint64_t seed = 1;
	int k;

	for (k = 0; k < 1000000; k++) {
		check_fix(&seed);
		check_ticks(&seed);
		check_q16(&seed);
	}
	check_fix_exp();
	check_q16_exp();
	check_f64_exp(&seed);
	return finish();
}
