/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* libtcplearn: every estimator, loss classifier, startup, resend and first RTO policy, behind one
 * interface each, chosen by name or by a spec with parameters (spec.h). The caller owns all memory;
 * nothing here allocates, keeps global state or takes a lock. Parameters are plain numbers, times in
 * microseconds. A stack that chooses at compile time includes tcplearn/estimators.h or tcplearn/loss.h
 * instead and needs no library. */
#ifndef TCPLEARN_TCPLEARN_H
#define TCPLEARN_TCPLEARN_H

#include <stddef.h>

#include "algorithm.h"
#include "loss/events.h"
#include "loss/feature_list.h"
#include "resend/events.h"
#include "sample.h"
#include "startup/handshake.h"
#include "timer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TL_VERSION "0.1.0"

struct tl_prediction {
	double rtt_us; /* of the next sample; 0 while there is none to give */
	double rto_us;
};

/* One flow's samples as columns; a pointer may be NULL if a column is not known. */
struct tl_columns {
	const int64_t *time_us, *sent_us, *rtt_us; /* required; rtt_us < 0: no sample in this row */
	const int64_t *ack_delay_us;
	const uint32_t *flight_segments;
	const uint8_t *ttl, *hops;
};

struct tl_estimator {
	struct tl_algorithm algorithm;
	enum tl_timer timer;
	void (*update)(void *state, const struct tl_sample *sample);
	void (*query)(const void *state, struct tl_prediction *out);
	/* For each row it stores the prediction just before the row, then updates. Either output may be
	 * NULL. */
	void (*run)(void *state, size_t rows, const struct tl_columns *columns, double *rtt_us,
		    double *rto_us);
};

/* NULL past the end, and if no estimator has that name. */
const struct tl_estimator *tl_estimator_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_estimator *tl_estimator_find(const char *name, enum tl_arithmetic arithmetic);

struct tl_loss_decision {
	double congestion; /* probability */
	enum tl_loss_cause cause;
};

struct tl_loss_classifier {
	struct tl_algorithm algorithm;
	/* Every ACK, before decide() and change() of that ACK. */
	void (*observe)(void *state, const struct tl_loss_ack *ack);
	/* At a fast retransmit, before the sender changes its window; then change() reports what was done. */
	void (*decide)(const void *state, const struct tl_loss_moment *at, struct tl_loss_decision *out);
	void (*change)(void *state, const struct tl_loss_moment *at, enum tl_loss_change change,
		       enum tl_loss_cause cause);
	/* The two halves of decide(): TL_LOSS_FEATURE_COUNT features, and the decision from them. */
	void (*features)(const void *state, const struct tl_loss_moment *at, double *features);
	void (*judge)(const void *state, const double *features, const struct tl_loss_moment *at,
		      struct tl_loss_decision *out);
};

const struct tl_loss_classifier *tl_loss_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_loss_classifier *tl_loss_find(const char *name, enum tl_arithmetic arithmetic);

struct tl_loss_feature_info {
	const char *name, *text;
	double low, high; /* it is clipped to these */
};
/* NULL past the end. */
const struct tl_loss_feature_info *tl_loss_feature_at(size_t index);

/* A startup policy: the windows after a handshake. There is one state for each place, whose connections
 * report to it; it uses integers in every host. */
struct tl_startup_policy {
	struct tl_algorithm algorithm; /* its arithmetic is TL_FIX */
	void (*report)(void *state, const struct tl_startup_report *report);
	/* Of every handshake: decide(), then note(). */
	void (*decide)(const void *state, const struct tl_handshake *handshake,
		       struct tl_startup_window *out);
	void (*note)(void *state, const struct tl_handshake *handshake);
};

/* The same in both arithmetics. */
const struct tl_startup_policy *tl_startup_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_startup_policy *tl_startup_find(const char *name, enum tl_arithmetic arithmetic);

/* A resend policy: when the timer of a connection's data expires, and whether it then sends a probe. There
 * is one state for each connection. */
struct tl_resend_policy {
	struct tl_algorithm algorithm;
	/* Just after init: takes what an earlier connection to the same place has learned, with less
	 * weight than what this one will learn (RFC 9040, temporal sharing). `earlier` is another state of
	 * the same policy, with any parameters. */
	void (*inherit)(void *state, const void *earlier);
	/* The first transmission of a segment; the timer has expired and has sent again; an ACK of new
	 * data. */
	void (*send)(void *state, const struct tl_resend_event *event, struct tl_resend_wait *out);
	void (*timer)(void *state, const struct tl_resend_event *event, struct tl_resend_wait *out);
	void (*ack)(void *state, const struct tl_resend_ack *ack, struct tl_resend_wait *out);
};

const struct tl_resend_policy *tl_resend_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_resend_policy *tl_resend_find(const char *name, enum tl_arithmetic arithmetic);

/* A policy of a connection's first RTO, before it has any sample. There is one state for each place, whose
 * handshakes report to it; it uses integers in every host. */
struct tl_first_rto_policy {
	struct tl_algorithm algorithm; /* its arithmetic is TL_FIX */
	/* Takes an RTT of a segment that was not sent twice. */
	void (*report)(void *place, int64_t rtt_us, int64_t time_us);
	/* Takes a handshake whose packets were sent again: doubt() if nothing else is known, resent() with
	 * its RTT by timestamps (0: none) and its first RTO. */
	void (*doubt)(void *place, int64_t time_us);
	void (*resent)(void *place, int64_t rtt_us, int64_t rto_us, int64_t time_us);
	/* `prefix` is the state of the place's neighbours, or the place itself. hops: 0 to 255, or -1: not
	 * known. accepts: 1 for the accepting end of the connection, 0 for the opening end. */
	int64_t (*rto_us)(const void *place, const void *prefix, int32_t hops, uint32_t accepts,
			  int64_t time_us);
};

/* The same in both arithmetics. */
const struct tl_first_rto_policy *tl_first_rto_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_first_rto_policy *tl_first_rto_find(const char *name, enum tl_arithmetic arithmetic);

/* All kinds: their lists, and reading of specs. */
enum tl_kind_of {
	TL_KIND_ESTIMATOR,
	TL_KIND_LOSS,
	TL_KIND_STARTUP,
	TL_KIND_RESEND,
	TL_KIND_FIRST_RTO,
	TL_KINDS
};

const struct tl_kind *tl_kind_at(enum tl_kind_of kind, enum tl_arithmetic arithmetic);

/* Reads a spec, "conformal:miss=0.001" (spec.h), into `params`: TL_PARAMS_BYTES_MAX bytes, aligned for
 * int64_t; into `given`, which may be NULL, a bit for each parameter that it sets. Returns its algorithm;
 * or NULL, with a line in `error` that says what is wrong and what to do. */
const struct tl_algorithm *tl_algorithm_read(enum tl_kind_of kind, enum tl_arithmetic arithmetic,
					     const char *spec, void *params, uint64_t *given, char *error,
					     size_t error_bytes);
/* Enough for every such line. */
#define TL_ERROR_BYTES_MAX 512

#ifdef __cplusplus
}
#endif

#endif
