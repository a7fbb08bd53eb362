// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// libFuzzer target: any input must give rows as described in batch.h and explain/rows.h, or a TraceError.
// `make capture-build` builds it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "explain/explainer.h"
#include "reader.h"

namespace {

using tcplearn::Batch;
using tcplearn::CaptureReader;
using tcplearn::FlowInfo;
using tcplearn::NoSample;
using tcplearn::ReaderOptions;

// So few that most inputs have more.
constexpr std::size_t kReadTwice = 8;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_rows(const Batch& b, std::int64_t& last_us) {
  const std::size_t n = b.size();
  check(b.sent_us.size() == n && b.rtt_us.size() == n && b.armed_us.size() == n &&
        b.head_sent_us.size() == n);
  check(b.flow.size() == n && b.acked_bytes.size() == n && b.in_flight_bytes.size() == n &&
        b.ttl.size() == n);
  check(b.flight_segments.size() == n && b.retransmitted.size() == n && b.no_sample.size() == n);
  for (std::size_t i = 0; i < n; ++i) {
    check(b.time_us[i] >= last_us);
    last_us = b.time_us[i];
    const auto why = static_cast<NoSample>(b.no_sample[i]);
    check(why <= NoSample::kNotCaptured);
    if (why == NoSample::kNone) {
      check(b.sent_us[i] >= 0 && b.rtt_us[i] >= 0 && b.rtt_us[i] == b.time_us[i] - b.sent_us[i]);
    } else {
      check(b.sent_us[i] == -1 && b.rtt_us[i] == -1);
    }
    check(b.armed_us[i] >= 0 && b.armed_us[i] <= b.time_us[i]);
    check(b.head_sent_us[i] >= 0 && b.head_sent_us[i] <= b.time_us[i]);
    check(b.acked_bytes[i] >= 1 && b.acked_bytes[i] <= b.in_flight_bytes[i]);
    check(b.in_flight_bytes[i] <= 1u << 31);
    check(b.flight_segments[i] >= 1 && b.flight_segments[i] <= b.in_flight_bytes[i]);
    check(b.retransmitted[i] <= 1);
  }
}

void check_losses(const Batch& b) {
  const tcplearn::Losses& l = b.losses;
  const std::size_t n = l.flow.size();
  check(l.row.size() == n && l.id.size() == n && l.sent_us.size() == n && l.resent_us.size() == n);
  check(l.armed_us.size() == n && l.head_sent_us.size() == n && l.probe_from_us.size() == n);
  check(l.delivered_us.size() == n && l.rack_us.size() == n && l.rtt_us.size() == n);
  check(l.tail.size() == n && l.alone.size() == n && l.withdrawn_flow.size() == l.withdrawn_id.size());
  for (std::size_t i = 0; i < n; ++i) {
    check(l.row[i] < b.size() && b.flow[l.row[i]] == l.flow[i] && (i == 0 || l.row[i - 1] <= l.row[i]));
    const std::int64_t acked_us = b.time_us[l.row[i]];
    check(l.sent_us[i] >= 0 && l.sent_us[i] <= l.resent_us[i] && l.resent_us[i] <= acked_us);
    check(l.armed_us[i] >= 0 && l.armed_us[i] <= l.resent_us[i]);
    check(l.head_sent_us[i] >= 0 && l.head_sent_us[i] <= l.resent_us[i]);
    check(l.probe_from_us[i] >= l.armed_us[i] && l.probe_from_us[i] <= l.resent_us[i]);
    check((l.delivered_us[i] < 0) == (l.rack_us[i] < 0) && l.rack_us[i] >= l.delivered_us[i]);
    check(l.delivered_us[i] < 0 || (l.delivered_us[i] >= l.sent_us[i] && l.delivered_us[i] <= acked_us));
  }
}

void check_requests(const tcplearn::ExplainedRows& rows) {
  const auto& r = rows.requests;
  for (std::size_t i = 0; i < r.connection.size(); ++i) {
    check(r.start_us[i] >= 0 && r.response_us[i] >= 0 && r.request_bytes[i] > 0 && r.answer_bytes[i] > 0);
    std::int64_t spent_us = 0;
    for (const auto& cause : r.by_cause_us) {
      check(cause[i] >= 0);
      spent_us += cause[i];
    }
    check(spent_us == r.response_us[i]);
  }
}

void check_explained(const tcplearn::ExplainedRows& rows) {
  check_requests(rows);
  const auto& s = rows.stalls;
  for (std::size_t i = 0; i < s.connection.size(); ++i) {
    check(s.start_us[i] >= 0 && s.duration_us[i] >= 0);
    check(s.cause[i] < static_cast<std::uint8_t>(tcplearn::Cause::kTransfer));
    check(s.ended_by[i] <= static_cast<std::uint8_t>(tcplearn::End::kData));
    check(s.waited_us[i] >= -1 && s.timer_us[i] >= -1 && s.srtt_us[i] >= -1);
  }
  const auto& c = rows.connections;
  for (std::size_t i = 0; i < c.connection.size(); ++i) {
    check(c.first_us[i] >= 0 && c.first_us[i] <= c.last_us[i] && c.handshake_us[i] >= -1);
    check(c.to_client_us[i] >= -1 && c.to_server_us[i] >= -1);
    check(c.needless_segments[i] <= c.resent_segments[i]);
    check(c.resent_segments[i] <= c.client_segments[i] + c.server_segments[i]);
    check(c.client_bytes[i] >= 0 && c.server_bytes[i] >= 0);
  }
}

void drain(const std::uint8_t* data, std::size_t size, const ReaderOptions& options, std::size_t max_rows) {
  auto* explainer = dynamic_cast<tcplearn::Explainer*>(options.observer.get());
  try {
    CaptureReader reader(data, size, "fuzz", options);
    std::unordered_map<std::uint32_t, std::uint64_t> rows;
    std::unordered_map<std::uint32_t, bool> over;
    std::int64_t last_us = 0;
    Batch batch;
    while (reader.next(batch, max_rows)) {
      check(batch.size() <= max_rows);
      check_rows(batch, last_us);
      check_losses(batch);
      for (const std::uint32_t id : batch.flow) {
        check(!over[id]);
        ++rows[id];
      }
      for (const std::uint32_t id : batch.ended) {
        check(!over[id]);
        over[id] = true;
        const FlowInfo info = reader.flow(id);
        check(info.acks == rows[id] && info.samples <= info.acks && info.peer == (id ^ 1u));
        check(info.first_us <= info.last_us && info.mss_bytes > 0);
        reader.release(id);
      }
    }
    check(batch.size() == 0);
    for (const auto& entry : rows) check(over[entry.first]);
    check(reader.stats().connections_alive == 0);
    if (explainer != nullptr) check_explained(explainer->take(true));
  } catch (const tcplearn::TraceError&) {
    // the correct result for most inputs
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ReaderOptions options;
  drain(data, size, options, 1000);
  options.every_ack = true;
  options.events = true;
  options.idle_us = 1'000'000;
  options.sender = "both";
  options.observer = std::make_shared<tcplearn::Explainer>(
      std::vector<std::string>{"stock", "stock:rto_min_us=5000", "linear", "priced"}, kReadTwice);
  drain(data, size, options, 1);
  return 0;
}
