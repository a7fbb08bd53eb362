/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads a spec, the text by which users choose an algorithm: NAME[/PRESET][:key=value,...]. The format
 * and the error messages are the same in the library, Python, ns-3 and the kernel module.
 *
 * A value is a decimal number ("0.001", "1e-3"), rounded to nine digits after the point, or the name of a
 * choice. An error is one line that says what is wrong and what to do. This code allocates nothing and
 * needs no C library. */
#ifndef TCPLEARN_SPEC_H
#define TCPLEARN_SPEC_H

#include "algorithm.h"
#include "spec_line.h"

/* A spec after reading: the algorithm, and in `given` the bit of each parameter index that the spec sets. */
struct tl_spec {
	const struct tl_algorithm *algorithm;
	uint64_t given;
};

/* A part of a text: `length` characters from `at`, without a terminating 0. */
struct tl_word {
	const char *at;
	uint32_t length;
};

TL_FN int tl_word_is(struct tl_word w, const char *name)
{
	uint32_t i;

	for (i = 0; i < w.length; i++)
		if (name[i] == 0 || name[i] != w.at[i])
			return 0;
	return name[i] == 0;
}

TL_FN struct tl_word tl_word_trimmed(struct tl_word w)
{
	while (w.length > 0 && (*w.at == ' ' || *w.at == '\t' || *w.at == '\n')) {
		w.at++;
		w.length--;
	}
	while (w.length > 0 &&
	       (w.at[w.length - 1] == ' ' || w.at[w.length - 1] == '\t' || w.at[w.length - 1] == '\n'))
		w.length--;
	return w;
}

/* Removes the text up to the next `end`, and that character, from `rest`. Returns the text without `end`. */
TL_FN struct tl_word tl_word_until(struct tl_word *rest, char end)
{
	struct tl_word w = { rest->at, 0 };

	while (w.length < rest->length && w.at[w.length] != end)
		w.length++;
	rest->at += w.length + (w.length < rest->length);
	rest->length -= w.length + (w.length < rest->length);
	return w;
}

enum tl_number { TL_NUMBER, TL_ROUNDED, TL_NOT_A_NUMBER, TL_TOO_LARGE };

/* Reads a decimal number and stores it times 10^9, rounded to an integer, halves away from zero. Returns
 * TL_ROUNDED if rounding changed the value. */
TL_FN enum tl_number tl_number_read(struct tl_word w, int64_t *nano)
{
	const uint64_t most = (uint64_t)9223372036854775807;
	const uint32_t negative = w.length > 0 && w.at[0] == '-';
	uint32_t i = w.length > 0 && (w.at[0] == '-' || w.at[0] == '+'), digits = 0, point = 0, rounded = 0,
		 up = 0;
	int32_t scale = 9; /* the result is m * 10^scale */
	uint64_t m = 0;

	for (; i < w.length; i++) {
		if (w.at[i] == '.' && !point) {
			point = 1;
			continue;
		}
		if (w.at[i] < '0' || w.at[i] > '9')
			break;
		digits++;
		if (m <= most / 10 - 1) {
			m = m * 10 + (uint64_t)(w.at[i] - '0');
			scale -= (int32_t)point;
		} else if (point) {
			rounded |= w.at[i] != '0';
		} else {
			scale++;
			rounded |= w.at[i] != '0';
		}
	}
	if (digits == 0)
		return TL_NOT_A_NUMBER;
	if (i < w.length && (w.at[i] == 'e' || w.at[i] == 'E')) {
		const uint32_t minus = i + 1 < w.length && w.at[i + 1] == '-';
		int32_t exponent = 0;

		i += 1 + (uint32_t)(i + 1 < w.length && (w.at[i + 1] == '-' || w.at[i + 1] == '+'));
		if (i == w.length)
			return TL_NOT_A_NUMBER;
		for (; i < w.length && w.at[i] >= '0' && w.at[i] <= '9'; i++)
			exponent = exponent > 99999 ? exponent : exponent * 10 + (w.at[i] - '0');
		scale += minus ? -exponent : exponent;
	}
	if (i < w.length)
		return TL_NOT_A_NUMBER;
	for (; scale < 0 && m > 0; scale++) {
		up = m % 10 >= 5;
		rounded |= m % 10 != 0;
		m /= 10;
	}
	m += up && scale >= 0;
	for (; scale > 0 && m > 0; scale--) {
		if (m > most / 10)
			return TL_TOO_LARGE;
		m *= 10;
	}
	*nano = negative ? -(int64_t)m : (int64_t)m;
	return rounded ? TL_ROUNDED : TL_NUMBER;
}

