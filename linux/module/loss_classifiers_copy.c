// SPDX-License-Identifier: GPL-2.0-only
/* Compiles the same source again for the test module, which replays the golden vectors with it. */
#include "loss_classifiers.c"
