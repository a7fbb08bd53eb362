// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A startup policy of the core with one host's memory of a place, shared by its sockets.
#ifndef TCPLEARN_NS3_STARTUP_H
#define TCPLEARN_NS3_STARTUP_H

#include <cstdint>
#include <string>
#include <vector>

#include "algorithm.h"

namespace tcplearn {

class Startup {
 public:
  explicit Startup(const Spec& spec);  // throws std::invalid_argument

  // Takes every handshake of this host, once.
  tl_startup_window windows(const tl_handshake& handshake);
  void report(const tl_startup_report& report);

 private:
  Algorithm<tl_startup_policy> policy_;
};

}  // namespace tcplearn

#endif