/* Returns the position of a name in a list "name|name", or -1. */
TL_FN int32_t tl_choice_index(const char *choices, struct tl_word w)
{
	const char *at = choices;
	int32_t index = 0;

	while (*at) {
		uint32_t n = 0;

		while (at[n] != 0 && at[n] != '|')
			n++;
		if (n == w.length) {
			uint32_t i = 0;

			while (i < n && at[i] == w.at[i])
				i++;
			if (i == n)
				return index;
		}
		at += n + (at[n] == '|');
		index++;
	}
	return -1;
}

/* The longest list of choices, in characters, that an error line shows in full. For a longer list the
 * line names the nearest choices, or says where they are listed. */
#define TL_SPEC_CHOICES_MAX 160

/* Adds "did you mean ...?" with the choices nearest to `typed`. Returns 0 if no choice is near. */
TL_FN uint32_t tl_line_add_near_choices(struct tl_line *line, const char *choices, struct tl_word typed)
{
	struct tl_nearest nearest;

	tl_nearest_begin(&nearest, typed.at, typed.length);
	for (; *choices; choices += *choices == '|') {
		tl_nearest_offer(&nearest, choices);
		choices += tl_name_length(choices);
	}
	return tl_nearest_add(line, &nearest);
}

TL_FN void tl_line_add_choices(struct tl_line *line, const struct tl_kind *kind, const struct tl_algorithm *a,
			       const char *choices, struct tl_word typed)
{
	uint32_t length = 0;

	while (choices[length])
		length++;
	if (length > TL_SPEC_CHOICES_MAX) {
		if (tl_line_add_near_choices(line, choices, typed))
			return;
		tl_line_add(line, "no such choice; see: tcplearn algorithms ");
		tl_line_add(line, kind->key);
		tl_line_add_char(line, ' ');
		tl_line_add(line, a->name);
		return;
	}
	tl_line_add(line, "it takes ");
	for (; *choices; choices++) {
		if (*choices == '|')
			tl_line_add(line, choices[1 + tl_name_length(choices + 1)] ? ", " : " or ");
		else
			tl_line_add_char(line, *choices);
	}
}

/* Adds "it takes ...", followed by the values that the parameter allows. */
TL_FN void tl_line_add_allowed(struct tl_line *line, const struct tl_kind *kind, const struct tl_algorithm *a,
			       const struct tl_param *p, struct tl_word typed)
{
	if (p->type == TL_PARAM_CHOICE) {
		tl_line_add_choices(line, kind, a, p->choices, typed);
		return;
	}
	tl_line_add(line,
		    p->type == TL_PARAM_RATIO ? "it takes a number from " : "it takes a whole number from ");
	tl_line_add_nano(line, p->low_nano);
	tl_line_add(line, " to ");
	tl_line_add_nano(line, p->high_nano);
}

/* Sets one parameter from text. Returns 0, or -1 with an error message in `line`. */
TL_FN int tl_spec_value(const struct tl_kind *kind, const struct tl_algorithm *a, void *params,
			uint32_t index, struct tl_word w, struct tl_line *line)
{
	const struct tl_param *p = &a->params[index];
	const int32_t choice = p->type == TL_PARAM_CHOICE ? tl_choice_index(p->choices, w) : -1;
	int64_t nano = (int64_t)choice * 1000000000;
	const enum tl_number number = choice >= 0 ? TL_NUMBER : tl_number_read(w, &nano);

	if ((p->type == TL_PARAM_RATIO ? number <= TL_ROUNDED
				       : number == TL_NUMBER && nano % 1000000000 == 0) &&
	    nano >= p->low_nano && nano <= p->high_nano && a->set(params, index, tl_value_of_nano(nano)) == 0)
		return 0;
	tl_line_add(line, a->name);
	tl_line_add(line, ": ");
	tl_line_add(line, p->key);
	tl_line_add(line, "=");
	tl_line_quote(line, w.at, w.length);
	tl_line_add(line, ": ");
	tl_line_add_allowed(line, kind, a, p, w);
	return -1;
}

