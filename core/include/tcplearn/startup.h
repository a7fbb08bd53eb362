/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Includes every startup policy: the initial window and slow-start threshold after a handshake. The
 * policies use whole segments and microseconds, so they exist in integer arithmetic only, and names end
 * in _fix. */
#ifndef TCPLEARN_STARTUP_H
#define TCPLEARN_STARTUP_H

#include "params.h"
#include "sample.h"
#include "startup/handshake.h"

#include "arithmetic/fixed.h"
#include "startup/list.h"
#include "arithmetic/end.h"

#endif
