// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The replay engine: batches in, metrics of finished flows out.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "bind.h"
#include "replay/engine.h"

namespace tcplearn {

namespace {

using Spec = std::tuple<std::string, std::string, std::map<std::string, double>>;

std::vector<Chosen> choose_all(const std::vector<Spec>& specs) {
  std::vector<Chosen> out;
  for (const auto& [name, arithmetic, params] : specs) out.push_back(choose(name, arithmetic, params));
  return out;
}

template <typename T>
Array<T> column(const nb::dict& batch, const char* name, std::size_t rows) {
  auto a = nb::cast<Array<T>>(batch[name]);
  if (a.size() != rows) throw std::invalid_argument(std::string("column ") + name + " differs in length");
  return a;
}

std::vector<double> cdf_points() {
  std::vector<double> p;
  for (int i = 0; i <= 200; ++i) p.push_back(i / 200.0);
  for (const double tail : {0.9975, 0.999, 0.9999}) p.insert(p.end() - 1, tail);
  return p;
}

nb::object or_none(const Mean& m) {
  return m.count ? nb::object(nb::float_(m.sum / static_cast<double>(m.count))) : nb::object(nb::none());
}

nb::dict describe(const Metrics& m) {
  nb::dict d;
  d["mean_abs_error_us"] = or_none(m.abs_error_us);
  d["bias_us"] = or_none(m.error_us);
  d["at_send_error_us"] = or_none(m.at_send_error_us);
  d["mean_rto_us"] = or_none(m.rto_us);
  d["excess_wait_us"] = or_none(m.excess_us);
  d["losses"] = m.loss_actual_us.count;
  d["loss_detect_actual_us"] = or_none(m.loss_actual_us);
  d["loss_detect_rto_us"] = or_none(m.loss_rto_us);
  d["loss_detect_rack_us"] = or_none(m.loss_rack_us);
  d["misses"] = m.misses;
  d["misses_before"] = m.misses_before;
  d["timed"] = m.rto_us.count;
  d["spurious_timeouts"] = m.spurious_timeouts;
  d["spurious_timeouts_tlp"] = m.spurious_timeouts_tlp;
  d["spurious_probes"] = m.spurious_probes;
  const auto middle = m.abs_errors_us.at({0.5, 0.95});
  d["median_abs_error_us"] = middle.empty() ? nb::object(nb::none()) : nb::object(nb::float_(middle[0]));
  d["p95_abs_error_us"] = middle.empty() ? nb::object(nb::none()) : nb::object(nb::float_(middle[1]));
  return d;
}

nb::list describe_all(const std::vector<Metrics>& all) {
  nb::list out;
  for (const auto& m : all) out.append(describe(m));
  return out;
}

nb::list distributions(const std::vector<Metrics>& all) {
  nb::list out;
  const auto p = cdf_points();
  for (const auto& m : all)
    out.append(nb::make_tuple(to_numpy(std::vector<double>(p)), to_numpy(m.abs_errors_us.at(p))));
  return out;
}

// One estimator's values out of a point-major table.
std::vector<double> strip(const std::vector<double>& table, std::size_t e, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = e; i < table.size(); i += count) out.push_back(table[i]);
  return out;
}

class Flow {
 public:
  explicit Flow(std::unique_ptr<FlowReplay> flow) : flow_(std::move(flow)) {}
  std::uint64_t samples() const { return flow_->samples(); }
  nb::object flight_segments() const { return or_none(flow_->flight()); }
  nb::list metrics() const { return describe_all(flow_->metrics()); }
  nb::list cdf() const { return distributions(flow_->metrics()); }
  nb::dict series() const {
    const Thinned& s = flow_->series();
    const std::size_t count = flow_->metrics().size();
    nb::dict d;
    d["per_point"] = s.per_point;
    d["time_us"] = to_numpy(std::vector<double>(s.time_us));
    d["low_us"] = to_numpy(std::vector<double>(s.low_us));
    d["high_us"] = to_numpy(std::vector<double>(s.high_us));
    nb::list prediction, rto;
    for (std::size_t e = 0; e < count; ++e) {
      prediction.append(to_numpy(strip(s.prediction_us, e, count)));
      rto.append(to_numpy(strip(s.rto_us, e, count)));
    }
    d["prediction_us"] = prediction;
    d["rto_us"] = rto;
    return d;
  }
  // [block][estimator][sum], the sums as Blocks::Sum has them.
  nb::object blocks() const {
    const Blocks& b = flow_->blocks();
    const std::size_t estimators = flow_->metrics().size();
    auto* kept = new std::vector<double>(b.sums());
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<3>>(
        kept->data(), {b.count(), estimators, static_cast<std::size_t>(Blocks::kSums)}, owner));
  }
  nb::dict hindsight() const {
    const Hindsight& h = flow_->hindsight();
    const auto scored = static_cast<double>(h.scored());
    nb::dict d;
    if (h.scored() == 0) return d;
    d["best_constant_us"] = h.best_constant_us() / scored;
    d["best_ewma_us"] = h.best_ewma_us() / scored;
    d["best_switching_us"] = h.best_switching_us() / scored;
    return d;
  }
  void merge_into(std::vector<Metrics>& totals) const {
    for (std::size_t e = 0; e < totals.size(); ++e) totals[e].merge(flow_->metrics()[e]);
  }
  const Mean& flight() const { return flow_->flight(); }

