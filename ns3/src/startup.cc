// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "startup.h"

namespace tcplearn {

Startup::Startup(const Spec& spec) : policy_(TL_KIND_STARTUP, spec) {}

tl_startup_window Startup::windows(const tl_handshake& handshake) {
  tl_startup_window out{};
  policy_.verbs().decide(policy_.state(), &handshake, &out);
  policy_.verbs().note(policy_.state(), &handshake);
  return out;
}

void Startup::report(const tl_startup_report& report) { policy_.verbs().report(policy_.state(), &report); }

}  // namespace tcplearn
