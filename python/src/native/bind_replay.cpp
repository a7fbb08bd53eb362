// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the replay engine, which takes batches of samples and returns metrics of flows.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "bind_columns.h"
#include "replay/engine.h"

namespace tcplearn {

namespace {

using Spec = std::tuple<std::string, std::string, std::map<std::string, double>>;

std::vector<Chosen> choose_all(const std::vector<Spec>& specs) {
  std::vector<Chosen> out;
  for (const auto& [name, arithmetic, params] : specs) out.push_back(choose(name, arithmetic, params));
  return out;
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
  m.named([&d](const char* name, const auto& figure) {
    if constexpr (std::is_same_v<std::decay_t<decltype(figure)>, Mean>)
      d[name] = or_none(figure);
    else
      d[name] = figure;
  });
  const auto middle = m.abs_errors_us.at({0.5, 0.95});
  d["median_abs_error_us"] = middle.empty() ? nb::object(nb::none()) : nb::object(nb::float_(middle[0]));
  d["p95_abs_error_us"] = middle.empty() ? nb::object(nb::none()) : nb::object(nb::float_(middle[1]));
  return d;
}

nb::dict timer_sums(const TimerSums& t) {
  nb::dict d;
  d["timed"] = t.rto_us.count;
  d["misses"] = t.misses;
  d["rto_us"] = t.rto_us.sum;
  d["excess_us"] = t.excess_us.sum;
  return d;
}

nb::list sums(const FlowReplay& flow) {
  nb::list out;
  for (const auto& m : flow.metrics()) {
    nb::dict d;
    d["scored"] = m.abs_error_us.count;
    d["error_us"] = m.abs_error_us.sum;
    d["sent"] = m.at_send_error_us.count;
    d["at_send_us"] = m.at_send_error_us.sum;
    d["send"] = timer_sums(m.at_send);
    d["before"] = timer_sums(m.before);
    out.append(d);
  }
  return out;
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

// Returns the values of estimator `e` from a table [point][estimator] with `count` estimators.
std::vector<double> strip(const std::vector<double>& table, std::size_t e, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = e; i < table.size(); i += count) out.push_back(table[i]);
  return out;
}

class Flow {
 public:
  explicit Flow(std::unique_ptr<FlowReplay> flow) : flow_(std::move(flow)) {}
  std::uint64_t samples() const { return flow_->samples(); }
  std::uint64_t digest() const { return flow_->digest().value(); }
  nb::object flight_segments() const { return or_none(details().flight); }
  nb::list sums() const { return tcplearn::sums(*flow_); }
  nb::list metrics() const { return describe_all(all_metrics()); }
  nb::list cdf() const { return distributions(all_metrics()); }
  nb::dict series() const {
    const Thinned& s = details().series;
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
  // Returns an array [block][estimator][sum], with the sums in the order of Blocks::Sum.
  nb::object blocks() const {
    const Blocks& b = details().blocks;
    const std::size_t estimators = flow_->metrics().size();
    auto* kept = new std::vector<double>(b.sums());
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<3>>(
        kept->data(), {b.count(), estimators, static_cast<std::size_t>(Blocks::kSums)}, owner));
  }
  nb::dict hindsight() const {
    const Hindsight& h = details().hindsight;
    const auto scored = static_cast<double>(h.scored());
    nb::dict d;
    if (h.scored() == 0) return d;
    d["best_constant_us"] = h.best_constant_us() / scored;
    d["best_ewma_us"] = h.best_ewma_us() / scored;
    d["best_switching_us"] = h.best_switching_us() / scored;
    return d;
  }
  void merge_into(std::vector<Metrics>& totals) const {
    for (std::size_t e = 0; e < totals.size(); ++e) totals[e].merge(all_metrics()[e]);
  }
  const Mean& flight() const { return details().flight; }

