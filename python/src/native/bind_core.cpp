// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the core's RTO estimators: their list, single steps, and a replay of columns.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>

#include "bind.h"

namespace tcplearn {

namespace {

class Stepper {
 public:
  Stepper(const std::string& name, const std::string& arithmetic, const std::map<std::string, double>& params)
      : chosen_(choose(name, arithmetic, params)), state_(chosen_.state_words) {
    chosen_.estimator->algorithm.init(state_.data(), chosen_.params.data());
  }

  void update(std::int64_t rtt_us, std::int64_t time_us, std::int64_t sent_us, std::int64_t ack_delay_us,
              std::uint32_t flight_segments, std::uint8_t ttl, std::uint8_t hops) {
    const tl_sample s{time_us, sent_us, rtt_us, ack_delay_us, flight_segments, ttl, hops};
    chosen_.estimator->update(state_.data(), &s);
  }

  tl_prediction query() const {
    tl_prediction p;
    chosen_.estimator->query(state_.data(), &p);
    return p;
  }

  nb::tuple run(const Array<std::int64_t>& rtt, const Array<std::int64_t>& time,
                const Array<std::int64_t>& sent, const std::optional<Array<std::int64_t>>& ack_delay,
                const std::optional<Array<std::uint32_t>>& flight,
                const std::optional<Array<std::uint8_t>>& ttl,
                const std::optional<Array<std::uint8_t>>& hops) {
    const std::size_t rows = rtt.size();
    const auto same = [rows](std::size_t n) {
      if (n != rows) throw std::invalid_argument("columns differ in length");
    };
    same(time.size());
    same(sent.size());
    tl_columns c{};
    c.rtt_us = rtt.data();
    c.time_us = time.data();
    c.sent_us = sent.data();
    if (ack_delay) same(ack_delay->size()), c.ack_delay_us = ack_delay->data();
    if (flight) same(flight->size()), c.flight_segments = flight->data();
    if (ttl) same(ttl->size()), c.ttl = ttl->data();
    if (hops) same(hops->size()), c.hops = hops->data();
    std::vector<double> rtt_out(rows), rto_out(rows);
    {
      nb::gil_scoped_release nogil;
      chosen_.estimator->run(state_.data(), rows, &c, rtt_out.data(), rto_out.data());
    }
    return nb::make_tuple(to_numpy(std::move(rtt_out)), to_numpy(std::move(rto_out)));
  }

  std::size_t state_bytes() const { return chosen_.estimator->algorithm.state_bytes(chosen_.params.data()); }

 private:
  Chosen chosen_;
  std::vector<std::uint64_t> state_;
};

}  // namespace

Chosen choose(const std::string& name, const std::string& arithmetic,
              const std::map<std::string, double>& params) {
  const tl_algorithm& a = algorithm_of(TL_KIND_ESTIMATOR, name, arithmetic);
  Chosen c;
  c.estimator = reinterpret_cast<const tl_estimator*>(&a);  // struct tl_estimator begins with tl_algorithm
  c.params = params_of(TL_KIND_ESTIMATOR, a, params);
  c.state_words = (a.state_bytes(c.params.data()) + 7) / 8;
  return c;
}

void bind_core(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Stepper>(m, "Estimator")
      .def(nb::init<const std::string&, const std::string&, const std::map<std::string, double>&>(), "name"_a,
           "arithmetic"_a = "double", "params"_a = std::map<std::string, double>{})
      .def("update", &Stepper::update, "rtt_us"_a, "time_us"_a, "sent_us"_a, "ack_delay_us"_a = 0,
           "flight_segments"_a = 0, "ttl"_a = 0, "hops"_a = 0)
      .def_prop_ro("rtt_us", [](const Stepper& s) { return s.query().rtt_us; })
      .def_prop_ro("rto_us", [](const Stepper& s) { return s.query().rto_us; })
      .def_prop_ro("state_bytes", &Stepper::state_bytes)
      .def("__copy__", [](const Stepper& s) { return Stepper(s); })
      .def(
          "__deepcopy__", [](const Stepper& s, nb::dict) { return Stepper(s); }, "memo"_a)
      .def("run", &Stepper::run, "rtt_us"_a, "time_us"_a, "sent_us"_a, "ack_delay_us"_a = nb::none(),
           "flight_segments"_a = nb::none(), "ttl"_a = nb::none(), "hops"_a = nb::none());
}

}  // namespace tcplearn
