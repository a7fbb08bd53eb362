// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A user's estimator that runs in another process, for experiments. It is slow, but the simulation is the
// same.
//
// Lines on its standard input                                        its answer, one line
//   new ID                                                           RTT_US RTO_US
//   copy ID FROM                                                     RTT_US RTO_US
//   update ID TIME_US SENT_US RTT_US FLIGHT_SEGMENTS                 RTT_US RTO_US
//   drop ID                                                          (none)
#ifndef TCPLEARN_NS3_PIPE_ESTIMATOR_H
#define TCPLEARN_NS3_PIPE_ESTIMATOR_H

#include <memory>
#include <string>

#include "estimator.h"

namespace tcplearn {

class PipeProcess;

class PipeEstimator final : public Estimator {
 public:
  explicit PipeEstimator(const std::string& command);  // there is one process for each command
  PipeEstimator(std::shared_ptr<PipeProcess> process, unsigned from);
  ~PipeEstimator() override;
  PipeEstimator(const PipeEstimator&) = delete;
  PipeEstimator& operator=(const PipeEstimator&) = delete;

  void update(const tl_sample& sample) override;
  tl_prediction query() const override { return prediction_; }
  tl_timer timer() const override { return TL_TIMER_FROM_ACK; }
  std::unique_ptr<Estimator> copy() const override;

 private:
  std::shared_ptr<PipeProcess> process_;
  unsigned id_;
  tl_prediction prediction_;
};

}  // namespace tcplearn

#endif
