/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What Rust needs beside the core's own functions: sizes that are checked when this is compiled, and functions in
 * place of the pointers to functions in the core's structs. */
#include <tcplearn/retry.h>
#include <tcplearn/tcplearn.h>

#define SHIM_RETRY_BYTES 6280
#define SHIM_PARAMS_BYTES 512

_Static_assert(sizeof(struct tl_retry) <= SHIM_RETRY_BYTES, "src/lib.rs: RETRY_BYTES");
_Static_assert(_Alignof(struct tl_retry) <= 8, "src/lib.rs: tl_retry is aligned to 8 bytes");
_Static_assert(TL_PARAMS_BYTES_MAX <= SHIM_PARAMS_BYTES, "src/lib.rs: PARAMS_BYTES");
_Static_assert(sizeof(struct tl_sample) == 40, "src/lib.rs: tl_sample");
_Static_assert(sizeof(struct tl_retry_settings) == 48, "src/lib.rs: tl_retry_settings");

void tl_shim_retry_counts(const struct tl_retry *timer, struct tl_retry_counts *out)
{
	*out = timer->counts;
}

const struct tl_estimator *tl_shim_estimator_read(const char *spec, int32_t is_fixed, void *params, char *error,
						  size_t error_bytes)
{
	/* an algorithm is the first member of its estimator */
	return (const struct tl_estimator *)tl_algorithm_read(TL_KIND_ESTIMATOR, is_fixed ? TL_FIX : TL_F64, spec,
							      params, NULL, error, error_bytes);
}

uint32_t tl_shim_estimator_bytes(const struct tl_estimator *estimator, const void *params)
{
	return estimator->algorithm.state_bytes(params);
}

void tl_shim_estimator_init(const struct tl_estimator *estimator, void *state, const void *params)
{
	estimator->algorithm.init(state, params);
}

void tl_shim_estimator_update(const struct tl_estimator *estimator, void *state, const struct tl_sample *sample)
{
	estimator->update(state, sample);
}

void tl_shim_estimator_query(const struct tl_estimator *estimator, const void *state, struct tl_prediction *out)
{
	estimator->query(state, out);
}

const char *tl_shim_estimator_name(size_t index)
{
	const struct tl_estimator *found = tl_estimator_at(index, TL_FIX);

	return found ? found->algorithm.name : NULL;
}
