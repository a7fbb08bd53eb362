/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Nanoseconds an update, for every estimator in both models, and for experts against a bare loop of as
 * many exponentials and multiply-adds. Usage: bench_core */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tcplearn/f64.h"
#include "tcplearn/tcplearn.h"

#define ROUNDS 200000
#define N 100

static double now_ns(void)
{
	struct timespec t;

	timespec_get(&t, TIME_UTC);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double update_ns(const struct tl_estimator *e)
{
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	double best = 1e18;
	void *state;
	int round, k;

	e->defaults(params);
	state = malloc(e->state_bytes(params));
	if (!state)
		abort();
	e->init(state, params);
	for (round = 0; round < 5; round++) {
		double start = now_ns();
		for (k = 0; k < ROUNDS / 5; k++) {
			struct tl_sample in = { 0 };
			in.time_us = k * 1000;
			in.rtt_us = 3000000 + k * 7919 % 50000;
			in.sent_us = in.time_us - in.rtt_us;
			in.flight_segments = 20;
			e->update(state, &in);
		}
		start = (now_ns() - start) / (ROUNDS / 5);
		best = start < best ? start : best;
	}
	free(state);
	return best;
}

/* w = w e^-x + c: N exponentials, N multiply-adds. */
static double bare_ns(double *w, const double *x)
{
	double best = 1e18;
	int round, k, i;

	for (round = 0; round < 5; round++) {
		double start = now_ns();
		for (k = 0; k < ROUNDS / 5; k++) {
			for (i = 0; i < N; i++)
				w[i] = w[i] * tl_f64_exp(-x[i]) + 0.01;
			__asm__ volatile("" : : "r"(w), "r"(x) : "memory");
		}
		start = (now_ns() - start) / (ROUNDS / 5);
		best = start < best ? start : best;
	}
	return best;
}

int main(void)
{
	double w[N], x[N], bare;
	size_t i;

	for (i = 0; i < N; i++) {
		w[i] = 1.0 / N;
		x[i] = (double)i / 7;
	}
	bare = bare_ns(w, x);
	printf("%-26s %8.0f ns\n", "bare loop, N = 100", bare);
	for (i = 0; i < tl_estimator_count(); i++) {
		double f64 = update_ns(tl_estimator_at(i, TL_F64)), fix = update_ns(tl_estimator_at(i, TL_FIX));

		printf("%-26s %8.0f ns double %8.0f ns fixed", tl_estimator_at(i, TL_F64)->name, f64, fix);
		if (f64 > bare / 2)
			printf("  (%.1f bare loops)", f64 / bare);
		printf("\n");
	}
	return 0;
}
