// SPDX-License-Identifier: GPL-2.0-only
/* When a connection ends, its resend policy's state is kept for its peer (an address, or a /64 of IPv6). The
 * next connection to the peer begins with a part of what was learned; the core's `inherit` decides how much.
 * Only the connection that ended last counts. A peer decides on its own connections alone: if neighbours
 * shared what was learned, one of them could make the sender wait too long or too shortly for the others. */
#include "counters.h"
#include "places.h"
#include "resend_places.h"

#define TL_RESEND_ROW_BITS 6 /* 256 peers, 147 kB */

struct tl_resend_learned {
	const struct tl_kernel_resend *policy;
	u64 state[];
};

void tl_resend_net_init(struct tl_resend_net *of)
{
	spin_lock_init(&of->lock);
}

void tl_resend_net_exit(struct tl_resend_net *of)
{
	tl_resend_places_switch(of, false);
}

int tl_resend_places_switch(struct tl_resend_net *of, bool on)
{
	struct tl_places *places = NULL;

	if (on) {
		places = tl_places_new(TL_RESEND_ROW_BITS, sizeof(struct tl_resend_learned) + tl_kernel_resend_bytes_max,
				       TL_PLACE_HOST);
		if (!places)
			return -ENOMEM;
	}
	spin_lock_bh(&of->lock);
	swap(of->places, places);
	spin_unlock_bh(&of->lock);
	tl_places_free(places);
	return 0;
}

void tl_resend_inherit(const struct sock *sk, const struct tl_kernel_resend *policy, void *state)
{
	struct tl_resend_net *of = &tl_net_of(sock_net(sk))->resends;
	const struct tl_resend_learned *known;

	if (!READ_ONCE(of->places))
		return;
	spin_lock_bh(&of->lock);
	known = of->places ? tl_place_known(of->places, sk) : NULL;
	if (known && known->policy == policy) {
		policy->inherit(state, known->state);
		tl_count(resend_inherited);
	}
	spin_unlock_bh(&of->lock);
}

void tl_resend_remember(const struct sock *sk, const struct tl_kernel_resend *policy, const void *state)
{
	struct tl_resend_net *of = &tl_net_of(sock_net(sk))->resends;
	struct tl_resend_learned *known;

	if (!READ_ONCE(of->places))
		return;
	spin_lock_bh(&of->lock);
	if (of->places) {
		known = tl_place_of(of->places, sk, NULL); /* the caller overwrites the whole entry */
		known->policy = policy;
		memcpy(known->state, state, tl_kernel_resend_bytes_max);
	}
	spin_unlock_bh(&of->lock);
}