 private:
  const Details& details() const {
    if (!flow_->details()) throw std::invalid_argument("replayed with sums_only: there are sums only");
    return *flow_->details();
  }
  const std::vector<Metrics>& all_metrics() const {
    details();
    return flow_->metrics();
  }
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

// Returns a digest of the RTT samples of a flow, by which copies of a flow are recognized.
std::uint64_t samples_digest(const Array<std::int64_t>& time_us, const Array<std::int64_t>& rtt_us) {
  if (time_us.size() != rtt_us.size()) throw std::invalid_argument("columns differ in length");
  SampleDigest out;
  for (std::size_t i = 0; i < time_us.size(); ++i)
    if (rtt_us.data()[i] >= 0) out.add(time_us.data()[i], rtt_us.data()[i]);
  return out.value();
}

void feed(Engine& engine, const nb::dict& batch, const std::optional<Array<double>>& other_rtt_us,
          const std::optional<Array<double>>& other_rto_us) {
  const HeldBatch held(batch);
  OtherColumns others;
  if (const std::size_t values = held.columns.rows * engine.others(); engine.others()) {
    if (!other_rtt_us || !other_rto_us || other_rtt_us->size() != values || other_rto_us->size() != values)
      throw std::invalid_argument("predictions of the caller's estimators are missing");
    others = {other_rtt_us->data(), other_rto_us->data()};
  }
  nb::gil_scoped_release nogil;
  engine.feed(held.columns, held.losses, others);
}

}  // namespace

void bind_replay(nb::module_& m) {
  using namespace nb::literals;
  m.def("samples_digest", &samples_digest, "time_us"_a, "rtt_us"_a);
  nb::class_<Flow>(m, "ReplayedFlow")
      .def_prop_ro("samples", &Flow::samples)
      .def_prop_ro("digest", &Flow::digest)
      .def_prop_ro("flight_segments", &Flow::flight_segments)
      .def("sums", &Flow::sums)
      .def("metrics", &Flow::metrics)
      .def("cdf", &Flow::cdf)
      .def("series", &Flow::series)
      .def("blocks", &Flow::blocks)
      .def("hindsight", &Flow::hindsight);
  nb::class_<Totals>(m, "ReplayTotals")
      .def(nb::init<std::size_t>(), "estimators"_a)
      .def("add", &Totals::add)
      .def("__copy__", [](const Totals& self) { return Totals(self); })
      .def_prop_ro("samples", &Totals::samples)
      .def_prop_ro("flight_segments", &Totals::flight_segments)
      .def("metrics", &Totals::metrics)
      .def("cdf", &Totals::cdf);
  nb::class_<Engine>(m, "ReplayEngine")
      .def(
          "__init__",
          [](Engine* self, const std::vector<Spec>& specs, std::size_t others, double min_rto_us,
             bool sums_only) { new (self) Engine(choose_all(specs), others, min_rto_us, sums_only); },
          "specs"_a, "others"_a = 0, "min_rto_us"_a = 0.0, "sums_only"_a = false)
      .def("feed", &feed, "batch"_a, "other_rtt_us"_a = nb::none(), "other_rto_us"_a = nb::none())
      .def(
          "sums",
          [](Engine& self, std::uint32_t flow) -> nb::object {
            const FlowReplay* found = self.flow(flow);
            return found ? nb::object(sums(*found)) : nb::object(nb::none());
          },
          "flow"_a)
      .def(
          "so_far",
          [](const Engine& self, std::uint32_t flow) -> nb::object {
            auto copy = self.so_far(flow);
            return copy ? nb::cast(Flow(std::move(copy))) : nb::object(nb::none());
          },
          "flow"_a)
      .def(
          "finish",
          [](Engine& self, std::uint32_t flow) -> nb::object {
            auto done = self.finish(flow);
            return done ? nb::cast(Flow(std::move(done))) : nb::object(nb::none());
          },
          "flow"_a);
}

}  // namespace tcplearn
