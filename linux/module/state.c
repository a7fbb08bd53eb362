// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

unsigned int tl_net_id;
