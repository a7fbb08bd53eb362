// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "resend_timer.h"

namespace tcplearn {

ResendTimer::ResendTimer(const Spec& spec) : policy_(TL_KIND_RESEND, spec) {}

std::int64_t ResendTimer::sent_us(std::int64_t time_us, std::size_t out_segments) {
  const tl_resend_event event{time_us, static_cast<std::uint32_t>(out_segments)};
  policy_.verbs().send(policy_.state(), &event, &wait_);
  return answered(ResendEvent::kSent, {event.time_us, 0, event.out_segments, 0});
}

std::int64_t ResendTimer::fired_us(std::int64_t time_us, std::size_t out_segments) {
  const tl_resend_event event{time_us, static_cast<std::uint32_t>(out_segments)};
  policy_.verbs().timer(policy_.state(), &event, &wait_);
  return answered(ResendEvent::kFired, {event.time_us, 0, event.out_segments, 0});
}

std::int64_t ResendTimer::acknowledged_us(const tl_resend_ack& ack) {
  policy_.verbs().ack(policy_.state(), &ack, &wait_);
  return answered(ResendEvent::kAcknowledged, ack);
}

std::int64_t ResendTimer::answered(ResendEvent::Kind kind, const tl_resend_ack& in) {
  if (statistical_ && wait_.wait_us > 0) {
    wait_.wait_us =
        kind == ResendEvent::kFired ? statistical_->fired_us(in.time_us) : statistical_->begun_us(in.time_us);
    wait_.probe = 1;
  }
  if (events_) events_->push_back({kind, in, wait_});
  return wait_.wait_us;
}

std::unique_ptr<ResendTimer> ResendTimer::next_connection(const Spec& spec) const {
  auto out = std::make_unique<ResendTimer>(spec);
  policy_.verbs().inherit(out->policy_.state(), policy_.state());
  return out;
}

void ResendTimer::armed() {
  if (events_) events_->back().armed = true;
}

}  // namespace tcplearn
