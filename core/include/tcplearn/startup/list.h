/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lists every startup policy (cwnd and ssthresh after a handshake) and its presets. A new policy needs a
 * header and a line here. startup.h includes this file. */
#ifndef TCPLEARN_STARTUP_LIST_H
#define TCPLEARN_STARTUP_LIST_H

#include "history.h"

#include "fixed.h"
#include "halving.h"
#include "linux_tcp.h"
#include "feedback.h"

/* Each line is X(identifier, name, parameter list, TL_FORMULA or TL_LEARNED, summary, about, history).
 * TL_STARTUP_STATIC: the policy keeps no history. TL_STARTUP_REMEMBERING: the policy keeps a history in
 * its own ID_start(), ID_report() and ID_note(). */
#define TL_STARTUP_POLICIES(X) \
	X(startup_fixed, "standard", TL_STARTUP_FIXED_PARAMS, TL_FORMULA, \
	  "IW 1 and ssthresh 2 after a lost handshake packet", \
	  "TCP's standard (RFC 5681): a connection whose SYN or SYN-ACK was lost begins with one " \
	  "segment and a slow-start threshold of two.", \
	  TL_STARTUP_STATIC) \
	X(startup_halving, "tsl", TL_STARTUP_HALVING_PARAMS, TL_FORMULA, \
	  "tambuwal2018: IW and ssthresh halved", \
	  "The TSL startup algorithm (Tambuwal and Muhammed 2018): a lost SYN or SYN-ACK halves the " \
	  "initial window and the slow-start threshold.", \
	  TL_STARTUP_STATIC) \
	X(startup_linux, "linux", TL_STARTUP_LINUX_PARAMS, TL_FORMULA, \
	  "Linux: 10 segments, 1 after more than one resend", \
	  "The rule of the Linux kernel: ten segments, and one only after more than one resend of a " \
	  "SYN or SYN-ACK.", \
	  TL_STARTUP_STATIC) \
	X(startup_feedback, "tsl-feedback", TL_STARTUP_FEEDBACK_PARAMS, TL_LEARNED, \
	  "ours: TSL 3,16, but the standard at very high congestion", \
	  "TSL with the feedback that its paper asks for: larger windows while recent connections to " \
	  "the same place lost little, the standard's while congestion there is very high.", \
	  TL_STARTUP_REMEMBERING)

/* Each line is X(policy, function, name, summary). A preset takes everything else from its policy. */
#define TL_STARTUP_PRESETS(X) \
	X(startup_fixed, 1_2, "tsl/1-2", "tambuwal2018's TSL 1,2: the standard") \
	X(startup_fixed, 1_16, "tsl/1-16", "tambuwal2018's TSL 1,16") \
	X(startup_fixed, 1_1000, "tsl/1-1000", "tambuwal2018's TSL 1,1000") \
	X(startup_fixed, 3_2, "tsl/3-2", "tambuwal2018's TSL 3,2") \
	X(startup_fixed, 3_16, "tsl/3-16", "tambuwal2018's TSL 3,16") \
	X(startup_fixed, 3_1000, "tsl/3-1000", "tambuwal2018's TSL 3,1000")

#endif
