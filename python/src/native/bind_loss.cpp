// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the core's loss classifiers (was a loss random or caused by congestion?): their list, and
// runs of a classifier over events and over features.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>

#include "bind.h"
#include "columns.h"

namespace tcplearn {

namespace {

using Rows = nb::ndarray<const double, nb::shape<-1, TL_LOSS_FEATURE_COUNT>, nb::c_contig, nb::device::cpu>;

nb::list loss_features() {
  nb::list out;
  for (std::size_t i = 0; i < TL_LOSS_FEATURE_COUNT; ++i) {
    const tl_loss_feature_info* f = tl_loss_feature_at(i);
    nb::dict d;
    d["name"] = f->name;
    d["low"] = f->low;
    d["high"] = f->high;
    d["text"] = f->text;
    out.append(d);
  }
  return out;
}

class Classifier {
 public:
  Classifier(const std::string& name, const std::string& arithmetic,
             const std::map<std::string, double>& params, const std::string& weights)
      : classifier_(name, arithmetic, params) {
    if (weights.empty()) return;
    model_.resize((tl_loss_model_bytes() + 7) / 8);
    auto* model = reinterpret_cast<tl_loss_model*>(model_.data());
    std::array<char, TL_ERROR_BYTES_MAX> error{};
    if (tl_loss_model_read(model, weights.data(), weights.size(), error.data(), error.size()) != 0)
      throw std::invalid_argument(error.data());
    tl_loss_use_model(classifier_.state(), model);
  }

  void observe(std::int64_t time_us, std::int64_t rtt_us, std::uint32_t delivered_segments, bool duplicate) {
    const tl_loss_ack ack{time_us, rtt_us, delivered_segments, duplicate};
    classifier_->observe(classifier_.state(), &ack);
  }

  nb::tuple decide(std::int64_t time_us, std::uint32_t flight_segments, std::uint32_t cwnd_segments,
                   std::uint32_t ssthresh_segments, std::uint32_t truth) const {
    const tl_loss_moment at{time_us, flight_segments, cwnd_segments, ssthresh_segments, truth};
    tl_loss_decision d;
    classifier_->decide(classifier_.state(), &at, &d);
    return nb::make_tuple(d.congestion, static_cast<int>(d.cause));
  }

  void change(std::int64_t time_us, std::uint32_t cwnd_segments, std::uint32_t change, std::uint32_t cause,
              std::uint32_t flight_segments, std::uint32_t ssthresh_segments) {
    if (change > TL_LOSS_TIMEOUT || cause > TL_LOSS_RANDOM)
      throw std::invalid_argument("no such change or cause");
    const tl_loss_moment at{time_us, flight_segments, cwnd_segments, ssthresh_segments, TL_LOSS_UNKNOWN};
    classifier_->change(classifier_.state(), &at, static_cast<tl_loss_change>(change),
                        static_cast<tl_loss_cause>(cause));
  }

  auto features(std::int64_t time_us, std::uint32_t flight_segments, std::uint32_t cwnd_segments,
                std::uint32_t ssthresh_segments) const {
    const tl_loss_moment at{time_us, flight_segments, cwnd_segments, ssthresh_segments, TL_LOSS_UNKNOWN};
    std::vector<double> out(TL_LOSS_FEATURE_COUNT);
    classifier_->features(classifier_.state(), &at, out.data());
    return to_numpy(std::move(out));
  }

