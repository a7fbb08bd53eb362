/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPLEARN_MODULE_SPEC_CHECK_H
#define TCPLEARN_MODULE_SPEC_CHECK_H

void tl_spec_check_init(void);
void tl_spec_check_exit(void);

#endif
