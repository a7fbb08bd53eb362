/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The API of libtcplearn. It gives access to every algorithm of the library: RTO estimators, loss
 * classifiers, startup policies (the windows after a handshake), resend policies (when the timer sends
 * again) and first-RTO policies. Each kind of algorithm has one interface. A caller chooses an algorithm
 * by name, or by a spec with parameters such as "conformal:miss=0.001" (spec.h).
 *
 * The caller owns all memory. The library allocates nothing, keeps no global state and takes no lock.
 * Parameters are plain numbers; times are in microseconds. A stack that chooses its algorithm at compile
 * time includes tcplearn/estimators.h or tcplearn/loss.h instead and needs no library. */
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
	double rtt_us; /* predicted next RTT; 0 while there is no prediction */
	double rto_us;
};

/* The samples of one flow as columns. An optional pointer is NULL if that column is not known. */
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
	/* For each row, stores the prediction made just before the row, then updates the state with the
	 * row. `rtt_us` and `rto_us` may each be NULL. */
	void (*run)(void *state, size_t rows, const struct tl_columns *columns, double *rtt_us,
		    double *rto_us);
};

/* Both functions return NULL if `index` is past the end or `name` is not known. */
const struct tl_estimator *tl_estimator_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_estimator *tl_estimator_find(const char *name, enum tl_arithmetic arithmetic);

struct tl_loss_decision {
	double congestion; /* probability that congestion caused the loss */
	enum tl_loss_cause cause;
};

struct tl_loss_classifier {
	struct tl_algorithm algorithm;
	/* Called for every ACK, before decide() and change() for that ACK. */
	void (*observe)(void *state, const struct tl_loss_ack *ack);
	/* decide() is called at a fast retransmit, before the sender changes its window. change() then
	 * tells the classifier what the sender did. */
	void (*decide)(const void *state, const struct tl_loss_moment *at, struct tl_loss_decision *out);
	void (*change)(void *state, const struct tl_loss_moment *at, enum tl_loss_change change,
		       enum tl_loss_cause cause);
	/* The two halves of decide(): features() computes TL_LOSS_FEATURE_COUNT features, and judge()
	 * decides from them. */
	void (*features)(const void *state, const struct tl_loss_moment *at, double *features);
	void (*judge)(const void *state, const double *features, const struct tl_loss_moment *at,
		      struct tl_loss_decision *out);
};

const struct tl_loss_classifier *tl_loss_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_loss_classifier *tl_loss_find(const char *name, enum tl_arithmetic arithmetic);

struct tl_loss_feature_info {
	const char *name, *text;
	double low, high; /* the feature is clipped to this range */
};
/* Returns NULL if `index` is past the end. */
const struct tl_loss_feature_info *tl_loss_feature_at(size_t index);

/* A user's own weights for `model=own` of the classifiers with a network. Without weights such a classifier
 * calls every loss congestion. */
struct tl_loss_model;
size_t tl_loss_model_bytes(void); /* the size of a model; aligned for int64_t */
/* Reads a model from the text that loss/own_model.h describes, which may be hostile. Returns 0, or -1 with a
 * line in `error`; the model must not be used then. A model must stay where it was read. */
int tl_loss_model_read(struct tl_loss_model *model, const char *text, size_t length, char *error,
		       size_t error_bytes);
/* Gives the weights to a state after init. `state` is of any loss classifier, and `model` must outlive it. */
void tl_loss_use_model(void *state, const struct tl_loss_model *model);

/* A startup policy chooses the congestion window and ssthresh after a handshake. The caller keeps one
 * state for each destination; all connections to that destination report to it. The policy uses integers
 * only. */
struct tl_startup_policy {
	struct tl_algorithm algorithm; /* algorithm.arithmetic is TL_FIX */
	void (*report)(void *state, const struct tl_startup_report *report);
	/* The caller calls decide(), then note(), for every handshake. */
	void (*decide)(const void *state, const struct tl_handshake *handshake,
		       struct tl_startup_window *out);
	void (*note)(void *state, const struct tl_handshake *handshake);
};

