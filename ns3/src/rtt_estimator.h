// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// ns-3's RttEstimator, driven by any estimator of the core. With tcplearn::TcpSocket it gets the flight
// size and exact times; ns-3's own sockets give it only samples.
#ifndef TCPLEARN_NS3_RTT_ESTIMATOR_H
#define TCPLEARN_NS3_RTT_ESTIMATOR_H

#include <memory>
#include <string>

#include "estimator.h"
#include "ns3/rtt-estimator.h"

namespace tcplearn {

// ns-3 sets RTO = max(estimate + max(G, 4 variation), MinRto). With G = 0, MinRto = 0 and variation =
// (RTO - estimate) / 4, this is the core's RTO to the microsecond. If the core's RTO is below its
// prediction, GetEstimate returns the RTO, and prediction() returns the prediction.
class CoreRttEstimator : public ns3::RttEstimator {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  CoreRttEstimator() = default;
  CoreRttEstimator(const CoreRttEstimator& other);

  void choose(const EstimatorSpec& spec);  // replaces the attributes
  void observe(const tl_sample& sample);
  const tl_prediction& prediction() const { return standing_; }  // the current values
  tl_timer timer() const;

  void Measurement(ns3::Time rtt) override;
  ns3::Ptr<ns3::RttEstimator> Copy() const override;
  void Reset() override;

 private:
  void NotifyConstructionCompleted() override;
  void publish();

  EstimatorSpec spec_;
  std::string text_;
  ns3::Time floor_;
  std::unique_ptr<Estimator> inner_;
  tl_prediction standing_{};
};

std::int64_t whole_us(ns3::Time time);  // rounds to the nearest

}  // namespace tcplearn

#endif
