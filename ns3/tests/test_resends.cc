// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Every resend policy of the core in this host: each wait that was armed is the core's answer to the same
// events, and the timer fires when it has passed. And what ns-3 lacks: probes, and timestamps echoed by data.
#include <cstdio>
#include <string>
#include <vector>

#include "check.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "request_flow.h"

using namespace ns3;
using tcplearn::ResendEvent;

namespace {

struct Setting {
  std::string policy;
  bool timestamps = true;
  double loss = 0.03, loss_back = 0.01;
  std::uint32_t bytes = 1000;
  bool stream = false;
};

struct Played {
  std::vector<ResendEvent> events;
  tcplearn::FlowRecord flow;
};

Played play(const Setting& s) {
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(3);
  tcplearn::Tcp tcp{};
  tcp.congestion_control = "TcpCubic";
  tcp.segment_bytes = 1448;
  tcp.buffer_bytes = 1 << 22;
  tcp.initial_window = 10;
  tcp.delayed_ack_segments = 2;
  tcp.delayed_ack_s = 0.04;
  tcp.connect_timeout_s = 1;
  tcp.max_segment_lifetime_s = 1;
  tcp.sack = true;
  tcp.timestamps = s.timestamps;
  tcplearn::set_tcp_defaults(tcp);
  tcplearn::Path path{};
  path.rate_mbps = 20;
  path.rtt_ms = 30;
  path.queue = "droptail";
  path.queue_packets = 100;
  path.loss_rate = s.loss;
  path.loss_burst_packets = 1;
  path.loss_place = "bottleneck";
  path.moving = tcplearn::Moving{2, 0, 20, 1, {0.2, 2}, 5, s.loss_back};
  const auto recorder = std::make_shared<tcplearn::Recorder>(Seconds(20));
  const tcplearn::Network network = tcplearn::make_path(path, recorder);
  tcplearn::Load load{};
  load.kind = "requests";
  load.flows = 1;
  load.count = 300;
  load.request_bytes = s.bytes;
  load.think_s = 0.05;
  load.stream = s.stream;
  recorder->flows.resize(1);
  recorder->flows[0].source = 0;
  recorder->flows[0].destination = 2;

  Played out;
  const auto settings = std::make_shared<tcplearn::SocketSettings>();
  settings->estimator.core.text = "linux";
  settings->resend = tcplearn::Spec{s.policy, TL_FIX};
  settings->resend_events = &out.events;
  for (std::uint32_t i = 0; i < network.hosts.GetN(); ++i) {
    const auto factory = CreateObject<tcplearn::TcpSocketFactory>();
    factory->configure(settings, recorder);
    network.hosts.Get(i)->AggregateObject(factory);
  }
  const tcplearn::RequestFlow flow(recorder, 0, network, load);
  Simulator::Stop(Seconds(2000));
  Simulator::Run();
  Simulator::Destroy();
  out.flow = recorder->flows[0];
  return out;
}

// Returns the number of events for which the core gives another answer.
std::size_t differences(const Played& played, const std::string& spec) {
  std::vector<ResendEvent> again;
  tcplearn::ResendTimer core(tcplearn::Spec{spec, TL_FIX});
  core.keep_events(&again);
  for (const ResendEvent& e : played.events)
    if (e.kind == ResendEvent::kSent)
      core.sent_us(e.in.time_us, e.in.out_segments);
    else if (e.kind == ResendEvent::kFired)
      core.fired_us(e.in.time_us, e.in.out_segments);
    else
      core.acknowledged_us(e.in);
  std::size_t out = 0;
  for (std::size_t i = 0; i < again.size(); ++i)
    out += again[i].answer.wait_us != played.events[i].answer.wait_us ||
           again[i].answer.probe != played.events[i].answer.probe;
  return out;
}

// Returns the number of timer expiries at another time than the last answer says, and of waits that ended
// without an expiry. Times are rounded to microseconds.
std::size_t at_other_times(const Played& played, std::size_t& fired) {
  std::size_t out = fired = 0;
  const ResendEvent* armed = nullptr;
  for (const ResendEvent& e : played.events) {
    const std::int64_t wait_us = armed ? armed->answer.wait_us : 0;
    const std::int64_t due_us = armed ? armed->in.time_us + wait_us : 0;
    if (e.kind == ResendEvent::kFired) {
      ++fired;
      out += wait_us == 0 || std::abs(e.in.time_us - due_us) > 1;
    } else if (wait_us > 0) {
      out += e.in.time_us > due_us + 1;
    }
    if (e.armed) armed = &e;
  }
  return out;
}

void runs_the_timer(const Setting& s) {
  const Played played = play(s);
  std::size_t fired = 0;
  const std::size_t wrong = differences(played, s.policy), late = at_other_times(played, fired);
  char line[240];
  std::snprintf(
      line, sizeof(line),
      "%s, timestamps %d, %u bytes%s: %zu answers, %zu not the core's; %zu expiries (%llu probes), %zu at "
      "another time; %zu responses",
      s.policy.c_str(), s.timestamps, s.bytes, s.stream ? ", a stream" : "", played.events.size(), wrong,
      fired, static_cast<unsigned long long>(played.flow.probes), late, played.flow.responses_us.size());
  check(played.flow.responses_us.size() == 300 && played.events.size() > 400 && (fired > 5 || s.stream) &&
            wrong == 0 && late == 0,
        line);
}

}  // namespace

int main() {
  for (std::size_t i = 0; const tl_resend_policy* policy = tl_resend_at(i, TL_FIX); ++i) {
    const std::string name = policy->algorithm.name;
    for (const bool timestamps : {true, false}) {
      runs_the_timer({name, timestamps});
      runs_the_timer({name, timestamps, 0.03, 0.01, 14000});
    }
    runs_the_timer({name, true, 0.03, 0.01, 200, true});
  }
  const Played probed = play({"stock"}), no_probe = play({"stock/no-probe"});
  check(probed.flow.probes > 0 && no_probe.flow.probes == 0, "probes are sent where the policy has them");
  const Played whole = play({"stock", true, 0, 0});
  check(whole.flow.oracle.arrived_again() == 0 || whole.flow.overruns_us.size() > 0,
        "nothing is sent again but in fades");
  std::size_t later = 0;
  for (const ResendEvent& e : probed.events) later += e.in.answers == TL_RESEND_LATER;
  check(later > 3, "timestamps say that a resend was answered: " + std::to_string(later));
  return failures ? 1 : 0;
}
