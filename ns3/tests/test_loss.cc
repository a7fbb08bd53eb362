// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The cause of a loss on whole runs: labels where only one cause is possible, and what a sender does that
// keeps its window.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "check.h"
#include "run.h"

using nlohmann::json;
using tcplearn::Scenario;

namespace {

Scenario path(double loss_rate, const std::string& classifier, bool acts) {
  Scenario s{};
  s.seed = 3;
  s.duration_s = 40;
  s.tick_s = 0.001;
  s.cwnd_bin_s = 1;
  s.topology = "path";
  s.path.rate_mbps = 5;
  s.path.rtt_ms = 60;
  s.path.queue = "droptail";
  s.path.queue_packets = 50;
  s.path.loss_rate = loss_rate;
  s.path.loss_burst_packets = 1;
  s.path.loss_place = "last-hop";
  s.load.kind = "long";
  s.load.flows = 1;
  s.load.udp = "none";
  s.tcp = {};
  s.tcp.congestion_control = "TcpNewReno";
  s.tcp.segment_bytes = 1448;
  s.tcp.buffer_bytes = 1 << 22;
  s.tcp.initial_window = 10;
  s.tcp.delayed_ack_segments = 2;
  s.tcp.delayed_ack_s = 0.04;
  s.tcp.connect_timeout_s = 1;
  s.tcp.max_segment_lifetime_s = 1;
  s.tcp.sack = true;
  s.socket.loss = tcplearn::LossSettings{tcplearn::read_spec(classifier), acts};
  s.socket.estimator.core.text = "linux";
  s.loss_rows = 1000;
  return s;
}

struct Result {
  json metrics, rows, columns;
  double operator[](const char* metric) const { return metrics.at(metric).get<double>(); }
  json at(std::size_t row, const char* column) const {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] == column) return rows[row][i];
    return nullptr;
  }
};

// Runs the scenario in a process of its own, because ns-3 numbers its random streams from the start of a
// process.
std::string output_of(const Scenario& scenario) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  if (fork() == 0) {
    std::stringstream out;
    tcplearn::set_tcp_defaults(scenario.tcp);
    tcplearn::run(scenario, out);
    const std::string text = out.str();
    std::size_t sent = 0;
    for (ssize_t n = 1; sent < text.size() && n > 0; sent += static_cast<std::size_t>(n))
      n = write(ends[1], text.data() + sent, text.size() - sent);
    _exit(0);
  }
  close(ends[1]);
  std::string text(1 << 16, '\0'), all;
  for (ssize_t n; (n = read(ends[0], text.data(), text.size())) > 0;)
    all.append(text, 0, static_cast<std::size_t>(n));
  close(ends[0]);
  wait(nullptr);
  return all;
}

Result run(const Scenario& scenario) {
  std::stringstream out(output_of(scenario));
  Result result;
  for (std::string line; std::getline(out, line);) {
    const json j = json::parse(line);
    if (j.at("kind") == "run") result.metrics = j.at("metrics");
    if (j.at("kind") != "losses") continue;
    result.rows = j.at("rows");
    result.columns = j.at("columns");
  }
  return result;
}

std::string number(double value) { return std::to_string(value); }

}  // namespace

