// SPDX-License-Identifier: GPL-2.0-only
/* The test module's own copy: what it replays is compiled from the same lines. */
#include "resend_policies.c"
