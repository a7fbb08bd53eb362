/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The retry timer: says when a request without an answer is sent again, for any protocol over datagrams or
 * calls (DNS, CoAP, QUIC, RPC with hedged requests). One timer serves one place, that is a server or a
 * service, and several requests to it at once. Time is an argument, in microseconds of any clock that does not
 * go back. The functions are part of libtcplearn.
 *
 *   struct tl_retry timer;
 *   struct tl_retry_settings how;
 *
 *   tl_retry_defaults(&how);                 then how.rate_ppm = 10000, or how.price_us = 100000
 *   tl_retry_init(&timer, &how);
 *   tl_retry_sent(&timer, id, now_us);       the request is sent for the first time
 *   tl_retry_deadline(&timer);               sleep until this time, or until an answer comes
 *   while (tl_retry_fired(&timer, now_us, &again) == 1)
 *           ... send again.id again ...
 *   tl_retry_answered(&timer, id, copy, now_us);
 *
 * The caller owns the memory. The timer allocates nothing, has no pointer in it and may be copied. Its state
 * and its answers are the same on every machine, because all arithmetic is integer. With a price of needless
 * resends, the first wait is that of the resend policy `priced` (resend/priced.h), the same code that
 * tcplearn's kernel module and BPF program run. With a rate of needless resends, the first wait is the mean
 * latency plus a width that is computed as in the estimator `conformal` (estimators/conformal_quantile.h). */
#ifndef TCPLEARN_RETRY_H
#define TCPLEARN_RETRY_H

#include "resend.h"
#include "retry/requests.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The settings. A resend is needless if an earlier transmission of its request is answered first. */
struct tl_retry_settings {
	/* The chosen share of needless resends, in millionths of the requests: 100 (one in ten thousand) to
	 * 500,000. 0: the price decides. */
	uint32_t rate_ppm;
	/* The price of a needless resend: it counts as much as this time of expected waiting, 0 to 2^32. Used
	 * if rate_ppm is 0. */
	int64_t price_us;
	/* The budget of resends, 0 to 100,000. Each resend takes one from it, each request adds a fifth, and
	 * each request whose answer shows that a resend was needed gives one back. While less than one is
	 * left, waits are at least those of an unmodified Linux. */
	uint32_t budget;
	/* The first wait before the server has answered anything: 1 s (RFC 8961, section 4, requirement 1).
	 * It is also the longest time for which a request is held, that is not sent again although its wait
	 * has ended, while nothing is answered (retry/silence.h). */
	int64_t first_wait_us;
	/* Bounds of every wait, 1 to 2^32. With a price, the least is also SRTT plus 1 ms. */
	int64_t min_wait_us, max_wait_us;
};

/* What the functions below return. An error changes nothing in the timer. */
enum tl_retry_code {
	TL_RETRY_OK = 0,
	TL_RETRY_DUE = 1,       /* of tl_retry_fired(): a request is to be sent again */
	TL_RETRY_FULL = -1,     /* TL_RETRY_OUT requests have no answer */
	TL_RETRY_TWICE = -2,    /* a request with this number has no answer yet */
	TL_RETRY_UNKNOWN = -3,  /* no request with this number waits: never sent, answered or cancelled */
	TL_RETRY_TIME = -4,     /* the time is before that of an earlier call, or beyond 2^62 */
	TL_RETRY_COPY = -5,     /* the request has no such copy */
	TL_RETRY_SETTINGS = -6, /* a setting is out of range, or the least wait is above the greatest */
	TL_RETRY_BEGUN = -7     /* the timer has been used, so it inherits nothing */
};

/* Which transmission of a request the answer is for: 0 the first, 1 the first resend and so on, or
 * TL_RETRY_ANY if that is not known (Karn's problem). */
#define TL_RETRY_ANY (~(uint32_t)0)
#define TL_RETRY_NEVER ((int64_t)(~(uint64_t)0 >> 1))

