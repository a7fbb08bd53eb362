// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A startup policy of the core (cwnd and ssthresh after a handshake), shared by a host's sockets.
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

  // Returns the windows after a handshake; called once for every handshake of this host.
  tl_startup_window windows(const tl_handshake& handshake);
  void report(const tl_startup_report& report);

 private:
  Algorithm<tl_startup_policy> policy_;
};

}  // namespace tcplearn

#endif
