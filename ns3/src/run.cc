// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "run.h"

#include <memory>

#include "cost.h"
#include "flow.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "observe.h"
#include "report.h"
#include "request_flow.h"

namespace tcplearn {
namespace {

void poll_queue(const Network& network, Moments& bytes) {
  bytes.add(network.queued_bytes());
  ns3::Simulator::Schedule(ns3::Seconds(1), [&network, &bytes] { poll_queue(network, bytes); });
}

}  // namespace

void run(const Scenario& scenario, std::ostream& out) {
  if (scenario.socket.limit == Limit::kStatistical && !scenario.socket.statistics) {
    Scenario known = scenario;
    known.socket.statistics = observe(scenario);
    return run(known, out);
  }
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(scenario.seed);
  set_tcp_defaults(scenario.tcp);
  const auto recorder = std::make_shared<Recorder>(ns3::Seconds(scenario.cwnd_bin_s));
  recorder->losses = std::make_shared<LossRecord>(scenario.loss_rows);
  const Network network = scenario.topology == "manet"  ? make_manet(scenario.manet)
                          : scenario.topology == "path" ? make_path(scenario.path, recorder)
                                                        : make_dumbbell(scenario.dumbbell);
  recorder->flows = make_load(scenario, network);
  start_udp(scenario, network);
  const auto settings = std::make_shared<const SocketSettings>(scenario.socket);
  for (std::uint32_t i = 0; i < network.hosts.GetN(); ++i) {
    const auto factory = ns3::CreateObject<TcpSocketFactory>();
    factory->configure(settings, recorder);
    network.hosts.Get(i)->AggregateObject(factory);
  }
  std::vector<std::unique_ptr<Flow>> flows;
  std::vector<std::unique_ptr<RequestFlow>> requests;
  for (const FlowRecord& record : recorder->flows)
    if (scenario.load.kind == "requests")
      requests.push_back(std::make_unique<RequestFlow>(recorder, record.id, network, scenario.load));
    else
      flows.push_back(std::make_unique<Flow>(recorder, record.id, network, scenario.tcp.segment_bytes));

  RunTotals totals;
  ns3::Simulator::Schedule(ns3::Seconds(1), [&] { poll_queue(network, totals.queued_bytes); });
  const double before_s = cpu_seconds();
  ns3::Simulator::Stop(ns3::Seconds(scenario.duration_s));
  ns3::Simulator::Run();
  totals.cpu_s = cpu_seconds() - before_s;
  totals.events = ns3::Simulator::GetEventCount();
  totals.peak_mib = peak_mib();
  Scenario ran = scenario;
  // the run lasted until the last answer
  if (!requests.empty()) ran.duration_s = ns3::Simulator::Now().GetSeconds();
  write_report(out, ran, *recorder, totals);
  out.flush();
  ns3::Simulator::Destroy();
}

}  // namespace tcplearn
