/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of the peers that a network namespace knows: of destination prefixes (/24, or /48 of IPv6, whose
 * hosts usually are behind the same links), or of hosts (an address, or a /64 of IPv6). The table has a
 * fixed size, and all its memory is allocated when it is created. It is a hash table with rows of four
 * entries; a new entry replaces the least recently used one of its row. The owner of a table provides the
 * lock. */
#ifndef TCPLEARN_MODULE_PLACES_H
#define TCPLEARN_MODULE_PLACES_H

#include <linux/types.h>

struct sock;
struct tl_places;

#define TL_PLACES_A_ROW 4

enum tl_place_kind { TL_PLACE_PREFIX, TL_PLACE_HOST };

/* Returns a table of 2^row_bits rows; NULL if memory cannot be allocated. */
struct tl_places *tl_places_new(u32 row_bits, u32 state_bytes, enum tl_place_kind kind);
void tl_places_free(struct tl_places *places);
/* Returns the entry of the peer; NULL if there is none. */
void *tl_place_known(struct tl_places *places, const struct sock *sk);
/* Returns the entry of the peer. A new entry begins as a copy of `blank`; if `blank` is NULL, it
 * begins with the contents of the entry that it replaces. */
void *tl_place_of(struct tl_places *places, const struct sock *sk, const void *blank);

#endif
