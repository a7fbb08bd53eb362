// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/path.h"

#include <utility>

namespace tcplearn::emulate {

Path::Side::Side(const Direction& given, std::shared_ptr<FadeTimes> drawn, std::uint64_t seed,
                 std::uint64_t hop, bool forward)
    : direction(given),
      queue(direction),
      losses(direction, std::move(drawn), seed, hop, forward),
      delay(direction, seed, hop, forward) {}

Path::Path(std::vector<Hop> hops, std::uint64_t seed) {
  std::vector<std::shared_ptr<FadeTimes>> drawn;
  for (std::size_t i = 0; i < hops.size(); ++i)
    drawn.push_back(hops[i].drawn_fades ? std::make_shared<FadeTimes>(*hops[i].drawn_fades, seed, i)
                                        : nullptr);
  for (const bool forward : {false, true}) {
    for (std::size_t k = 0; k < hops.size(); ++k) {
      const std::size_t i = forward ? k : hops.size() - 1 - k;
      const auto& fades = hops[i].drawn_fades;
      const bool faded = fades && (forward ? fades->forward : fades->reverse);
      sides_[forward].emplace_back(forward ? hops[i].forward : hops[i].reverse, faded ? drawn[i] : nullptr,
                                   seed, i, forward);
    }
  }
}

void Path::enter(const Packet& packet, std::int64_t now_ns) { cross({now_ns, 0, 0, packet, Cause::kNone}); }

// Moves a packet over the hop that it has come to.
void Path::cross(Event event) {
  auto& sides = sides_[event.packet.forward];
  event.order = order_++;
  if (event.hops_passed < sides.size()) {
    Side& side = sides[event.hops_passed++];
    if (const auto leaves_ns = side.queue.enter(event.at_ns, event.packet.bytes)) {
      event.cause = side.losses.cause(*leaves_ns, event.packet.bytes);
      if (event.cause == Cause::kNone) event.at_ns = side.delay.arrives_ns(*leaves_ns);
    } else {
      event.cause = Cause::kQueue;
    }
  }
  events_.push(event);
}

std::optional<Outcome> Path::next(std::int64_t now_ns) {
  while (!events_.empty() && events_.top().at_ns <= now_ns) {
    const Event event = events_.top();
    events_.pop();
    if (event.cause != Cause::kNone || event.hops_passed == sides_[event.packet.forward].size())
      return Outcome{event.packet, event.at_ns, event.cause};
    cross(event);
  }
  return std::nullopt;
}

}  // namespace tcplearn::emulate
