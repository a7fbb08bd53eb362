// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "startup.h"

#include <stdexcept>

namespace tcplearn {
namespace {

const tl_startup_policy& find(const std::string& name) {
  const tl_startup_policy* policy = tl_startup_find(name.c_str());
  if (!policy) throw std::invalid_argument("no startup policy '" + name + "'");
  return *policy;
}

}  // namespace

Startup::Startup(const StartupSpec& spec)
    : policy_(&find(spec.name)), state_(make_state(*policy_, spec.params)) {}

tl_startup_window Startup::windows(const tl_handshake& handshake) {
  tl_startup_window out{};
  policy_->decide(state_.data(), &handshake, &out);
  policy_->note(state_.data(), &handshake);
  return out;
}

void Startup::report(const tl_startup_report& report) { policy_->report(state_.data(), &report); }

}  // namespace tcplearn
