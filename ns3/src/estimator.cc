// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "estimator.h"

#include "pipe_estimator.h"

namespace tcplearn {
namespace {

class CoreEstimator final : public Estimator {
 public:
  explicit CoreEstimator(const Spec& spec) : core_(TL_KIND_ESTIMATOR, spec) {}

  void update(const tl_sample& sample) override { core_.verbs().update(core_.state(), &sample); }

  tl_prediction query() const override {
    tl_prediction out;
    core_.verbs().query(core_.state(), &out);
    return out;
  }

  tl_timer timer() const override { return core_.verbs().timer; }
  std::unique_ptr<Estimator> copy() const override { return std::make_unique<CoreEstimator>(*this); }

 private:
  Algorithm<tl_estimator> core_;
};

}  // namespace

std::unique_ptr<Estimator> make_estimator(const EstimatorSpec& spec) {
  if (!spec.command.empty()) return std::make_unique<PipeEstimator>(spec.command);
  return std::make_unique<CoreEstimator>(spec.core);
}

}  // namespace tcplearn
