// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "rtt_estimator.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

namespace tcplearn {

NS_OBJECT_ENSURE_REGISTERED(CoreRttEstimator);

std::int64_t whole_us(ns3::Time time) {
  const std::int64_t ns = time.GetNanoSeconds();
  return (ns + (ns < 0 ? -500 : 500)) / 1000;
}

ns3::TypeId CoreRttEstimator::GetTypeId() {
  static ns3::TypeId id =
      ns3::TypeId("tcplearn::CoreRttEstimator")
          .SetParent<ns3::RttEstimator>()
          .SetGroupName("Internet")
          .AddConstructor<CoreRttEstimator>()
          .AddAttribute("Estimator",
                        "As tcplearn's users type it: conformal:miss=0.001; @fixed behind it: in the "
                        "kernel's arithmetic",
                        ns3::StringValue("jacobson"), ns3::MakeStringAccessor(&CoreRttEstimator::text_),
                        ns3::MakeStringChecker())
          .AddAttribute("RtoFloor", "A timer can't fire at once: an RTO of zero would stop the clock",
                        ns3::TimeValue(ns3::MilliSeconds(1)),
                        ns3::MakeTimeAccessor(&CoreRttEstimator::floor_), ns3::MakeTimeChecker());
  return id;
}

CoreRttEstimator::CoreRttEstimator(const CoreRttEstimator& other)
    : ns3::RttEstimator(other),
      spec_(other.spec_),
      text_(other.text_),
      floor_(other.floor_),
      inner_(other.inner_->copy()),
      standing_(other.standing_) {}

void CoreRttEstimator::NotifyConstructionCompleted() {
  ns3::RttEstimator::NotifyConstructionCompleted();
  choose({read_spec(text_), ""});
}

void CoreRttEstimator::choose(const EstimatorSpec& spec) {
  spec_ = spec;
  inner_ = make_estimator(spec_);
  m_nSamples = 0;
  publish();
}

tl_timer CoreRttEstimator::timer() const { return inner_->timer(); }

void CoreRttEstimator::observe(const tl_sample& sample) {
  inner_->update(sample);
  ++m_nSamples;
  publish();
}

void CoreRttEstimator::publish() {
  standing_ = inner_->query();
  const std::int64_t rto_us =
      std::max(std::llround(standing_.rto_us), static_cast<long long>(whole_us(floor_)));
  const std::int64_t estimate_us = std::clamp<std::int64_t>(std::llround(standing_.rtt_us), 0, rto_us);
  m_estimatedRtt = ns3::MicroSeconds(static_cast<std::uint64_t>(estimate_us));
  m_estimatedVariation = ns3::NanoSeconds(static_cast<std::uint64_t>((rto_us - estimate_us) * 250));
}

void CoreRttEstimator::Measurement(ns3::Time rtt) {
  tl_sample sample{};
  sample.time_us = whole_us(ns3::Simulator::Now());
  sample.rtt_us = std::max<std::int64_t>(whole_us(rtt), 1);
  sample.sent_us = sample.time_us - sample.rtt_us;
  observe(sample);
}

ns3::Ptr<ns3::RttEstimator> CoreRttEstimator::Copy() const { return ns3::CopyObject<CoreRttEstimator>(this); }

void CoreRttEstimator::Reset() {
  ns3::RttEstimator::Reset();
  choose(spec_);
}

}  // namespace tcplearn
