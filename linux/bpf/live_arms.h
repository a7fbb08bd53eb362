/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The control group. A share of the new connections, drawn at random, gets learned floors (least times that
 * the RTO adds to SRTT). The others are stock: they keep the kernel's own timer. Both groups, the arms, are
 * measured alike, so the difference between them is the effect of the floors. A round is a request and its
 * answer, or a flight of segments and its ACK.
 *
 * User space changes the share while the program runs. Only connections that were drawn with the same share
 * may be compared. So each change begins an epoch, and a connection counts for the epoch in which it began.
 *
 * The rounds of a connection are correlated: an interval that took them for independent would be too narrow.
 * So the program keeps sums of squares over connections. For the same reason it counts the connections that
 * have had an event at least 1, 4 and 16 times: if floors do no harm, the draw alone decides how many of
 * these connections have floors. */
#ifndef TCPLEARN_BPF_LIVE_ARMS_H
#define TCPLEARN_BPF_LIVE_ARMS_H

#include "live_member.h"
#include "live_places.h"

#define TL_LIVE_SHARE_BITS 16 /* a share of 1 << 16 is all new connections */
#define TL_LIVE_EPOCHS 16     /* after so many epochs the elements of the oldest one are used again */
#define TL_LIVE_STOCK_PLACES 1024
#define TL_LIVE_FLUSH_ROUNDS 32 /* after so many rounds a connection's counts are added to its place's */
#define TL_LIVE_EARLY_ROUNDS 32 /* the first rounds of a connection: rounds_early, resent_early */

/* Each line is X(name, "meaning"). Read by tcplearn.live too. Times are in units of 100 us. */
#define TL_LIVE_ARM_COUNTS(X) \
	X(connections, "connections") \
	X(rounds, "rounds with an RTT sample") \
	X(rounds_lowered, "rounds for which a floor below the kernel's was chosen") \
	X(rounds_early, "first 32 rounds of connections, up to one with a retransmission by timer") \
	X(timers, "retransmissions by timer: probes and timeouts") \
	X(repairs, "retransmissions that were not the timer's") \
	X(resent, "rounds with a retransmission by timer") \
	X(needed, "rounds with one that a loss needed") \
	X(spurious, "rounds with one although nothing was lost") \
	X(wait, "time of the rounds in which a loss needed one") \
	X(wait_square, "sum over connections of the square of their wait") \
	X(needed_square, "sum over connections of the square of their needed") \
	X(wait_needed, "sum over connections of the product of their wait and needed") \
	X(spurious_square, "sum over connections of the square of their spurious") \
	X(spurious_1, "connections with spurious retransmissions in at least 1 round") \
	X(spurious_4, "connections with spurious retransmissions in at least 4 rounds") \
	X(spurious_16, "connections with spurious retransmissions in at least 16 rounds") \
	X(resent_early, "connections with a retransmission by timer in their first 32 rounds") \
	X(resent_1, "connections with retransmissions by timer in at least 1 round") \
	X(resent_4, "connections with retransmissions by timer in at least 4 rounds") \
	X(resent_16, "connections with retransmissions by timer in at least 16 rounds")

#define TL_LIVE_ARM_FIELD(name, meaning) uint64_t name;
struct live_arm_counts {
	TL_LIVE_ARM_COUNTS(TL_LIVE_ARM_FIELD)
};

/* An element for each arm of each epoch: epoch * LIVE_ARMS + arm. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TL_LIVE_EPOCHS *LIVE_ARMS);
	__type(key, uint32_t);
	__type(value, struct live_arm_counts);
} arms SEC(".maps");

/* The counts of the connections to a destination prefix (place), stock ones and those with learned floors. */
struct live_traffic {
	struct live_side stock, ours;
	uint64_t last_us;           /* time of the last addition, by the kernel's clock of TCP */
	uint32_t srtt_us, floor_us; /* of the connection whose counts were then added */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TL_LIVE_PLACES);
	__type(key, struct live_key);
	__type(value, struct live_traffic);
} traffic SEC(".maps");

