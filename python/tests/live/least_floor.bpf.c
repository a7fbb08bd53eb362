/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* live.bpf.c as if it had learned that the least floor is right, whatever the answers are like: what harm_trial.py
 * has the guard stop. */
#include "../../../linux/bpf/live_arms.h"
#include "../../../linux/bpf/live_losses.h"

#define live_chosen(policy) 0
#define live_rank(policy) 0
#define tl_resend_priced_careful_fix(policy) 0
#define live_host_loses(losses, policy) 0

#include "../../../linux/bpf/live.bpf.c"
