/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lookup.h"
#include "tcplearn/loss/own_model.h"
#include "tcplearn/wrap.h"

TL_LOSS_CLASSIFIERS(TL_TABLE_OF)

#include "tcplearn/arithmetic/double.h"
#include "loss_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"

#include "tcplearn/arithmetic/fixed.h"
#include "loss_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"

TL_LOOK_UP(tl_loss, tl_loss_classifier, tl_loss_registry, "loss classifier", "loss")

#define TL_FEATURE_INFO(name, low, high, text) { #name, text, low, high },
static const struct tl_loss_feature_info features[] = { TL_LOSS_FEATURES(TL_FEATURE_INFO) };

const struct tl_loss_feature_info *tl_loss_feature_at(size_t index)
{
	return index < TL_COUNT_OF(features) ? &features[index] : NULL;
}

_Static_assert(offsetof(struct tl_loss_path_f64, own) == 0 && offsetof(struct tl_loss_path_fix, own) == 0,
	       "tl_loss_model_use() writes the first member of a state");

size_t tl_loss_model_bytes(void)
{
	return sizeof(struct tl_loss_model);
}

int tl_loss_model_read(struct tl_loss_model *model, const char *text, size_t length, char *error,
		       size_t error_bytes)
{
	const size_t most = TL_LOSS_MODEL_TEXT_MAX + 1; /* a longer text has too many words all the same */

	return tl_loss_model_parse(model, text, (uint32_t)(length < most ? length : most), error,
				   (uint32_t)(error_bytes < most ? error_bytes : most));
}

void tl_loss_use_model(void *state, const struct tl_loss_model *model)
{
	tl_loss_model_use(state, model);
}