  // Takes the events of one connection in order (columns.h). Returns for each fast retransmit
  // P(congestion), the cause and all features. A capture does not show cwnd and ssthresh, so cwnd is
  // assumed to be the data in flight, ssthresh half of the data in flight at the previous recovery, and
  // the sender is assumed to have acted on the classifier's cause.
  nb::tuple run(const Array<std::uint8_t>& kind, const Array<std::int64_t>& time_us,
                const Array<std::int64_t>& rtt_us, const Array<std::uint32_t>& delivered,
                const Array<std::uint8_t>& duplicate, const Array<std::uint32_t>& flight) {
    const std::size_t rows = kind.size();
    for (const std::size_t n :
         {time_us.size(), rtt_us.size(), delivered.size(), duplicate.size(), flight.size()})
      if (n != rows) throw std::invalid_argument("columns differ in length");
    std::vector<double> congestion, features;
    std::vector<std::uint8_t> causes;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto what = static_cast<EventKind>(kind.data()[i]);
      if (what == EventKind::kAck) {
        observe(time_us.data()[i], rtt_us.data()[i], delivered.data()[i], duplicate.data()[i] != 0);
        continue;
      }
      const std::uint32_t out = flight.data()[i];
      const tl_loss_moment at{time_us.data()[i], out, out, ssthresh_, TL_LOSS_UNKNOWN};
      if (what == EventKind::kFastRetransmit) {
        features.resize(features.size() + TL_LOSS_FEATURE_COUNT);
        classifier_->features(classifier_.state(), &at,
                              features.data() + features.size() - TL_LOSS_FEATURE_COUNT);
        tl_loss_decision d;
        classifier_->decide(classifier_.state(), &at, &d);
        congestion.push_back(d.congestion);
        causes.push_back(static_cast<std::uint8_t>(d.cause));
        cause_ = d.cause;
      }
      classifier_->change(classifier_.state(), &at, change_of(what), cause_);
      if (what != EventKind::kRecoveryEnded) ssthresh_ = std::max<std::uint32_t>(2, out / 2);
    }
    return nb::make_tuple(to_numpy(std::move(congestion)), to_numpy(std::move(causes)),
                          to_numpy(std::move(features)));
  }

  // Returns P(congestion) for each row of features.
  auto judge(const Rows& rows) const {
    const tl_loss_moment at{0, 1, 1, 1, TL_LOSS_UNKNOWN};
    std::vector<double> out(rows.shape(0));
    for (std::size_t i = 0; i < out.size(); ++i) {
      tl_loss_decision d;
      classifier_->judge(classifier_.state(), rows.data() + i * TL_LOSS_FEATURE_COUNT, &at, &d);
      out[i] = d.congestion;
    }
    return to_numpy(std::move(out));
  }

 private:
  static tl_loss_change change_of(EventKind what) {
    return what == EventKind::kFastRetransmit ? TL_LOSS_BEGUN
           : what == EventKind::kTimeout      ? TL_LOSS_TIMEOUT
                                              : TL_LOSS_ENDED;
  }

  Running<tl_loss_classifier, TL_KIND_LOSS> classifier_;
  std::vector<std::uint64_t> model_;  // the weights of `model=own`; the state points into it
  std::uint32_t ssthresh_ = 0x7fffffff;
  tl_loss_cause cause_ = TL_LOSS_CONGESTION;
};

}  // namespace

void bind_loss(nb::module_& m) {
  using namespace nb::literals;
  m.def("loss_features", &loss_features);
  nb::class_<Classifier>(m, "LossClassifier")
      .def(nb::init<const std::string&, const std::string&, const std::map<std::string, double>&,
                    const std::string&>(),
           "name"_a, "arithmetic"_a = "double", "params"_a = std::map<std::string, double>{},
           "weights"_a = "")
      .def("observe", &Classifier::observe, "time_us"_a, "rtt_us"_a, "delivered_segments"_a, "duplicate"_a)
      .def("decide", &Classifier::decide, "time_us"_a, "flight_segments"_a, "cwnd_segments"_a,
           "ssthresh_segments"_a, "truth"_a = static_cast<std::uint32_t>(TL_LOSS_UNKNOWN))
      .def("change", &Classifier::change, "time_us"_a, "cwnd_segments"_a, "change"_a, "cause"_a,
           "flight_segments"_a = 0, "ssthresh_segments"_a = 0)
      .def("features", &Classifier::features, "time_us"_a, "flight_segments"_a, "cwnd_segments"_a,
           "ssthresh_segments"_a)
      .def("run", &Classifier::run, "kind"_a, "time_us"_a, "rtt_us"_a, "delivered_segments"_a, "duplicate"_a,
           "flight_segments"_a)
      .def("judge", &Classifier::judge, "rows"_a);
}

}  // namespace tcplearn
