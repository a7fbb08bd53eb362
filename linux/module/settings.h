/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPLEARN_MODULE_SETTINGS_H
#define TCPLEARN_MODULE_SETTINGS_H

#include <linux/types.h>

struct net;

bool tl_settings_any(const struct net *net);
int tl_settings_init(void);
void tl_settings_exit(void);

#endif
