// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Runs web connections and writes JSON lines: one for each connection that lost a handshake packet, and a
// last one for the run.
#ifndef TCPLEARN_NS3_WEB_RUN_H
#define TCPLEARN_NS3_WEB_RUN_H

#include <ostream>

#include "scenario.h"

namespace tcplearn {

void run_web(const Scenario& scenario, std::ostream& out);

}  // namespace tcplearn

#endif
