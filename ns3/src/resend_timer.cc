// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "resend_timer.h"

#include <stdexcept>

namespace tcplearn {
namespace {

const tl_resend_policy& find(const ResendSpec& spec) {
  const tl_resend_policy* policy = tl_resend_find(spec.name.c_str(), spec.arithmetic);
  if (!policy) throw std::invalid_argument("no resend policy '" + spec.name + "'");
  return *policy;
}

}  // namespace

ResendSpec parse_resend_spec(const std::string& text) {
  ResendSpec out;
  const std::size_t colon = text.find(':');
  out.name = text.substr(0, colon);
  if (colon == std::string::npos) return out;
  const tl_resend_policy& policy = find(out);
  out.params = parse_params(out.name, policy.params, policy.param_count, text.substr(colon + 1));
  return out;
}

ResendTimer::ResendTimer(const ResendSpec& spec)
    : policy_(&find(spec)), state_(make_state(*policy_, spec.params)) {}

std::int64_t ResendTimer::sent_us(std::int64_t time_us, std::size_t out_segments) {
  const tl_resend_event event{time_us, static_cast<std::uint32_t>(out_segments)};
  policy_->send(state_.data(), &event, &wait_);
  return answered(ResendEvent::kSent, {event.time_us, 0, event.out_segments, 0});
}

std::int64_t ResendTimer::fired_us(std::int64_t time_us, std::size_t out_segments) {
  const tl_resend_event event{time_us, static_cast<std::uint32_t>(out_segments)};
  policy_->timer(state_.data(), &event, &wait_);
  return answered(ResendEvent::kFired, {event.time_us, 0, event.out_segments, 0});
}

std::int64_t ResendTimer::acknowledged_us(const tl_resend_ack& ack) {
  policy_->ack(state_.data(), &ack, &wait_);
  return answered(ResendEvent::kAcknowledged, ack);
}

std::int64_t ResendTimer::answered(ResendEvent::Kind kind, const tl_resend_ack& in) {
  if (events_) events_->push_back({kind, in, wait_});
  return wait_.wait_us;
}

void ResendTimer::armed() {
  if (events_) events_->back().armed = true;
}

}  // namespace tcplearn
