/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "lookup.h"
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
