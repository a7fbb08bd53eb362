// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#ifndef TCPLEARN_NS3_RUN_H
#define TCPLEARN_NS3_RUN_H

#include <ostream>

#include "scenario.h"

namespace tcplearn {

// Simulates a scenario and writes its report (report.h).
void run(const Scenario& scenario, std::ostream& out);

}  // namespace tcplearn

#endif
