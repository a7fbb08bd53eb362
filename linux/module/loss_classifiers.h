/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the core's loss classifiers, presets included, in fixed point, as the module uses them. */
#ifndef TCPLEARN_MODULE_LOSS_CLASSIFIERS_H
#define TCPLEARN_MODULE_LOSS_CLASSIFIERS_H

#include <linux/types.h>

#include <tcplearn/loss/events.h>
#include <tcplearn/loss/feature_list.h>

#include "choice.h"

struct tl_loss_answer {
	s64 congestion_q30; /* probability of congestion, in [0, 1] */
	u32 cause; /* enum tl_loss_cause */
};

struct tl_kernel_loss {
	struct tl_algorithm algorithm;
	void (*judge)(const void *state, const s64 *features_q30, const struct tl_loss_moment *at,
		      struct tl_loss_answer *out);
	void (*observe)(void *state, const struct tl_loss_ack *ack);
	void (*change)(void *state, const struct tl_loss_moment *at, u32 change, u32 cause);
};

extern const struct tl_kernel_loss tl_kernel_losses[];
extern const struct tl_choosable tl_losses;
extern const u32 tl_kernel_loss_bytes_max; /* size of the largest state */

/* All classifiers share this function, because every state begins with the same path. */
void tl_kernel_loss_features(const void *state, const struct tl_loss_moment *at, s64 *features_q30);

#endif
