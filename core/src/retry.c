/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The retry timer of libtcplearn: the functions of retry/timer.h under the names of retry.h. */
#include "tcplearn/retry/timer.h"

void tl_retry_defaults(struct tl_retry_settings *how)
{
	tl_retry_defaults_fix(how);
}

int tl_retry_init(struct tl_retry *timer, const struct tl_retry_settings *how)
{
	return tl_retry_init_fix(timer, how);
}

int tl_retry_inherit(struct tl_retry *timer, const struct tl_retry *earlier)
{
	return tl_retry_inherit_fix(timer, earlier);
}

int tl_retry_sent(struct tl_retry *timer, uint64_t id, int64_t now_us)
{
	return tl_retry_sent_fix(timer, id, now_us);
}

int64_t tl_retry_deadline(const struct tl_retry *timer)
{
	return tl_retry_deadline_fix(timer);
}

int64_t tl_retry_deadline_of(const struct tl_retry *timer, uint64_t id)
{
	return tl_retry_deadline_of_fix(timer, id);
}

int tl_retry_fired(struct tl_retry *timer, int64_t now_us, struct tl_retry_again *again)
{
	return tl_retry_fired_fix(timer, now_us, again);
}

int tl_retry_answered(struct tl_retry *timer, uint64_t id, uint32_t copy, int64_t now_us)
{
	return tl_retry_answered_fix(timer, id, copy, now_us);
}

int tl_retry_cancelled(struct tl_retry *timer, uint64_t id)
{
	return tl_retry_cancelled_fix(timer, id);
}
