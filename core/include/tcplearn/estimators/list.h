/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists every RTO estimator and its presets. A new estimator needs a header and a line here; no other
 * file names it. estimators.h includes this file twice, for double precision and for fixed point. */

#include "last.h"
#include "jacobson.h"
#include "freebsd.h"
#include "linux_tcp.h"
#include "rfc9002.h"
#include "eifel.h"
#include "experts.h"
#include "experts_q16.h"
#include "linreg.h"
#include "tracking.h"
#include "conformal.h"

#ifndef TCPLEARN_ESTIMATORS_LIST_H
#define TCPLEARN_ESTIMATORS_LIST_H

/* Each line is X(identifier, name, parameter list, TL_FORMULA or TL_LEARNED, summary, about, state,
 * timer). state: TL_STATE_FIXED, or TL_STATE_BY_PARAMS if arrays follow the struct, whose number and
 * length depend on the parameters. about: one or two sentences for a glossary. */
#define TL_ESTIMATORS(X) \
	X(last, "last", TL_LAST_PARAMS, TL_FORMULA, "the last sample: the trivial baseline", \
	  "The next RTT is taken to be the last one, and the RTO adds four times the mean step " \
	  "between samples. An estimator that predicts worse than this has learned nothing.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK) \
	X(jacobson, "jacobson", TL_JACOBSON_PARAMS, TL_FORMULA, "RFC 6298 without its 1 s floor", \
	  "TCP's standard formula (RFC 6298): a moving average of the RTT, SRTT, and of its " \
	  "deviation, RTTVAR; the RTO is SRTT + 4 RTTVAR. Here without the standard's floor of one " \
	  "second.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK) \
	X(freebsd, "jacobson/freebsd-2.2", TL_FREEBSD_PARAMS, TL_FORMULA, \
	  "scaled integers on a clock of 500 ms, as TCPs of the 1990s", "", TL_STATE_FIXED, \
	  TL_TIMER_FROM_ACK) \
	X(linux_tcp, "linux", TL_LINUX_TCP_PARAMS, TL_FORMULA, "Linux: floor of 200 ms on the variance", \
	  "The timer of the Linux kernel: RFC 6298's averages with a deviation that falls slowly, " \
	  "and at least 200 ms added to SRTT.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK) \
	X(rfc9002, "rfc9002", TL_RFC9002_PARAMS, TL_FORMULA, "QUIC: RFC 9002, the RTO is its PTO", \
	  "QUIC's formula (RFC 9002): as RFC 6298, with the peer's reported ACK delay taken off; " \
	  "the probe timeout (PTO) is taken as the RTO.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK) \
	X(eifel, "eifel", TL_EIFEL_PARAMS, TL_FORMULA, \
	  "Eifel timer from secondary sources (the paper was not available)", \
	  "The Eifel timer of Ludwig and Sklower (2000): gains that depend on the flight size, and a " \
	  "timer that counts from the sending of the oldest segment in flight.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_HEAD) \
	X(experts, "experts", TL_EXPERTS_PARAMS, TL_LEARNED, \
	  "nunes2014 Algorithm 1, the simulator's preset", \
	  "The machine-learning estimator of Nunes et al. (2014): a hundred experts, each a fixed " \
	  "RTT, whose weights follow their losses; the prediction is their weighted mean.", \
	  TL_STATE_BY_PARAMS, TL_TIMER_FROM_ACK) \
	X(experts_q16, "experts/nunes2014-linux", TL_EXPERTS_Q16_PARAMS, TL_LEARNED, \
	  "nunes2014's kernel version in Q16.16", "", TL_STATE_BY_PARAMS, TL_TIMER_FROM_ACK) \
	X(linreg, "linreg", TL_LINREG_PARAMS, TL_LEARNED, "baddam2018, coefficients of cubic, signed error", \
	  "The linear regression of Baddam et al. (2018), with the coefficients they published: the " \
	  "RTT from the connection's least and greatest RTT, its hops and its TTL.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK) \
	X(tracking, "tracking", TL_TRACKING_PARAMS, TL_LEARNED, \
	  "ours: moving predictors, regret matching, within a budget of the last value", \
	  "tcplearn's prediction: small predictors that follow the RTT, weighted by the error that " \
	  "following each would have saved, and kept so near the last sample that the error is little " \
	  "more than that of the last sample.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK) \
	X(conformal, "conformal", TL_CONFORMAL_PARAMS, TL_LEARNED, \
	  "ours: tracking, and an RTO that one sample in a hundred outlasts", \
	  "tcplearn's timer with a chosen rate of misses: the RTO is a prediction plus a width, " \
	  "which each miss widens and each other sample narrows, so that in the long run one sample " \
	  "in a hundred is above it.", \
	  TL_STATE_FIXED, TL_TIMER_FROM_ACK)

