// SPDX-License-Identifier: GPL-2.0-only
/* The test module's copy, so that it replays code compiled from the same lines. */
#include "estimators.c"
