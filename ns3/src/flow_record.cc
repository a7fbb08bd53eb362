// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "flow_record.h"

#include <algorithm>

namespace tcplearn {

NS_OBJECT_ENSURE_REGISTERED(SerialTag);

void TimeoutOracle::arrived(ns3::SequenceNumber32 from, ns3::SequenceNumber32 end, std::uint64_t serial,
                            bool original) {
  const auto [at, is_new] = arrived_.try_emplace(from, Arrived{end, false});
  Arrived& here = at->second;
  here.original |= original;
  arrived_again_ += !is_new || end <= acked_;
  for (Open& o : open_)
    if (o.head >= from && o.head < end && serial <= o.last_serial) {
      needless_ += !o.counted;
      spurious_ += original;
      o.counted = true;
      if (original) o.last_serial = 0;  // the outcome of this timeout is known
    }
  open_.erase(std::remove_if(open_.begin(), open_.end(), [](const Open& o) { return o.last_serial == 0; }),
              open_.end());
}

void TimeoutOracle::acked(ns3::SequenceNumber32 upto) {
  while (!arrived_.empty() && arrived_.begin()->second.end <= upto) arrived_.erase(arrived_.begin());
  acked_ = upto;
}

void TimeoutOracle::timed_out(ns3::SequenceNumber32 head, std::uint64_t last_serial) {
  const auto after = arrived_.upper_bound(head);
  const bool is_there = after != arrived_.begin() && std::prev(after)->second.end > head;
  needless_ += is_there;
  if (is_there && std::prev(after)->second.original)
    ++spurious_;
  else
    open_.push_back({head, last_serial, is_there});
}

// Records the time from the end of a fade to a retransmission. The last transmission counts as lost in the
// fade if it was sent before that end.
void FlowRecord::resent_after_fade(ns3::Time faded_until, ns3::Time last_sent, ns3::Time now) {
  if (faded_until > last_sent) overruns_us.push_back((now - faded_until).GetMicroSeconds());
}

void Recorder::cwnd(ns3::Time now, double bytes) {
  const auto at = static_cast<std::size_t>(now.GetInteger() / bin_.GetInteger());
  if (at >= cwnd_.size()) cwnd_.resize(at + 1);
  cwnd_[at].add(bytes);
}

ns3::TypeId SerialTag::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::SerialTag")
                              .SetParent<ns3::Tag>()
                              .SetGroupName("Internet")
                              .AddConstructor<SerialTag>();
  return id;
}

void SerialTag::Serialize(ns3::TagBuffer buffer) const {
  buffer.WriteU32(flow);
  buffer.WriteU64(serial);
  buffer.WriteU8(original);
}

void SerialTag::Deserialize(ns3::TagBuffer buffer) {
  flow = buffer.ReadU32();
  serial = buffer.ReadU64();
  original = buffer.ReadU8() != 0;
}

}  // namespace tcplearn
