// SPDX-License-Identifier: GPL-2.0-only
/* Compiles the same source again for the test module, which compares it with golden vectors. */
#include "startups.c"
