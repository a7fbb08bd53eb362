/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The control group. A drawn share of the new connections gets learned floors, and the others stay stock;
 * both are measured alike, so that what the floors do is the difference between them.
 *
 * User space changes the share while the program runs. What is compared must have been drawn with one share,
 * so each change begins an epoch, and a connection counts for the epoch in which it began.
 *
 * Sums of squares by connection are kept, because the rounds of a connection are alike: an interval that took
 * rounds for independent would be too short. For the same reason connections are counted that have had an
 * event at least 1, 4 and 16 times: which connections these are depends on the draw alone if floors do no harm. */
#ifndef TCPLEARN_BPF_LIVE_ARMS_H
#define TCPLEARN_BPF_LIVE_ARMS_H

#include "live_member.h"
#include "live_places.h"

#define TL_LIVE_SHARE_BITS 16 /* a share of 1 << 16 is all new connections */
#define TL_LIVE_EPOCHS 16     /* after so many changes of the share the oldest epoch is used again */
#define TL_LIVE_STOCK_PLACES 1024
#define TL_LIVE_FLUSH_ROUNDS 32
#define TL_LIVE_EARLY_ROUNDS 32

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

struct live_traffic {
	struct live_side stock, ours;
	uint64_t last_us;           /* of the last event, by the kernel's clock of TCP */
	uint32_t srtt_us, floor_us; /* then */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TL_LIVE_PLACES);
	__type(key, struct live_key);
	__type(value, struct live_traffic);
} traffic SEC(".maps");

/* The places that user space has made stock. */
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

/* Draws the arm of a new connection. `assignment`: share in the low half, epoch in the high half. */
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

/* Adds to its place what a connection has had since the last time. */
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

/* Counts what such a round was for. `answers`: which transmission was answered; `waited_us`: from the start of the
 * timer to the answer. */
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
		/* the squares of sums, of which one summand more is known */
		n->wait_square += (2 * m->wait + units) * units;
		n->needed_square += 2 * (uint64_t)m->needed + 1;
		n->wait_needed += m->wait + units * (m->needed + 1);
		m->wait += units;
		m->needed++;
	}
	return 0;
}

#endif
