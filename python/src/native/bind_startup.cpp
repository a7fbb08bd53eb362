// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the core's startup policies (cwnd and ssthresh after a handshake): their list, and runs of
// a policy over handshakes and reports.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "bind.h"

namespace tcplearn {

namespace {

class Policy {
 public:
  Policy(const std::string& name, const std::map<std::string, double>& params)
      : policy_(name, "fixed", params) {}

  nb::tuple handshake(std::int64_t time_us, std::int64_t took_us, std::uint32_t loss, std::uint32_t resends,
                      std::uint32_t iw_segments, std::uint32_t ssthresh_segments) {
    const tl_handshake in{time_us, took_us, loss, resends, iw_segments, ssthresh_segments};
    tl_startup_window out;
    policy_->decide(policy_.state(), &in, &out);
    policy_->note(policy_.state(), &in);
    return nb::make_tuple(out.iw_segments, out.ssthresh_segments);
  }

  void report(std::int64_t time_us, std::uint32_t sent_segments, std::uint32_t resent_segments,
              std::int64_t rtt_us, std::int64_t rtt_min_us) {
    const tl_startup_report in{time_us, sent_segments, resent_segments, rtt_us, rtt_min_us};
    policy_->report(policy_.state(), &in);
  }

  std::size_t state_bytes() const { return policy_.bytes(); }

 private:
  Running<tl_startup_policy, TL_KIND_STARTUP> policy_;
};

}  // namespace

void bind_startup(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Policy>(m, "StartupPolicy")
      .def(nb::init<const std::string&, const std::map<std::string, double>&>(), "name"_a,
           "params"_a = std::map<std::string, double>{})
      .def("handshake", &Policy::handshake, "time_us"_a, "took_us"_a, "loss"_a, "resends"_a, "iw_segments"_a,
           "ssthresh_segments"_a)
      .def("report", &Policy::report, "time_us"_a, "sent_segments"_a, "resent_segments"_a, "rtt_us"_a,
           "rtt_min_us"_a)
      .def_prop_ro("state_bytes", &Policy::state_bytes);
}

}  // namespace tcplearn
