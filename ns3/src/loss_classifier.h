// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A small interface of the core's loss classifiers (was a loss random or caused by congestion?).
#ifndef TCPLEARN_NS3_LOSS_CLASSIFIER_H
#define TCPLEARN_NS3_LOSS_CLASSIFIER_H

#include <memory>
#include <string>
#include <vector>

#include "algorithm.h"

namespace tcplearn {

class LossClassifier {
 public:
  virtual ~LossClassifier() = default;
  virtual void observe(const tl_loss_ack& ack) = 0;
  virtual tl_loss_decision decide(const tl_loss_moment& at) const = 0;
  virtual void change(const tl_loss_moment& at, tl_loss_change what, tl_loss_cause acted_on) = 0;
  virtual std::vector<double> features(
      const tl_loss_moment& at) const = 0;  // indexed by enum tl_loss_feature
};

// A user's own weights, for specs with `model=own`.
class LossModel {
 public:
  // Reads the text of tcplearn/loss/own_model.h. Throws std::invalid_argument with one line of text.
  explicit LossModel(const std::string& text);
  LossModel(const LossModel&) = delete;
  LossModel& operator=(const LossModel&) = delete;
  const tl_loss_model* get() const { return reinterpret_cast<const tl_loss_model*>(memory_.data()); }

 private:
  std::vector<std::int64_t> memory_;
};

// Throws std::invalid_argument with one line of text for a spec that the core does not accept. A `model`
// is needed for `model=own` only.
std::unique_ptr<LossClassifier> make_loss_classifier(const Spec& spec,
                                                     std::shared_ptr<const LossModel> model = nullptr);

std::vector<std::string> loss_feature_names();

}  // namespace tcplearn

#endif
