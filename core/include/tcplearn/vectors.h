/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads golden vectors and checks an algorithm against them, line by line. Golden vectors are inputs with
 * expected outputs; a port of an algorithm that gives the expected outputs computes what this library
 * computes. The library and the kernel module both use this reader. It allocates nothing. The lines are:
 *
 *   series                     begins a new series of events; each following line is one event:
 *                              WORD,NUMBER,...
 *   repeat,ROUNDS,PERIOD,EVERY   as first line of a series: the series is played ROUNDS times, each round
 *                              PERIOD microseconds after the one before; only every EVERYth event has an
 *                              expected answer
 *   case NAME[:key=value,...]  the named algorithm plays the series; each following line is an expected
 *                              answer: the integers of fixed point, then, if they differ, the numbers of
 *                              double precision
 *   end                        ends the case
 *
 * The player of each kind of algorithm (struct tl_vector_player) defines the event words and the meaning
 * of the answers. */
#ifndef TCPLEARN_VECTORS_H
#define TCPLEARN_VECTORS_H

#include "spec.h"

#ifndef TL_NO_F64
#include <stdlib.h>
#endif

/* The largest count of numbers in an event, and in an answer. */
#define TL_VECTOR_NUMBERS 8
#define TL_VECTOR_ANSWERS 40
#define TL_VECTOR_BEGIN (~(uint32_t)0)

struct tl_vector_event {
	uint32_t word; /* index in the player's `words`, or TL_VECTOR_BEGIN: before the first event */
	uint32_t count;
	int64_t number[TL_VECTOR_NUMBERS];
	int64_t later_us; /* time to add to the events of this repetition of the series, in microseconds */
	uint32_t asked;
};

struct tl_vector_answer {
	uint32_t count;
	int64_t whole[TL_VECTOR_ANSWERS]; /* in the units of fixed point */
#ifndef TL_NO_F64
	double real[TL_VECTOR_ANSWERS]; /* of double precision */
#endif
};

/* Runs one kind of algorithm for the comparison. The embedding program provides it. */
struct tl_vector_player {
	const struct tl_kind *kind;
	const char *words; /* event words, for example "ack|decide|change" */
	/* Makes a new state with these parameters. Returns 0, or -1 if there is not enough memory. */
	int (*begin)(void *host, const struct tl_algorithm *algorithm, const void *params);
	/* Plays one event. Returns 1 if it has an answer, 0 if it has none, -1 if it is not valid. */
	int (*play)(void *host, const struct tl_algorithm *algorithm, const struct tl_vector_event *event,
		    struct tl_vector_answer *answer);
	void *host;
};

enum tl_vector_mode { TL_VECTOR_NOTHING, TL_VECTOR_SERIES, TL_VECTOR_CASE };

struct tl_vectors {
	const struct tl_vector_player *player;
	struct tl_vector_event *events; /* memory of the embedding program */
	uint32_t event_max, event_count;
	enum tl_arithmetic arithmetic;
	int64_t rounds, period_us, every;
	enum tl_vector_mode mode;
	struct tl_spec spec;
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	uint64_t at; /* number of events played in this case, over all repetitions of the series */
	uint32_t begun;
	uint32_t cases, answers, wrong, bad_lines;
	char problem[320]; /* the first problem, or "" */
};

TL_FN void tl_vectors_init(struct tl_vectors *v, const struct tl_vector_player *player,
			   enum tl_arithmetic arithmetic, struct tl_vector_event *events, uint32_t event_max)
{
	v->player = player;
	v->arithmetic = arithmetic;
	v->events = events;
	v->event_max = event_max;
	v->event_count = 0;
	v->mode = TL_VECTOR_NOTHING;
	v->cases = v->answers = v->wrong = v->bad_lines = 0;
	v->problem[0] = 0;
}

/* Removes an integer and the comma after it from `rest`. Returns 0 if there is no integer. */
TL_FN uint32_t tl_vectors_number(struct tl_word *rest, int64_t *out)
{
	struct tl_word w = tl_word_until(rest, ',');
	const uint32_t negative = w.length > 0 && w.at[0] == '-';
	uint64_t m = 0;
	uint32_t i;

	for (i = negative; i < w.length && w.at[i] >= '0' && w.at[i] <= '9'; i++) {
		if (m > (uint64_t)922337203685477580) /* one more digit would overflow */
			return 0;
		m = m * 10 + (uint64_t)(w.at[i] - '0');
	}
	*out = negative ? (int64_t)(0 - m) : (int64_t)m;
	return i == w.length && i > negative && m <= ((uint64_t)1 << 63) - !negative;
}

