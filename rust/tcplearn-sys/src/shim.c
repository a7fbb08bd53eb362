/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What Rust needs beside the core's own functions: sizes that are checked when this is compiled, and functions in
 * place of the pointers to functions in the core's structs. */
#include <tcplearn/retry.h>
#include <tcplearn/tcplearn.h>

#define SHIM_RETRY_BYTES 5904
#define SHIM_PARAMS_BYTES 512

_Static_assert(sizeof(struct tl_retry) <= SHIM_RETRY_BYTES, "src/lib.rs: RETRY_BYTES");
_Static_assert(_Alignof(struct tl_retry) <= 8, "src/lib.rs: tl_retry is aligned to 8 bytes");
_Static_assert(TL_PARAMS_BYTES_MAX <= SHIM_PARAMS_BYTES, "src/lib.rs: PARAMS_BYTES");
_Static_assert(sizeof(struct tl_sample) == 40, "src/lib.rs: tl_sample");
_Static_assert(sizeof(struct tl_resend_event) == 16, "src/lib.rs: tl_resend_event");
_Static_assert(sizeof(struct tl_resend_ack) == 24, "src/lib.rs: tl_resend_ack");
_Static_assert(sizeof(struct tl_resend_wait) == 16, "src/lib.rs: tl_resend_wait");
_Static_assert(TL_KIND_ESTIMATOR == 0 && TL_KIND_RESEND == 3, "src/lib.rs: TL_KIND");
_Static_assert(TL_ERROR_BYTES_MAX <= 512, "src/lib.rs: ERROR_BYTES");
_Static_assert(sizeof(struct tl_retry_settings) == 48, "src/lib.rs: tl_retry_settings");

void tl_shim_retry_counts(const struct tl_retry *timer, struct tl_retry_counts *out)
{
	*out = timer->counts;
}

/* Returns NULL with a line in `error` if the spec is refused. `kind` is one of enum tl_kind_of. */
const struct tl_algorithm *tl_shim_read(int32_t kind, int32_t is_fixed, const char *spec, void *params, char *error,
					size_t error_bytes)
{
	return tl_algorithm_read((enum tl_kind_of)kind, is_fixed ? TL_FIX : TL_F64, spec, params, NULL, error,
				 error_bytes);
}

uint32_t tl_shim_state_bytes(const struct tl_algorithm *algorithm, const void *params)
{
	return algorithm->state_bytes(params);
}

void tl_shim_init(const struct tl_algorithm *algorithm, void *state, const void *params)
{
	algorithm->init(state, params);
}

const char *tl_shim_name(int32_t kind, uint32_t index)
{
	const struct tl_kind *of = tl_kind_at((enum tl_kind_of)kind, TL_FIX);

	return index < of->count ? of->at(index)->name : NULL;
}

/* An algorithm is the first member of its estimator, and of its resend policy. */
static const struct tl_estimator *estimator_of(const struct tl_algorithm *algorithm)
{
	return (const struct tl_estimator *)algorithm;
}

static const struct tl_resend_policy *policy_of(const struct tl_algorithm *algorithm)
{
	return (const struct tl_resend_policy *)algorithm;
}

void tl_shim_estimator_update(const struct tl_algorithm *estimator, void *state, const struct tl_sample *sample)
{
	estimator_of(estimator)->update(state, sample);
}

void tl_shim_estimator_query(const struct tl_algorithm *estimator, const void *state, struct tl_prediction *out)
{
	estimator_of(estimator)->query(state, out);
}

/* Returns 0, or -1 if `earlier` is a state of another policy or arithmetic. The presets of a policy share its states. */
int32_t tl_shim_resend_inherit(const struct tl_algorithm *policy, void *state, const struct tl_algorithm *from,
			       const void *earlier)
{
	if (policy->params != from->params || policy->arithmetic != from->arithmetic)
		return -1;
	policy_of(policy)->inherit(state, earlier);
	return 0;
}

void tl_shim_resend_send(const struct tl_algorithm *policy, void *state, const struct tl_resend_event *event,
			 struct tl_resend_wait *out)
{
	policy_of(policy)->send(state, event, out);
}

void tl_shim_resend_timer(const struct tl_algorithm *policy, void *state, const struct tl_resend_event *event,
			  struct tl_resend_wait *out)
{
	policy_of(policy)->timer(state, event, out);
}

void tl_shim_resend_ack(const struct tl_algorithm *policy, void *state, const struct tl_resend_ack *ack,
			struct tl_resend_wait *out)
{
	policy_of(policy)->ack(state, ack, out);
}
