/* SPDX-License-Identifier: GPL-2.0-only */
/* The places that a network namespace knows: a table of a fixed size, all of whose memory is allocated when it is created.
 * A place is a /24, or a /48 of IPv6, whose hosts usually are behind the same links. A new place replaces the least
 * recently used one in its row. The owner of a table has a lock for it. */
#ifndef TCPLEARN_MODULE_PLACES_H
#define TCPLEARN_MODULE_PLACES_H

#include <linux/types.h>

struct sock;
struct tl_places;

#define TL_PLACES_A_ROW 4

/* Returns a table of 2^row_bits rows; NULL without memory. */
struct tl_places *tl_places_new(u32 row_bits, u32 state_bytes);
void tl_places_free(struct tl_places *places);
/* Returns the entry of the peer's place; NULL if there is none. */
void *tl_place_known(struct tl_places *places, const struct sock *sk);
/* Returns the same; a new place begins as a copy of `blank`, or if that is NULL as the entry that it
 * replaces. */
void *tl_place_of(struct tl_places *places, const struct sock *sk, const void *blank);

#endif
