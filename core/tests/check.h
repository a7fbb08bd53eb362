/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the tests of the core share: a macro that checks a condition and counts failures, and algorithms whose
 * memory has guard bytes behind it. */
#ifndef TCPLEARN_TESTS_CHECK_H
#define TCPLEARN_TESTS_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tcplearn/tcplearn.h"

static unsigned failures;

/* CHECK(condition, "format", ...): if the condition is false, prints the message. The test continues, but
 * ends after 20 failures. */
#define CHECK(ok, ...) \
	do { \
		if (!(ok)) { \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr); \
			if (++failures > 20) \
				exit(1); \
		} \
	} while (0)

/* Returns the next number of SplitMix64. The same seed gives the same numbers on every machine. */
static inline uint64_t random_next(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline int64_t random_below(uint64_t *seed, int64_t n)
{
	return (int64_t)(random_next(seed) % (uint64_t)n);
}

#define COUNT(kind) tl_kind_at(TL_KIND_##kind, TL_FIX)->count

static inline double param_low(const struct tl_param *p)
{
	return tl_value_of_nano(p->low_nano);
}

static inline double param_high(const struct tl_param *p)
{
	return tl_value_of_nano(p->high_nano);
}

/* Returns whether the algorithm is `name`, such as "jacobson", or one of its presets, "jacobson/...". */
static inline int is_a(const struct tl_algorithm *a, const char *name)
{
	size_t n = strlen(name);

	return strncmp(a->name, name, n) == 0 && (a->name[n] == 0 || a->name[n] == '/');
}

#define CANARY 0xa5
#define FENCE 64

/* Returns the index of the parameter `key`; param_count if the algorithm has no such parameter. */
static inline uint32_t param_place(const struct tl_algorithm *a, const char *key)
{
	uint32_t i = 0;

	while (i < a->param_count && strcmp(a->params[i].key, key) != 0)
		i++;
	return i;
}

/* fenced() allocates `bytes` bytes with guard bytes behind them. fenced_free() checks the guard bytes and
 * frees the memory. */
static inline unsigned char *fenced(size_t bytes)
{
	unsigned char *memory = malloc(bytes + FENCE);

	if (!memory)
		abort();
	memset(memory, CANARY, bytes + FENCE);
	return memory;
}

static inline void fenced_free(const char *name, unsigned char *memory, size_t bytes)
{
	size_t i;

	for (i = 0; i < FENCE; i++)
		CHECK(memory[bytes + i] == CANARY, "%s: wrote past its state", name);
	free(memory);
}

/* Defines a struct for an algorithm of a kind, with its parameters and its state in guarded memory, and
 * functions for it: KIND_defaults(); KIND_set() and KIND_get() for the parameter with a key, which return -1
 * and NAN if the key is not known (as in a damaged vector file); KIND_start() and KIND_stop(). */
#define FENCED(kind, type, of) \
	struct kind { \
		const struct type *of; \
		int64_t params[TL_PARAMS_BYTES_MAX / 8]; \
		unsigned char *state; \
		size_t bytes; \
	}; \
	static inline void kind##_defaults(struct kind *s, const struct type *algorithm) \
	{ \
		memset(s, 0, sizeof(*s)); \
		s->of = algorithm; \
		algorithm->algorithm.defaults(s->params); \
	} \
	static inline int kind##_set(struct kind *s, const char *key, double value) \
	{ \
		const struct tl_algorithm *a = &s->of->algorithm; \
		return a->set(s->params, param_place(a, key), value); \
	} \
	static inline double kind##_get(const struct kind *s, const char *key) \
	{ \
		const struct tl_algorithm *a = &s->of->algorithm; \
		const uint32_t i = param_place(a, key); \
		return i < a->param_count ? a->get(s->params, i) : NAN; \
	} \
	static inline void kind##_start(struct kind *s) \
	{ \
		s->bytes = s->of->algorithm.state_bytes(s->params); \
		s->state = fenced(s->bytes); \
		s->of->algorithm.init(s->state, s->params); \
	} \
	static inline void kind##_stop(struct kind *s) \
	{ \
		fenced_free(s->of->algorithm.name, s->state, s->bytes); \
		s->state = NULL; \
	}

FENCED(subject, tl_estimator, e)

static inline struct tl_prediction subject_query(const struct subject *s)
{
	struct tl_prediction p;

	s->e->query(s->state, &p);
	return p;
}

static inline struct tl_sample sample_of(int64_t time_us, int64_t rtt_us, uint32_t flight)
{
	struct tl_sample in;

	memset(&in, 0, sizeof(in));
	in.time_us = time_us;
	in.sent_us = time_us - rtt_us;
	in.rtt_us = rtt_us;
	in.flight_segments = flight;
	return in;
}

static inline int finish(void)
{
	if (failures)
		fprintf(stderr, "%u checks failed\n", failures);
	return failures != 0;
}

#endif
