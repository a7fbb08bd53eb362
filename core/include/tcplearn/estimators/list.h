/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every estimator and preset, once: a new one is one line here. */
#ifndef TCPLEARN_REGISTRY_H
#define TCPLEARN_REGISTRY_H

/* X(identifier, name, parameter list, state, timer, summary); state: TL_STATE_FIXED, or TL_STATE_BY_PARAMS
 * where arrays stand behind it, as many and as long as the parameters say */
#define TL_ESTIMATORS(X) \
	X(last, "last", TL_LAST_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "the last sample: the trivial baseline") \
	X(jacobson, "jacobson", TL_JACOBSON_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "RFC 6298 without its 1 s floor") \
	X(linux_tcp, "linux", TL_LINUX_TCP_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "Linux: floor of 200 ms on the variance") \
	X(rfc9002, "rfc9002", TL_RFC9002_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "QUIC: RFC 9002, the RTO is its PTO") \
	X(eifel, "eifel", TL_EIFEL_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_HEAD, \
	  "Eifel timer from secondary sources (the paper was not at hand)") \
	X(experts, "experts", TL_EXPERTS_PARAMS, TL_STATE_BY_PARAMS, TL_TIMER_FROM_ACK, \
	  "nunes2014 Algorithm 1, the simulator's preset") \
	X(experts_q16, "experts/nunes2014-linux", TL_EXPERTS_Q16_PARAMS, TL_STATE_BY_PARAMS, \
	  TL_TIMER_FROM_ACK, "nunes2014's kernel version in Q16.16") \
	X(linreg, "linreg", TL_LINREG_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "baddam2018, coefficients of cubic, signed error") \
	X(tracking, "tracking", TL_TRACKING_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "ours: moving predictors, regret matching, within a budget of the last value") \
	X(conformal, "conformal", TL_CONFORMAL_PARAMS, TL_STATE_FIXED, TL_TIMER_FROM_ACK, \
	  "ours: tracking, and an RTO that one sample in a hundred outlasts")

/* X(estimator, function, name, summary) */
#define TL_PRESETS(X) \
	X(jacobson, rfc6298, "jacobson/rfc6298", "RFC 6298 with its floor of 1 s") \
	X(jacobson, nunes2014, "jacobson/nunes2014", "equations 1 to 3, 500 ms ticks: RTO in [1 s, 32 s]") \
	X(linux_tcp, floor_5ms, "linux/floor-5ms", "Linux with rto_min 5 ms, as in data centres") \
	X(experts, fitted, "experts/fitted", "Algorithm 1 on a grid fitted to the path") \
	X(linreg, magnitude, "linreg/magnitude", "baddam2018, the error's size in place of its sign") \
	X(linreg, reno, "linreg/reno", "baddam2018, coefficients of reno") \
	X(linreg, vegas, "linreg/vegas", "baddam2018, coefficients of vegas") \
	X(tracking, study, "tracking/study", "twelve predictors, no budget, no warm-up") \
	X(conformal, thousandth, "conformal/thousandth", "one sample in a thousand outlasts the RTO") \
	X(conformal, over_jacobson, "conformal/over-jacobson", "the same timer over RFC 6298's SRTT")

#endif
