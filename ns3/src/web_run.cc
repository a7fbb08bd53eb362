// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "web_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cost.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "web_load.h"

namespace tcplearn {
namespace {

using Json = nlohmann::ordered_json;

double ms(ns3::Time time) { return time.GetSeconds() * 1e3; }

const char* lost_of(const WebRecord& r) {
  return r.syn_acks_lost && r.syns_lost ? "both" : r.syn_acks_lost ? "syn-ack" : r.syns_lost ? "syn" : "none";
}

// Sums over a group of connections, which are not stored themselves.
class Group {
 public:
  void add(const WebRecord& r) {
    rtts_.add(r.response_rtts());
    whole_ms_.add(ms(r.done - r.start));
  }
  void put(Json& metrics, const std::string& name) const {
    metrics["connections" + name] = static_cast<double>(rtts_.count());
    if (rtts_.count() == 0) return;
    metrics["mean_response" + name + "_rtts"] = rtts_.mean();
    metrics["mean_response_whole" + name + "_ms"] = whole_ms_.mean();
  }

 private:
  Moments rtts_, whole_ms_;
};

class WebReport {
 public:
  WebReport(const Scenario& scenario, std::ostream& out) : scenario_(scenario), out_(out) {}

  void ended(const WebRecord& r) {
    died_ += r.died;
    if (r.is_done) {
      (r.studied ? studied_ : standard_).add(r);
      if (r.syn_acks_lost) lost_.add(r);
    }
    forced_ += r.syn_acks_forced > 0;
    const bool concerned = r.syn_acks_lost || r.syns_lost || r.syn_resends || r.syn_ack_resends;
    if (concerned || !r.is_done) line(r);
  }

  void run(const WebLoad& load, double cpu) {
    for (const WebRecord& r : load.open()) line(r);
    Json metrics;
    lost_.put(metrics, "_syn_ack_lost");
    studied_.put(metrics, "_studied");
    standard_.put(metrics, "_standard");
    metrics["connections"] = static_cast<double>(load.begun());
    metrics["connections_died"] = static_cast<double>(died_);
    metrics["connections_unfinished"] = static_cast<double>(load.open().size());
    metrics["connections_forced"] = static_cast<double>(forced_);
    metrics["connections_a_second"] = load.rate();
    metrics["data_segments"] = static_cast<double>(load.cloud().data_segments);
    Json seconds = link(load, metrics);
    Json line{{"kind", "run"}};
    line["metrics"] = metrics;
    line["seconds"] = seconds;
    line["cost"] = {{"cpu_s", cpu}, {"events", ns3::Simulator::GetEventCount()}, {"peak_mib", peak_mib()}};
    out_ << line << '\n';
  }

 private:
  void line(const WebRecord& r) {
    Json line{{"kind", "flow"}, {"flow", r.id}, {"lost", lost_of(r)}};
    line["forced"] = r.syn_acks_forced > 0;
    line["startup"] = r.studied ? name_of(scenario_.web.startup) : "standard";
    line["state"] = r.died ? "died" : r.is_done ? "finished" : "running";
    Json metrics{{"path_rtt_ms", ms(r.rtt)}, {"response_bytes", r.response_bytes}};
    if (r.is_done) {
      metrics["response_rtts"] = r.response_rtts();
      metrics["response_whole_ms"] = ms(r.done - r.start);
      metrics["handshake_ms"] = ms(r.connected - r.start);
      metrics["syn_retransmissions"] = r.syn_resends;
      metrics["syn_ack_retransmissions"] = r.syn_ack_resends;
    }
    line["metrics"] = metrics;
    out_ << line << '\n';
  }

  // Returns the state of the bottleneck towards the clients in each whole second.
  Json link(const WebLoad& load, Json& metrics) const {
    Json lost = Json::array(), mbps = Json::array();
    double arrived = 0, dropped = 0, bytes = 0, most = 0;
    const auto& seconds = load.cloud().down.seconds();
    const std::size_t whole = seconds.empty() ? 0 : seconds.size() - 1;
    for (std::size_t i = 0; i < whole; ++i) {
      const Bottleneck::Second& s = seconds[i];
      const double share = s.arrived ? static_cast<double>(s.dropped) / s.arrived : 0;
      lost.push_back(std::round(share * 1e4) / 1e4);
      mbps.push_back(std::round(static_cast<double>(s.sent_bytes) * 8e-3) / 1e3);
      arrived += s.arrived;
      dropped += s.dropped;
      bytes += static_cast<double>(s.sent_bytes);
      most = std::max(most, share);
    }
    if (whole > 0) {
      metrics["link_loss_share"] = arrived > 0 ? dropped / arrived : 0;
      metrics["link_loss_share_max"] = most;
      metrics["link_throughput_mbps"] = bytes * 8e-6 / static_cast<double>(whole);
      metrics["link_utilisation"] = bytes * 8e-6 / static_cast<double>(whole) / scenario_.cloudbox.rate_mbps;
    }
    return {{"loss_share", lost}, {"throughput_mbps", mbps}};
  }

  const Scenario& scenario_;
  std::ostream& out_;
  Group lost_, studied_, standard_;
  std::uint64_t died_ = 0, forced_ = 0;
};

}  // namespace

void run_web(const Scenario& scenario, std::ostream& out) {
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(scenario.seed);
  set_tcp_defaults(scenario.tcp);
  const double before_s = cpu_seconds();
  WebReport report(scenario, out);
  WebLoad load(scenario, [&report](const WebRecord& record) { report.ended(record); });
  ns3::Simulator::Stop(ns3::Seconds(scenario.duration_s));
  ns3::Simulator::Run();
  report.run(load, cpu_seconds() - before_s);
  out.flush();
  ns3::Simulator::Destroy();
}

}  // namespace tcplearn
