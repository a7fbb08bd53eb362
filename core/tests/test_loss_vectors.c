/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Replays vectors/losses through the classifiers of losses: features and probabilities exact in fixed point,
 * within 1e-12 in double; causes alike. Every registered one must have its file.
 * Usage: test_loss_vectors VECTORS_FOLDER */
#include "loss_check.h"

#define DOUBLE_TOLERANCE 1e-12
#define FIXED_ONE 1073741824.0

static double worst;
static size_t answers;

static void check_close(const char *where, const char *what, double found, double expected)
{
	double error = fabs(found - expected) / fmax(fabs(expected), 1);

	CHECK(error <= DOUBLE_TOLERANCE, "%s: %s: double: %.17g, should be %.17g", where, what, found,
	      expected);
	worst = fmax(worst, error);
	answers++;
}

static void check_features(const char *where, FILE *f, const struct classifier *fix,
			   const struct classifier *f64, const struct tl_loss_moment *at)
{
	double a[TL_LOSS_FEATURE_COUNT], b[TL_LOSS_FEATURE_COUNT], real;
	long long whole;
	char name[64];
	size_t i;

	fix->c->features(fix->state, at, a);
	f64->c->features(f64->state, at, b);
	for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++) {
		if (fscanf(f, "%63[^,],%lld,%lf\n", name, &whole, &real) != 3 ||
		    strcmp(name, tl_loss_feature_at(i)->name) != 0) {
			CHECK(0, "%s: %s is missing", where, tl_loss_feature_at(i)->name);
			return;
		}
		CHECK(a[i] * FIXED_ONE == (double)whole, "%s: %s: fixed: %.0f, should be %lld", where, name,
		      a[i] * FIXED_ONE, whole);
		check_close(where, name, b[i], real);
	}
}

static void check_decisions(const char *where, FILE *f, const struct tl_loss_decision *fix,
			    const struct tl_loss_decision *f64)
{
	long long whole;
	int cause, cause_f64;
	double real;

	if (fscanf(f, "%d,%lld,%d,%lf\n", &cause, &whole, &cause_f64, &real) != 4) {
		CHECK(0, "%s: a decision is missing", where);
		return;
	}
	CHECK((int)fix->cause == cause && fix->congestion * FIXED_ONE == (double)whole,
	      "%s: fixed: cause %d, %.0f, should be %d, %lld", where, (int)fix->cause,
	      fix->congestion * FIXED_ONE, cause, whole);
	CHECK((int)f64->cause == cause_f64, "%s: double: cause %d, should be %d", where, (int)f64->cause,
	      cause_f64);
	check_close(where, "probability", f64->congestion, real);
}

/* A line of vectors/losses; f: the expected answers, of features or decisions. */
static void play(const char *where, char *line, FILE *f, int of_features, struct classifier *both,
		 struct tl_loss_decision *said)
{
	long long v[6] = { 0 };
	char kind[8];
	struct tl_loss_ack ack;
	struct tl_loss_moment at;
	int fields = sscanf(line, "%7[^,],%lld,%lld,%lld,%lld,%lld,%lld", kind, &v[0], &v[1], &v[2], &v[3],
			    &v[4], &v[5]);
	size_t i;

	ack.time_us = at.time_us = v[0];
	ack.rtt_us = v[1];
	ack.delivered_segments = (uint32_t)v[2];
	ack.duplicate = (uint32_t)v[3];
	at.flight_segments = (uint32_t)v[1];
	at.cwnd_segments = (uint32_t)v[2];
	at.ssthresh_segments = (uint32_t)v[3];
	at.truth = strcmp(kind, "decide") == 0 ? (uint32_t)v[4] : TL_LOSS_UNKNOWN;
	CHECK(fields >= 5, "%s: not an event: %s", where, line);
	if (strcmp(kind, "decide") == 0 && of_features)
		check_features(where, f, &both[0], &both[1], &at);
	for (i = 0; i < 2; i++) {
		if (strcmp(kind, "ack") == 0)
			both[i].c->observe(both[i].state, &ack);
		else if (strcmp(kind, "decide") == 0)
			said[i] = classifier_decide(&both[i], &at);
		else
			both[i].c->change(both[i].state, &at, (enum tl_loss_change)v[4],
					  v[5] < 2 ? (enum tl_loss_cause)v[5] : said[i].cause);
	}
	if (strcmp(kind, "decide") == 0 && !of_features)
		check_decisions(where, f, &said[0], &said[1]);
}

/* "case,series,key=value,..." and its answers */
static void replay_case(const char *folder, const char *where, char *line, FILE *f, const char *name,
			int of_features)
{
	struct classifier both[2];
	struct tl_loss_decision said[2];
	char *word = strtok(line + strlen("case,"), ",\n"), event[256];
	FILE *series = word ? open_vectors(folder, "losses", word) : NULL;
	size_t i;

	memset(said, 0, sizeof(said));
	classifier_defaults(&both[0], tl_loss_find(name, TL_FIX));
	classifier_defaults(&both[1], tl_loss_find(name, TL_F64));
	while ((word = strtok(NULL, ",\n")) != NULL) {
		char *equals = strchr(word, '=');
		if (!equals)
			break;
		*equals = 0;
		for (i = 0; i < 2; i++)
			CHECK(classifier_set(&both[i], word, strtod(equals + 1, NULL)) == 0, "%s: %s", where,
			      word);
	}
	for (i = 0; i < 2; i++)
		classifier_start(&both[i]);
	while (series && fgets(event, sizeof(event), series))
		play(where, event, f, of_features, both, said);
	for (i = 0; i < 2; i++)
		classifier_stop(&both[i]);
	if (series)
		fclose(series);
}

static void replay(const char *folder, const char *name, const char *of)
{
	char file[64], line[256], where[400];
	const char *slash = strchr(of, '/');
	FILE *f;

	/* "a/b" is in a--b.csv */
	snprintf(file, sizeof(file), "%.*s%s%s", slash ? (int)(slash - of) : (int)strlen(of), of,
		 slash ? "--" : "", slash ? slash + 1 : "");
	f = open_vectors(folder, "expected/loss", file);
	worst = 0;
	answers = 0;
	while (f && fgets(line, sizeof(line), f)) {
		snprintf(where, sizeof(where), "%s: %.*s", of, (int)strcspn(line, "\n"), line);
		if (strncmp(line, "case,", 5) != 0) {
			CHECK(0, "%s: not a case", where);
			break;
		}
		replay_case(folder, where, line, f, name, strcmp(of, "features") == 0);
	}
	if (f)
		fclose(f);
	CHECK(answers >= 50, "%s: only %zu answers", of, answers);
	printf("%-16s %5zu answers, double within %.2g\n", of, answers, worst);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 2)
		return 2;
	replay(argv[1], "congestion", "features");
	for (i = 0; i < tl_loss_count(); i++)
		replay(argv[1], tl_loss_at(i, TL_FIX)->name, tl_loss_at(i, TL_FIX)->name);
	return finish();
}
