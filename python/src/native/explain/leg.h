// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#ifndef TCPLEARN_EXPLAIN_LEG_H
#define TCPLEARN_EXPLAIN_LEG_H

#include <cstdint>

namespace tcplearn {

// The shortest round trip from the capture point to one end and back; -1: none was seen.
struct Leg {
  std::int64_t min_us = -1;
  bool pure = false;  // some came from a packet without data; others may have waited for data to go with
  void add(std::int64_t rtt_us, bool of_pure) {
    if (min_us < 0 || rtt_us < min_us) min_us = rtt_us;
    pure = pure || of_pure;
  }
  void add(const Leg& other) {
    if (other.min_us >= 0) add(other.min_us, other.pure);
  }
  std::int64_t known_us() const { return min_us < 0 ? 0 : min_us; }
};

}  // namespace tcplearn

#endif
