/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The requests of a retry timer (retry.h) that have no answer yet: a table with a fixed number of places, found
 * by the request's number, and the order in which their waits end. All arithmetic is integer. */
#ifndef TCPLEARN_RETRY_REQUESTS_H
#define TCPLEARN_RETRY_REQUESTS_H

#include "../deps.h"

/* The most requests without an answer at one time. `used` has a bit for each. */
#define TL_RETRY_OUT 64
/* Entries of the index from numbers to places: a power of two, so that half of it stays empty. */
#define TL_RETRY_INDEX 128
#define TL_RETRY_NO_PLACE 255

struct tl_retry_request {
	uint64_t id;
	int64_t first_us; /* time of the first transmission */
	int64_t last_us;  /* time of the last transmission */
	int64_t due_us;   /* time at which the running wait ends */
	int64_t wait_us;  /* length of the running wait */
	/* What the first wait was chosen from, so that the answer judges that choice: the values that struct
	 * tl_resend_scores_fix calls by these names, or with a chosen rate the prediction in `srtt` and the
	 * timer before its bounds in `mdev4`, 0 before the first sample. */
	int64_t srtt, mdev4, stock_us;
	uint32_t resends;
	uint8_t rank;   /* its position in the heap */
	uint8_t late;   /* 1: its first wait ended in a silence that may hold requests, see silence.h */
	uint8_t raised; /* 1: the first wait was lengthened, so its outcome says nothing about the rate */
};

struct tl_retry_requests {
	struct tl_retry_request at[TL_RETRY_OUT];
	uint8_t index[TL_RETRY_INDEX]; /* open addressing: a place, or TL_RETRY_NO_PLACE */
	uint8_t heap[TL_RETRY_OUT]; /* the first `count` are places: a binary heap of when their waits end */
	uint64_t used;
	uint32_t count;
};

TL_FN void tl_retry_requests_init(struct tl_retry_requests *r)
{
	uint32_t i;

	for (i = 0; i < TL_RETRY_INDEX; i++)
		r->index[i] = TL_RETRY_NO_PLACE;
	r->used = 0;
	r->count = 0;
}

/* Returns the entry of the index at which the search for `id` begins (Fibonacci hashing). */
TL_FN uint32_t tl_retry_home(uint64_t id)
{
	return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 57);
}

/* Returns the entry of the index that has `id`, or else the empty entry at which the search ends. */
TL_FN uint32_t tl_retry_entry(const struct tl_retry_requests *r, uint64_t id)
{
	uint32_t entry = tl_retry_home(id);

	while (r->index[entry] != TL_RETRY_NO_PLACE && r->at[r->index[entry]].id != id)
		entry = (entry + 1) % TL_RETRY_INDEX;
	return entry;
}

/* Returns the position of the lowest bit that is 0. Range: not all bits are 1. */
TL_FN uint32_t tl_retry_free_place(uint64_t used)
{
	uint64_t lowest = ~used & (used + 1);
	uint32_t place = 0, k;

	for (k = 32; k > 0; k >>= 1) {
		const uint32_t step = (uint32_t)(lowest >> k != 0) * k;

		lowest >>= step;
		place += step;
	}
	return place;
}

/* Returns whether the wait of the request at place `a` ends before that at `b`; if both end together the lower
 * place is first. */
TL_FN uint32_t tl_retry_sooner(const struct tl_retry_requests *r, uint32_t a, uint32_t b)
{
	return r->at[a].due_us < r->at[b].due_us || (r->at[a].due_us == r->at[b].due_us && a < b);
}

/* Puts `place` into the heap at the position `rank` or, so that the order holds, above or below it. */
TL_FN void tl_retry_sift(struct tl_retry_requests *r, uint32_t place, uint32_t rank)
{
	uint32_t below;

	while (rank > 0 && tl_retry_sooner(r, place, r->heap[(rank - 1) / 2])) {
		r->heap[rank] = r->heap[(rank - 1) / 2];
		r->at[r->heap[rank]].rank = (uint8_t)rank;
		rank = (rank - 1) / 2;
	}
	for (; (below = 2 * rank + 1) < r->count; rank = below) {
		if (below + 1 < r->count && tl_retry_sooner(r, r->heap[below + 1], r->heap[below]))
			below++;
		if (!tl_retry_sooner(r, r->heap[below], place))
			break;
		r->heap[rank] = r->heap[below];
		r->at[r->heap[rank]].rank = (uint8_t)rank;
	}
	r->heap[rank] = (uint8_t)place;
	r->at[place].rank = (uint8_t)rank;
}

/* Enters the request `id`, which the table does not have, at the empty `entry` of the index. There is a place
 * for it. Returns the place, of which `id` is set, and `rank` as if its wait never ended; it must be armed. */
TL_FN struct tl_retry_request *tl_retry_enter(struct tl_retry_requests *r, uint32_t entry, uint64_t id)
{
	const uint32_t place = tl_retry_free_place(r->used);

	r->index[entry] = (uint8_t)place;
	r->used |= (uint64_t)1 << place;
	r->at[place].id = id;
	r->at[place].rank = (uint8_t)r->count;
	r->heap[r->count++] = (uint8_t)place;
	return &r->at[place];
}

/* Removes the request at `entry` of the index. Later entries that were put beyond their home because of it
 * move up (Knuth, The Art of Computer Programming, volume 3, 6.4, Algorithm R). */
TL_FN void tl_retry_remove(struct tl_retry_requests *r, uint32_t entry)
{
	const uint32_t place = r->index[entry];
	uint32_t hole = entry, next = entry;

	for (;;) {
		uint32_t home;

		next = (next + 1) % TL_RETRY_INDEX;
		if (r->index[next] == TL_RETRY_NO_PLACE)
			break;
		home = tl_retry_home(r->at[r->index[next]].id);
		if ((next - home) % TL_RETRY_INDEX < (next - hole) % TL_RETRY_INDEX)
			continue; /* its home is after the hole */
		r->index[hole] = r->index[next];
		hole = next;
	}
	r->index[hole] = TL_RETRY_NO_PLACE;
	r->used &= ~((uint64_t)1 << place);
	if (r->at[place].rank < --r->count)
		tl_retry_sift(r, r->heap[r->count], r->at[place].rank);
}

/* Sets when the running wait of a request ends. */
TL_FN void tl_retry_due_at(struct tl_retry_requests *r, struct tl_retry_request *q, int64_t due_us)
{
	q->due_us = due_us;
	tl_retry_sift(r, (uint32_t)(q - r->at), q->rank);
}

/* Begins a wait of a request. */
TL_FN void tl_retry_arm(struct tl_retry_requests *r, struct tl_retry_request *q, int64_t now_us,
			int64_t wait_us)
{
	q->wait_us = wait_us;
	tl_retry_due_at(r, q, now_us + wait_us);
}

#endif
