// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// An interface of estimators, for those of the core and for a user's own (pipe_estimator.h).
#ifndef TCPLEARN_NS3_ESTIMATOR_H
#define TCPLEARN_NS3_ESTIMATOR_H

#include <memory>
#include <string>

#include "algorithm.h"

namespace tcplearn {

struct EstimatorSpec {
  Spec core{"jacobson"};
  std::string command;  // if not empty, used instead of the spec: see PipeEstimator
};

class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual void update(const tl_sample& sample) = 0;
  virtual tl_prediction query() const = 0;
  virtual tl_timer timer() const = 0;
  virtual std::unique_ptr<Estimator> copy() const = 0;
};

// Throws std::invalid_argument with one line of text for a spec that the core does not accept.
std::unique_ptr<Estimator> make_estimator(const EstimatorSpec& spec);

}  // namespace tcplearn

#endif
