// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hash.h>
#include <linux/mm.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "allocation.h"
#include "places.h"

struct tl_place {
	u64 key; /* 0: free entry */
	u32 used; /* time of last use in jiffies */
	u32 reserved;
	u64 state[];
};

struct tl_places {
	u32 state_bytes, row_bits;
	enum tl_place_kind kind;
	u8 rows[] __aligned(8);
};

static struct tl_place *tl_place_at(struct tl_places *places, u32 i)
{
	return (void *)(places->rows + i * (sizeof(struct tl_place) + places->state_bytes));
}

/* Returns the key of the peer, which is not 0. It is without the first bit of an IPv6 address, so a unique
 * local /64 (fc00::/7) has the key of one in the unassigned range 7c00::/7. */
static u64 tl_place_key(const struct tl_places *places, const struct sock *sk)
{
	const bool host = places->kind == TL_PLACE_HOST;

#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		u64 first = be64_to_cpup((const __be64 *)&sk->sk_v6_daddr);

		return 1ull << 63 | (host ? first : first >> 16);
	}
#endif
	return 1ull << 62 | ntohl(inet_sk(sk)->inet_daddr) >> (host ? 0 : 8);
}

struct tl_places *tl_places_new(u32 row_bits, u32 state_bytes, enum tl_place_kind kind)
{
	size_t bytes = (size_t)(TL_PLACES_A_ROW << row_bits) * (sizeof(struct tl_place) + state_bytes);
	struct tl_places *places = TL_ALLOC(kvzalloc(sizeof(*places) + bytes, GFP_KERNEL));

	if (places) {
		places->state_bytes = state_bytes;
		places->row_bits = row_bits;
		places->kind = kind;
	}
	return places;
}

void tl_places_free(struct tl_places *places)
{
	kvfree(places);
}

/* Returns the entry of `key`; if there is none, the least recently used entry of its row. */
static struct tl_place *tl_place_find(struct tl_places *places, u64 key)
{
	u32 first = hash_64(key, places->row_bits) * TL_PLACES_A_ROW, i;
	struct tl_place *oldest = tl_place_at(places, first);

	for (i = first; i < first + TL_PLACES_A_ROW; i++) {
		struct tl_place *place = tl_place_at(places, i);

		if (place->key == key)
			return place;
		if (oldest->key && (!place->key || (s32)(place->used - oldest->used) < 0))
			oldest = place;
	}
	return oldest;
}

void *tl_place_known(struct tl_places *places, const struct sock *sk)
{
	u64 key = tl_place_key(places, sk);
	struct tl_place *place = tl_place_find(places, key);

	if (place->key != key)
		return NULL;
	place->used = tcp_jiffies32;
	return place->state;
}

void *tl_place_of(struct tl_places *places, const struct sock *sk, const void *blank)
{
	u64 key = tl_place_key(places, sk);
	struct tl_place *place = tl_place_find(places, key);

	if (place->key != key && blank)
		memcpy(place->state, blank, places->state_bytes);
	place->key = key;
	place->used = tcp_jiffies32;
	return place->state;
}
