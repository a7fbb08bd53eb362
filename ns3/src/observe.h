// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#ifndef TCPLEARN_NS3_OBSERVE_H
#define TCPLEARN_NS3_OBSERVE_H

#include <memory>

#include "path_statistics.h"
#include "scenario.h"

namespace tcplearn {

// Runs the scenario with a clairvoyant sender, and returns the statistics of its path. This happens in a
// process of its own: the next simulation of this process then draws the same random numbers as the first
// would have. Throws std::runtime_error if the process fails.
std::shared_ptr<const PathStatistics> observe(const Scenario& scenario);

}  // namespace tcplearn

#endif