struct tl_retry_again {
	uint64_t id;
	uint32_t copy; /* number of this transmission: 1 is the first resend */
};

/* Sums since tl_retry_init(); each stops at its greatest value. */
struct tl_retry_counts {
	uint64_t requests, answers, resends;
	uint64_t needless; /* resends after the transmission that was answered */
	uint64_t unclear;  /* answers after a resend if it is not known which transmission they answer */
};

/* A silence is a time in which nothing is answered: it begins with a resend and ends with the next answer to
 * any request. In a silence, requests may be held: not sent again although their waits have ended. */
struct tl_retry_silence {
	int64_t last_us;     /* time of the last resend of a request that is not taken for lost */
	int64_t wait_us;     /* interval at which held requests are sent again; doubles; 0: none yet */
	int64_t until_us;    /* requests are held until this time */
	uint32_t requests;   /* requests sent again for the first time in this silence */
	uint32_t paused_q16; /* share of the recent requests late in a silence that were not lost, x 65,536 */
};

struct tl_retry {
	struct tl_resend_priced_fix policy;
	struct tl_tail_fix width; /* with a rate: the first wait minus the slow mean of latencies */
	int64_t raw;              /* with a rate: the first wait before its bounds, in 2^-8 us; 0: none yet */
	int64_t most;             /* with a rate: the longest recent latency, in 2^-8 us */
	int64_t now_us;           /* the latest time of any call */
	int64_t heard_us;         /* the time of the latest transmission that has been answered */
	struct tl_retry_silence silence;
	int64_t min_wait_us, max_wait_us;
	uint32_t rate_ppm;
	uint32_t begun;
	uint32_t forget; /* at each answer `most` loses 1/2^forget of its value */
	struct tl_retry_counts counts;
	struct tl_retry_requests out;
};

/* Sets `how` to the defaults: a price of 100,000 us, a budget of 40 resends, waits of 1 ms to 120 s. With
 * these the timer meets RFC 8961: section 4, requirement 1 (an initial wait of a second), 2d (no ambiguous
 * sample), 4 (each resend doubles the wait; the greatest is not below 60 s). */
void tl_retry_defaults(struct tl_retry_settings *how);

/* Begins a timer. */
int tl_retry_init(struct tl_retry *timer, const struct tl_retry_settings *how);

/* Takes over what an earlier timer for the same server or one near it has learned, with less weight than the
 * timer's own answers will have (RFC 9040). Called just after tl_retry_init(). The budget begins anew.
 * `width` and `most`, which only a timer with a rate uses, are taken over only from a timer with the same
 * rate. */
int tl_retry_inherit(struct tl_retry *timer, const struct tl_retry *earlier);

/* The request `id` is sent for the first time. */
int tl_retry_sent(struct tl_retry *timer, uint64_t id, int64_t now_us);

/* Returns the time at which the next request is to be sent again, or TL_RETRY_NEVER if none waits. An answer
 * may make this time earlier, and a resend may make it later. */
int64_t tl_retry_deadline(const struct tl_retry *timer);

/* Returns the time at which the request `id` is to be sent again, or TL_RETRY_NEVER if no such request
 * waits. */
int64_t tl_retry_deadline_of(const struct tl_retry *timer, uint64_t id);

/* Returns TL_RETRY_DUE with a request whose wait has ended, which the caller now sends again, and begins its
 * next wait; or TL_RETRY_OK if no wait has ended. The caller calls it until it returns TL_RETRY_OK. The timer
 * never gives up a request; the caller may do so, by tl_retry_cancelled(). */
int tl_retry_fired(struct tl_retry *timer, int64_t now_us, struct tl_retry_again *again);

/* The request is answered, and waits no longer. */
int tl_retry_answered(struct tl_retry *timer, uint64_t id, uint32_t copy, int64_t now_us);

/* The request is given up or no longer wanted. Nothing is learned from it. */
int tl_retry_cancelled(struct tl_retry *timer, uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
