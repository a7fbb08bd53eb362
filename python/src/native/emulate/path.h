// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// An emulated path: packets enter it at one end and are due at the other, or are dropped on the way. It has
// no clock and no packets of its own; times and handles of packets are arguments.
#ifndef TCPLEARN_EMULATE_PATH_H
#define TCPLEARN_EMULATE_PATH_H

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "emulate/delay.h"
#include "emulate/direction.h"
#include "emulate/losses.h"
#include "emulate/queue.h"

namespace tcplearn::emulate {

struct Hop {
  Direction forward, reverse;
  std::optional<DrawnFades> drawn_fades;
};

struct Packet {
  std::uint32_t handle;  // the caller's name for it
  std::uint32_t bytes;   // of the IP packet
  bool forward;
};

struct Outcome {  // of a packet: due at the other end, or dropped
  Packet packet;
  std::int64_t due_ns;
  Cause cause;  // kNone: not dropped
};

class Path {
 public:
  // `hops` are in the order that forward packets meet them.
  Path(std::vector<Hop> hops, std::uint64_t seed);
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  // Takes a packet at `now_ns`. Times must not fall, nor be before one that next() was called with.
  void enter(const Packet& packet, std::int64_t now_ns);

  // Returns a packet that is due by `now_ns` or has been dropped, in the order of time; nothing if there is
  // none.
  std::optional<Outcome> next(std::int64_t now_ns);

  // Returns when something happens next: kNever for an empty path.
  std::int64_t next_ns() const { return events_.empty() ? kNever : events_.top().at_ns; }

 private:
  struct Side {
    Side(const Direction& direction, std::shared_ptr<FadeTimes> drawn, std::uint64_t seed, std::uint64_t hop,
         bool forward);
    Direction direction;
    Queue queue;
    Losses losses;
    Delay delay;
  };
  struct Event {  // a packet comes to a hop; behind the last hop, to the other end
    std::int64_t at_ns;
    std::uint64_t order;
    std::uint32_t hops_passed;
    Packet packet;
    Cause cause;
    bool operator>(const Event& o) const { return at_ns != o.at_ns ? at_ns > o.at_ns : order > o.order; }
  };
  void cross(Event event);

  std::array<std::deque<Side>, 2> sides_;  // [forward]; hops in the order that these packets meet them
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
};

}  // namespace tcplearn::emulate

#endif
