// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the core's resend policies (when the retransmission timer sends again): their list, and
// runs of a policy over events and over requests on a path.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "bind.h"
#include "resend/limits.h"
#include "resend/thin_requests.h"

namespace tcplearn {

namespace {

// The path over which requests are simulated, as Python passes it.
struct Paths {
  RttRecord record;
  LossProcess losses;
};

Paths paths_of(const Array<std::int64_t>& time_us, const Array<std::int64_t>& rtt_us,
               const Array<std::int64_t>& fade_begin_us, const Array<std::int64_t>& fade_end_us,
               double in_fade, double anywhere, double in_queue, std::int64_t queue_us) {
  if (time_us.size() == 0 || time_us.size() != rtt_us.size() || fade_begin_us.size() != fade_end_us.size())
    throw std::invalid_argument("columns of different lengths, or none");
  return {{time_us.data(), rtt_us.data(), time_us.size()},
          {fade_begin_us.data(), fade_end_us.data(), fade_begin_us.size(), in_fade, anywhere, in_queue,
           queue_us}};
}

nb::dict columns_of(ThinRequests&& found) {
  nb::dict out;
  out["start_us"] = to_numpy(std::move(found.start_us));
  out["response_us"] = to_numpy(std::move(found.response_us));
  out["resends"] = to_numpy(std::move(found.resends));
  out["needless"] = to_numpy(std::move(found.needless));
  out["answered"] = to_numpy(std::move(found.answered));
  return out;
}

// Returns the share of first transmissions that are lost, and of second ones after such a loss.
std::pair<double, double> lost_shares(const ThinRequests& clairvoyant) {
  double first = 0, again = 0;
  for (const std::uint32_t resends : clairvoyant.resends) {
    first += resends > 0;
    again += resends > 1;
  }
  return {first / std::max<double>(static_cast<double>(clairvoyant.resends.size()), 1),
          again / std::max(first, 1.0)};
}

nb::dict requests_at_limit(const std::string& limit, Array<std::int64_t> time_us, Array<std::int64_t> rtt_us,
                           Array<std::int64_t> wanted_us, Array<std::int64_t> fade_begin_us,
                           Array<std::int64_t> fade_end_us, double in_fade, double anywhere, double in_queue,
                           std::int64_t queue_us, std::uint64_t seed, std::int64_t price_us) {
  const Paths of =
      paths_of(time_us, rtt_us, fade_begin_us, fade_end_us, in_fade, anywhere, in_queue, queue_us);
  const bool doubles = limit == "clairvoyant/doubling";
  if (!doubles && limit != "clairvoyant" && limit != "statistical")
    throw std::invalid_argument("no limit '" + limit + "'; clairvoyant, clairvoyant/doubling or statistical");
  ThinRequests found;
  {
    nb::gil_scoped_release unlocked;
    const auto run = [&](RequestTimer&& timer) {
      return run_thin_requests(timer, of.record, of.losses, wanted_us.data(), wanted_us.size(), seed, true);
    };
    found = run(Clairvoyant(doubles));
    if (limit == "statistical") {
      const auto [lost, lost_again] = lost_shares(found);
      found = run(Statistical(of.record, lost, lost_again, price_us));
    }
  }
  return columns_of(std::move(found));
}

class ResendPolicy {
 public:
  ResendPolicy(const std::string& name, const std::string& arithmetic,
               const std::map<std::string, double>& params)
      : policy_(name, arithmetic, params) {}

  nb::tuple send(std::int64_t time_us, std::uint32_t out_segments) {
    const tl_resend_event in{time_us, out_segments};
    policy_->send(policy_.state(), &in, &wait_);
    return answer();
  }

  nb::tuple timer(std::int64_t time_us, std::uint32_t out_segments) {
    const tl_resend_event in{time_us, out_segments};
    policy_->timer(policy_.state(), &in, &wait_);
    return answer();
  }

  nb::tuple ack(std::int64_t time_us, std::int64_t rtt_us, std::uint32_t out_segments,
                std::uint32_t answers) {
    const tl_resend_ack in{time_us, rtt_us, out_segments, answers};
    policy_->ack(policy_.state(), &in, &wait_);
    return answer();
  }

  nb::tuple next() {
    const auto earlier = policy_;
    policy_.begin();
    policy_->inherit(policy_.state(), earlier.state());
    wait_ = {};
    return answer();
  }

  nb::dict requests(Array<std::int64_t> time_us, Array<std::int64_t> rtt_us, Array<std::int64_t> wanted_us,
                    Array<std::int64_t> fade_begin_us, Array<std::int64_t> fade_end_us, double in_fade,
                    double anywhere, double in_queue, std::int64_t queue_us, std::uint64_t seed, bool clear) {
    const Paths of =
        paths_of(time_us, rtt_us, fade_begin_us, fade_end_us, in_fade, anywhere, in_queue, queue_us);
    policy_.begin();
    PolicyTimer timer(policy_.operator->(), policy_.state());
    ThinRequests found;
    {
      nb::gil_scoped_release unlocked;
      found = run_thin_requests(timer, of.record, of.losses, wanted_us.data(), wanted_us.size(), seed, clear);
    }
    return columns_of(std::move(found));
  }

  std::size_t state_bytes() const { return policy_.bytes(); }

 private:
  nb::tuple answer() const { return nb::make_tuple(wait_.wait_us, wait_.probe != 0); }

  Running<tl_resend_policy, TL_KIND_RESEND> policy_;
  tl_resend_wait wait_{};
};

}  // namespace

void bind_resend(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ResendPolicy>(m, "ResendPolicy")
      .def(nb::init<const std::string&, const std::string&, const std::map<std::string, double>&>(), "name"_a,
           "arithmetic"_a = "double", "params"_a = std::map<std::string, double>{})
      .def("send", &ResendPolicy::send, "time_us"_a, "out_segments"_a = 1)
      .def("timer", &ResendPolicy::timer, "time_us"_a, "out_segments"_a = 1)
      .def("next", &ResendPolicy::next)
      .def("ack", &ResendPolicy::ack, "time_us"_a, "rtt_us"_a, "out_segments"_a = 0, "answers"_a = 0)
      .def("requests", &ResendPolicy::requests, "time_us"_a, "rtt_us"_a, "wanted_us"_a, "fade_begin_us"_a,
           "fade_end_us"_a, "in_fade"_a, "anywhere"_a, "in_queue"_a, "queue_us"_a, "seed"_a, "clear"_a = true)
      .def_prop_ro("state_bytes", &ResendPolicy::state_bytes);
  m.def("requests_at_limit", &requests_at_limit, "limit"_a, "time_us"_a, "rtt_us"_a, "wanted_us"_a,
        "fade_begin_us"_a, "fade_end_us"_a, "in_fade"_a, "anywhere"_a, "in_queue"_a, "queue_us"_a, "seed"_a,
        "price_us"_a = 100000);
}

}  // namespace tcplearn
