/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Startup policies: the golden vectors in vectors/expected/startup, what holds for every registered one, and a page
 * that names it. Usage: test_startup REPOSITORY */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tcplearn/tcplearn.h"

#define WORDS 64

struct policy {
	const struct tl_startup_policy *p;
	int64_t state[WORDS], params[WORDS];
};

static void begin(struct policy *p, const struct tl_startup_policy *of)
{
	p->p = of;
	p->p->defaults(p->params);
	CHECK(p->p->state_bytes(p->params) <= sizeof(p->state), "%s: a state of %zu bytes", of->name,
	      p->p->state_bytes(p->params));
	p->p->init(p->state, p->params);
}

static void change(struct policy *p, char *pair)
{
	char *value = strchr(pair, '=');
	size_t i = 0;

	*value++ = 0;
	while (i < p->p->param_count && strcmp(p->p->params[i].key, pair) != 0)
		i++;
	CHECK(p->p->set(p->params, i, atof(value)) == 0, "%s: %s=%s refused", p->p->name, pair, value);
}

static FILE *opened(const char *root, const char *folder, const char *name, const char *end)
{
	char path[512], *slash;
	FILE *f;
	int at = snprintf(path, sizeof(path), "%s/%s/", root, folder);

	snprintf(path + at, sizeof(path) - (size_t)at, "%s%s", name, end);
	slash = strchr(path + at, '/');
	if (slash) { /* a preset: a/b is in a--b */
		memmove(slash + 2, slash + 1, strlen(slash));
		slash[0] = slash[1] = '-';
	}
	f = fopen(path, "r");
	CHECK(f != NULL, "%s: missing: every registered policy needs it", path);
	return f;
}

static int is_handshake(const char *line, struct tl_handshake *h, struct tl_startup_report *r)
{
	long long v[6] = { 0 };
	char kind[16];

	sscanf(line, "%15[^,],%lld,%lld,%lld,%lld,%lld,%lld", kind, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]);
	h->time_us = r->time_us = v[0];
	h->took_us = v[1];
	h->loss = (uint32_t)v[2];
	h->resends = (uint32_t)v[3];
	h->iw_segments = (uint32_t)v[4];
	h->ssthresh_segments = (uint32_t)v[5];
	r->sent_segments = (uint32_t)v[1];
	r->resent_segments = (uint32_t)v[2];
	r->rtt_us = v[3];
	r->rtt_min_us = v[4];
	return strcmp(kind, "handshake") == 0;
}

static size_t replay_case(const char *root, struct policy *p, const char *series, FILE *expected)
{
	FILE *events = opened(root, "vectors/handshakes", series, ".csv");
	char line[256];
	size_t answers = 0;
	unsigned iw, ssthresh;

	while (events && fgets(line, sizeof(line), events)) {
		struct tl_handshake h;
		struct tl_startup_report r;
		struct tl_startup_window out;

		if (!is_handshake(line, &h, &r)) {
			p->p->report(p->state, &r);
			continue;
		}
		p->p->decide(p->state, &h, &out);
		p->p->note(p->state, &h);
		CHECK(fscanf(expected, "%u,%u\n", &iw, &ssthresh) == 2 && out.iw_segments == iw &&
			      out.ssthresh_segments == ssthresh,
		      "%s, %s, handshake %zu: %u,%u, should be %u,%u", p->p->name, series, answers,
		      out.iw_segments, out.ssthresh_segments, iw, ssthresh);
		CHECK(out.iw_segments >= 1 && out.ssthresh_segments >= 1, "%s: a window of nothing",
		      p->p->name);
		answers++;
	}
	if (events)
		fclose(events);
	return answers;
}

static void replay(const char *root, const struct tl_startup_policy *of)
{
	FILE *expected = opened(root, "vectors/expected/startup", of->name, ".csv");
	char line[256], *series, *word;
	size_t answers = 0;

	while (expected && fgets(line, sizeof(line), expected)) {
		struct policy p;

		begin(&p, of);
		strtok(line, ",\n");
		series = strtok(NULL, ",\n");
		while ((word = strtok(NULL, ",\n")))
			change(&p, word);
		p.p->init(p.state, p.params);
		answers += replay_case(root, &p, series, expected);
	}
	CHECK(answers > 100, "%s: %zu answers", of->name, answers);
	if (expected)
		fclose(expected);
}

/* A whole handshake is never made worse; a query changes nothing; bounds are refused. */
static void properties(const struct tl_startup_policy *of)
{
	struct policy p;
	struct tl_handshake h = { 1000, 50000, TL_HANDSHAKE_WHOLE, 0, 3, TL_SSTHRESH_NONE };
	struct tl_startup_window a, b;
	int64_t before[WORDS];
	size_t i;

	begin(&p, of);
	of->decide(p.state, &h, &a);
	CHECK(a.iw_segments >= 3 && a.ssthresh_segments == TL_SSTHRESH_NONE, "%s: a whole handshake: %u,%u",
	      of->name, a.iw_segments, a.ssthresh_segments);
	memcpy(before, p.state, sizeof(before));
	h.loss = TL_HANDSHAKE_EITHER;
	h.resends = 1;
	of->decide(p.state, &h, &a);
	of->decide(p.state, &h, &b);
	CHECK(memcmp(&a, &b, sizeof(a)) == 0 && memcmp(before, p.state, of->state_bytes(p.params)) == 0,
	      "%s: a query changes the state", of->name);
	for (i = 0; i < of->param_count; i++) {
		CHECK(of->set(p.params, i, of->params[i].low - 1) == -1, "%s: %s below", of->name,
		      of->params[i].key);
		CHECK(of->set(p.params, i, of->params[i].high + 1) == -1, "%s: %s above", of->name,
		      of->params[i].key);
		CHECK(of->set(p.params, i, of->params[i].high) == 0 &&
			      of->get(p.params, i) == of->params[i].high,
		      "%s: %s at its bound", of->name, of->params[i].key);
	}
	CHECK(of->set(p.params, i, 0) == -1, "%s: a parameter too many", of->name);
}

static void documented(const char *root, const struct tl_startup_policy *of)
{
	static char text[65536];
	char page[64], word[64];
	size_t i, n;
	FILE *f;

	snprintf(page, sizeof(page), "%.*s", (int)strcspn(of->name, "/"), of->name);
	f = opened(root, "docs/algorithms/startup", page, ".md");
	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	snprintf(word, sizeof(word), "`%s`", of->name);
	CHECK(strstr(text, word), "%s.md does not name %s", page, word);
	for (i = 0; i < of->param_count; i++) {
		snprintf(word, sizeof(word), "`%s`", of->params[i].key);
		CHECK(strstr(text, word), "%s.md does not name %s", page, word);
	}
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 2)
		return 2;
	for (i = 0; i < tl_startup_count(); i++) {
		replay(argv[1], tl_startup_at(i));
		properties(tl_startup_at(i));
		documented(argv[1], tl_startup_at(i));
		CHECK(tl_startup_find(tl_startup_at(i)->name) == tl_startup_at(i), "a name twice");
	}
	CHECK(tl_startup_at(i) == NULL && tl_startup_find("none") == NULL, "past the end");
	return finish();
}