int main() {
  // slow start fills the queue; all losses after it are congestion
  const Result crowded = run(path(0, "congestion", false));
  check(crowded["congestion_called_congestion"] >= 3 && crowded["random_called_congestion"] == 0,
        "no random loss: " + number(crowded["congestion_called_congestion"]) +
            " recoveries, each of congestion");
  check(crowded["queue_dropped_packets"] > 0 && crowded["channel_dropped_packets"] == 0,
        "and drops of the queue only");

  Scenario wide_open = path(0.01, "congestion", false);
  wide_open.path.queue_packets = 100000;
  const Result noisy = run(wide_open);
  check(noisy["random_called_congestion"] >= 10 && noisy["congestion_called_congestion"] == 0,
        "an endless queue: " + number(noisy["random_called_congestion"]) + " recoveries, each random");

  Scenario slow_end = path(0, "congestion", false);
  slow_end.path.rate_mbps = 50;
  slow_end.path.last_hop_mbps = 5;  // its queue is the only one that fills
  const Result behind = run(slow_end);
  check(behind["congestion_called_congestion"] == crowded["congestion_called_congestion"] &&
            behind["random_called_congestion"] == 0 && behind["goodput_mbps"] < 5,
        "a slow last hop drops like a slow bottleneck: " + number(behind["congestion_called_congestion"]));

  Scenario knows = wide_open;
  knows.socket.loss = tcplearn::LossSettings{{"oracle"}, true};
  knows.path.queue_packets = 1000;
  knows.path.rate_mbps = 50;
  knows.path.loss_rate = 0.002;              // few, so that no retransmission is lost too
  knows.socket.cwnd_max_bytes = 200 * 1448;  // the queue never fills
  knows.duration_s = 10;
  const Result kept = run(knows);
  check(kept["random_called_random"] >= 10 && kept["random_called_congestion"] == 0,
        "the oracle is never wrong");
  bool falls = false;
  double cwnd = 0;
  for (std::size_t i = 0; i < kept.rows.size(); ++i) {
    const auto now = kept.at(i, "cwnd_segments").get<double>();
    falls = falls || now < cwnd;
    cwnd = now;
  }
  check(!falls && kept["timeouts"] == 0, "cwnd never falls, from loss to loss, to " + number(cwnd) +
                                             " segments; timeouts: " + number(kept["timeouts"]));

  // a sender that acts on the decision "congestion" behaves like NewReno
  const Result base = run(path(0.01, "congestion", false)), same = run(path(0.01, "congestion", true));
  check(!base.rows.empty() && base.rows == same.rows && base.metrics == same.metrics,
        "acting on congestion alone is NewReno to the byte");

  // cut by the probability: of a classifier that is always sure this is what its decision does
  for (const char* sure : {"congestion", "oracle"}) {
    Scenario decides = path(0.01, sure, true), cuts = decides;
    cuts.socket.loss->by_probability = true;
    check(run(decides).rows == run(cuts).rows, std::string(sure) + ", cut by its probability, decides alike");
  }
  // and of one that is not, cwnd and ssthresh after a recovery are between half and whole
  Scenario unsure = path(0.01, "mlp", true);
  unsure.tcp.congestion_control = "NewReno";
  unsure.socket.loss->by_probability = true;
  const Result cut = run(unsure);
  bool between = cut.rows.size() > 5;
  for (std::size_t i = 1; i < cut.rows.size(); ++i) {
    const double before = cut.at(i - 1, "cwnd_segments").get<double>();
    const double left = 1 - cut.at(i - 1, "p_congestion").get<double>() / 2;
    const double ssthresh = cut.at(i, "ssthresh_segments").get<double>();
    const bool timed_out = cut.at(i, "cwnd_segments").get<double>() < ssthresh;
    between = between && (timed_out || std::abs(ssthresh - before * left) <= 2 + before / 10);
  }
  check(between && cut["timeouts"] == 0, "and otherwise ssthresh is the rest of cwnd");

  // the features come from the last ACK that the socket processed
  bool sane = noisy.rows.size() > 5;
  for (std::size_t i = 0; i < noisy.rows.size(); ++i) {
    const double least = noisy.at(i, "rtt_min_to_rtt").get<double>();
    const double flight = noisy.at(i, "log_flight").get<double>();
    sane = sane && least > 0 && least <= 1 &&
           std::abs(flight - std::log2(noisy.at(i, "flight_segments").get<double>())) < 1e-6 &&
           noisy.at(i, "head") != "queue";
  }
  check(sane, "features are within their ranges and agree with the sender");

  for (const char* wrong : {"nonsense", "mlp:threshold=2", "veno:beta=x", "mlp@float"}) {
    std::string said;
    try {
      tcplearn::make_loss_classifier(tcplearn::read_spec(wrong));
    } catch (const std::invalid_argument& error) {
      said = error.what();
    }
    check(!said.empty() && said.find('\n') == std::string::npos, std::string(wrong) + " is refused: " + said);
  }
  return failures ? 1 : 0;
}
