// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Measures the CPU time and memory of this process.
#ifndef TCPLEARN_NS3_COST_H
#define TCPLEARN_NS3_COST_H

#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace tcplearn {

inline double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Returns the peak memory in MiB. Linux's ru_maxrss is not used: it begins with the peak of the process
// that started this one, which is Python's, some 80 MiB or more.
inline double peak_mib() {
  std::ifstream status("/proc/self/status");
  const std::string key = "VmHWM:";  // peak memory of this program alone, in kB
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, key.size(), key) == 0) return std::strtod(line.c_str() + key.size(), nullptr) / 1024;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace tcplearn

#endif