/* The destination prefixes (places) to which user space allows no learned floors. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TL_LIVE_STOCK_PLACES);
	__type(key, struct live_key);
	__type(value, uint32_t);
} stock_places SEC(".maps");

static __always_inline int live_is_ours(const struct live_member *m)
{
	return m->arm == LIVE_OURS;
}

static __always_inline struct live_arm_counts *live_counts_of(const struct live_member *m)
{
	const uint32_t at = m->epoch * LIVE_ARMS + m->arm;

	return bpf_map_lookup_elem(&arms, &at);
}

/* Draws the group (arm) of a new connection. `assignment` has the share in its low half, the epoch in its
 * high half. */
static __attribute__((noinline)) int live_join(const struct live_key *host, struct live_member *m,
					       uint64_t assignment)
{
	const uint32_t draw = bpf_get_prandom_u32() >> (32 - TL_LIVE_SHARE_BITS);
	struct live_key around;
	struct live_arm_counts *n;

	if (!host || !m)
		return 0;
	live_place_of(host, &around);
	__builtin_memset(m, 0, sizeof(*m));
	m->epoch = (uint32_t)(assignment >> 32) % TL_LIVE_EPOCHS;
	m->arm = draw < (uint32_t)assignment ? LIVE_OURS : LIVE_CONTROL;
	if (bpf_map_lookup_elem(&stock_places, &around))
		m->arm = LIVE_STOPPED;
	m->fresh.connections = 1;
	n = live_counts_of(m);
	if (n)
		n->connections++;
	return 0;
}

#define TL_LIVE_SIDE_ADD(name) \
	if (m->fresh.name) \
		__sync_fetch_and_add(&side->name, m->fresh.name);

/* Adds what a connection has counted since the last call to the counts of its destination prefix (place). */
static __attribute__((noinline)) int live_flush(const struct live_key *host, struct live_member *m,
						uint64_t now_us, uint32_t srtt_us, uint32_t floor_us)
{
	const struct live_traffic none = { 0 };
	struct live_key around;
	struct live_traffic *place;
	struct live_side *side;

	if (!host || !m)
		return 0;
	live_place_of(host, &around);
	place = bpf_map_lookup_elem(&traffic, &around);
	if (!place) {
		bpf_map_update_elem(&traffic, &around, &none, BPF_NOEXIST);
		place = bpf_map_lookup_elem(&traffic, &around);
		if (!place)
			return 0;
	}
	side = live_is_ours(m) ? &place->ours : &place->stock;
	TL_LIVE_SIDE_COUNTS(TL_LIVE_SIDE_ADD)
	place->last_us = now_us;
	place->srtt_us = srtt_us;
	place->floor_us = floor_us;
	__builtin_memset(&m->fresh, 0, sizeof(m->fresh));
	return 0;
}

/* Counts a round with a retransmission by timer. */
static __always_inline void live_resent_round(struct live_member *m, struct live_arm_counts *n)
{
	n->resent++;
	m->fresh.resent++;
	m->resent++;
	n->resent_1 += m->resent == 1;
	n->resent_4 += m->resent == 4;
	n->resent_16 += m->resent == 16;
}

/* Counts a round with a retransmission by timer as spurious or as needed, by `answers`: which transmission
 * was answered. `waited_us` is the time from the start of the timer to the answer. */
static __attribute__((noinline)) int live_answered_round(struct live_member *m, uint32_t answers,
							 uint64_t waited_us)
{
	struct live_arm_counts *n = m ? live_counts_of(m) : NULL;
	const uint64_t units = waited_us / 100;

	if (!n)
		return 0;
	if (answers == TL_RESEND_FIRST) {
		n->spurious++;
		m->fresh.spurious++;
		m->spurious++;
		n->spurious_square += 2 * (uint64_t)m->spurious - 1;
		n->spurious_1 += m->spurious == 1;
		n->spurious_4 += m->spurious == 4;
		n->spurious_16 += m->spurious == 16;
	} else if (answers == TL_RESEND_LATER) {
		n->needed++;
		m->fresh.needed++;
		n->wait += units;
		m->fresh.wait += units;
		/* the connection's squares and product with this round, less those without it */
		n->wait_square += (2 * m->wait + units) * units;
		n->needed_square += 2 * (uint64_t)m->needed + 1;
		n->wait_needed += m->wait + units * (m->needed + 1);
		m->wait += units;
		m->needed++;
	}
	return 0;
}

#endif
