/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replays vectors/ through the registry: fixed point exact, double within 1e-12. Every registered
 * estimator must have its file. Usage: test_vectors VECTORS_FOLDER [ESTIMATOR] */
#include "check.h"

#define ROWS_MAX 512
#define DOUBLE_TOLERANCE 1e-12

struct series {
	size_t rows, repeat, every;
	int64_t period_us;
	struct tl_sample row[ROWS_MAX];
};

static double worst;
static size_t answers;

static int read_series(const char *folder, const char *name, struct series *s)
{
	char line[256];
	FILE *f = open_vectors(folder, "series", name);
	long long time_us, sent_us, rtt_us, delay_us, period_us;
	unsigned flight, ttl, hops;

	memset(s, 0, sizeof(*s));
	if (!f)
		return -1;
	if (fscanf(f, "repeat,%zu,period_us,%lld,every,%zu\n", &s->repeat, &period_us, &s->every) != 3 ||
	    !fgets(line, sizeof(line), f)) { /* the column names */
		fclose(f);
		return -1;
	}
	s->period_us = period_us;
	while (s->rows < ROWS_MAX && fscanf(f, "%lld,%lld,%lld,%lld,%u,%u,%u\n", &time_us, &sent_us, &rtt_us,
					    &delay_us, &flight, &ttl, &hops) == 7) {
		struct tl_sample *r = &s->row[s->rows++];
		r->time_us = time_us;
		r->sent_us = sent_us;
		r->rtt_us = rtt_us;
		r->ack_delay_us = delay_us;
		r->flight_segments = flight;
		r->ttl = (uint8_t)ttl;
		r->hops = (uint8_t)hops;
	}
	fclose(f);
	return 0;
}

/* "case,series,key=value,..." */
static int start_case(char *line, const char *folder, struct series *s, struct subject *fix,
		      struct subject *f64)
{
	char *word = strtok(line + strlen("case,"), ",\n");

	if (!word || read_series(folder, word, s))
		return -1;
	while ((word = strtok(NULL, ",\n")) != NULL) {
		char *equals = strchr(word, '=');
		if (!equals)
			return -1;
		*equals = 0;
		if (subject_set(fix, word, strtod(equals + 1, NULL)) ||
		    subject_set(f64, word, strtod(equals + 1, NULL)))
			return -1;
	}
	subject_start(fix);
	subject_start(f64);
	return 0;
}

static void compare(const char *where, size_t k, FILE *f, const struct subject *fix,
		    const struct subject *f64)
{
	struct tl_prediction p = subject_query(fix), q = subject_query(f64);
	long long rtt, rto;
	double rtt_us, rto_us, error;

	if (fscanf(f, "%lld,%lld,%lf,%lf\n", &rtt, &rto, &rtt_us, &rto_us) != 4) {
		CHECK(0, "%s: answer %zu is missing", where, k);
		return;
	}
	CHECK((long long)(p.rtt_us * 256) == rtt && (long long)(p.rto_us * 256) == rto,
	      "%s: answer %zu, fixed: rtt %.0f, rto %.0f, should be %lld, %lld", where, k, p.rtt_us * 256,
	      p.rto_us * 256, rtt, rto);
	error = fmax(fabs(q.rtt_us - rtt_us) / fmax(fabs(rtt_us), 1),
		     fabs(q.rto_us - rto_us) / fmax(fabs(rto_us), 1));
	CHECK(error <= DOUBLE_TOLERANCE,
	      "%s: answer %zu, double: rtt %.17g, rto %.17g, should be %.17g, %.17g (%g)", where, k, q.rtt_us,
	      q.rto_us, rtt_us, rto_us, error);
	worst = fmax(worst, error);
	answers++;
}

static void replay_case(const char *where, FILE *f, const struct series *s, struct subject *fix,
			struct subject *f64)
{
	size_t round, k, seen = 0;

	compare(where, 0, f, fix, f64);
	for (round = 0; round < s->repeat; round++) {
		for (k = 0; k < s->rows; k++) {
			struct tl_sample in = s->row[k];
			in.time_us += (int64_t)round * s->period_us;
			in.sent_us += (int64_t)round * s->period_us;
			fix->e->update(fix->state, &in);
			f64->e->update(f64->state, &in);
			if (++seen % s->every == 0)
				compare(where, seen, f, fix, f64);
		}
	}
}

static void replay(const char *folder, const char *kind, size_t index)
{
	static struct series s;
	struct subject fix, f64;
	char name[64], line[512], where[640];
	char *slash;
	FILE *f;

	snprintf(name, sizeof(name), "%s", tl_estimator_at(index, TL_FIX)->name);
	while ((slash = strchr(name, '/')) != NULL) { /* "a/b" is in a--b.csv */
		memmove(slash + 1, slash, strlen(slash) + 1);
		slash[0] = slash[1] = '-';
	}
	f = open_vectors(folder, kind, name);
	if (!f)
		return;
	worst = 0;
	answers = 0;
	while (fgets(line, sizeof(line), f)) {
		snprintf(where, sizeof(where), "%s: %.*s", name, (int)strcspn(line, "\n"), line);
		subject_defaults(&fix, tl_estimator_at(index, TL_FIX));
		subject_defaults(&f64, tl_estimator_at(index, TL_F64));
		if (strncmp(line, "case,", 5) != 0 || start_case(line, folder, &s, &fix, &f64)) {
			CHECK(0, "%s: not a case", where);
			break;
		}
		replay_case(where, f, &s, &fix, &f64);
		subject_stop(&fix);
		subject_stop(&f64);
	}
	fclose(f);
	CHECK(answers > 1000, "%s: only %zu answers", name, answers);
	printf("%-26s %6zu answers, double within %.2g\n", tl_estimator_at(index, TL_FIX)->name, answers,
	       worst);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 2 && argc != 3)
		return 2;
	for (i = 0; i < tl_estimator_count(); i++)
		if (argc == 2 || is_a(tl_estimator_at(i, TL_FIX), argv[2]))
			replay(argv[1], "expected/estimators", i);
	return finish();
}
