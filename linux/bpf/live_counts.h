/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What live.bpf.c counts, one list for the program and for `tcplearn live`, which reads names and meanings
 * from this file. */
#ifndef TCPLEARN_BPF_LIVE_COUNTS_H
#define TCPLEARN_BPF_LIVE_COUNTS_H

/* Each line is X(name, "meaning") */
#define TL_LIVE_COUNTS(X) \
	X(connections, "connections that are or were learned from") \
	X(inherited, "connections that began with what their destination had taught") \
	X(remembered, "connections that left what they had learned when they were closed") \
	X(rounds, "rounds with an RTT sample") \
	X(rounds_lowered, "rounds with a floor below the kernel's 200 ms") \
	X(rounds_careful, "rounds with the kernel's floor: losses, the budget is spent, or a queue here") \
	X(rounds_host_careful, "of these, those for the losses of all connections to the host alone") \
	X(rounds_late, "rounds without a retransmission whose answer came later than the chosen wait") \
	X(probes, "tail loss probes that retransmitted a segment") \
	X(timeouts, "retransmission timeouts") \
	X(timeouts_queued, "timeouts while a segment was still in a queue of this host") \
	X(connections_queued, "connections that stay stock from the start because of such a timeout before") \
	X(connections_fixed, "connections not learned from: a route's rto_min, or a floor above 200 ms") \
	X(resent_needed, "rounds with a probe or timeout that a loss needed") \
	X(resent_spurious, "rounds with a probe or timeout although nothing was lost") \
	X(resent_unclear, "rounds with a probe or timeout of which that is not known: no timestamps") \
	X(floors_set, "floors set in the kernel") \
	X(floors_held, "floors kept from rising above RTTVAR") \
	X(floors_refused, "floors that the kernel refused") \
	X(waits_bounded, "waits after a timeout whose doubling was bounded") \
	X(bounds_refused, "bounds of the backoff that the kernel refused") \
	X(saved_us, "200 ms less the floor, summed over the rounds that a loss needed, in microseconds") \
	X(no_memory, "connections without memory, which stay stock")

#define TL_LIVE_COUNT_ID(name, meaning) TL_LIVE_##name,
enum tl_live_count { TL_LIVE_COUNTS(TL_LIVE_COUNT_ID) TL_LIVE_COUNT_ALL };

#endif