 private:
  std::unique_ptr<FlowReplay> flow_;
};

class Totals {
 public:
  explicit Totals(std::size_t estimators) : metrics_(estimators) {}
  void add(const Flow& flow) {
    flow.merge_into(metrics_);
    flight_.merge(flow.flight());
    samples_ += flow.samples();
  }
  nb::object flight_segments() const { return or_none(flight_); }
  std::uint64_t samples() const { return samples_; }
  nb::list metrics() const { return describe_all(metrics_); }
  nb::list cdf() const { return distributions(metrics_); }

 private:
  std::vector<Metrics> metrics_;
  Mean flight_;
  std::uint64_t samples_ = 0;
};

// The arrays of a batch's losses, held while they are read.
class HeldLosses {
 public:
  explicit HeldLosses(const nb::dict& batch) {
    if (!batch.contains("losses")) return;
    const auto losses = nb::cast<nb::dict>(batch["losses"]);
    columns.rows = nb::cast<Array<std::uint32_t>>(losses["flow"]).size();
    columns.withdrawn = nb::cast<Array<std::uint32_t>>(losses["withdrawn_flow"]).size();
    columns.flow = hold<std::uint32_t>(losses, "flow", columns.rows);
    columns.row = hold<std::uint32_t>(losses, "row", columns.rows);
    columns.id = hold<std::uint32_t>(losses, "id", columns.rows);
    columns.sent_us = hold<std::int64_t>(losses, "sent_us", columns.rows);
    columns.resent_us = hold<std::int64_t>(losses, "resent_us", columns.rows);
    columns.armed_us = hold<std::int64_t>(losses, "armed_us", columns.rows);
    columns.head_sent_us = hold<std::int64_t>(losses, "head_sent_us", columns.rows);
    columns.probe_from_us = hold<std::int64_t>(losses, "probe_from_us", columns.rows);
    columns.delivered_us = hold<std::int64_t>(losses, "delivered_us", columns.rows);
    columns.rack_us = hold<std::int64_t>(losses, "rack_us", columns.rows);
    columns.rtt_us = hold<std::int64_t>(losses, "rtt_us", columns.rows);
    columns.tail = hold<std::uint8_t>(losses, "tail", columns.rows);
    columns.alone = hold<std::uint8_t>(losses, "alone", columns.rows);
    columns.withdrawn_flow = hold<std::uint32_t>(losses, "withdrawn_flow", columns.withdrawn);
    columns.withdrawn_id = hold<std::uint32_t>(losses, "withdrawn_id", columns.withdrawn);
  }
  LossColumns columns{};

 private:
  template <typename T>
  const T* hold(const nb::dict& losses, const char* name, std::size_t rows) {
    auto array = column<T>(losses, name, rows);
    const T* data = array.data();
    held_.push_back(nb::cast(std::move(array)));
    return data;
  }
  std::vector<nb::object> held_;
};

