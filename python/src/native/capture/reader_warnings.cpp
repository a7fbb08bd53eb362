// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "reader_warnings.h"

namespace tcplearn {

std::string count_of(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::vector<std::string> warnings_of_left_out(const Stats& stats) {
  std::vector<std::string> out;
  const auto add = [&](std::uint64_t n, const char* what, const char* about) {
    if (n > 0) out.push_back(count_of(n, what) + about);
  };
  add(stats.fragments, "IP fragment", " without a TCP header left out");
  add(stats.short_packets, "packet", " cut before the end of the TCP header left out");
  add(stats.cut_options, "packet",
      " cut within the TCP options: without timestamps and SACK blocks, causes of losses and round trips are "
      "less certain; capture again with at least 128 bytes a packet");
  add(stats.malformed_packets, "packet", " with contradictory lengths left out");
  return out;
}

}  // namespace tcplearn
