/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks every algorithm of every kind: it is found by name, parameters accept values within their bounds and
 * refuse others, a spec sets the same parameters as separate calls, and an invalid spec gives an error of one
 * line. Usage: test_algorithms VECTORS_FOLDER */
#include "check.h"
#include "tcplearn/spec.h"

static const struct tl_algorithm *read_spec(enum tl_kind_of kind, enum tl_arithmetic arithmetic,
					    const char *spec, int64_t *params, char *error)
{
	return tl_algorithm_read(kind, arithmetic, spec, params, NULL, error, TL_ERROR_BYTES_MAX);
}

static void check_value(const struct tl_algorithm *a, int64_t *params, uint32_t i, double value)
{
	const struct tl_param *p = &a->params[i];
	const double low = tl_value_of_nano(p->low_nano), high = tl_value_of_nano(p->high_nano);

	CHECK(value >= low && value <= high, "%s: default of %s is %g", a->name, p->key, value);
	CHECK(a->set(params, i, NAN) == -1 && a->set(params, i, INFINITY) == -1 &&
		      a->set(params, i, -INFINITY) == -1 &&
		      a->set(params, i, nextafter(low, -INFINITY)) == -1 &&
		      a->set(params, i, nextafter(high, INFINITY)) == -1,
	      "%s: %s takes what is out of range", a->name, p->key);
	CHECK(a->get(params, i) == value, "%s: %s changed by a refused value", a->name, p->key);
	CHECK(a->set(params, i, low) == 0 && a->set(params, i, high) == 0, "%s: %s refuses its bounds",
	      a->name, p->key);
	CHECK(fabs(a->get(params, i) - high) <= 1e-9 * (high > 1 ? high : 1), "%s: %s at its bound", a->name,
	      p->key);
	CHECK(a->set(params, i, value) == 0, "%s: %s refuses its default", a->name, p->key);
}

static int says_what_it_takes(const char *error)
{
	return strstr(error, "it takes ") || strstr(error, "; see: tcplearn algorithms ");
}

/* Checks the bounds of a parameter in specs, as a user writes them. */
static void check_spec_of_value(enum tl_kind_of kind, const struct tl_algorithm *a, uint32_t i)
{
	const struct tl_param *p = &a->params[i];
	char spec[256], error[TL_ERROR_BYTES_MAX], number[64], first[64];
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	struct tl_line line;

	tl_line_begin(&line, number, sizeof(number));
	tl_line_add_nano(&line, p->high_nano);
	snprintf(spec, sizeof(spec), "%s:%s=%s", a->name, p->key, number);
	CHECK(read_spec(kind, a->arithmetic, spec, params, error) == a &&
		      fabs(a->get(params, i) - tl_value_of_nano(p->high_nano)) <=
			      1e-9 * fabs(a->get(params, i)),
	      "%s: %s", spec, error);
	snprintf(spec, sizeof(spec), "%s:%s=%s1", a->name, p->key, number);
	CHECK(read_spec(kind, a->arithmetic, spec, params, error) == NULL && says_what_it_takes(error),
	      "%s: %s", spec, error);
	if (p->type != TL_PARAM_RATIO) {
		snprintf(spec, sizeof(spec), "%s:%s=0.5", a->name, p->key);
		CHECK(read_spec(kind, a->arithmetic, spec, params, error) == NULL &&
			      says_what_it_takes(error),
		      "%s: %s", spec, error);
	}
	if (p->type == TL_PARAM_CHOICE) {
		snprintf(first, sizeof(first), "%.*s", (int)strcspn(p->choices, "|"), p->choices);
		snprintf(spec, sizeof(spec), " %s : %s = %s ", a->name, p->key, first);
		CHECK(read_spec(kind, a->arithmetic, spec, params, error) == a && a->get(params, i) == 0,
		      "%s: %s", spec, error);
	}
}

static void check_algorithm(enum tl_kind_of k, const struct tl_algorithm *a, const struct tl_algorithm *other)
{
	char error[TL_ERROR_BYTES_MAX];
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	uint32_t i;

	CHECK(a->params_bytes <= TL_PARAMS_BYTES_MAX && a->param_count > 0 && a->param_count <= 64,
	      "%s: parameters", a->name);
	CHECK(strcmp(a->name, other->name) == 0 && a->param_count == other->param_count &&
		      a->learned == other->learned,
	      "%s: the arithmetics differ", a->name);
	CHECK(a->summary[0] != 0 && strlen(a->summary) <= 75, "%s: its summary", a->name);
	CHECK(read_spec(k, a->arithmetic, a->name, params, error) == a, "%s: not found by name: %s", a->name,
	      error);
	for (i = 0; i < a->param_count; i++) {
		a->defaults(params);
		check_value(a, params, i, a->get(params, i));
		check_spec_of_value(k, a, i);
	}
	CHECK(a->set(params, a->param_count, 1) == -1, "%s: sets past the end", a->name);
	a->defaults(params);
	CHECK(a->state_bytes(params) > 0 && a->state_bytes(params) % 4 == 0, "%s: its state", a->name);
}

