/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds a line of text without a C library, and finds the known names that resemble a mistyped one. */
#ifndef TCPLEARN_SPEC_LINE_H
#define TCPLEARN_SPEC_LINE_H

#include "deps.h"

/* The most characters of a user's text that an error line quotes. */
#define TL_LINE_QUOTE_MAX 40
/* The longest name that is compared with a mistyped one. */
#define TL_NEAREST_LENGTH_MAX 47
#define TL_NEAREST_COUNT 3

/* A buffer for a line of text. The text is always terminated by 0; what does not fit is dropped. */
struct tl_line {
	char *at;
	uint32_t left;
};

TL_FN void tl_line_begin(struct tl_line *line, char *text, uint32_t bytes)
{
	line->at = text;
	line->left = bytes;
	if (bytes > 0)
		*text = 0;
}

TL_FN void tl_line_add_char(struct tl_line *line, char c)
{
	if (line->left > 1) {
		*line->at++ = c;
		*line->at = 0;
		line->left--;
	}
}

TL_FN void tl_line_add(struct tl_line *line, const char *text)
{
	for (; *text; text++)
		tl_line_add_char(line, *text);
}

/* Quotes the first TL_LINE_QUOTE_MAX characters of a user's text, with '?' for all but printable ASCII. */
TL_FN void tl_line_quote(struct tl_line *line, const char *text, uint32_t length)
{
	uint32_t i;

	for (i = 0; i < length && i < TL_LINE_QUOTE_MAX; i++)
		tl_line_add_char(line, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
	if (length > TL_LINE_QUOTE_MAX)
		tl_line_add(line, "...");
}

/* Adds the sign of x, and its magnitude divided by `unit` and rounded down. Returns the rest of the division. */
TL_FN uint64_t tl_line_add_quotient(struct tl_line *line, int64_t x, uint64_t unit)
{
	const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x, whole = magnitude / unit;
	uint64_t digit = 1;

	if (x < 0)
		tl_line_add_char(line, '-');
	while (whole / digit >= 10)
		digit *= 10;
	for (; digit > 0; digit /= 10)
		tl_line_add_char(line, (char)('0' + whole / digit % 10));
	return magnitude % unit;
}

/* Adds a whole number. */
TL_FN void tl_line_add_whole(struct tl_line *line, int64_t x)
{
	tl_line_add_quotient(line, x, 1);
}

/* Adds the decimal number nano / 10^9, without trailing zeros. */
TL_FN void tl_line_add_nano(struct tl_line *line, int64_t nano)
{
	uint64_t part = tl_line_add_quotient(line, nano, 1000000000), unit;

	if (part > 0)
		tl_line_add_char(line, '.');
	for (unit = 100000000; part > 0; unit /= 10) {
		tl_line_add_char(line, (char)('0' + part / unit));
		part %= unit;
	}
}

TL_FN uint8_t tl_lower(char c)
{
	return (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Returns the Levenshtein distance of two texts: the number of insertions, deletions and replacements.
 * Case is ignored. Each text has at most TL_NEAREST_LENGTH_MAX characters. */
TL_FN uint32_t tl_edits(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
	uint8_t row[TL_NEAREST_LENGTH_MAX + 1];
	uint32_t i, k;

	for (k = 0; k <= b_length; k++)
		row[k] = (uint8_t)k;
	for (i = 0; i < a_length; i++) {
		uint8_t corner = row[0];

		row[0] = (uint8_t)(i + 1);
		for (k = 0; k < b_length; k++) {
			const uint8_t replaced = (uint8_t)(corner + (tl_lower(a[i]) != tl_lower(b[k])));
			const uint8_t less = row[k] < row[k + 1] ? row[k] : row[k + 1];

			corner = row[k + 1];
			row[k + 1] = (uint8_t)(less + 1 < replaced ? less + 1 : replaced);
		}
	}
	return row[b_length];
}

/* The known names that are nearest to a typed name, at most TL_NEAREST_COUNT of them. */
struct tl_nearest {
	const char *typed;
	uint32_t length, count;
	const char *name[TL_NEAREST_COUNT]; /* terminated by 0 or by '|' */
	uint32_t distance[TL_NEAREST_COUNT];
};

TL_FN uint32_t tl_name_length(const char *name)
{
	uint32_t length = 0;

	while (name[length] != 0 && name[length] != '|')
		length++;
	return length;
}

TL_FN void tl_nearest_begin(struct tl_nearest *n, const char *typed, uint32_t length)
{
	n->typed = typed;
	n->length = length;
	n->count = 0;
}

/* Returns the distance of `name` from the typed name; 1 if the typed name is a prefix of `name`. */
TL_FN uint32_t tl_nearest_distance(const struct tl_nearest *n, const char *name)
{
	const uint32_t length = tl_name_length(name);
	uint32_t same = 0;

	while (same < n->length && same < length && tl_lower(name[same]) == tl_lower(n->typed[same]))
		same++;
	if (same == n->length && same >= 2)
		return 1;
	if (length > TL_NEAREST_LENGTH_MAX || n->length > TL_NEAREST_LENGTH_MAX)
		return ~(uint32_t)0;
	return tl_edits(name, length, n->typed, n->length);
}

TL_FN void tl_nearest_offer(struct tl_nearest *n, const char *name)
{
	const uint32_t distance = tl_nearest_distance(n, name);
	uint32_t i, k;

	if (distance > 1 + n->length / 3 || distance >= n->length)
		return;
	for (i = 0; i < n->count && n->distance[i] <= distance; i++)
		;
	if (i == TL_NEAREST_COUNT)
		return;
	n->count += n->count < TL_NEAREST_COUNT;
	for (k = n->count - 1; k > i; k--) {
		n->name[k] = n->name[k - 1];
		n->distance[k] = n->distance[k - 1];
	}
	n->name[i] = name;
	n->distance[i] = distance;
}

/* Adds "did you mean a, b or c?". Returns 0 if no name is near. */
TL_FN uint32_t tl_nearest_add(struct tl_line *line, const struct tl_nearest *n)
{
	uint32_t i, k;

	if (n->count == 0)
		return 0;
	tl_line_add(line, "did you mean ");
	for (i = 0; i < n->count; i++) {
		tl_line_add(line, i == 0 ? "" : i + 1 == n->count ? " or " : ", ");
		for (k = 0; k < tl_name_length(n->name[i]); k++)
			tl_line_add_char(line, n->name[i][k]);
	}
	tl_line_add(line, "?");
	return 1;
}

#endif
