// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "estimator.h"

#include <stdexcept>

#include "pipe_estimator.h"

namespace tcplearn {
namespace {

class CoreEstimator final : public Estimator {
 public:
  explicit CoreEstimator(const EstimatorSpec& spec)
      : info_(tl_estimator_find(spec.name.c_str(), spec.arithmetic)) {
    if (!info_) throw std::invalid_argument("no estimator '" + spec.name + "'");
    state_ = make_state(*info_, spec.params);
  }

  void update(const tl_sample& sample) override { info_->update(state_.data(), &sample); }

  tl_prediction query() const override {
    tl_prediction out;
    info_->query(state_.data(), &out);
    return out;
  }

  tl_timer timer() const override { return info_->timer; }
  std::unique_ptr<Estimator> copy() const override { return std::make_unique<CoreEstimator>(*this); }

 private:
  const tl_estimator* info_;
  std::vector<std::int64_t> state_;
};

}  // namespace

std::unique_ptr<Estimator> make_estimator(const EstimatorSpec& spec) {
  if (spec.name == "pipe") return std::make_unique<PipeEstimator>(spec.command);
  return std::make_unique<CoreEstimator>(spec);
}

}  // namespace tcplearn
