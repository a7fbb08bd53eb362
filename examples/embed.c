/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Predicts round-trip times with libtcplearn. Reads RTTs in milliseconds, one per line, from standard
 * input; with the option -d it uses a few built-in RTTs instead. Build:
 *   cc embed.c $(pkg-config --cflags --libs tcplearn) -o embed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tcplearn/tcplearn.h>

struct watcher {
	const struct tl_estimator *estimator;
	void *state;
};

/* Makes an estimator by name. The caller owns the memory: the parameters are on the stack, and the
 * estimator says how many bytes its state needs. */
static int watch(struct watcher *w, const char *name)
{
	int64_t params[TL_PARAMS_BYTES_MAX / sizeof(int64_t)];

	w->estimator = tl_estimator_find(name, TL_F64);
	if (!w->estimator)
		return -1;
	w->estimator->algorithm.defaults(params);
	w->state = malloc(w->estimator->algorithm.state_bytes(params));
	if (!w->state)
		return -1;
	w->estimator->algorithm.init(w->state, params);
	return 0;
}

static void show(const struct watcher *w)
{
	struct tl_prediction next;

	w->estimator->query(w->state, &next);
	printf("  %s: next %.2f ms, RTO %.2f ms", w->estimator->algorithm.name, next.rtt_us / 1e3,
	       next.rto_us / 1e3);
}

int main(int argc, char **argv)
{
	static const double built_in[] = { 40.2, 41.0, 39.8, 60.5, 61.2, 60.8, 40.1 };
	struct watcher jacobson, experts;
	int64_t now_us = 0;
	double rtt_ms;
	size_t k;

	if (watch(&jacobson, "jacobson") || watch(&experts, "experts/fitted")) {
		fprintf(stderr, "embed: no such estimator, or out of memory\n");
		return 1;
	}
	for (k = 0;; k++) {
		struct tl_sample sample;

		if (argc > 1 && strcmp(argv[1], "-d") == 0) {
			if (k == sizeof(built_in) / sizeof(built_in[0]))
				break;
			rtt_ms = built_in[k];
		} else if (scanf("%lf", &rtt_ms) != 1) {
			break;
		}
		if (!(rtt_ms >= 0 && rtt_ms < 4e6))
			continue;
		memset(&sample, 0, sizeof(sample)); /* 0 means not known */
		sample.rtt_us = (int64_t)(rtt_ms * 1e3 + 0.5);
		sample.sent_us = now_us;
		sample.time_us = now_us += sample.rtt_us;
		jacobson.estimator->update(jacobson.state, &sample);
		experts.estimator->update(experts.state, &sample);
		printf("%.2f ms", rtt_ms);
		show(&jacobson);
		show(&experts);
		printf("\n");
	}
	free(jacobson.state);
	free(experts.state);
	return 0;
}
