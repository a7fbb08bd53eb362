/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* libtcplearn: every estimator, classifier of losses, startup and resend policy, behind one interface each, chosen by
 * name. The caller owns all memory; nothing here allocates, keeps global state or takes a lock. Parameters are set by key with plain
 * numbers, times in microseconds. A stack that knows at compile time what it wants includes
 * tcplearn/estimators.h or tcplearn/loss.h instead and needs no library. */
#ifndef TCPLEARN_TCPLEARN_H
#define TCPLEARN_TCPLEARN_H

#include <stddef.h>

#include "loss/events.h"
#include "loss/feature_list.h"
#include "params.h"
#include "resend/events.h"
#include "sample.h"
#include "startup/handshake.h"
#include "timer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TL_VERSION "0.1.0"

enum tl_arithmetic { TL_F64 = 0, TL_FIX = 1 };

struct tl_prediction {
	double rtt_us; /* of the next sample; 0 while there is none to give */
	double rto_us;
};

/* One flow's samples as columns; a pointer may be NULL where a column is not known. */
struct tl_columns {
	const int64_t *time_us, *sent_us, *rtt_us; /* required; rtt_us < 0: no sample in this row */
	const int64_t *ack_delay_us;
	const uint32_t *flight_segments;
	const uint8_t *ttl, *hops;
};

struct tl_estimator {
	const char *name;    /* "experts", or a preset's: "experts/fitted" */
	const char *summary; /* half a line */
	const char *about;   /* a sentence or two for a glossary; may be "" */
	int learned;         /* 0: a formula */
	enum tl_arithmetic arithmetic;
	enum tl_timer timer;
	const struct tl_param *params;
	size_t param_count;
	size_t params_bytes;
	void (*defaults)(void *params);
	int (*set)(void *params, size_t index, double value); /* 0, or -1: no such index, or out of range */
	double (*get)(const void *params, size_t index);
	size_t (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params); /* state: aligned for int64_t */
	void (*update)(void *state, const struct tl_sample *sample);
	void (*query)(const void *state, struct tl_prediction *out);
	/* For each row: the prediction just before it, then the update. Either output may be NULL. */
	void (*run)(void *state, size_t rows, const struct tl_columns *columns, double *rtt_us,
		    double *rto_us);
};

/* How many there are in each arithmetic. */
size_t tl_estimator_count(void);
/* NULL past the end. */
const struct tl_estimator *tl_estimator_at(size_t index, enum tl_arithmetic arithmetic);
/* NULL where no estimator has that name. */
const struct tl_estimator *tl_estimator_find(const char *name, enum tl_arithmetic arithmetic);

struct tl_loss_decision {
	double congestion; /* probability */
	enum tl_loss_cause cause;
};

struct tl_loss_classifier {
	enum tl_arithmetic arithmetic;
	int learned;
	const char *name; /* "mlp", or a preset's: "mlp/hwang2018" */
	const char *summary, *about;
	size_t (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params); /* state: aligned for int64_t */
	/* Every ACK, before decide() and change() of that ACK. */
	void (*observe)(void *state, const struct tl_loss_ack *ack);
	/* At a fast retransmit, before the sender changes its window; then change() says what was done. */
	void (*decide)(const void *state, const struct tl_loss_moment *at, struct tl_loss_decision *out);
	void (*change)(void *state, const struct tl_loss_moment *at, enum tl_loss_change change,
		       enum tl_loss_cause cause);
	/* The two halves of decide(): TL_LOSS_FEATURE_COUNT features, and what they lead to. */
	void (*features)(const void *state, const struct tl_loss_moment *at, double *features);
	void (*judge)(const void *state, const double *features, const struct tl_loss_moment *at,
		      struct tl_loss_decision *out);
	/* Parameters, as those of an estimator. */
	void (*defaults)(void *params);
	int (*set)(void *params, size_t index, double value);
	double (*get)(const void *params, size_t index);
	const struct tl_param *params;
	size_t param_count, params_bytes;
};

size_t tl_loss_count(void);
const struct tl_loss_classifier *tl_loss_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_loss_classifier *tl_loss_find(const char *name, enum tl_arithmetic arithmetic);

struct tl_loss_feature_info {
	const char *name, *text;
	double low, high; /* it is clipped to these */
};
/* NULL past the end. */
const struct tl_loss_feature_info *tl_loss_feature_at(size_t index);

/* A startup policy: the windows after a handshake. One state a place, whose connections report to it; integers in
 * every host. */
struct tl_startup_policy {
	const char *name; /* "standard", or a preset's: "tsl/3-16" */
	const char *summary, *about;
	const struct tl_param *params;
	size_t param_count;
	size_t params_bytes;
	void (*defaults)(void *params);
	int (*set)(void *params, size_t index, double value); /* 0, or -1: no such index, or out of range */
	double (*get)(const void *params, size_t index);
	size_t (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params); /* state: aligned for int64_t */
	void (*report)(void *state, const struct tl_startup_report *report);
	/* Of every handshake: decide(), then note(). */
	void (*decide)(const void *state, const struct tl_handshake *handshake,
		       struct tl_startup_window *out);
	void (*note)(void *state, const struct tl_handshake *handshake);
};

size_t tl_startup_count(void);
/* NULL past the end. */
const struct tl_startup_policy *tl_startup_at(size_t index);
const struct tl_startup_policy *tl_startup_find(const char *name);

/* A resend policy: when the timer of a connection's data expires, and whether what it then sends is a probe. One
 * state a connection. */
struct tl_resend_policy {
	enum tl_arithmetic arithmetic;
	int learned;      /* 0: a formula */
	const char *name; /* "priced", or a preset's: "priced/spaced" */
	const char *summary, *about;
	const struct tl_param *params;
	size_t param_count;
	size_t params_bytes;
	void (*defaults)(void *params);
	int (*set)(void *params, size_t index, double value); /* 0, or -1: no such index, or out of range */
	double (*get)(const void *params, size_t index);
	size_t (*state_bytes)(const void *params);
	void (*init)(void *state, const void *params); /* state: aligned for int64_t */
	/* Just after init: what an earlier connection to the same place has learned, of less weight than what this one
	 * will (RFC 9040, temporal sharing). `earlier`: another state of the same policy, whatever its parameters. */
	void (*inherit)(void *state, const void *earlier);
	/* The first sending of a segment; the timer has passed and has sent again; an ACK of something new. */
	void (*send)(void *state, const struct tl_resend_event *event, struct tl_resend_wait *out);
	void (*timer)(void *state, const struct tl_resend_event *event, struct tl_resend_wait *out);
	void (*ack)(void *state, const struct tl_resend_ack *ack, struct tl_resend_wait *out);
};

size_t tl_resend_count(void);
const struct tl_resend_policy *tl_resend_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_resend_policy *tl_resend_find(const char *name, enum tl_arithmetic arithmetic);

#ifdef __cplusplus
}
#endif

#endif
