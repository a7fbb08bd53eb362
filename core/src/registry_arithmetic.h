/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* No include guard: the registry of one number model. TL_ARITHMETIC is TL_F64 or TL_FIX. */

#define TL_CAST_ratio(value) ratio_from_double(value)
/* whole kinds go to the nearest: 0.29 s given as 0.29 * 1e6 is 290000 */
#define TL_CAST_us(value) (int64_t)((value) + 0.5)
#define TL_CAST_count(value) (uint32_t)((value) + 0.5)
#define TL_CAST_choice(value) (uint32_t)((value) + 0.5)
#define TL_BACK_ratio(value) ratio_to_double(value)
#define TL_BACK_us(value) (double)(value)
#define TL_BACK_count(value) (double)(value)
#define TL_BACK_choice(value) (double)(value)

#define TL_MEMBER_ratio(name) name
#define TL_MEMBER_us(name) name##_us
#define TL_MEMBER_count(name) name
#define TL_MEMBER_choice(name) name

#define TL_LOW_ratio(low) (double)(low)
#define TL_LOW_us(low) (double)(low)
#define TL_LOW_count(low) (double)(low)
#define TL_LOW_choice(choices) 0.0

#define TL_SET(type, name, value, low, high, text) \
	if (i++ == index) { \
		if (!(x >= TL_LOW_##type(low) && x <= (double)(high))) \
			return -1; \
		p->TL_MEMBER_##type(name) = TL_CAST_##type(x); \
		return 0; \
	}
#define TL_GET(type, name, value, low, high, text) \
	if (i++ == index) \
		return TL_BACK_##type(p->TL_MEMBER_##type(name));

#define TL_STATE_FIXED(id) sizeof(struct TL(id))
#define TL_STATE_BY_PARAMS(id) TL(id##_bytes)(params)

/* clang-format off */
#define TL_WRAP(id, label, list, state, timer, summary) \
	enum { TL(timer_##id) = timer }; \
	static void TL(wrap_defaults_##id)(void *params) { TL(id##_defaults)(params); } \
	static int TL(wrap_set_##id)(void *params, size_t index, double x) \
	{ \
		struct TL(id##_params) *p = params; \
		size_t i = 0; \
		list(TL_SET) \
		return -1; \
	} \
	static double TL(wrap_get_##id)(const void *params, size_t index) \
	{ \
		const struct TL(id##_params) *p = params; \
		size_t i = 0; \
		list(TL_GET) \
		return 0; \
	} \
	static size_t TL(wrap_bytes_##id)(const void *params) \
	{ \
		(void)params; \
		return state(id); \
	} \
	static void TL(wrap_init_##id)(void *s, const void *params) { TL(id##_init)(s, params); } \
	static void TL(wrap_update_##id)(void *s, const struct tl_sample *in) { TL(id##_update)(s, in); } \
	static void TL(wrap_query_##id)(const void *s, struct tl_prediction *out) \
	{ \
		struct TL(answer) a; \
		TL(id##_query)(s, &a); \
		out->rtt_us = num_to_double_us(a.rtt); \
		out->rto_us = num_to_double_us(a.rto); \
	} \
	static void TL(wrap_run_##id)(void *s, size_t rows, const struct tl_columns *c, double *rtt_us, \
				      double *rto_us) \
	{ \
		size_t k; \
		for (k = 0; k < rows; k++) { \
			struct tl_prediction stood; \
			TL(wrap_query_##id)(s, &stood); \
			if (rtt_us) \
				rtt_us[k] = stood.rtt_us; \
			if (rto_us) \
				rto_us[k] = stood.rto_us; \
			if (c->rtt_us[k] >= 0) { \
				struct tl_sample in = tl_sample_of_row(c, k); \
				TL(id##_update)(s, &in); \
			} \
		} \
	}
TL_ESTIMATORS(TL_WRAP)

#define TL_WRAP_PRESET(id, preset, label, summary) \
	static void TL(wrap_defaults_##id##_##preset)(void *params) \
	{ \
		TL(id##_defaults)(params); \
		TL(id##_##preset)(params); \
	}
TL_PRESETS(TL_WRAP_PRESET)

#define TL_ENTRY(id, label, brief, timer_kind, defaults_fn) \
	{ label, brief, TL_ARITHMETIC, (enum tl_timer)(timer_kind), table_##id, sizeof(table_##id) / sizeof(table_##id[0]), \
	  sizeof(struct TL(id##_params)), defaults_fn, TL(wrap_set_##id), TL(wrap_get_##id), \
	  TL(wrap_bytes_##id), TL(wrap_init_##id), TL(wrap_update_##id), TL(wrap_query_##id), \
	  TL(wrap_run_##id) },
#define TL_ESTIMATOR_ENTRY(id, label, list, state, timer, summary) \
	TL_ENTRY(id, label, summary, timer, TL(wrap_defaults_##id))
#define TL_PRESET_ENTRY(id, preset, label, summary) \
	TL_ENTRY(id, label, summary, TL(timer_##id), TL(wrap_defaults_##id##_##preset))

static const struct tl_estimator TL(registry)[] = {
	TL_ESTIMATORS(TL_ESTIMATOR_ENTRY)
	TL_PRESETS(TL_PRESET_ENTRY)
};
/* clang-format on */

#undef TL_ARITHMETIC