/* Reads a list of integers. Returns their number, or ~0 if there is other text. */
TL_FN uint32_t tl_vectors_numbers(struct tl_word rest, int64_t *out, uint32_t most)
{
	uint32_t n = 0;

	while (rest.length > 0)
		if (n == most || !tl_vectors_number(&rest, &out[n++]))
			return ~(uint32_t)0;
	return n;
}

TL_FN_APART int tl_vectors_event(struct tl_vectors *v, struct tl_word line)
{
	struct tl_vector_event *e = &v->events[v->event_count];
	const struct tl_word word = tl_word_until(&line, ',');
	const int32_t known = tl_choice_index(v->player->words, word);
	int64_t repeat[3];

	if (v->event_count == 0 && tl_word_is(word, "repeat")) {
		if (tl_vectors_numbers(line, repeat, 3) != 3 || repeat[0] < 1 || repeat[2] < 1)
			return -1;
		v->rounds = repeat[0];
		v->period_us = repeat[1];
		v->every = repeat[2];
		return 0;
	}
	if (known < 0 || v->event_count == v->event_max)
		return -1;
	e->word = (uint32_t)known;
	e->count = tl_vectors_numbers(line, e->number, TL_VECTOR_NUMBERS);
	v->event_count += e->count != ~(uint32_t)0;
	return e->count == ~(uint32_t)0 ? -1 : 0;
}

TL_FN int tl_vectors_case(struct tl_vectors *v, struct tl_word line)
{
	const uint32_t room = v->problem[0]
				      ? 0
				      : (uint32_t)sizeof(v->problem); /* only the first problem is kept */

	v->mode = TL_VECTOR_NOTHING;
	if (v->event_count == 0 ||
	    tl_spec_read(v->player->kind, line.at, line.length, &v->spec, v->params, v->problem, room))
		return -1;
	v->mode = TL_VECTOR_CASE;
	v->begun = 0;
	v->at = 0;
	v->cases++;
	return 0;
}

/* Plays events until the next answer. Returns 1, 0 if no events are left, -1 if one cannot be played. */
TL_FN_APART int tl_vectors_play(struct tl_vectors *v, struct tl_vector_answer *answer)
{
	const struct tl_vector_player *p = v->player;
	const struct tl_algorithm *a = v->spec.algorithm;
	const uint64_t all = (uint64_t)v->event_count * (uint64_t)v->rounds;
	struct tl_vector_event e;
	int said = 0;

	if (!v->begun) {
		v->begun = 1;
		e.word = TL_VECTOR_BEGIN;
		e.count = 0;
		e.later_us = 0;
		e.asked = 1;
		if (p->begin(p->host, a, v->params))
			return -1;
		said = p->play(p->host, a, &e, answer);
	}
	while (said == 0 && v->at < all) {
		e = v->events[v->at % v->event_count];
		e.later_us = (int64_t)(v->at / v->event_count) * v->period_us;
		e.asked = ++v->at % (uint64_t)v->every == 0;
		said = p->play(p->host, a, &e, answer);
	}
	return said;
}

/* Records a wrong answer, and describes the first one in a line such as "mlp, fixed point, event 3 of
 * case 1: number 1 is 5, should be 7". */
TL_FN_APART void tl_vectors_differs(struct tl_vectors *v, uint32_t i, int64_t found, int64_t expected)
{
	struct tl_line line;

	v->wrong++;
	if (v->problem[0])
		return;
	tl_line_begin(&line, v->problem, (uint32_t)sizeof(v->problem));
	tl_line_add(&line, v->spec.algorithm->name);
	tl_line_add(&line, v->arithmetic == TL_FIX ? ", fixed point, event " : ", double precision, event ");
	tl_line_add_whole(&line, (int64_t)v->at);
	tl_line_add(&line, " of case ");
	tl_line_add_whole(&line, (int64_t)v->cases);
	tl_line_add(&line, ": number ");
	tl_line_add_whole(&line, (int64_t)i);
	tl_line_add(&line, v->arithmetic == TL_FIX ? " is " : " is, cut to a whole number, ");
	tl_line_add_whole(&line, found);
	tl_line_add(&line, ", should be ");
	tl_line_add_whole(&line, expected);
}