/* Each line is X(estimator, function, name, summary). A preset takes everything else from its estimator. */
#define TL_PRESETS(X) \
	X(jacobson, rfc6298, "jacobson/rfc6298", "RFC 6298 with its floor of 1 s") \
	X(jacobson, nunes2014, "jacobson/nunes2014", "equations 1 to 3, 500 ms ticks: RTO in [1 s, 32 s]") \
	X(freebsd, fraction, "jacobson/freebsd-2.2-fraction", \
	  "the same; its RTT keeps the fraction of a tick") \
	X(linux_tcp, floor_5ms, "linux/floor-5ms", "Linux with rto_min 5 ms, as in data centres") \
	X(experts, fitted, "experts/fitted", "Algorithm 1 on a grid fitted to the path") \
	X(experts, 4ms, "experts/nunes2014-4ms", "nunes2014's kernel version, 4 ms the unit of its grid") \
	X(experts_q16, 4ms, "experts/nunes2014-4ms-q16", "the same in the paper's Q16.16, never rescaled") \
	X(experts_q16, 4ms_rescaled, "experts/nunes2014-4ms-rescaled", "in Q16.16, rescaled at each trial") \
	X(linreg, magnitude, "linreg/magnitude", "baddam2018, the error's magnitude instead of its sign") \
	X(linreg, no_error, "linreg/no-error", "baddam2018's first attempt: the prediction is the RTO") \
	X(linreg, reno, "linreg/reno", "baddam2018, coefficients of reno") \
	X(linreg, reno_magnitude, "linreg/reno-magnitude", "the same, the error's magnitude") \
	X(linreg, reno_no_error, "linreg/reno-no-error", "the same, without the error") \
	X(linreg, vegas, "linreg/vegas", "baddam2018, coefficients of vegas") \
	X(linreg, vegas_magnitude, "linreg/vegas-magnitude", "the same, the error's magnitude") \
	X(linreg, vegas_no_error, "linreg/vegas-no-error", "the same, without the error") \
	X(linreg, kernel, "linreg/kernel", \
	  "baddam2018's kernel with cubic: predicts 9 ms, whatever the path") \
	X(linreg, reno_kernel, "linreg/reno-kernel", "baddam2018's kernel with reno: predicts 93 ms") \
	X(linreg, vegas_kernel, "linreg/vegas-kernel", "baddam2018's kernel with vegas: predicts 93 ms") \
	X(tracking, first, "tracking/first", "first form: one memory, no correction, a wider budget") \
	X(tracking, study, "tracking/study", "twelve predictors, no budget, no warm-up") \
	X(conformal, thousandth, "conformal/thousandth", "one sample in a thousand outlasts the RTO") \
	X(conformal, over_jacobson, "conformal/over-jacobson", "the same timer over RFC 6298's SRTT") \
	X(conformal, first, "conformal/first", "first form: the width follows the errors' scale") \
	X(conformal, at_send, "conformal/at-send", "one in a hundred also when sent, for many segments out")

#endif
