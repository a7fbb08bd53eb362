// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// An estimator of the core's registry behind one small interface: the only place of this host that
// touches the registry. A user's own estimator stands behind the same interface (pipe_estimator.h).
#ifndef TCPLEARN_NS3_ESTIMATOR_H
#define TCPLEARN_NS3_ESTIMATOR_H

#include <memory>
#include <string>

#include "core_params.h"

namespace tcplearn {

struct EstimatorSpec {
  std::string name = "jacobson";  // as in the registry; or "pipe", see PipeEstimator
  Params params;
  tl_arithmetic arithmetic = TL_F64;
  std::string command;  // of "pipe"
};

class Estimator {
 public:
  virtual ~Estimator() = default;
  virtual void update(const tl_sample& sample) = 0;
  virtual tl_prediction query() const = 0;
  virtual tl_timer timer() const = 0;
  virtual std::unique_ptr<Estimator> copy() const = 0;
};

// Throws std::invalid_argument with one line for a name, key or value that the registry does not take.
std::unique_ptr<Estimator> make_estimator(const EstimatorSpec& spec);

}  // namespace tcplearn

#endif
