// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <tuple>

#include "ns3/simulator.h"

namespace tcplearn {
namespace {

using Json = nlohmann::ordered_json;
// Metrics in the order of first use. A flow lacks metrics that do not apply to it.
using Metrics = std::vector<std::pair<std::string, double>>;

// Returns the metrics of a flow. They are those of nunes2014, section 4, unless stated otherwise. Names
// end in their unit; shares and counts have no unit.
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
        f.raw_error_us.mean() / 1e3);  // error against the RTT before it was rounded to ticks
  }
  if (f.count_error_us.count() > 0) {
    put("mean_abs_error_count_ticks", f.count_error_us.mean() / tick_us);
    put("mean_abs_error_count_less_one_ticks", f.passed_error_us.mean() / tick_us);
    put("mean_abs_error_time_ticks", f.raw_error_us.mean() / tick_us);
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
  if (s.topology == "path" && lasted_s > 0) put("goodput_mbps", 8e-6 * count(f.delivered_bytes) / lasted_s);
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

// Returns the mean of each metric over flows (nunes2014, section 4), but the sum of each count.
Metrics averaged(const std::vector<Metrics>& flows) {
  std::vector<std::string> order;
  std::map<std::string, std::pair<double, double>> sums;  // sum and number of values
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

double total(const std::vector<Metrics>& flows, const std::string& wanted, double power = 1) {
  double out = 0;
  for (const Metrics& flow : flows)
    for (const auto& [name, value] : flow)
      if (name == wanted) out += std::pow(value, power);
  return out;
}

// Adds the metrics of a path: drops at each hop, goodput of competing transfers, fairness among all.
void add_path(Metrics& run, const Recorder& recorder, const std::vector<Metrics>& measured,
              const std::vector<Metrics>& beside) {
  run.emplace_back("queue_dropped_packets", recorder.drops->queue());
  run.emplace_back("channel_dropped_packets", recorder.drops->channel());
  if (!beside.empty())
    run.emplace_back("beside_goodput_mbps",
                     total(beside, "goodput_mbps") / static_cast<double>(beside.size()));
  std::vector<Metrics> all(measured);
  all.insert(all.end(), beside.begin(), beside.end());
  const double sum = total(all, "goodput_mbps"), squares = total(all, "goodput_mbps", 2);
  if (all.size() > 1 && squares > 0)
    run.emplace_back("jain_index", sum * sum / squares / static_cast<double>(all.size()));
}

// Returns a percentile of sorted values, as numpy.percentile computes it.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double mean_of(const std::vector<double>& values, std::size_t last) {
  return std::accumulate(values.end() - static_cast<std::ptrdiff_t>(last), values.end(), 0.0) /
         static_cast<double>(last);
}

std::vector<std::int64_t> responses_us(const Recorder& recorder) {
  std::vector<std::int64_t> out;
  for (const FlowRecord& f : recorder.flows)
    out.insert(out.end(), f.responses_us.begin(), f.responses_us.end());
  return out;
}

// Adds the metrics of requests. The slowest requests are the slowest 2 %.
void add_responses(Metrics& run, const Recorder& recorder) {
  std::vector<double> ms, overruns_ms;
  double again = 0, sent = 0, probes = 0;
  for (const std::int64_t us : responses_us(recorder)) ms.push_back(static_cast<double>(us) / 1e3);
  for (const FlowRecord& f : recorder.flows) {
    for (const std::int64_t us : f.overruns_us) overruns_ms.push_back(static_cast<double>(us) / 1e3);
    again += static_cast<double>(f.oracle.arrived_again());
    sent += static_cast<double>(f.sent);
    probes += static_cast<double>(f.probes);
  }
  std::sort(ms.begin(), ms.end());
  run.emplace_back("requests", ms.size());
  if (!ms.empty()) {
    run.emplace_back("mean_response_ms", mean_of(ms, ms.size()));
    run.emplace_back("median_response_ms", quantile(ms, 0.5));
    run.emplace_back("p99_response_ms", quantile(ms, 0.99));
    run.emplace_back("p999_response_ms", quantile(ms, 0.999));
    run.emplace_back("slowest_response_ms", mean_of(ms, std::max<std::size_t>(ms.size() / 50, 1)));
    run.emplace_back("longest_response_ms", ms.back());
  }
  if (sent > 0) run.emplace_back("needless_resends_permille", 1000 * again / sent);
  run.emplace_back("probes", probes);
  run.emplace_back("overruns", overruns_ms.size());
  if (!overruns_ms.empty()) run.emplace_back("mean_overrun_ms", mean_of(overruns_ms, overruns_ms.size()));
}

void add_decisions(Metrics& run, const LossRecord& losses) {
  const char* names[2][2] = {{"random_called_congestion", "random_called_random"},
                             {"congestion_called_congestion", "congestion_called_random"}};
  for (const bool congestion : {false, true})
    for (const bool called_random : {false, true})
      run.emplace_back(names[congestion][called_random],
                       static_cast<double>(losses.count(congestion, called_random)));
  run.emplace_back("needless_recoveries", static_cast<double>(losses.head_not_dropped()));
}

// Writes the column names once, then a row for each fast retransmit, in order of time.
Json losses_of(const LossRecord& losses) {
  const char* who[] = {"none", "queue", "channel"};
  Json columns{
      "flow",          "time_us", "flight_segments", "cwnd_segments", "ssthresh_segments", "queue_drops",
      "channel_drops", "head",    "p_congestion",    "called_random"};
  for (const std::string& name : loss_feature_names()) columns.push_back(name);
  std::vector<const Recovery*> ordered;
  for (const Recovery& r : losses.rows()) ordered.push_back(&r);
  std::sort(ordered.begin(), ordered.end(), [](const Recovery* a, const Recovery* b) {
    return std::tie(a->time_us, a->flow) < std::tie(b->time_us, b->flow);
  });
  Json rows = Json::array();
  for (const Recovery* r : ordered) {
    Json row{r->flow,
             r->time_us,
             r->flight_segments,
             r->cwnd_segments,
             r->ssthresh_segments,
             r->queue_drops,
             r->channel_drops,
             who[static_cast<int>(r->head)],
             r->congestion,
             r->is_random};
    for (const double value : r->features) row.push_back(value);
    rows.push_back(std::move(row));
  }
  return {{"kind", "losses"}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace

void write_report(std::ostream& out, const Scenario& s, const Recorder& recorder, const RunTotals& totals) {
  std::vector<Metrics> all, beside;
  std::map<std::string, int> states;
  for (const FlowRecord& f : recorder.flows) {
    if (f.start >= ns3::Seconds(s.duration_s)) continue;
    std::vector<Metrics>& kind = f.beside ? beside : all;
    kind.push_back(metrics_of(f, s));
    ++states[state_of(f)];
    Json line{{"kind", "flow"},       {"flow", f.id},
              {"source", f.source},   {"destination", f.destination},
              {"packets", f.packets}, {"start_s", f.start.GetSeconds()},
              {"state", state_of(f)}};
    if (f.beside) line["beside"] = true;
    line["metrics"] = object_of(kind.back());
    out << line << '\n';
  }
  Metrics run = averaged(all);
  if (const auto error = error_by_sample_ticks(recorder, s.tick_s))
    run.emplace_back("mean_abs_error_by_sample_ticks", *error);
  run.emplace_back("mean_queue_bytes", totals.queued_bytes.mean());
  if (s.topology == "path") add_path(run, recorder, all, beside);
  if (s.load.kind == "requests") add_responses(run, recorder);
  if (s.socket.loss) add_decisions(run, *recorder.losses);
  run.emplace_back("flows", static_cast<double>(all.size() + beside.size()));
  for (const char* state : {"finished", "running", "connecting", "died"})
    run.emplace_back(std::string("flows_") + state, states[state]);
  if (s.loss_rows > 0) out << losses_of(*recorder.losses) << '\n';
  Json line{{"kind", "run"}};
  line["metrics"] = object_of(run);
  line["cwnd_over_time"] = {{"bin_s", recorder.bin().GetSeconds()}, {"bytes", series_of(recorder)}};
  if (s.load.kind == "requests") line["responses_us"] = responses_us(recorder);
  line["cost"] = {{"cpu_s", totals.cpu_s}, {"events", totals.events}, {"peak_mib", totals.peak_mib}};
  out << line << '\n';
}

}  // namespace tcplearn
