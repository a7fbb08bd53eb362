/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replays vectors/resends through the resend policies, in both arithmetics, to the microsecond. Every registered one
 * must have its file. Usage: test_resend_vectors VECTORS_FOLDER */
#include "resend_check.h"

static struct tl_resend_wait play(struct resender *s, const char *line)
{
	unsigned long long out = 1, answers = 0;
	long long time_us = 0, rtt_us = 0;
	const char *values = strchr(line, ',');
	const struct tl_resend_wait nothing = { 0, 0 };

	if (strncmp(line, "next", 4) == 0) {
		resender_next(s);
		return nothing;
	}
	if (strncmp(line, "ack,", 4) == 0) {
		CHECK(sscanf(values, ",%lld,%lld,%llu,%llu", &time_us, &rtt_us, &out, &answers) == 4,
		      "not an event: %s", line);
		return resender_ack(s, time_us, rtt_us, (uint32_t)out, (uint32_t)answers);
	}
	CHECK(values && sscanf(values, ",%lld,%llu", &time_us, &out) == 2, "not an event: %s", line);
	return strncmp(line, "send,", 5) == 0 ? resender_send(s, time_us, (uint32_t)out)
					      : resender_timer(s, time_us, (uint32_t)out);
}

/* "case,series,key=value,..." and its answers */
static size_t replay_case(const char *folder, const char *where, char *line, FILE *f, const char *name)
{
	struct resender both[2];
	char *word = strtok(line + strlen("case,"), ",\n"), event[256], answer[128];
	FILE *series = word ? open_vectors(folder, "resends", word) : NULL;
	size_t answers = 0, i;

	resender_defaults(&both[0], tl_resend_find(name, TL_FIX));
	resender_defaults(&both[1], tl_resend_find(name, TL_F64));
	while ((word = strtok(NULL, ",\n")) != NULL && strchr(word, '=')) {
		char *equals = strchr(word, '=');

		*equals = 0;
		for (i = 0; i < 2; i++)
			CHECK(resender_set(&both[i], word, strtod(equals + 1, NULL)) == 0, "%s: %s", where,
			      word);
	}
	for (i = 0; i < 2; i++)
		resender_start(&both[i]);
	while (series && fgets(event, sizeof(event), series) && fgets(answer, sizeof(answer), f)) {
		const struct tl_resend_wait fix = play(&both[0], event), f64 = play(&both[1], event);
		long long whole = -1, real = -1;
		unsigned probe = 2;

		if (sscanf(answer, "%lld,%u,%lld", &whole, &probe, &real) == 2)
			real = whole;
		CHECK(fix.wait_us == whole && fix.probe == probe, "%s: %zu: fixed: %lld,%u, should be %s",
		      where, answers, (long long)fix.wait_us, fix.probe, answer);
		CHECK(f64.wait_us == real && f64.probe == probe, "%s: %zu: double: %lld,%u, should be %s",
		      where, answers, (long long)f64.wait_us, f64.probe, answer);
		answers++;
	}
	for (i = 0; i < 2; i++)
		resender_stop(&both[i]);
	if (series)
		fclose(series);
	return answers;
}

static void replay(const char *folder, const char *name)
{
	char file[64], line[256], where[400];
	const char *slash = strchr(name, '/');
	size_t answers = 0;
	FILE *f;

	/* "a/b" is in a--b.csv */
	snprintf(file, sizeof(file), "%.*s%s%s", slash ? (int)(slash - name) : (int)strlen(name), name,
		 slash ? "--" : "", slash ? slash + 1 : "");
	f = open_vectors(folder, "expected/resend", file);
	while (f && fgets(line, sizeof(line), f)) {
		snprintf(where, sizeof(where), "%s: %.*s", name, (int)strcspn(line, "\n"), line);
		if (strncmp(line, "case,", 5) != 0) {
			CHECK(0, "%s: not a case", where);
			break;
		}
		answers += replay_case(folder, where, line, f, name);
	}
	if (f)
		fclose(f);
	CHECK(answers >= 1000, "%s: only %zu answers", name, answers);
	printf("%-16s %6zu answers\n", name, answers);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 2)
		return 2;
	for (i = 0; i < tl_resend_count(); i++)
		replay(argv[1], tl_resend_at(i, TL_FIX)->name);
	return finish();
}
