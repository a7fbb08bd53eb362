/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists every resend policy (when the retransmission timer sends again) and its presets. A new policy
 * needs a header and a line here. resend.h includes this file twice, for double precision and for fixed
 * point. With TL_RESEND_NO_SPACING, `priced` has no learned spacing (no_counts.h). */
#ifdef TL_RESEND_NO_SPACING
#include "no_counts.h"
#else
#include "counts.h"
#endif
#include "flight.h"
#include "logarithm.h"

#include "stock.h"

#include "scores.h"

#include "priced.h"

#ifndef TCPLEARN_RESEND_LIST_H
#define TCPLEARN_RESEND_LIST_H

/* Each line is X(identifier, name, parameter list, TL_FORMULA or TL_LEARNED, summary, about) */
#define TL_RESEND_POLICIES(X) \
	X(resend_stock, "stock", TL_RESEND_STOCK_PARAMS, TL_FORMULA, \
	  "Linux: a tail loss probe, then the RTO, doubled", \
	  "The rule of the Linux kernel: a tail loss probe, then its retransmission timeout, with a " \
	  "floor of 200 ms, doubled at each expiry.") \
	X(resend_priced, "priced", TL_RESEND_PRICED_PARAMS, TL_LEARNED, \
	  "ours: experts over floors at one price, doubled", \
	  "tcplearn's resend policy: of seven candidates for the first wait it uses the one that costs " \
	  "least, by its costs for lost and late segments so far; the wait is never longer than " \
	  "Linux's. Later waits double.")

/* Each line is X(policy, function, name, summary). A preset takes everything else from its policy. */
#define TL_RESEND_PRESETS(X) \
	X(resend_stock, floor, "floor", "stock with rto_min 5 ms, set by one line of configuration") \
	X(resend_stock, linear, "linear", "stock with thin linear timeouts: six before the first doubling") \
	X(resend_stock, no_probe, "stock/no-probe", "stock without tail loss probes") \
	X(resend_stock, s_rto, "s-rto", "S-RTO (CoNEXT 2015): a probe after 2 SRTT, then the RTO, doubled") \
	X(resend_priced, slower, "priced/backoff-1.5", "later waits grow by half instead of doubling") \
	X(resend_priced, spaced, "priced/spaced", "learned spacing instead of doubling, within a budget") \
	X(resend_priced, quarter, "priced/quarter", \
	  "a quarter of the time waited instead of doubling, likewise")

#endif
