/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A user's own weights for the network `mlp` (`model=own`), read at run time from text that may be hostile.
 * The text is a line of words between spaces or line ends:
 *
 *   tcplearn-mlp-1 NAME INPUTS UNITS
 *   for each input:         FEATURE MEAN GAIN      whole numbers with 30 fractional bits
 *   for each hidden unit:   BIAS WEIGHT...         a weight for each input, with 24 fractional bits
 *   for the output unit:    BIAS WEIGHT...         a weight for each hidden unit
 *
 * Every number has the bounds of mlp_fixed.h, so that no text gives a network whose sums overflow. */
#ifndef TCPLEARN_LOSS_OWN_MODEL_H
#define TCPLEARN_LOSS_OWN_MODEL_H

#include "../spec.h"
#include "mlp_models.h"

#define TL_LOSS_MODEL_UNITS_MAX 64
#define TL_LOSS_MODEL_NAME_BYTES 32
/* More bytes than any valid text needs that has one space between words. */
#define TL_LOSS_MODEL_TEXT_MAX 65536

/* An own model. `net` points into it, so it must stay where it was read. */
struct tl_loss_model {
	struct tl_mlp net;
	char name[TL_LOSS_MODEL_NAME_BYTES];
	uint8_t input[TL_LOSS_FEATURE_COUNT];
	int64_t mean_q30[TL_LOSS_FEATURE_COUNT], gain_q30[TL_LOSS_FEATURE_COUNT];
	int32_t hidden_q24[TL_LOSS_MODEL_UNITS_MAX * (TL_LOSS_FEATURE_COUNT + 1)];
	int32_t output_q24[TL_LOSS_MODEL_UNITS_MAX + 1];
};

/* The text that is not read yet, the number of the word read last, and where a problem is written. */
struct tl_loss_model_reader {
	struct tl_word rest;
	uint32_t word;
	struct tl_line line;
};

TL_FN int tl_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the next word; one of length 0 at the end of the text. */
TL_FN struct tl_word tl_loss_model_word(struct tl_loss_model_reader *r)
{
	struct tl_word w;

	while (r->rest.length > 0 && tl_is_blank(*r->rest.at)) {
		r->rest.at++;
		r->rest.length--;
	}
	w.at = r->rest.at;
	w.length = 0;
	while (w.length < r->rest.length && !tl_is_blank(w.at[w.length]))
		w.length++;
	r->rest.at += w.length;
	r->rest.length -= w.length;
	r->word++;
	return w;
}

TL_FN void tl_line_add_whole(struct tl_line *line, int64_t x)
{
	const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
	uint64_t unit = 1;

	if (x < 0)
		tl_line_add_char(line, '-');
	while (magnitude / unit >= 10)
		unit *= 10;
	for (; unit > 0; unit /= 10)
		tl_line_add_char(line, (char)('0' + magnitude / unit % 10));
}

/* Writes "model: word N: 'WORD': " and `what`. Returns -1. */
TL_FN int tl_loss_model_wrong(struct tl_loss_model_reader *r, struct tl_word w, const char *what)
{
	tl_line_add(&r->line, "model: word ");
	tl_line_add_whole(&r->line, r->word);
	tl_line_add(&r->line, w.length > 0 ? ": '" : ": the text ends here; ");
	tl_line_quote(&r->line, w.at, w.length);
	tl_line_add(&r->line, w.length > 0 ? "': " : "");
	tl_line_add(&r->line, what);
	return -1;
}

/* Reads a whole number from `low` to `high`, whose magnitudes are below 2^60. Returns 0, or -1. */
TL_FN_APART int tl_loss_model_number(struct tl_loss_model_reader *r, int64_t low, int64_t high, int64_t *out)
{
	const struct tl_word w = tl_loss_model_word(r);
	const uint32_t negative = w.length > 0 && w.at[0] == '-';
	const int64_t most = (int64_t)1 << 60;
	uint32_t i = negative;
	int64_t x = 0;

	for (; i < w.length && w.at[i] >= '0' && w.at[i] <= '9' && x <= most / 10; i++)
		x = x * 10 + (w.at[i] - '0');
	x = negative ? -x : x;
	if (w.length > negative && i == w.length && x >= low && x <= high) {
		*out = x;
		return 0;
	}
	tl_loss_model_wrong(r, w, "a whole number from ");
	tl_line_add_whole(&r->line, low);
	tl_line_add(&r->line, " to ");
	tl_line_add_whole(&r->line, high);
	tl_line_add(&r->line, " is needed");
	return -1;
}

