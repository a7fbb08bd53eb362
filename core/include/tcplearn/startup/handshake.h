/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The inputs and outputs of a startup policy, which chooses cwnd and ssthresh after a handshake. Windows
 * are in segments; times have any epoch and never decrease. */
#ifndef TCPLEARN_STARTUP_HANDSHAKE_H
#define TCPLEARN_STARTUP_HANDSHAKE_H

#include "../deps.h"

/* The largest ssthresh. It means that ssthresh is not set yet. */
#define TL_SSTHRESH_NONE 0x7fffffffu
/* The largest window; the smallest is 1. */
#define TL_WINDOW_MAX 0x7fffffffu

/* Which handshake packet was lost, as far as this end can know. A client cannot distinguish its lost SYN
 * from a lost SYN-ACK, and a server never sees a lost SYN. */
enum tl_handshake_loss {
	TL_HANDSHAKE_WHOLE = 0,   /* nothing was retransmitted */
	TL_HANDSHAKE_SYN = 1,     /* the SYN was lost */
	TL_HANDSHAKE_SYN_ACK = 2, /* the SYN-ACK was lost; only the end that sent it knows */
	TL_HANDSHAKE_EITHER = 3
};

/* A completed handshake. */
struct tl_handshake {
	int64_t time_us;
	int64_t took_us;      /* from the first transmission of this end's SYN or SYN-ACK to its answer */
	uint32_t loss;        /* enum tl_handshake_loss */
	uint32_t resends;     /* retransmissions of this end's SYN or SYN-ACK by timeout */
	uint32_t iw_segments; /* IW after a handshake without loss */
	uint32_t ssthresh_segments; /* ssthresh after a handshake without loss; TL_SSTHRESH_NONE: no limit */
};

/* The report of a connection to the same destination, made at its end or after some of its segments. */
struct tl_startup_report {
	int64_t time_us;
	/* data segments sent since the connection's last report, retransmissions included */
	uint32_t sent_segments;
	uint32_t resent_segments; /* retransmissions among these */
	int64_t rtt_us;           /* mean RTT since the last report; 0: no sample */
	int64_t rtt_min_us;       /* minimum RTT of the connection */
};

struct tl_startup_window {
	uint32_t iw_segments;
	uint32_t ssthresh_segments;
};

#endif
