/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Every startup policy: the initial window and slow-start threshold after a handshake. Whole segments and
 * microseconds: integers in every host, so that there is one arithmetic only, and names end in _fix. */
#ifndef TCPLEARN_STARTUP_H
#define TCPLEARN_STARTUP_H

#include "params.h"
#include "sample.h"
#include "startup/handshake.h"

#include "arithmetic/fixed.h"
#include "startup/list.h"
#include "arithmetic/end.h"

#endif
