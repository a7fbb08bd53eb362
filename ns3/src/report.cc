// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "ns3/simulator.h"

namespace tcplearn {
namespace {

using Json = nlohmann::ordered_json;
// In the order of first use; a metric that a flow can't have is absent there.
using Metrics = std::vector<std::pair<std::string, double>>;

// nunes2014, section 4, unless said otherwise. Names end in their unit; shares and counts have none.
Metrics metrics_of(const FlowRecord& f, const Scenario& s) {
  Metrics out;
  const double tick_us = s.tick_s * 1e6;
  const double end_s = (f.is_finished ? f.finished : ns3::Seconds(s.duration_s)).GetSeconds();
  const double lasted_s = end_s - f.start.GetSeconds();
  const auto count = [](std::uint64_t n) { return static_cast<double>(n); };
  const auto put = [&](const char* name, double value) { out.emplace_back(name, value); };
  put("samples", count(f.sample_us.count()));
  if (f.error_us.count() > 0) {
    put("mean_abs_error_ticks", f.error_us.mean() / tick_us);
    put("mean_abs_error_ms", f.error_us.mean() / 1e3);
    put("bias_ms", f.bias_us.mean() / 1e3);
    put("mean_abs_error_unrounded_ms",
        f.raw_error_us.mean() / 1e3);  // against the RTT before it was rounded to ticks
  }
  if (f.first_error_us.count() > 0) put("first_abs_error_ms", f.first_error_us.mean() / 1e3);
  if (f.at_send_error_us.count() > 0) put("at_send_error_ms", f.at_send_error_us.mean() / 1e3);
  if (f.sample_us.count() > 0) {
    put("mean_rtt_ms", f.raw_rtt_us.mean() / 1e3);
    put("rtt_variance_ticks2", f.sample_us.variance() / (tick_us * tick_us));
    put("mean_rto_ms", f.rto_us.mean() / 1e3);
    put("rto_miss_rate", count(f.rto_misses) / count(f.sample_us.count()));
    put("mean_cwnd_bytes", f.cwnd_bytes.mean());
  }
  put("sent_packets", count(f.sent));
  put("retransmitted_packets", count(f.retransmitted));
  if (f.sent > 0) {
    put("delivery_ratio", count(f.arrived) / count(f.sent));
    put("retransmitted_share", count(f.retransmitted) / count(f.sent));
  }
  put("delivered_packets", count(f.delivered_bytes) / s.tcp.segment_bytes);
  if (lasted_s > 0) put("goodput_pps", count(f.delivered_bytes) / s.tcp.segment_bytes / lasted_s);
  put("timeouts", count(f.timeouts));
  put("spurious_timeouts", count(f.oracle.spurious()));
  put("needless_timeouts", count(f.oracle.needless()));
  put("syn_retransmissions", count(f.syn_retransmitted));
  return out;
}

Json object_of(const Metrics& metrics) {
  Json out = Json::object();
  for (const auto& [name, value] : metrics) out[name] = value;
  return out;
}

const char* state_of(const FlowRecord& f) {
  return f.died           ? "died"
         : f.is_finished  ? "finished"
         : f.is_connected ? "running"
         : f.sent         ? "running"
                          : "connecting";
}

bool is_count(const std::string& name) {
  return name == "samples" || name == "syn_retransmissions" || name.find("timeouts") != std::string::npos ||
         name.find("_packets") != std::string::npos;
}

// Each flow counts alike (section 4: "averaged over all flows"); counts are summed.
Metrics averaged(const std::vector<Metrics>& flows) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<double, double>> sums;  // and how many
  for (const Metrics& flow : flows)
    for (const auto& [name, value] : flow) {
      auto& [sum, count] = sums[name];
      if (count == 0) order.push_back(name);
      sum += value;
      ++count;
    }
  Metrics out;
  for (const std::string& name : order) {
    const auto& [sum, count] = sums[name];
    out.emplace_back(name, is_count(name) ? sum : sum / count);
  }
  return out;
}

std::optional<double> error_by_sample_ticks(const Recorder& recorder, double tick_s) {
  double sum = 0, samples = 0;
  for (const FlowRecord& f : recorder.flows) {
    sum += f.error_us.mean() * static_cast<double>(f.error_us.count());
    samples += static_cast<double>(f.error_us.count());
  }
  if (samples == 0) return std::nullopt;
  return sum / samples / (tick_s * 1e6);
}

Json series_of(const Recorder& recorder) {
  Json out;
  for (const Moments& bin : recorder.cwnd_over_time())
    out.push_back(bin.count() ? Json(bin.mean()) : Json(nullptr));
  return out;
}

}  // namespace

void write_report(std::ostream& out, const Scenario& s, const Recorder& recorder, const RunTotals& totals) {
  std::vector<Metrics> all;
  std::map<std::string, int> states;
  for (const FlowRecord& f : recorder.flows) {
    if (f.start >= ns3::Seconds(s.duration_s)) continue;
    all.push_back(metrics_of(f, s));
    ++states[state_of(f)];
    Json line{{"kind", "flow"},       {"flow", f.id},
              {"source", f.source},   {"destination", f.destination},
              {"packets", f.packets}, {"start_s", f.start.GetSeconds()},
              {"state", state_of(f)}};
    line["metrics"] = object_of(all.back());
    out << line << '\n';
  }
  Metrics run = averaged(all);
  if (const auto error = error_by_sample_ticks(recorder, s.tick_s))
    run.emplace_back("mean_abs_error_by_sample_ticks", *error);
  run.emplace_back("mean_queue_bytes", totals.queued_bytes.mean());
  run.emplace_back("flows", static_cast<double>(all.size()));
  for (const char* state : {"finished", "running", "connecting", "died"})
    run.emplace_back(std::string("flows_") + state, states[state]);
  Json line{{"kind", "run"}};
  line["metrics"] = object_of(run);
  line["cwnd_over_time"] = {{"bin_s", recorder.bin().GetSeconds()}, {"bytes", series_of(recorder)}};
  line["cost"] = {{"cpu_s", totals.cpu_s}, {"events", totals.events}, {"peak_mib", totals.peak_mib}};
  out << line << '\n';
}

}  // namespace tcplearn
