/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replays vectors/ through the library, for every kind of algorithm: fixed point must be exact, double
 * precision within 1e-12. Every registered algorithm must have its file. Usage: test_vectors VECTORS_FOLDER
 * [ALGORITHM] */
#include "vector_players.h"

#define EVENTS_MAX 8192
#define LINE_BYTES 2048

static struct tl_vector_event events[2][EVENTS_MAX];
static struct tl_vectors readers[2]; /* by arithmetic */
static struct memory memories[2];

static void pass(const char *line)
{
	size_t k;

	for (k = 0; k < 2; k++)
		tl_vectors_line(&readers[k], line, (uint32_t)strcspn(line, "\n"));
}

/* "a/b" has the file a--b.csv */
static FILE *opened(const char *vectors, const char *kind, const char *folder, const char *name)
{
	char path[512];
	const int base = (int)strcspn(name, "/");
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s/%.*s%s%s.csv", vectors, kind, folder, base, name,
		 name[base] ? "--" : "", name[base] ? name + base + 1 : "");
	f = fopen(path, "r");
	CHECK(f != NULL, "%s: missing: every series and all that is registered need their files", path);
	return f;
}

/* "case,SERIES,key=value,..." */
static void begin_case(const char *vectors, const char *kind, const char *algorithm, char *line)
{
	char text[LINE_BYTES], *series = line + strlen("case,"), *rest;
	FILE *f;

	line[strcspn(line, "\n")] = 0;
	rest = strchr(series, ',');
	if (rest)
		*rest++ = 0;
	f = opened(vectors, kind, "series", series);
	pass("series");
	while (f && fgets(text, sizeof(text), f))
		pass(text);
	if (f)
		fclose(f);
	snprintf(text, sizeof(text), "case %s%s%s", algorithm, rest ? ":" : "", rest ? rest : "");
	pass(text);
}

static void replay(const char *vectors, const struct kind_of_vectors *of, const char *name)
{
	static char line[LINE_BYTES];
	const char *kind = tl_kind_at(of->kind, TL_FIX)->key;
	FILE *f = opened(vectors, kind, of->folder, name);
	struct tl_vector_player players[2];
	size_t k;

	for (k = 0; k < 2; k++) {
		const struct tl_vector_player player = { tl_kind_at(of->kind, (enum tl_arithmetic)k),
							 of->words, memory_begin, of->play, &memories[k] };

		players[k] = player;
		tl_vectors_init(&readers[k], &players[k], (enum tl_arithmetic)k, events[k], EVENTS_MAX);
	}
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "case,", 5) != 0) {
			pass(line);
			continue;
		}
		if (readers[0].mode == TL_VECTOR_CASE)
			pass("end");
		begin_case(vectors, kind, name, line);
	}
	if (f) {
		pass("end");
		fclose(f);
	}
	for (k = 0; k < 2; k++) {
		const struct tl_vectors *v = &readers[k];

		memory_free(&memories[k]);
		CHECK(v->wrong == 0 && v->bad_lines == 0, "%s %s: %u wrong, %u lines not understood: %s",
		      kind, name, v->wrong, v->bad_lines, v->problem);
		CHECK(v->answers >= of->least_answers, "%s %s: only %u answers", kind, name, v->answers);
	}
	printf("%-10s %-26s %4u cases %6u answers\n", kind, name, readers[0].cases, readers[0].answers);
}

int main(int argc, char **argv)
{
	size_t i, k;

	if (argc != 2 && argc != 3)
		return 2;
	for (k = 0; k < sizeof(kinds_of_vectors) / sizeof(kinds_of_vectors[0]); k++) {
		const struct kind_of_vectors *of = &kinds_of_vectors[k];
		const struct tl_kind *kind = tl_kind_at(of->kind, TL_FIX);

		for (i = 0; i < kind->count; i++)
			if (strcmp(of->folder, "features") == 0
				    ? i == 0
				    : argc == 2 || is_a(kind->at((uint32_t)i), argv[2]))
				replay(argv[1], of, kind->at((uint32_t)i)->name);
	}
	return finish();
}
