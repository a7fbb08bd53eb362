/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The requests of a retry timer (retry.h) that have no answer yet: a table with a fixed number of places
 * (entries), which are found by the request's number, and the order in which the requests' waits end. All
 * arithmetic is integer. */
#ifndef TCPLEARN_RETRY_REQUESTS_H
#define TCPLEARN_RETRY_REQUESTS_H

#include "../deps.h"

/* The most requests without an answer at one time. `used` has a bit for each. */
#define TL_RETRY_OUT 64
/* The size of the hash table that maps numbers to places: a power of two, twice TL_RETRY_OUT, so that half of
 * it stays empty. */
#define TL_RETRY_INDEX 128
#define TL_RETRY_NO_PLACE 255

struct tl_retry_request {
	uint64_t id;
	int64_t first_us; /* time of the first transmission */
	int64_t last_us;  /* time of the last transmission */
	int64_t due_us;   /* time at which the running wait ends */
	int64_t wait_us;  /* length of the running wait */
	/* The values from which the first wait was chosen, so that the answer judges that choice. With a
	 * price they are the fields of struct tl_resend_scores_fix with these names. With a rate, `srtt` has
	 * the predicted latency and `mdev4` the first wait before its bounds (0 before the first sample). */
	int64_t srtt, mdev4, stock_us;
	uint32_t resends;
	uint8_t late;   /* 1: its first wait ended in a silence after TL_RETRY_FREE others (silence.h) */
	uint8_t raised; /* 1: the first wait was lengthened, so its outcome says nothing about the rate */
};

struct tl_retry_requests {
	struct tl_retry_request at[TL_RETRY_OUT];
	uint8_t index[TL_RETRY_INDEX]; /* open addressing: a place, or TL_RETRY_NO_PLACE */
	/* A ring of the places in the order in which their requests' waits end: for each place, the place
	 * before it and the place after it. TL_RETRY_OUT stands for the ring's beginning and end. */
	uint8_t earlier[TL_RETRY_OUT + 1], later[TL_RETRY_OUT + 1];
	uint64_t used;
	uint32_t count;
};

TL_FN void tl_retry_requests_init(struct tl_retry_requests *r)
{
	uint32_t i;

	for (i = 0; i < TL_RETRY_INDEX; i++)
		r->index[i] = TL_RETRY_NO_PLACE;
	for (i = 0; i <= TL_RETRY_OUT; i++)
		r->earlier[i] = r->later[i] = TL_RETRY_OUT;
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

/* Returns the position of the lowest bit that is 0, by a de Bruijn sequence (Leiserson, Prokop and Randall, "Using
 * de Bruijn Sequences to Index a 1 in a Computer Word", 1998). Range: not all bits are 1. */
TL_FN uint32_t tl_retry_free_place(uint64_t used)
{
	static const uint8_t position[64] = { 0,  1,  48, 2,  57, 49, 28, 3,  61, 58, 50, 42, 38, 29, 17, 4,
					      62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
					      63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11,
					      46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9,  13, 8,  7,  6 };
	const uint64_t lowest = ~used & (used + 1);

	return position[(lowest * 0x03f79d71b4cb0a89u) >> 58];
}

/* Returns whether the wait of the request at place `a` ends before that at `b`; if both end together the lower
 * place is first. */
TL_FN uint32_t tl_retry_sooner(const struct tl_retry_requests *r, uint32_t a, uint32_t b)
{
	return r->at[a].due_us < r->at[b].due_us || (r->at[a].due_us == r->at[b].due_us && a < b);
}

/* Puts `place` into the ring. The search begins at the ring's end, because a wait that begins later mostly
 * ends later. It mostly takes a few steps, and at most TL_RETRY_OUT. */
TL_FN void tl_retry_link(struct tl_retry_requests *r, uint32_t place)
{
	uint32_t earlier = r->earlier[TL_RETRY_OUT], later;

	while (earlier != TL_RETRY_OUT && tl_retry_sooner(r, place, earlier))
		earlier = r->earlier[earlier];
	later = r->later[earlier];
	r->earlier[place] = (uint8_t)earlier;
	r->later[place] = (uint8_t)later;
	r->later[earlier] = r->earlier[later] = (uint8_t)place;
}

TL_FN void tl_retry_unlink(struct tl_retry_requests *r, uint32_t place)
{
	r->later[r->earlier[place]] = r->later[place];
	r->earlier[r->later[place]] = r->earlier[place];
}

/* Enters the request `id`, which the table does not have, at the empty `entry` of the index. A place must be
 * free. Returns the place, in which only `id` is set; the caller must begin the request's first wait next. */
TL_FN struct tl_retry_request *tl_retry_enter(struct tl_retry_requests *r, uint32_t entry, uint64_t id)
{
	const uint32_t place = tl_retry_free_place(r->used);

	r->index[entry] = (uint8_t)place;
	r->used |= (uint64_t)1 << place;
	r->at[place].id = id;
	r->count++;
	return &r->at[place];
}

/* Removes the request at `entry` of the index. Later entries that it kept from the entry at which their
 * search begins (tl_retry_home) move up (Knuth, The Art of Computer Programming, volume 3, 6.4, Algorithm
 * R). */
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
			continue; /* its search begins after the hole */
		r->index[hole] = r->index[next];
		hole = next;
	}
	r->index[hole] = TL_RETRY_NO_PLACE;
	r->used &= ~((uint64_t)1 << place);
	r->count--;
	tl_retry_unlink(r, place);
}

/* Begins the first wait of a request. */
TL_FN void tl_retry_arm(struct tl_retry_requests *r, struct tl_retry_request *q, int64_t now_us,
			int64_t wait_us)
{
	q->wait_us = wait_us;
	q->due_us = now_us + wait_us;
	tl_retry_link(r, (uint32_t)(q - r->at));
}

/* Changes when the running wait of a request ends. */
TL_FN void tl_retry_due_at(struct tl_retry_requests *r, struct tl_retry_request *q, int64_t due_us)
{
	const uint32_t place = (uint32_t)(q - r->at);

	tl_retry_unlink(r, place);
	q->due_us = due_us;
	tl_retry_link(r, place);
}

/* Returns the place of the request whose wait ends first. Range: there is a request. */
TL_FN uint32_t tl_retry_soonest(const struct tl_retry_requests *r)
{
	return r->later[TL_RETRY_OUT];
}

#endif
