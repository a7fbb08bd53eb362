// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for a first-RTO policy (before the first RTT sample) with its history of a destination.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "bind.h"

namespace tcplearn {

namespace {

class Place {
 public:
  Place(const std::string& name, const std::map<std::string, double>& params)
      : policy_(name, "fixed", params) {}

  void report(std::int64_t rtt_us, std::int64_t time_us) {
    policy_->report(policy_.state(), rtt_us, time_us);
  }
  void doubt(std::int64_t time_us) { policy_->doubt(policy_.state(), time_us); }
  void resent(std::int64_t rtt_us, std::int64_t rto_us, std::int64_t time_us) {
    policy_->resent(policy_.state(), rtt_us, rto_us, time_us);
  }

  std::int64_t rto_us(const Place& prefix, std::int64_t time_us, std::int32_t hops, bool accepts) const {
    return policy_->rto_us(policy_.state(), prefix.policy_.state(), hops, accepts, time_us);
  }

  std::size_t state_bytes() const { return policy_.bytes(); }

 private:
  Running<tl_first_rto_policy, TL_KIND_FIRST_RTO> policy_;
};

}  // namespace

void bind_first_rto(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Place>(m, "FirstRtoPlace")
      .def(nb::init<const std::string&, const std::map<std::string, double>&>(), "name"_a,
           "params"_a = std::map<std::string, double>{})
      .def("report", &Place::report, "rtt_us"_a, "time_us"_a)
      .def("doubt", &Place::doubt, "time_us"_a)
      .def("resent", &Place::resent, "rtt_us"_a, "rto_us"_a, "time_us"_a)
      .def("rto_us", &Place::rto_us, "prefix"_a, "time_us"_a, "hops"_a = -1, "accepts"_a = false)
      .def_prop_ro("state_bytes", &Place::state_bytes);
}

}  // namespace tcplearn
