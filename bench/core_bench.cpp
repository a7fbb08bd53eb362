// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Benchmarks of the core: one update of each estimator, one request of each resend policy (a transmission and
// its ACK) and of the retry timer. For comparison it also times a bare loop of 100 exponentials and
// multiply-adds.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tcplearn/estimators.h"
#include "tcplearn/retry.h"
#include "tcplearn/tcplearn.h"

namespace {

// Returns RTT samples of a path with 50 ms and a queue that varies randomly.
std::vector<tl_sample> samples() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> step(0, 500);
  std::vector<tl_sample> out;
  double queue = 0;
  for (int k = 0; k < 4096; ++k) {
    queue = std::fabs(queue + step(random));
    tl_sample s{};
    s.rtt_us = 50'000 + static_cast<std::int64_t>(queue);
    s.time_us = 1'000'000 + 10'000 * k;
    s.sent_us = s.time_us - s.rtt_us;
    s.flight_segments = 5;
    s.ttl = 52;
    out.push_back(s);
  }
  return out;
}

void update(benchmark::State& state, const tl_estimator* e, const char* key = "", double value = 0) {
  std::vector<std::uint64_t> params(TL_PARAMS_BYTES_MAX / 8);
  e->algorithm.defaults(params.data());
  for (std::size_t i = 0; i < e->algorithm.param_count; ++i)
    if (std::string(e->algorithm.params[i].key) == key) e->algorithm.set(params.data(), i, value);
  std::vector<std::uint64_t> memory(e->algorithm.state_bytes(params.data()) / 8 + 1);
  e->algorithm.init(memory.data(), params.data());
  const auto in = samples();
  std::size_t k = 0;
  for (auto _ : state) {
    e->update(memory.data(), &in[k++ & 4095]);
    benchmark::ClobberMemory();
  }
}

// Times a request of one segment and its answer. Every hundredth segment is lost and retransmitted once.
void request(benchmark::State& state, const tl_resend_policy* p) {
  std::vector<std::uint64_t> params(TL_PARAMS_BYTES_MAX / 8);
  p->algorithm.defaults(params.data());
  std::vector<std::uint64_t> memory(p->algorithm.state_bytes(params.data()) / 8 + 1);
  p->algorithm.init(memory.data(), params.data());
  const auto in = samples();
  std::size_t k = 0;
  std::int64_t now_us = 0;
  tl_resend_wait wait;
  for (auto _ : state) {
    const bool lost = ++k % 100 == 0;
    const std::int64_t rtt_us = in[k & 4095].rtt_us;
    const tl_resend_event event{now_us += 200'000, 1};
    p->send(memory.data(), &event, &wait);
    if (lost) {
      const tl_resend_event resent{now_us += wait.wait_us, 1};
      p->timer(memory.data(), &resent, &wait);
    }
    const tl_resend_ack ack{now_us += rtt_us, rtt_us, 0, lost ? std::uint32_t{TL_RESEND_LATER} : 0};
    p->ack(memory.data(), &ack, &wait);
    benchmark::ClobberMemory();
  }
}

// Times a request of the retry timer: its transmission, the deadline, its answer; with `out` requests that
// have no answer. Every hundredth request is sent again once.
void retry(benchmark::State& state, std::uint32_t rate_ppm, std::uint64_t out) {
  tl_retry_settings how;
  tl_retry_defaults(&how);
  how.rate_ppm = rate_ppm;
  tl_retry timer;
  tl_retry_init(&timer, &how);
  std::vector<std::int64_t> gaps_us;
  for (const auto& sample : samples()) gaps_us.push_back(sample.rtt_us / static_cast<std::int64_t>(out));
  std::int64_t now_us = 0, due_us = 0;
  std::uint64_t k = 0;
  for (; k < out - 1; ++k) tl_retry_sent(&timer, k, now_us);
  for (auto _ : state) {
    tl_retry_sent(&timer, k, now_us);
    due_us ^= tl_retry_deadline(&timer);
    tl_retry_again again{0, 0};
    if (k % 100 == 0 && out == 1) tl_retry_fired(&timer, now_us = tl_retry_deadline(&timer), &again);
    tl_retry_answered(&timer, k - out + 1, again.copy, now_us += gaps_us[k & 4095]);
    ++k;
  }
  benchmark::DoNotOptimize(due_us);
}

// Times 100 exponentials and multiply-adds, the least that nunes2014's Algorithm 1 costs if implemented
// as written.
void bare_libm(benchmark::State& state) {
  std::vector<double> x(100), w(100, 0.01);
  for (int i = 0; i < 100; ++i) x[static_cast<std::size_t>(i)] = -0.01 * i;
  for (auto _ : state) {
    double sum = 0;
    for (std::size_t i = 0; i < 100; ++i) sum += w[i] * std::exp(x[i]);
    benchmark::DoNotOptimize(sum);
    benchmark::ClobberMemory();
  }
}

void bare_core(benchmark::State& state) {
  std::vector<double> x(100), w(100, 0.01);
  for (int i = 0; i < 100; ++i) x[static_cast<std::size_t>(i)] = -0.01 * i;
  for (auto _ : state) {
    double sum = 0;
    for (std::size_t i = 0; i < 100; ++i) sum += w[i] * tl_f64_exp(x[i]);
    benchmark::DoNotOptimize(sum);
    benchmark::ClobberMemory();
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("bare/libm", bare_libm);
  benchmark::RegisterBenchmark("bare/core", bare_core);
  for (const std::uint64_t out : {1, 8, 64}) {
    const std::string beside = "," + std::to_string(out) + " out";
    benchmark::RegisterBenchmark(("retry:price" + beside).c_str(),
                                 [out](benchmark::State& s) { retry(s, 0, out); });
    benchmark::RegisterBenchmark(("retry:rate" + beside).c_str(),
                                 [out](benchmark::State& s) { retry(s, 10'000, out); });
  }
  for (const auto arithmetic : {TL_F64, TL_FIX}) {
    for (std::size_t i = 0; i < tl_kind_at(TL_KIND_ESTIMATOR, arithmetic)->count; ++i) {
      const tl_estimator* e = tl_estimator_at(i, arithmetic);
      const std::string name = std::string(arithmetic == TL_F64 ? "double/" : "fixed/") + e->algorithm.name;
      benchmark::RegisterBenchmark(name.c_str(), [e](benchmark::State& s) { update(s, e); });
    }
    for (std::size_t i = 0; i < tl_kind_at(TL_KIND_RESEND, arithmetic)->count; ++i) {
      const tl_resend_policy* p = tl_resend_at(i, arithmetic);
      const std::string name =
          std::string(arithmetic == TL_F64 ? "double" : "fixed") + "/resend:" + p->algorithm.name;
      benchmark::RegisterBenchmark(name.c_str(), [p](benchmark::State& s) { request(s, p); });
    }
    const tl_estimator* experts = tl_estimator_find("experts", arithmetic);
    for (const auto& [share, value] : {std::pair{"variable", 1}, {"past", 2}}) {
      const std::string name =
          std::string(arithmetic == TL_F64 ? "double" : "fixed") + "/experts:share=" + share;
      benchmark::RegisterBenchmark(
          name.c_str(), [experts, v = value](benchmark::State& s) { update(s, experts, "share", v); });
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