/* Reads one "key=value" and sets the parameter. Returns 0, or -1 with an error message in `line`. */
TL_FN int tl_spec_pair(const struct tl_kind *kind, struct tl_spec *spec, void *params, struct tl_word pair,
		       struct tl_line *line)
{
	const struct tl_algorithm *a = spec->algorithm;
	struct tl_word value = pair, key = tl_word_trimmed(tl_word_until(&value, '='));
	struct tl_nearest nearest;
	uint32_t i, equals = 0;

	for (i = 0; i < pair.length; i++)
		equals |= pair.at[i] == '=';
	for (i = 0; i < a->param_count && !tl_word_is(key, a->params[i].key); i++)
		;
	if (equals && i < a->param_count && !(spec->given >> i & 1)) {
		spec->given |= (uint64_t)1 << i;
		return tl_spec_value(kind, a, params, i, tl_word_trimmed(value), line);
	}
	tl_line_add(line, kind->name);
	tl_line_add(line, " '");
	tl_line_add(line, a->name);
	tl_line_add(line, "'");
	if (!equals) {
		tl_line_add(line, ": '");
		tl_line_quote(line, pair.at, pair.length);
		tl_line_add(line, "' is not key=value");
		return -1;
	}
	if (i < a->param_count) {
		tl_line_add(line, ": ");
		tl_line_add(line, a->params[i].key);
		tl_line_add(line, " is given twice");
		return -1;
	}
	tl_line_add(line, " has no parameter '");
	tl_line_quote(line, key.at, key.length);
	tl_line_add(line, "'; ");
	tl_nearest_begin(&nearest, key.at, key.length);
	for (i = 0; i < a->param_count; i++)
		tl_nearest_offer(&nearest, a->params[i].key);
	if (tl_nearest_add(line, &nearest))
		return -1;
	tl_line_add(line, a->param_count ? "it has " : "it has none");
	for (i = 0; i < a->param_count; i++) {
		tl_line_add(line, i == 0 ? "" : i + 1 == a->param_count ? " and " : ", ");
		tl_line_add(line, a->params[i].key);
	}
	return -1;
}

/* Reads a spec of `length` characters. Stores the algorithm in `spec`, and the parameters (the
 * algorithm's defaults, then the values of the spec) in `params`, which has at least TL_PARAMS_BYTES_MAX
 * bytes and is aligned for int64_t. Returns 0, or -1 with an error message in `error`. */
TL_FN_APART int tl_spec_read(const struct tl_kind *kind, const char *text, uint32_t length,
			     struct tl_spec *spec, void *params, char *error, uint32_t error_bytes)
{
	struct tl_word rest = { text, length }, name;
	struct tl_line line;
	struct tl_nearest nearest;
	uint32_t i, before, more;

	tl_line_begin(&line, error, error_bytes);
	rest = tl_word_trimmed(rest);
	before = rest.length;
	name = tl_word_until(&rest, ':');
	more = name.length < before; /* the spec contains a colon, so at least one pair key=value follows */
	name = tl_word_trimmed(name);
	spec->algorithm = 0;
	spec->given = 0;
	for (i = 0; i < kind->count; i++)
		if (tl_word_is(name, kind->at(i)->name))
			spec->algorithm = kind->at(i);
	if (!spec->algorithm) {
		tl_line_add(&line, "no ");
		tl_line_add(&line, kind->name);
		tl_line_add(&line, " '");
		tl_line_quote(&line, name.at, name.length);
		tl_line_add(&line, "'; ");
		tl_nearest_begin(&nearest, name.at, name.length);
		for (i = 0; i < kind->count; i++)
			tl_nearest_offer(&nearest, kind->at(i)->name);
		if (!tl_nearest_add(&line, &nearest)) {
			tl_line_add(&line, "see: tcplearn algorithms ");
			tl_line_add(&line, kind->key);
		}
		return -1;
	}
	spec->algorithm->defaults(params);
	while (more) {
		struct tl_word pair;

		before = rest.length;
		pair = tl_word_until(&rest, ',');
		more = pair.length < before; /* there is a comma, so another pair key=value follows */
		if (tl_spec_pair(kind, spec, params, pair, &line))
			return -1;
	}
	return 0;
}

#endif