/* Reads `count` weights. Returns 0, or -1. */
TL_FN int tl_loss_model_weights(struct tl_loss_model_reader *r, uint32_t count, int32_t *out)
{
	const int64_t most = (int64_t)1 << 30; /* 64 */
	int64_t x = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (tl_loss_model_number(r, -most, most, &x))
			return -1;
		out[i] = (int32_t)x;
	}
	return 0;
}

TL_FN int tl_loss_model_name(struct tl_loss_model_reader *r, struct tl_loss_model *out)
{
	struct tl_word w = tl_loss_model_word(r);
	uint32_t i, good = w.length > 0 && w.length < TL_LOSS_MODEL_NAME_BYTES;

	for (i = 0; good && i < w.length; i++) {
		const char c = w.at[i];

		good = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		out->name[i] = c;
	}
	out->name[good ? w.length : 0] = 0;
	return good ? 0 : tl_loss_model_wrong(r, w, "a name of at most 31 letters, digits and _ is needed");
}

#define TL_LOSS_FEATURE_NAME(name, low, high, text) #name,

/* Reads the feature, mean and gain of input number `k`. Returns 0, or -1. */
TL_FN int tl_loss_model_input(struct tl_loss_model_reader *r, struct tl_loss_model *out, uint32_t k)
{
	static const char *const features[TL_LOSS_FEATURE_COUNT] = { TL_LOSS_FEATURES(TL_LOSS_FEATURE_NAME) };
	const struct tl_word w = tl_loss_model_word(r);
	uint32_t i = 0, earlier;

	while (i < TL_LOSS_FEATURE_COUNT && !tl_word_is(w, features[i]))
		i++;
	if (i == TL_LOSS_FEATURE_COUNT)
		return tl_loss_model_wrong(r, w, "a feature is needed");
	for (earlier = 0; earlier < k; earlier++)
		if (out->input[earlier] == i)
			return tl_loss_model_wrong(r, w, "the feature is there twice");
	out->input[k] = (uint8_t)i;
	if (tl_loss_model_number(r, -((int64_t)1 << 52), (int64_t)1 << 52, &out->mean_q30[k]))
		return -1;
	return tl_loss_model_number(r, 1, (int64_t)1 << 38, &out->gain_q30[k]);
}

TL_FN int tl_loss_model_parts(struct tl_loss_model_reader *r, struct tl_loss_model *out)
{
	struct tl_word w = tl_loss_model_word(r);
	int64_t inputs = 0, units = 0;
	uint32_t k;

	if (!tl_word_is(w, "tcplearn-mlp-1"))
		return tl_loss_model_wrong(r, w, "'tcplearn-mlp-1' is needed");
	if (tl_loss_model_name(r, out) || tl_loss_model_number(r, 1, TL_LOSS_FEATURE_COUNT, &inputs) ||
	    tl_loss_model_number(r, 1, TL_LOSS_MODEL_UNITS_MAX, &units))
		return -1;
	for (k = 0; k < (uint32_t)inputs; k++)
		if (tl_loss_model_input(r, out, k))
			return -1;
	if (tl_loss_model_weights(r, (uint32_t)(units * (inputs + 1)), out->hidden_q24) ||
	    tl_loss_model_weights(r, (uint32_t)units + 1, out->output_q24))
		return -1;
	w = tl_loss_model_word(r);
	if (w.length > 0)
		return tl_loss_model_wrong(r, w, "the model has no more words");
	out->net.inputs = (uint32_t)inputs;
	out->net.hidden = (uint32_t)units;
	return 0;
}

/* Reads a model from a text of `length` bytes. Returns 0, or -1 with one line in `error`; `out` is then
 * undefined and must not be used. */
TL_FN_APART int tl_loss_model_parse(struct tl_loss_model *out, const char *text, uint32_t length, char *error,
				    uint32_t error_bytes)
{
	struct tl_loss_model_reader r = { { text, length }, 0, { error, error_bytes } };

	tl_line_begin(&r.line, error, error_bytes);
	if (tl_loss_model_parts(&r, out))
		return -1;
	out->net.input = out->input;
	out->net.mean_q30 = out->mean_q30;
	out->net.gain_q30 = out->gain_q30;
	out->net.hidden_q24 = out->hidden_q24;
	out->net.output_q24 = out->output_q24;
	return 0;
}

/* Gives the state of a loss classifier of either arithmetic the weights that `model=own` uses. `state` is
 * after init; `model` must outlive it. The pointer is the first member of every state (path.h). */
TL_FN void tl_loss_model_use(void *state, const struct tl_loss_model *model)
{
	const struct tl_mlp *net = &model->net;

	__builtin_memcpy(state, &net, sizeof(net));
}

#endif