void feed(Engine& engine, const nb::dict& batch, const std::optional<Array<double>>& other_rtt_us,
          const std::optional<Array<double>>& other_rto_us) {
  const std::size_t others = engine.others();
  const auto time = nb::cast<Array<std::int64_t>>(batch["time_us"]);
  const std::size_t rows = time.size();
  const auto sent = column<std::int64_t>(batch, "sent_us", rows);
  const auto rtt = column<std::int64_t>(batch, "rtt_us", rows);
  const auto armed = column<std::int64_t>(batch, "armed_us", rows);
  const auto head = column<std::int64_t>(batch, "head_sent_us", rows);
  const auto flow = column<std::uint32_t>(batch, "flow", rows);
  const auto flight = column<std::uint32_t>(batch, "flight_segments", rows);
  const auto retransmitted = column<std::uint8_t>(batch, "retransmitted", rows);
  const auto ttl = column<std::uint8_t>(batch, "ttl", rows);
  Columns c{};
  c.rows = rows;
  c.time_us = time.data();
  c.sent_us = sent.data();
  c.rtt_us = rtt.data();
  c.armed_us = armed.data();
  c.head_sent_us = head.data();
  c.flow = flow.data();
  c.flight_segments = flight.data();
  c.retransmitted = retransmitted.data();
  c.ttl = ttl.data();
  std::optional<Array<std::int64_t>> delay;
  if (batch.contains("ack_delay_us")) {
    delay = column<std::int64_t>(batch, "ack_delay_us", rows);
    c.ack_delay_us = delay->data();
  }
  if (others) {
    if (!other_rtt_us || !other_rto_us || other_rtt_us->size() != rows * others ||
        other_rto_us->size() != rows * others)
      throw std::invalid_argument("predictions of the caller's estimators are missing");
    c.other_rtt_us = other_rtt_us->data();
    c.other_rto_us = other_rto_us->data();
  }
  const HeldLosses losses(batch);
  for (std::size_t i = 0; i < losses.columns.rows; ++i) {
    const std::uint32_t row = losses.columns.row[i];
    if (row >= rows || (i > 0 && row < losses.columns.row[i - 1]) ||
        flow.data()[row] != losses.columns.flow[i])
      throw std::invalid_argument("losses do not stand in the order of the rows that tell them");
  }
  nb::gil_scoped_release nogil;
  engine.feed(c, losses.columns);
}

}  // namespace

void bind_replay(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Flow>(m, "ReplayedFlow")
      .def_prop_ro("samples", &Flow::samples)
      .def_prop_ro("flight_segments", &Flow::flight_segments)
      .def("metrics", &Flow::metrics)
      .def("cdf", &Flow::cdf)
      .def("series", &Flow::series)
      .def("blocks", &Flow::blocks)
      .def("hindsight", &Flow::hindsight);
  nb::class_<Totals>(m, "ReplayTotals")
      .def(nb::init<std::size_t>(), "estimators"_a)
      .def("add", &Totals::add)
      .def_prop_ro("samples", &Totals::samples)
      .def_prop_ro("flight_segments", &Totals::flight_segments)
      .def("metrics", &Totals::metrics)
      .def("cdf", &Totals::cdf);
  nb::class_<Engine>(m, "ReplayEngine")
      .def(
          "__init__",
          [](Engine* self, const std::vector<Spec>& specs, std::size_t others, double min_rto_us) {
            new (self) Engine(choose_all(specs), others, min_rto_us);
          },
          "specs"_a, "others"_a = 0, "min_rto_us"_a = 0.0)
      .def("feed", &feed, "batch"_a, "other_rtt_us"_a = nb::none(), "other_rto_us"_a = nb::none())
      .def(
          "finish",
          [](Engine& self, std::uint32_t flow) -> nb::object {
            auto done = self.finish(flow);
            return done ? nb::cast(Flow(std::move(done))) : nb::object(nb::none());
          },
          "flow"_a);
}

}  // namespace tcplearn
