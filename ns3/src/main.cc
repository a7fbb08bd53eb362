// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// tcplearn-ns3 RUN.json: one run, its measurements as JSON lines on standard output.
// tcplearn-ns3 --with-parent RUN.json: the same, and it dies with the process that started it.
// tcplearn-ns3 --version: what a run depends on beside its file.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>

#include "flow.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "report.h"
#include "scenario.h"
#include "web_run.h"

namespace tcplearn {
namespace {

double cpu_seconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_mib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void poll_queue(const Network& network, Moments& bytes) {
  bytes.add(network.queued_bytes());
  ns3::Simulator::Schedule(ns3::Seconds(1), [&network, &bytes] { poll_queue(network, bytes); });
}

void run(const Scenario& scenario, std::ostream& out) {
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(scenario.seed);
  set_tcp_defaults(scenario.tcp);
  const Network network =
      scenario.topology == "manet" ? make_manet(scenario.manet) : make_dumbbell(scenario.dumbbell);
  const auto recorder = std::make_shared<Recorder>(ns3::Seconds(scenario.cwnd_bin_s));
  recorder->flows = make_load(scenario, network);
  const auto settings = std::make_shared<const SocketSettings>(scenario.socket);
  for (std::uint32_t i = 0; i < network.hosts.GetN(); ++i) {
    const auto factory = ns3::CreateObject<TcpSocketFactory>();
    factory->configure(settings, recorder);
    network.hosts.Get(i)->AggregateObject(factory);
  }
  std::vector<std::unique_ptr<Flow>> flows;
  for (const FlowRecord& record : recorder->flows)
    flows.push_back(std::make_unique<Flow>(recorder, record.id, network, scenario.tcp.segment_bytes));

  RunTotals totals;
  ns3::Simulator::Schedule(ns3::Seconds(1), [&] { poll_queue(network, totals.queued_bytes); });
  const double before_s = cpu_seconds();
  ns3::Simulator::Stop(ns3::Seconds(scenario.duration_s));
  ns3::Simulator::Run();
  totals.cpu_s = cpu_seconds() - before_s;
  totals.events = ns3::Simulator::GetEventCount();
  totals.peak_mib = peak_mib();
  write_report(out, scenario, *recorder, totals);
  out.flush();
  ns3::Simulator::Destroy();
}

}  // namespace
}  // namespace tcplearn

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::cout << "tcplearn-ns3 " << TL_VERSION << " ns-3.37\n";
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--with-parent") == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ++argv;
    --argc;
  }
  if (argc != 2) {
    std::cerr << "usage: tcplearn-ns3 [--with-parent] RUN.json\n";
    return 2;
  }
  try {
    const tcplearn::Scenario scenario = tcplearn::read_scenario(argv[1]);
    (scenario.load.kind == "web" ? tcplearn::run_web : tcplearn::run)(scenario, std::cout);
  } catch (const std::exception& error) {
    std::cerr << "tcplearn-ns3: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
