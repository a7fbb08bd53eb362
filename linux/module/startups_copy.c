// SPDX-License-Identifier: GPL-2.0-only
/* The copy of the test module, which replays code compiled from the same source lines. */
#include "startups.c"
