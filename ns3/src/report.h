// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Writes the output of a run: JSON lines, one for each flow and a last one for the whole run.
#ifndef TCPLEARN_NS3_REPORT_H
#define TCPLEARN_NS3_REPORT_H

#include <ostream>

#include "scenario.h"

namespace tcplearn {

struct RunTotals {
  Moments queued_bytes;
  double cpu_s = 0;
  std::uint64_t events = 0;
  double peak_mib = 0;
};

void write_report(std::ostream& out, const Scenario& scenario, const Recorder& recorder,
                  const RunTotals& totals);

}  // namespace tcplearn

#endif
