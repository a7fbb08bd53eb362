// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Which flows there are: drawn from streams of their own, so that every algorithm meets the same ones.
#include <algorithm>

#include "ns3/random-variable-stream.h"
#include "scenario.h"

namespace tcplearn {
namespace {

// ns-3 hands out streams from 2^63 on by itself
constexpr std::int64_t kStream = 4242;

class Draw {
 public:
  Draw() : variable_(ns3::CreateObject<ns3::UniformRandomVariable>()) { variable_->SetStream(kStream); }
  double between(const Range& range) { return variable_->GetValue(range.first, range.second); }
  std::uint64_t whole(const Range& range) {
    return variable_->GetInteger(static_cast<std::uint32_t>(range.first),
                                 static_cast<std::uint32_t>(range.second));
  }
  std::uint32_t other_than(std::uint32_t sender, const std::vector<std::uint32_t>& receivers) {
    for (;;) {
      const std::uint32_t receiver =
          receivers[variable_->GetInteger(0, static_cast<std::uint32_t>(receivers.size()) - 1)];
      if (receiver != sender) return receiver;
    }
  }

 private:
  ns3::Ptr<ns3::UniformRandomVariable> variable_;
};

FlowRecord flow(Draw& draw, const Load& load, const Network& network, std::uint32_t sender, double start_s) {
  FlowRecord out;
  out.source = sender;
  out.destination = draw.other_than(sender, network.receivers);
  out.packets = draw.whole(load.packets);
  out.start = ns3::Seconds(start_s);
  return out;
}

}  // namespace

std::vector<FlowRecord> make_load(const Scenario& scenario, const Network& network) {
  const Load& load = scenario.load;
  Draw draw;
  std::vector<FlowRecord> out;
  if (load.kind == "ftp") {  // evenly over the senders, at random times
    for (std::uint32_t i = 0; i < load.flows; ++i)
      out.push_back(
          flow(draw, load, network, network.senders[i % network.senders.size()], draw.between(load.start_s)));
  } else {  // bursts: every sender a flow in each period, at a time of its own within it
    std::vector<double> phase_s;
    for (std::size_t i = 0; i < network.senders.size(); ++i) phase_s.push_back(draw.between(load.start_s));
    for (double period_s = 0; period_s < scenario.duration_s; period_s += load.every_s)
      for (std::size_t i = 0; i < network.senders.size(); ++i)
        if (period_s + phase_s[i] < scenario.duration_s)
          out.push_back(flow(draw, load, network, network.senders[i], period_s + phase_s[i]));
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].id = static_cast<std::uint32_t>(i);
  return out;
}

}  // namespace tcplearn
