// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "startup.h"

#include <stdexcept>

namespace tcplearn {
namespace {

void set(const tl_startup_policy& policy, void* params, const std::string& key, double value) {
  for (std::size_t i = 0; i < policy.param_count; ++i)
    if (key == policy.params[i].key) {
      if (policy.set(params, i, value) != 0)
        throw std::invalid_argument(std::string(policy.name) + ": " + key + ": out of range");
      return;
    }
  throw std::invalid_argument(std::string(policy.name) + ": no parameter " + key);
}

std::size_t words(std::size_t bytes) { return (bytes + sizeof(std::int64_t) - 1) / sizeof(std::int64_t); }

}  // namespace

Startup::Startup(const StartupSpec& spec) : policy_(tl_startup_find(spec.name.c_str())) {
  if (!policy_) throw std::invalid_argument("no startup policy '" + spec.name + "'");
  std::vector<std::int64_t> params(words(policy_->params_bytes));
  policy_->defaults(params.data());
  for (const auto& [key, value] : spec.params) set(*policy_, params.data(), key, value);
  state_.resize(words(policy_->state_bytes(params.data())));
  policy_->init(state_.data(), params.data());
}

tl_startup_window Startup::windows(const tl_handshake& handshake) {
  tl_startup_window out{};
  policy_->decide(state_.data(), &handshake, &out);
  policy_->note(state_.data(), &handshake);
  return out;
}

void Startup::report(const tl_startup_report& report) { policy_->report(state_.data(), &report); }

}  // namespace tcplearn