/* Returns the kind with the key at the beginning of a line "KIND<tab>SPEC<tab>MESSAGE", or -1 if there is
 * none. */
static int kind_of(const char *key)
{
	int k = 0;

	while (k < TL_KINDS && strcmp(tl_kind_at((enum tl_kind_of)k, TL_FIX)->key, key) != 0)
		k++;
	return k < TL_KINDS ? k : -1;
}

/* Checks that both arithmetics give the message `expected` for a spec; an empty message means that they
 * accept it. */
static void check_spec(enum tl_kind_of kind, const char *spec, const char *expected)
{
	char said[TL_ERROR_BYTES_MAX];
	int64_t params[TL_PARAMS_BYTES_MAX / 8];
	int k;

	for (k = 0; k < 2; k++) {
		const int taken = read_spec(kind, (enum tl_arithmetic)k, spec, params, said) != NULL;

		CHECK(taken == (*expected == 0) && (taken || strcmp(said, expected) == 0),
		      "%s: says '%s', not '%s'", spec, taken ? "" : said, expected);
	}
}

/* Checks every line "KIND<tab>SPEC<tab>MESSAGE" of vectors/specs.tsv. Every other program that reads specs is
 * tested with the same lines. */
static void check_specs(const char *vectors)
{
	char path[512], line[2048];
	uint32_t k, lines[TL_KINDS] = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), "%s/specs.tsv", vectors);
	f = fopen(path, "r");
	CHECK(f != NULL, "%s: missing", path);
	while (f && fgets(line, sizeof(line), f)) {
		char *spec = strchr(line, '\t'), *expected = spec ? strchr(spec + 1, '\t') : NULL;
		int kind;

		CHECK(expected != NULL, "%s: has not three columns: %s", path, line);
		if (!expected)
			continue;
		*spec++ = *expected++ = 0;
		expected[strcspn(expected, "\n")] = 0;
		kind = kind_of(line);
		CHECK(kind >= 0, "%s: there is no kind '%s'", path, line);
		if (kind < 0)
			continue;
		lines[kind]++;
		check_spec((enum tl_kind_of)kind, spec, expected);
	}
	if (f)
		fclose(f);
	for (k = 0; k < TL_KINDS; k++)
		CHECK(lines[k] >= 15, "%s: only %u lines of %s", path, lines[k],
		      tl_kind_at((enum tl_kind_of)k, TL_FIX)->key);
}

/* Numbers as text, and the same numbers times 10^9. */
static const struct {
	const char *text;
	int64_t nano;
} numbers[] = {
	{ "1", 1000000000 },
	{ "-0.5", -500000000 },
	{ "1e-3", 1000000 },
	{ ".25E+1", 2500000000 },
	{ "0.3333333333333333", 333333333 },
	{ "0.66666666666666666666666666666666", 666666667 },
	{ "5e-10", 1 },
	{ "4.99e-10", 0 },
	{ "5e-11", 0 },
	{ "-15e-10", -2 },
	{ "1000000000000000000000e-21", 1000000000 },
	{ "0e999999999999", 0 },
};

static void check_numbers(void)
{
	static const char *const refused[] = { "",    ".",  "-",   "1e",  "1e+",  "1.2.3",
					       "0x1", "1 ", "nan", "inf", "1e99", "9223372037" };
	int64_t nano = 7;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct tl_word w = { numbers[i].text, (uint32_t)strlen(numbers[i].text) };

		CHECK(tl_number_read(w, &nano) <= TL_ROUNDED && nano == numbers[i].nano, "%s: %lld", w.at,
		      (long long)nano);
	}
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct tl_word w = { refused[i], (uint32_t)strlen(refused[i]) };

		CHECK(tl_number_read(w, &nano) > TL_ROUNDED, "'%s' is taken", w.at);
	}
}

int main(int argc, char **argv)
{
	uint32_t k, i, count = 0;

	if (argc != 2)
		return 2;

	for (k = 0; k < TL_KINDS; k++) {
		const struct tl_kind *fix = tl_kind_at((enum tl_kind_of)k, TL_FIX),
				     *f64 = tl_kind_at((enum tl_kind_of)k, TL_F64);

		CHECK(fix->count == f64->count && fix->count > 1 && strcmp(fix->key, f64->key) == 0,
		      "kind %u", k);
		for (i = 0; i < fix->count; i++, count++) {
			check_algorithm((enum tl_kind_of)k, fix->at(i), f64->at(i));
			check_algorithm((enum tl_kind_of)k, f64->at(i), fix->at(i));
		}
	}
	check_numbers();
	check_specs(argv[1]);
	printf("%u algorithms\n", count);
	return finish();
}
