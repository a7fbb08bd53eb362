/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Describes parameters as data, in the same way for every kind of algorithm. Each algorithm lists its
 * parameters once, as X(type, name, default, lowest, highest, meaning). The macros below make from that
 * list the struct fields, the defaults, the functions that set and read a parameter, and the table for
 * users. For the type `choice`, the names of the choices replace the lowest value. A value of any type is
 * set and read as a ratio_t of the arithmetic. */
#ifndef TCPLEARN_PARAMS_H
#define TCPLEARN_PARAMS_H

#include "deps.h"

/* Bytes that are enough for the parameters of any algorithm. */
#define TL_PARAMS_BYTES_MAX 512

enum tl_param_type { TL_PARAM_US, TL_PARAM_RATIO, TL_PARAM_COUNT, TL_PARAM_CHOICE };

/* The value of a parameter of any type. In a kernel it is an integer with 30 fractional bits. */
#ifdef TL_NO_F64
typedef int64_t tl_value;
#else
typedef double tl_value;
#endif

/* A parameter that users may set. The bounds are inclusive and are stored times 10^9. */
struct tl_param {
	const char *key; /* times end in _us */
	enum tl_param_type type;
	int64_t low_nano, high_nano;
	const char *choices; /* for TL_PARAM_CHOICE: "name|name"; the value is the position */
	const char *text;
};

/* Returns the parameter value nearest to nano / 10^9. Halves are rounded away from 0. */
TL_FN tl_value tl_value_of_nano(int64_t nano)
{
#ifdef TL_NO_F64
	const uint64_t m = nano < 0 ? 0 - (uint64_t)nano : (uint64_t)nano;
	const int64_t q30 = (int64_t)(m / 1000000000 << 30 |
				      ((m % 1000000000 << 30) + 500000000) / 1000000000);

	return nano < 0 ? -q30 : q30;
#else
	return (double)nano / 1e9;
#endif
}

enum tl_switch { TL_ON = 0, TL_OFF = 1 }; /* the values of a choice "on|off" */

/* Makes the fields: struct TL(id_params) { list(TL_FIELD) }; */
#define TL_FIELD(type, name, value, low, high, text) TL_FIELD_##type(name)
#define TL_FIELD_ratio(name) ratio_t name;
#define TL_FIELD_us(name) int64_t name##_us;
#define TL_FIELD_count(name) uint32_t name;
#define TL_FIELD_choice(name) uint8_t name;

/* Makes the function that sets the defaults: TL_FN void TL(id_defaults)(struct TL(id_params) *p) {
 * list(TL_DEFAULT) } */
#define TL_DEFAULT(type, name, value, low, high, text) p->TL_MEMBER_##type(name) = (value);
#define TL_MEMBER_ratio(name) name
#define TL_MEMBER_us(name) name##_us
#define TL_MEMBER_count(name) name
#define TL_MEMBER_choice(name) name

/* Makes the functions that set and read the parameters of one algorithm through a void pointer, in the
 * arithmetic (double precision or fixed point) that was included last: tl_wrap_defaults_ID,
 * tl_wrap_set_ID (returns 0, or -1: no such index, or out of range) and tl_wrap_get_ID. */
#define TL_WRAP_PARAMS(id, list) \
	TL_FN void TL(wrap_defaults_##id)(void *params) \
	{ \
		TL(id##_defaults)((struct TL(id##_params) *)params); \
	} \
	TL_FN int TL(wrap_set_##id)(void *params, uint32_t index, ratio_t x) \
	{ \
		struct TL(id##_params) *p = (struct TL(id##_params) *)params; \
		uint32_t i = 0; \
		list(TL_SET) return -1; \
	} \
	TL_FN ratio_t TL(wrap_get_##id)(const void *params, uint32_t index) \
	{ \
		const struct TL(id##_params) *p = (const struct TL(id##_params) *)params; \
		uint32_t i = 0; \
		list(TL_GET) return ratio_from_whole(0); \
	}
/* Makes tl_wrap_state_bytes_ID for an algorithm whose state is one struct. */
#define TL_WRAP_STATE_BYTES(id) \
	TL_FN uint32_t TL(wrap_state_bytes_##id)(const void *params) \
	{ \
		(void)params; \
		return (uint32_t)sizeof(struct TL(id)); \
	}
/* Makes tl_wrap_defaults_ID_PRESET: the algorithm's defaults, then the changes of the preset. */
#define TL_WRAP_PRESET(id, preset) \
	TL_FN void TL(wrap_defaults_##id##_##preset)(void *params) \
	{ \
		TL(id##_defaults)((struct TL(id##_params) *)params); \
		TL(id##_##preset)((struct TL(id##_params) *)params); \
	}

#define TL_SET(type, name, value, low, high, text) \
	if (i++ == index) { \
		if (!(x >= TL_LOW_##type(low) && x <= TL_HIGH_##type(high))) \
			return -1; \
		p->TL_MEMBER_##type(name) = TL_CAST_##type(x); \
		return 0; \
	}
#define TL_GET(type, name, value, low, high, text) \
	if (i++ == index) \
		return TL_BACK_##type(p->TL_MEMBER_##type(name));
#define TL_LOW_ratio(low) ratio_from_double(low)
#define TL_LOW_us(low) ratio_from_whole(low)
#define TL_LOW_count(low) ratio_from_whole(low)
#define TL_LOW_choice(choices) ratio_from_whole(0)
#define TL_HIGH_ratio(high) ratio_from_double(high)
#define TL_HIGH_us(high) ratio_from_whole(high)
#define TL_HIGH_count(high) ratio_from_whole(high)
#define TL_HIGH_choice(high) ratio_from_whole(high)
#define TL_CAST_ratio(x) (x)
#define TL_CAST_us(x) ratio_to_whole(x)
#define TL_CAST_count(x) (uint32_t) ratio_to_whole(x)
#define TL_CAST_choice(x) (uint8_t) ratio_to_whole(x)
#define TL_BACK_ratio(x) (x)
#define TL_BACK_us(x) ratio_from_whole(x)
#define TL_BACK_count(x) ratio_from_whole(x)
#define TL_BACK_choice(x) ratio_from_whole(x)

/* Makes the table for users: static const struct tl_param table[] = { list(TL_INFO) }; A bound with more
 * than nine digits after the point is rounded inwards. */
#ifdef TL_NO_F64
#define TL_SAID(text) "" /* kernel code has no help texts */
#else
#define TL_SAID(text) text
#endif
#define TL_INFO(type, name, value, low, high, text) TL_INFO_##type(#name, low, high, TL_SAID(text))
#define TL_INFO_us(key, low, high, text) \
	{ key "_us", TL_PARAM_US, (int64_t)(low)*1000000000, (int64_t)(high)*1000000000, 0, text },
#define TL_INFO_ratio(key, low, high, text) \
	{ key, TL_PARAM_RATIO, TL_NANO_UP(low), -TL_NANO_UP(-(high)), 0, text },
#define TL_INFO_count(key, low, high, text) \
	{ key, TL_PARAM_COUNT, (int64_t)(low)*1000000000, (int64_t)(high)*1000000000, 0, text },
#define TL_INFO_choice(key, choices, high, text) \
	{ key, TL_PARAM_CHOICE, 0, (int64_t)(high)*1000000000, choices, text },
/* x * 10^9 rounded up, with a tolerance of 0.001 for the error of a double. The compiler evaluates this
 * constant, so a kernel does no floating point. */
#define TL_NANO_UP(x) ((int64_t)((x)*1e9 + ((x) < 0 ? -0.001 : 0.999)))

#endif
