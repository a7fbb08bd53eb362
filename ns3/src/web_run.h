// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Runs web connections. Writes a JSON line for each that lost a handshake packet, and one for the run.
#ifndef TCPLEARN_NS3_WEB_RUN_H
#define TCPLEARN_NS3_WEB_RUN_H

#include <ostream>

#include "scenario.h"

namespace tcplearn {

void run_web(const Scenario& scenario, std::ostream& out);

}  // namespace tcplearn

#endif
