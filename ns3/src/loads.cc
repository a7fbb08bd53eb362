// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Draws the flows of a load from separate random streams, so that every algorithm meets the same flows.
#include <algorithm>

#include "ns3/data-rate.h"
#include "ns3/inet-socket-address.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "scenario.h"

namespace tcplearn {
namespace {

constexpr std::uint64_t kEndless = 1ull << 40;  // packets
constexpr std::uint32_t kUdpBytes = 1000;
constexpr double kUdpOnWire = 1030;  // with UDP, IP and PPP headers
constexpr std::uint16_t kUdpPort = 9;

// ns-3 assigns streams from 2^63 on by itself
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

std::string exponential(double mean) {
  return "ns3::ExponentialRandomVariable[Mean=" + std::to_string(mean) + "]";
}

// Sends UDP at a mean of `mbps` over the bottleneck, constantly or with exponential on and off times.
void send_udp(const Network& network, std::uint32_t from, std::uint32_t to, double mbps, const Load& load) {
  const ns3::InetSocketAddress address(network.addresses[to], kUdpPort);
  ns3::OnOffHelper source("ns3::UdpSocketFactory", address);
  const bool bursts = load.udp == "onoff";
  const double peak = bursts ? (load.udp_on_s + load.udp_off_s) / load.udp_on_s : 1;
  const double bps = mbps * 1e6 * peak * kUdpBytes / kUdpOnWire;
  source.SetAttribute("PacketSize", ns3::UintegerValue(kUdpBytes));
  source.SetAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(bps))));
  source.SetAttribute("OnTime", ns3::StringValue(bursts ? exponential(load.udp_on_s)
                                                        : "ns3::ConstantRandomVariable[Constant=1e6]"));
  source.SetAttribute("OffTime", ns3::StringValue(bursts ? exponential(load.udp_off_s)
                                                         : "ns3::ConstantRandomVariable[Constant=0]"));
  source.Install(network.hosts.Get(from)).Start(ns3::Seconds(load.start_s.first));
  ns3::PacketSinkHelper sink("ns3::UdpSocketFactory", address);
  sink.Install(network.hosts.Get(to));
}

}  // namespace

void start_udp(const Scenario& scenario, const Network& network) {
  const Load& load = scenario.load;
  if ((load.kind != "long" && load.kind != "requests") || load.udp == "none") return;
  const std::uint32_t from = network.senders[1], to = network.receivers[1];
  const double mbps = scenario.path.rate_mbps;
  if (load.udp_share > 0) send_udp(network, from, to, load.udp_share * mbps, load);
  if (load.udp_reverse_share > 0) send_udp(network, to, from, load.udp_reverse_share * mbps, load);
}

std::vector<FlowRecord> make_load(const Scenario& scenario, const Network& network) {
  const Load& load = scenario.load;
  Draw draw;
  std::vector<FlowRecord> out;
  if (load.kind == "ftp") {  // spread evenly over the senders, at random times
    for (std::uint32_t i = 0; i < load.flows; ++i)
      out.push_back(
          flow(draw, load, network, network.senders[i % network.senders.size()], draw.between(load.start_s)));
  } else if (load.kind == "long" || load.kind == "requests") {
    for (std::uint32_t i = 0; i < load.flows + load.beside; ++i) {
      FlowRecord transfer;
      transfer.beside = i >= load.flows;
      transfer.source = network.senders[transfer.beside];
      transfer.destination = network.receivers[transfer.beside];
      const bool ends = load.packets.second > 0 && !transfer.beside;
      transfer.packets = ends ? draw.whole(load.packets) : kEndless;
      transfer.start = ns3::Seconds(draw.between(transfer.beside ? load.beside_start_s : load.start_s));
      out.push_back(transfer);
    }
  } else {  // bursts: every sender starts a flow in each period, at its own time within the period
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
