// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What a run has cost this process.
#ifndef TCPLEARN_NS3_COST_H
#define TCPLEARN_NS3_COST_H

#include <sys/resource.h>

namespace tcplearn {

inline double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline double peak_mib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace tcplearn

#endif
