// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A startup policy of the core with what one host remembers of a place: its sockets share it.
#ifndef TCPLEARN_NS3_STARTUP_H
#define TCPLEARN_NS3_STARTUP_H

#include <cstdint>
#include <string>
#include <vector>

#include "core_params.h"
#include "tcplearn/tcplearn.h"

namespace tcplearn {

struct StartupSpec {
  std::string name;  // "": no policy, ns-3's own: the windows are never touched
  Params params;
};

class Startup {
 public:
  explicit Startup(const StartupSpec& spec);  // throws std::invalid_argument

  // Of every handshake of this host, once.
  tl_startup_window windows(const tl_handshake& handshake);
  void report(const tl_startup_report& report);

 private:
  const tl_startup_policy* policy_;
  std::vector<std::int64_t> state_;  // aligned as the core wants it
};

}  // namespace tcplearn

#endif
