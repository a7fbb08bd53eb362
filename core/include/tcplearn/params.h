/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Each estimator lists its parameters once, X(type, name, default, lowest, highest, meaning); the
 * fields, the defaults and the table that users see come from that list. A choice holds its names in
 * place of the lowest value. */
#ifndef TCPLEARN_PARAMS_H
#define TCPLEARN_PARAMS_H

#define TL_EXPERTS_MAX 1000u              /* the largest N: bounds every loop over experts */
#define TL_UNIT_MAX_US ((int64_t)1 << 30) /* the longest unit of a grid, 18 minutes */

enum tl_loss {
	TL_LOSS_NUNES2014 = 0,
	TL_LOSS_SQUARED = 1,
	TL_LOSS_LINEAR = 2,
	TL_LOSS_ABSOLUTE = 3,
	TL_LOSS_PINBALL = 4
};
enum tl_share { TL_SHARE_FIXED = 0, TL_SHARE_VARIABLE = 1, TL_SHARE_PAST = 2 };
enum tl_variance { TL_VARIANCE_EQ2 = 0, TL_VARIANCE_EQ4 = 1 };
enum tl_error { TL_ERROR_SIGNED = 0, TL_ERROR_MAGNITUDE = 1 };
enum tl_combiner { TL_COMBINER_REGRET = 0, TL_COMBINER_FIXED_SHARE = 1 };
enum tl_switch { TL_ON = 0, TL_OFF = 1 };
enum tl_warm_up { TL_WARM_UP_MEDIAN = 0, TL_WARM_UP_FIRST = 1 };
enum tl_over { TL_OVER_TRACKING = 0, TL_OVER_JACOBSON = 1, TL_OVER_LAST = 2 };

#define TL_PREDICTORS 12
enum tl_predictor { /* of `tracking`, in the order of the bits of its parameter */
		    TL_P_LAST,
		    TL_P_EWMA8,
		    TL_P_EWMA32,
		    TL_P_MEDIAN5,
		    TL_P_SLOW_HUB,
		    TL_P_STEP_MEDIAN,
		    TL_P_DRIFT,
		    TL_P_HALF,
		    TL_P_RATIO,
		    TL_P_MAP8,
		    TL_P_MAP16,
		    TL_P_AFFINE
};

#define TL_FIELD(type, name, value, low, high, text) TL_FIELD_##type(name)
#define TL_FIELD_ratio(name) ratio_t name;
#define TL_FIELD_us(name) int64_t name##_us;
#define TL_FIELD_count(name) uint32_t name;
#define TL_FIELD_choice(name) uint32_t name;

#define TL_DEFAULT(type, name, value, low, high, text) TL_DEFAULT_##type(name, value)
#define TL_DEFAULT_ratio(name, value) p->name = (value);
#define TL_DEFAULT_us(name, value) p->name##_us = (value);
#define TL_DEFAULT_count(name, value) p->name = (value);
#define TL_DEFAULT_choice(name, value) p->name = (value);

#endif