/* Startup policies have one implementation, which is returned for either value of `arithmetic`. */
const struct tl_startup_policy *tl_startup_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_startup_policy *tl_startup_find(const char *name, enum tl_arithmetic arithmetic);

/* A resend policy decides when the retransmission timer of a connection expires, and whether the timer
 * then sends a tail loss probe. The caller keeps one state for each connection. */
struct tl_resend_policy {
	struct tl_algorithm algorithm;
	/* Called just after init: takes over what an earlier connection to the same destination has
	 * learned, with less weight than the new connection's own observations will have (RFC 9040,
	 * temporal sharing). `earlier` is another state of the same policy; its parameters may differ. */
	void (*inherit)(void *state, const void *earlier);
	/* send(): a segment is sent for the first time. timer(): the timer has expired and the sender has
	 * retransmitted. ack(): an ACK of new data arrives. */
	void (*send)(void *state, const struct tl_resend_event *event, struct tl_resend_wait *out);
	void (*timer)(void *state, const struct tl_resend_event *event, struct tl_resend_wait *out);
	void (*ack)(void *state, const struct tl_resend_ack *ack, struct tl_resend_wait *out);
};

const struct tl_resend_policy *tl_resend_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_resend_policy *tl_resend_find(const char *name, enum tl_arithmetic arithmetic);

/* A first-RTO policy chooses the RTO of a connection before its first RTT sample. The caller keeps one
 * state for each destination; all handshakes with that destination report to it. The policy uses integers
 * only. */
struct tl_first_rto_policy {
	struct tl_algorithm algorithm; /* algorithm.arithmetic is TL_FIX */
	/* Takes the RTT of a segment that was not retransmitted. */
	void (*report)(void *place, int64_t rtt_us, int64_t time_us);
	/* Take a handshake whose packets were retransmitted. doubt() is for a handshake of which nothing
	 * else is known. resent() also takes `rtt_us`, the handshake's RTT from timestamps (0: none), and
	 * `rto_us`, its first RTO. */
	void (*doubt)(void *place, int64_t time_us);
	void (*resent)(void *place, int64_t rtt_us, int64_t rto_us, int64_t time_us);
	/* Returns the first RTO in microseconds. `prefix` is the state of the destination's /24 or /48,
	 * or `place` itself if there is none. `hops` is 0 to 255, or -1 if it is not known. `accepts` is
	 * 1 for the end that accepts the connection and 0 for the end that opens it. */
	int64_t (*rto_us)(const void *place, const void *prefix, int32_t hops, uint32_t accepts,
			  int64_t time_us);
};

/* First-RTO policies have one implementation, which is returned for either value of `arithmetic`. */
const struct tl_first_rto_policy *tl_first_rto_at(size_t index, enum tl_arithmetic arithmetic);
const struct tl_first_rto_policy *tl_first_rto_find(const char *name, enum tl_arithmetic arithmetic);

/* The kinds of algorithms, the list of each kind, and the reading of specs. */
enum tl_kind_of {
	TL_KIND_ESTIMATOR,
	TL_KIND_LOSS,
	TL_KIND_STARTUP,
	TL_KIND_RESEND,
	TL_KIND_FIRST_RTO,
	TL_KINDS
};

const struct tl_kind *tl_kind_at(enum tl_kind_of kind, enum tl_arithmetic arithmetic);

/* Reads `spec`, for example "conformal:miss=0.001" (spec.h), and writes the parameters to `params`:
 * TL_PARAMS_BYTES_MAX bytes, aligned for int64_t. Sets in `given` (may be NULL) a bit for each parameter
 * that the spec names. Returns the algorithm; or NULL, with a line in `error` that says what is wrong and
 * what to do. */
const struct tl_algorithm *tl_algorithm_read(enum tl_kind_of kind, enum tl_arithmetic arithmetic,
					     const char *spec, void *params, uint64_t *given, char *error,
					     size_t error_bytes);
/* Size of an `error` buffer that holds any of these lines. */
#define TL_ERROR_BYTES_MAX 512

#ifdef __cplusplus
}
#endif

#endif
