/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tcplearn/tcplearn.h"
#include "tcplearn/wrap.h"

#include "params_table.h"

#define TL_TABLE(id, label, list, learns, learned, summary, about) \
	static const struct tl_param table_##id[] = { list(TL_INFO) };
TL_LOSS_CLASSIFIERS(TL_TABLE)

#define TL_ARITHMETIC TL_F64
#include "tcplearn/arithmetic/double.h"
#include "loss_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"
#undef TL_ARITHMETIC

#define TL_ARITHMETIC TL_FIX
#include "tcplearn/arithmetic/fixed.h"
#include "loss_registry_arithmetic.h"
#include "tcplearn/arithmetic/end.h"
#undef TL_ARITHMETIC

TL_LOOK_UP(tl_loss, tl_loss_classifier, tl_loss_registry)

#define TL_FEATURE_INFO(name, low, high, text) { #name, text, low, high },
static const struct tl_loss_feature_info features[] = { TL_LOSS_FEATURES(TL_FEATURE_INFO) };

const struct tl_loss_feature_info *tl_loss_feature_at(size_t index)
{
	return index < TL_COUNT_OF(features) ? &features[index] : NULL;
}
