/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Own models of the network `mlp`: texts that are refused, and that whatever is accepted gives probabilities. */
#include <inttypes.h>

#include "loss_check.h"

static const char good[] = "tcplearn-mlp-1 tiny 2 1 log_flight 0 1073741824 rtt_slope 5 7 1 2 3 4 5\n";

static int taken(struct tl_loss_model *model, const char *text, size_t length)
{
	char error[TL_ERROR_BYTES_MAX];
	const int code = tl_loss_model_read(model, text, length, error, sizeof(error));

	CHECK(code == 0 ? error[0] == 0 : code == -1 && strncmp(error, "model: word ", 12) == 0, "%d: %s",
	      code, error);
	CHECK(strchr(error, '\n') == NULL, "more than a line: %s", error);
	return code == 0;
}

static void decides(const struct tl_loss_model *model, const char *name, enum tl_arithmetic arithmetic,
		    uint64_t seed)
{
	const struct tl_loss_classifier *c = tl_loss_find(name, arithmetic);
	int64_t now_us = 0;
	struct classifier s;
	int k;

	classifier_defaults(&s, c);
	CHECK(c->algorithm.set(s.params, param_place(&c->algorithm, "model"), 2) == 0, "own is refused");
	classifier_start(&s);
	if (model)
		tl_loss_use_model(s.state, model);
	for (k = 0; k < 40; k++) {
		const struct tl_loss_ack ack = { now_us += 1 + random_below(&seed, 100000),
						 random_below(&seed, 1000000), 1, 0 };
		const struct tl_loss_moment at = { now_us, (uint32_t)random_below(&seed, 200),
						   (uint32_t)random_below(&seed, 200), 10, TL_LOSS_UNKNOWN };
		struct tl_loss_decision d;

		c->observe(s.state, &ack);
		d = classifier_decide(&s, &at);
		CHECK(model || (d.congestion == 1 && d.cause == TL_LOSS_CONGESTION),
		      "%s: without weights P is %g", name, d.congestion);
		c->change(s.state, &at, (enum tl_loss_change)random_below(&seed, 4), d.cause);
	}
	classifier_stop(&s);
}

static void decides_everywhere(const struct tl_loss_model *model, uint64_t seed)
{
	static const char *const names[] = { "mlp", "adaptive", "history" };
	size_t i;

	for (i = 0; i < 3; i++) {
		decides(model, names[i], TL_FIX, seed);
		decides(model, names[i], TL_F64, seed);
	}
}

/* The largest network that the bounds allow: with TL_CHECK_RANGES no sum may leave its range. */
static void extremes(struct tl_loss_model *model)
{
	static char text[TL_LOSS_FEATURE_COUNT * 100 + 65 * 34 * 13];
	size_t n = (size_t)sprintf(text, "tcplearn-mlp-1 most %d 64", TL_LOSS_FEATURE_COUNT);
	int sign, i;

	for (sign = -1; sign <= 1; sign += 2) {
		size_t at = n;

		for (i = 0; i < TL_LOSS_FEATURE_COUNT; i++)
			at += (size_t)sprintf(text + at, " %s %" PRId64 " %" PRId64,
					      tl_loss_feature_at((size_t)i)->name, sign * ((int64_t)1 << 52),
					      (int64_t)1 << 38);
		for (i = 0; i < 64 * (TL_LOSS_FEATURE_COUNT + 1) + 65; i++)
			at += (size_t)sprintf(text + at, " %d", (i % 3 ? sign : -sign) * (1 << 30));
		CHECK(taken(model, text, at), "the largest model is refused");
		decides_everywhere(model, 7);
	}
}

/* Changes a few bytes of a good text. */
static void hostile(struct tl_loss_model *model, uint64_t seed)
{
	static const char often[] = "0123456789- \n\t.e_al";
	unsigned accepted = 0;
	int round;

	for (round = 0; round < 20000; round++) {
		char *text = malloc(sizeof(good)); /* so that a sanitizer sees a read past its end */
		const size_t length = round % 4 ? sizeof(good) - 1
						: (size_t)random_below(&seed, sizeof(good));
		int k = (int)random_below(&seed, 4);

		if (!text)
			abort();
		memcpy(text, good, sizeof(good));
		while (k-- > 0) {
			const char c = random_below(&seed, 3) ? often[random_below(&seed, sizeof(often) - 1)]
							      : (char)random_below(&seed, 256);

			text[random_below(&seed, sizeof(good) - 1)] = c;
		}
		if (taken(model, text, length)) {
			accepted++;
			if (accepted % 16 == 0)
				decides_everywhere(model, seed);
		}
		free(text);
	}
	CHECK(accepted > 1000 && accepted < 19000, "%u of the texts are models", accepted);
}

int main(void)
{
	struct tl_loss_model *model = malloc(tl_loss_model_bytes());

	if (!model)
		abort();
	CHECK(taken(model, good, sizeof(good) - 1), "a good model is refused");
	CHECK(!taken(model, good, sizeof(good)), "a NUL is a part of the text");
	CHECK(!taken(model, good, 0), "nothing is a model");
	decides_everywhere(NULL, 3);
	extremes(model);
	hostile(model, 5);
	free(model);
	return failures > 0;
}
