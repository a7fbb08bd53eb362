/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks that the parameter macros of params.h work for a kind of algorithm that is no estimator, without any
 * estimator. */
#include "tcplearn/params.h"

#define TOY_PARAMS(X) \
	X(ratio, gain, TL_RATIO(1, 8), 0, 1, "a gain") \
	X(us, wait, 300, 1, 4294967296, "a time") \
	X(count, n, 3, 1, 10, "a count") \
	X(choice, mode, TL_ON, "on|off", 1, "a choice")

#define TOY \
	struct TL(toy_params) { \
		TOY_PARAMS(TL_FIELD) \
	}; \
	TL_FN void TL(toy_defaults)(struct TL(toy_params) *p) { TOY_PARAMS( \
		TL_DEFAULT) } TL_FN void TL(toy_long)(struct TL(toy_params) *p) \
	{ \
		p->wait_us = 4294967296; \
	} \
	TL_WRAP_PARAMS(toy, TOY_PARAMS) \
	TL_WRAP_PRESET(toy, long)

#include "tcplearn/arithmetic/double.h"
TOY
#include "tcplearn/arithmetic/end.h"
#include "tcplearn/arithmetic/fixed.h"
	TOY
#include "tcplearn/arithmetic/end.h"

#include "check.h"

	static const struct tl_param table[] = { TOY_PARAMS(TL_INFO) };

static void check_table(void)
{
	CHECK(strcmp(table[0].key, "gain") == 0 && table[0].low_nano == 0 && table[0].high_nano == 1000000000,
	      "a ratio");
	CHECK(strcmp(table[1].key, "wait_us") == 0 && table[1].type == TL_PARAM_US &&
		      table[1].high_nano == 4294967296 * 1000000000,
	      "a time");
	CHECK(strcmp(table[3].key, "mode") == 0 && strcmp(table[3].choices, "on|off") == 0, "a choice");
	CHECK(tl_value_of_nano(-1500000000) == -1.5, "a value");
}

static void check_double(void)
{
	struct tl_toy_params_f64 p;

	tl_wrap_defaults_toy_f64(&p);
	CHECK(p.gain == 0.125 && p.wait_us == 300 && p.n == 3 && p.mode == TL_ON, "defaults");
	CHECK(tl_wrap_set_toy_f64(&p, 1, 0.29 * 1e6) == 0 && p.wait_us == 290000, "to the nearest");
	CHECK(tl_wrap_set_toy_f64(&p, 0, 1.5) == -1 && tl_wrap_set_toy_f64(&p, 2, 0) == -1 &&
		      tl_wrap_set_toy_f64(&p, 3, 2) == -1 && tl_wrap_set_toy_f64(&p, 0, NAN) == -1 &&
		      tl_wrap_set_toy_f64(&p, 4, 0) == -1,
	      "out of range");
	CHECK(p.gain == 0.125 && p.n == 3 && tl_wrap_get_toy_f64(&p, 1) == 290000, "refused, and kept");
	tl_wrap_defaults_toy_long_f64(&p);
	CHECK(p.wait_us == 4294967296 && p.n == 3, "preset");
}

static void check_fixed(void)
{
	const int64_t one = (int64_t)1 << 30;
	struct tl_toy_params_fix p;

	tl_wrap_defaults_toy_fix(&p);
	CHECK(p.gain == one / 8 && p.wait_us == 300 && p.n == 3 && p.mode == TL_ON, "defaults");
	CHECK(tl_wrap_set_toy_fix(&p, 1, 4294967296 * one) == 0 && p.wait_us == 4294967296, "the highest");
	CHECK(tl_wrap_set_toy_fix(&p, 0, one + 1) == -1 && tl_wrap_set_toy_fix(&p, 2, 11 * one) == -1 &&
		      tl_wrap_set_toy_fix(&p, 3, -1) == -1,
	      "out of range");
	CHECK(tl_wrap_set_toy_fix(&p, 2, 7 * one) == 0 && tl_wrap_get_toy_fix(&p, 2) == 7 * one,
	      "there and back");
	tl_wrap_defaults_toy_long_fix(&p);
	CHECK(p.wait_us == 4294967296, "preset");
}

int main(void)
{
	check_table();
	check_double();
	check_fixed();
	return finish();
}