#ifndef TL_NO_F64
/* Tolerance for double precision: relative, or absolute for values below 1. */
#define TL_VECTOR_TOLERANCE 1e-12

/* Compares an answer in double precision. The expected numbers are in `rest`; if `rest` is empty they
 * equal `whole`, the expected integers of fixed point. Returns 0, or -1 if the number of answers differs. */
TL_FN int tl_vectors_compare_real(struct tl_vectors *v, const struct tl_vector_answer *a,
				  const int64_t *whole, struct tl_word rest)
{
	const uint32_t same = rest.length == 0;
	uint32_t i;

	for (i = 0; i < a->count; i++) {
		struct tl_word w = tl_word_until(&rest, ',');
		char text[40];
		uint32_t k;
		double expected, size, off;

		for (k = 0; k < w.length && k < sizeof(text) - 1; k++)
			text[k] = w.at[k];
		text[k] = 0;
		if (!same && k == 0)
			return -1;
		expected = same ? (double)whole[i] : strtod(text, 0);
		size = expected < 0 ? -expected : expected;
		off = a->real[i] - expected;
		off = off < 0 ? -off : off;
		if (!(off <= TL_VECTOR_TOLERANCE * (size > 1 ? size : 1)))
			tl_vectors_differs(v, i, (int64_t)a->real[i], (int64_t)expected);
	}
	return rest.length ? -1 : 0;
}
#endif

TL_FN_APART int tl_vectors_answer(struct tl_vectors *v, struct tl_word rest)
{
	struct tl_vector_answer a;
	int64_t expected[TL_VECTOR_ANSWERS];
	uint32_t i;

	if (tl_vectors_play(v, &a) != 1)
		return -1;
	for (i = 0; i < a.count; i++)
		if (!tl_vectors_number(&rest, &expected[i]))
			return -1;
	v->answers++;
#ifndef TL_NO_F64
	if (v->arithmetic == TL_F64)
		return tl_vectors_compare_real(v, &a, expected, rest);
#endif
	for (i = 0; i < a.count; i++)
		if (a.whole[i] != expected[i])
			tl_vectors_differs(v, i, a.whole[i], expected[i]);
	return 0;
}

TL_FN_APART int tl_vectors_line_of_mode(struct tl_vectors *v, struct tl_word line)
{
	struct tl_vector_answer left;
	struct tl_word rest = line;
	const struct tl_word first = tl_word_until(&rest, ' ');
	int said;

	if (tl_word_is(first, "series")) {
		v->mode = TL_VECTOR_SERIES;
		v->event_count = 0;
		v->rounds = v->every = 1;
		v->period_us = 0;
		return 0;
	}
	if (tl_word_is(first, "case"))
		return tl_vectors_case(v, rest);
	if (tl_word_is(first, "end") && v->mode == TL_VECTOR_CASE) {
		said = tl_vectors_play(v, &left);
		v->mode = TL_VECTOR_NOTHING;
		return said ? -1 : 0;
	}
	if (v->mode == TL_VECTOR_SERIES)
		return tl_vectors_event(v, line);
	return v->mode == TL_VECTOR_CASE ? tl_vectors_answer(v, line) : -1;
}

/* Reads a line of `length` characters, without its line end. Returns 0, or -1 if the line is not
 * understood; such lines are counted. */
TL_FN int tl_vectors_line(struct tl_vectors *v, const char *text, uint32_t length)
{
	const struct tl_word line = { text, length };
	struct tl_line said;

	if (tl_vectors_line_of_mode(v, tl_word_trimmed(line)) == 0)
		return 0;
	v->bad_lines++;
	if (!v->problem[0]) {
		tl_line_begin(&said, v->problem, (uint32_t)sizeof(v->problem));
		tl_line_add(&said, "not understood: ");
		tl_line_quote(&said, text, length);
	}
	return -1;
}

#endif
