// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "loss_classifier.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace tcplearn {
namespace {

class CoreLossClassifier final : public LossClassifier {
 public:
  CoreLossClassifier(const Spec& spec, std::shared_ptr<const LossModel> model)
      : model_(std::move(model)), core_(TL_KIND_LOSS, spec) {
    if (model_) tl_loss_use_model(core_.state(), model_->get());
  }

  void observe(const tl_loss_ack& ack) override { core_.verbs().observe(core_.state(), &ack); }

  tl_loss_decision decide(const tl_loss_moment& at) const override {
    tl_loss_decision out;
    core_.verbs().decide(core_.state(), &at, &out);
    return out;
  }

  void change(const tl_loss_moment& at, tl_loss_change what, tl_loss_cause acted_on) override {
    core_.verbs().change(core_.state(), &at, what, acted_on);
  }

  std::vector<double> features(const tl_loss_moment& at) const override {
    std::vector<double> out(TL_LOSS_FEATURE_COUNT);
    core_.verbs().features(core_.state(), &at, out.data());
    return out;
  }

 private:
  std::shared_ptr<const LossModel> model_;  // the state points into it
  Algorithm<tl_loss_classifier> core_;
};

}  // namespace

LossModel::LossModel(const std::string& text) : memory_((tl_loss_model_bytes() + 7) / 8) {
  std::array<char, TL_ERROR_BYTES_MAX> error{};
  auto* model = reinterpret_cast<tl_loss_model*>(memory_.data());
  if (tl_loss_model_read(model, text.data(), text.size(), error.data(), error.size()) != 0)
    throw std::invalid_argument(error.data());
}

std::unique_ptr<LossClassifier> make_loss_classifier(const Spec& spec,
                                                     std::shared_ptr<const LossModel> model) {
  return std::make_unique<CoreLossClassifier>(spec, std::move(model));
}

std::vector<std::string> loss_feature_names() {
  std::vector<std::string> out;
  for (std::size_t i = 0; const tl_loss_feature_info* info = tl_loss_feature_at(i); ++i)
    out.emplace_back(info->name);
  return out;
}

}  // namespace tcplearn
