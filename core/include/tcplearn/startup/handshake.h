/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The input and the answers of a startup policy. Windows are in segments; times have any epoch and never
 * decrease. */
#ifndef TCPLEARN_STARTUP_HANDSHAKE_H
#define TCPLEARN_STARTUP_HANDSHAKE_H

#include "../deps.h"

/* The largest ssthresh, which means that there is none yet. */
#define TL_SSTHRESH_NONE 0x7fffffffu
/* A window is never below 1 nor above this. */
#define TL_WINDOW_MAX 0x7fffffffu

/* The lost packet, as far as this end can know: a client cannot distinguish its lost SYN from a lost
 * SYN-ACK, and a server never sees a lost SYN. */
enum tl_handshake_loss {
	TL_HANDSHAKE_WHOLE = 0,   /* nothing was sent again */
	TL_HANDSHAKE_SYN = 1,     /* known to be the SYN */
	TL_HANDSHAKE_SYN_ACK = 2, /* known to be the SYN-ACK: this end sent it */
	TL_HANDSHAKE_EITHER = 3
};

/* When the handshake is done. */
struct tl_handshake {
	int64_t time_us;
	int64_t took_us;            /* from the first sending of this end's SYN or SYN-ACK to its answer */
	uint32_t loss;              /* enum tl_handshake_loss */
	uint32_t resends;           /* of this end's SYN or SYN-ACK by a timeout */
	uint32_t iw_segments;       /* the value after a handshake without loss */
	uint32_t ssthresh_segments; /* the same; TL_SSTHRESH_NONE: no limit */
};

/* The report of a connection to the same place, at its end or after some of its segments. */
struct tl_startup_report {
	int64_t time_us;
	uint32_t sent_segments;   /* data, repeats included, since its last report */
	uint32_t resent_segments; /* repeats among these */
	int64_t rtt_us;           /* mean since its last report; 0: no sample */
	int64_t rtt_min_us;       /* the connection's minimum */
};

struct tl_startup_window {
	uint32_t iw_segments;
	uint32_t ssthresh_segments;
};

#endif
