/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module assumes about the kernel's TCP, tried when it is loaded. */
#ifndef TCPLEARN_MODULE_ASSUMPTIONS_H
#define TCPLEARN_MODULE_ASSUMPTIONS_H

/* Returns 0 if all assumptions hold that could be tried, -EOPNOTSUPP if one does not hold, and -ENOMEM. Says in the
 * kernel's log which one does not hold, or that they could not be tried. Sleeps. */
int tl_assumptions_try(void);

#endif
