// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The generator of web connections against the published quantiles, and startup policies on whole runs.
// Usage: test_web REPOSITORY [--write]: with it the drawn quantiles are written beside the published ones.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"
#include "ns3/simulator.h"
#include "scenario.h"
#include "web_draw.h"
#include "web_load.h"
#include "web_run.h"

namespace {

using nlohmann::json;

constexpr int kDrawn = 400'000;
constexpr double kLinksMs = 6;  // the three links of common.toml, both ways

// A statement of the paper on its random values: the share of connections whose value is at most a limit.
struct Below {
  std::string quantity;
  double limit;
  std::uint64_t count = 0;
};

std::vector<Below> below{{"response_bytes", 3 * 1460}, {"response_bytes", 1460}, {"rtt_ms", 50}};

std::map<std::string, std::vector<double>> drawn() {
  tcplearn::WebDraw draw({60, false, 1e9, {1, 20}}, 7);
  std::map<std::string, std::vector<double>> out;
  for (int i = 0; i < kDrawn; ++i) {
    const tcplearn::WebConnection c = draw.next();
    const tcplearn::WebObject& object = c.objects.front();
    out["arrival_ms"].push_back(c.after_s * 1e3);
    out["request_bytes"].push_back(object.request_bytes);
    // responses of 276 bytes or more are files; the sizes of the two kinds hardly overlap
    out[object.response_bytes > 275 ? "file_bytes" : "validation_bytes"].push_back(object.response_bytes);
    out["client_rtt_ms"].push_back(c.client_rtt_s * 1e3);
    out["server_rtt_ms"].push_back(c.server_rtt_s * 1e3);
    out["server_wait_ms"].push_back(object.wait_s * 1e3);
    const double rtt_ms = (c.client_rtt_s + c.server_rtt_s) * 1e3 + kLinksMs;
    for (Below& b : below) b.count += (b.quantity == "rtt_ms" ? rtt_ms : object.response_bytes) <= b.limit;
  }
  for (auto& [name, values] : out) std::sort(values.begin(), values.end());
  return out;
}

void quantiles(const std::string& folder, bool write) {
  auto values = drawn();
  std::ifstream published(folder + "/quantiles.csv");
  std::string line, kept = "quantity,p,value\n";
  std::getline(published, line);
  int compared = 0;
  while (std::getline(published, line)) {
    std::istringstream fields(line);
    std::string name, p, value;
    std::getline(fields, name, ',');
    std::getline(fields, p, ',');
    std::getline(fields, value, ',');
    const auto& of = values.at(name);
    const double ours = of[static_cast<std::size_t>(std::stod(p) * static_cast<double>(of.size()))];
    check(std::fabs(ours / std::stod(value) - 1) < 0.05, line + ": drawn " + std::to_string(ours));
    kept += name + "," + p + "," + std::to_string(ours) + "\n";
    ++compared;
  }
  std::ostringstream shares;
  shares << "quantity,at_most,share\n";
  for (const Below& b : below)
    shares << b.quantity << ',' << b.limit << ','
           << std::round(1e3 * static_cast<double>(b.count) / kDrawn) / 1e3 << '\n';
  check(std::fabs(static_cast<double>(below.front().count) / kDrawn / 0.75 - 1) < 0.05,
        "section 3.4: up to 75 % of objects fit into three segments");
  check(compared > 40, "published quantiles: " + std::to_string(compared));
  if (!write) return;
  std::ofstream(folder + "/drawn.csv") << kept;
  std::ofstream(folder + "/drawn-shares.csv") << shares.str();
}

// Returns a scenario. With its seed, every request that the tests look at fits into one segment.
json document(const std::string& startup, double syn_ack_loss, double loss = 0) {
  return json::parse(R"({"seed": 4, "duration_s": 1000, "tick_s": 0.5, "cwnd_bin_s": 20,
    "topology": {"kind": "delaybox", "pairs": 2, "edge_mbps": 1000, "rate_mbps": 10, "delay_ms": 3,
      "queue_packets": 1000, "server_mbps": [1, 20], "loss": [)" +
                     std::to_string(loss) + ", " + std::to_string(loss) + R"(], "syn_ack_loss": )" +
                     std::to_string(syn_ack_loss) + R"(},
    "load": {"kind": "web", "flows": 0, "packets": [0, 0], "start_s": [0, 0], "every_s": 0, "level": 0.05,
      "connections": 150, "warmup_s": 1, "drain_s": 100, "persistent": true, "response_max_bytes": 50000,
      "startup": {"algorithm": ")" +
                     startup + R"("}, "startup_share": 1},
    "tcp": {"congestion_control": "TcpNewReno", "segment_bytes": 1460, "buffer_bytes": 1460000,
      "initial_window": 3, "cwnd_max_bytes": 1460000, "delayed_ack_segments": 1, "delayed_ack_s": 0.2,
      "connect_timeout_s": 1, "backoff_max_s": 60, "max_segment_lifetime_s": 1, "sack": true,
      "keep_backoff": true},
    "sampling": "every-ack", "quantum_us": 0,
    "estimator": {"algorithm": "jacobson:rto_min_us=200000", "command": ""}})");
}

tcplearn::Scenario scenario(const json& of) {
  const std::string file = "test_web_run.json";
  std::ofstream(file) << of;
  tcplearn::Scenario out = tcplearn::read_scenario(file);
  std::remove(file.c_str());
  return out;
}

std::vector<json> run(const std::string& startup, double syn_ack_loss) {
  std::ostringstream out;
  tcplearn::run_web(scenario(document(startup, syn_ack_loss)), out);
  std::vector<json> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

// Checks the round trips that responses take. At 5 % load nothing else is lost, so they show the steps of
// slow start.
void steps(const std::string& startup, double of_two_segments, double of_three_segments) {
  const std::vector<json> lines = run(startup, 0.5);
  int forced = 0, seen = 0;
  for (const json& line : lines) {
    if (line.at("kind") != "flow" || !line.at("forced").get<bool>()) continue;
    ++forced;
    const json& m = line.at("metrics");
    const double bytes = m.at("response_bytes"), rtt = m.at("path_rtt_ms");
    if (bytes <= 1460 || bytes > 3 * 1460 || rtt < 40) continue;
    ++seen;
    const double least = bytes > 2 * 1460 ? of_three_segments : of_two_segments;
    const double rtts = m.at("response_rtts");
    check(rtts >= least - 0.001 && rtts < least + 0.9, startup + ": " + std::to_string(bytes) + " bytes in " +
                                                           std::to_string(rtts) + " RTTs, least " +
                                                           std::to_string(least));
    check(m.at("handshake_ms").get<double>() > 1000, startup + ": the initial timer is in the whole time");
  }
  check(forced > 40 && seen >= 5,
        startup + ": " + std::to_string(forced) + " forced, " + std::to_string(seen));
  const json& metrics = lines.back().at("metrics");
  check(metrics.at("connections") == 150 && metrics.at("connections_unfinished") == 0 &&
            metrics.at("connections_died") == 0,
        startup + ": each connection is resolved");
}

// Returns, for each connection whose first SYN-ACK was dropped and no other packet, by how much its handshake
// exceeded the RTT of its path.
std::vector<double> waits_ms(const json& first_rto) {
  json of = document("standard", 0.5);
  of["load"]["places"] = 4;
  if (!first_rto.is_null()) of["load"]["first_rto"] = first_rto;
  std::ostringstream out;
  tcplearn::run_web(scenario(of), out);
  std::vector<double> waits;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) {
    const json read = json::parse(line);
    if (read.at("kind") != "flow" || !read.at("forced").get<bool>()) continue;
    const json& m = read.at("metrics");
    waits.push_back(m.at("handshake_ms").get<double>() - m.at("path_rtt_ms").get<double>());
  }
  return waits;
}

double mean(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

// Checks first RTOs from the history of four destinations, from the constant for unknown destinations, and
// from a constant that is far too short.
void first_rtos() {
  const std::string place = "rfc6298:floor_us=20000,nothing=on,place=", none = ",nothing_constant_us=";
  const auto model = [](const std::string& spec) { return json{{"algorithm", spec}}; };
  const std::vector<double> stock = waits_ms(nullptr),
                            constant = waits_ms(model(place + "off" + none + "300000")),
                            known =
                                waits_ms(model(place + "on,place_last=0,place_high=1.434" + none + "300000")),
                            wrong = waits_ms(model(place + "off" + none + "20000"));
  const auto [least, most] = std::minmax_element(stock.begin(), stock.end());
  check(stock.size() > 40 && *least > 999 && *most < 1100, "without a model each waits a second");
  check(mean(constant) > 299 && mean(known) < 0.9 * mean(constant),
        "mean waits: " + std::to_string(mean(constant)) + ", " + std::to_string(mean(known)) + " ms");
  check(*std::max_element(wrong.begin(), wrong.end()) < *most + 1, "a model that is wrong delays nobody");
}

// Checks that a client stops repeating its FIN. A server that has closed ignores a FIN, so if its ACK was
// lost, the client gets no answer. With the limit there are 10.9 packets for each connection, without it
// 15.2.
void fins_end() {
  const tcplearn::Scenario lossy = scenario(document("standard", 0, 0.2));
  tcplearn::set_tcp_defaults(lossy.tcp);
  const tcplearn::WebLoad load(lossy, [](const tcplearn::WebRecord&) {});
  ns3::Simulator::Stop(ns3::Seconds(lossy.duration_s));
  ns3::Simulator::Run();
  std::uint64_t up = 0;
  for (const auto& second : load.cloud().up.seconds()) up += second.arrived;
  const double each = static_cast<double>(up) / static_cast<double>(load.begun());
  check(each > 5 && each < 13, "packets towards the servers of each connection: " + std::to_string(each));
  ns3::Simulator::Destroy();
}

// Returns the events of a run with 150 measured connections, of which each waits a second for its first RTO.
double events(bool crowd) {
  json of = document("standard", 1);
  of["load"]["crowd"] = crowd;
  std::ostringstream out;
  tcplearn::run_web(scenario(of), out);
  std::istringstream in(out.str());
  std::string line, last;
  while (std::getline(in, line)) last = line;
  const json run = json::parse(last);
  check(run["metrics"]["connections"] == 150, "a run begins its 150 connections");
  return run["cost"]["events"];
}

// Checks that a crowd ends with its connections; without it others begin while the last ones wait.
void crowd() {
  const double ends = events(true), goes_on = events(false);
  check(ends < 0.98 * goes_on, "events of a crowd: " + std::to_string(ends / goes_on) + " of those without");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  quantiles(std::string(argv[1]) + "/experiments/tambuwal2018", argc > 2);
  steps("standard", 3, 3);
  steps("tsl/3-16", 2, 2);
  steps("tsl/1-1000", 3, 3);
  steps("linux", 2, 2);
  first_rtos();
  fins_end();
  crowd();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
