// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "loss_classifier.h"

#include <algorithm>
#include <stdexcept>

namespace tcplearn {
namespace {

const tl_loss_classifier& find(const LossSpec& spec) {
  const tl_loss_classifier* info = tl_loss_find(spec.name.c_str(), spec.arithmetic);
  if (!info) throw std::invalid_argument("no classifier of losses '" + spec.name + "'");
  return *info;
}

class CoreLossClassifier final : public LossClassifier {
 public:
  explicit CoreLossClassifier(const LossSpec& spec)
      : info_(find(spec)), state_(make_state(info_, spec.params)) {}

  void observe(const tl_loss_ack& ack) override { info_.observe(state_.data(), &ack); }

  tl_loss_decision decide(const tl_loss_moment& at) const override {
    tl_loss_decision out;
    info_.decide(state_.data(), &at, &out);
    return out;
  }

  void change(const tl_loss_moment& at, tl_loss_change what, tl_loss_cause acted_on) override {
    info_.change(state_.data(), &at, what, acted_on);
  }

  std::vector<double> features(const tl_loss_moment& at) const override {
    std::vector<double> out(TL_LOSS_FEATURE_COUNT);
    info_.features(state_.data(), &at, out.data());
    return out;
  }

 private:
  const tl_loss_classifier& info_;
  std::vector<std::int64_t> state_;
};

}  // namespace

LossSpec parse_loss_spec(const std::string& text) {
  LossSpec out;
  const std::size_t at = text.find('@'), colon = text.substr(0, at).find(':');
  if (at != std::string::npos && text.substr(at) != "@fixed")
    throw std::invalid_argument("'" + text + "': after @ only fixed is known");
  out.arithmetic = at == std::string::npos ? TL_F64 : TL_FIX;
  out.name = text.substr(0, std::min(colon, at));
  const tl_loss_classifier& info = find(out);
  if (colon != std::string::npos)
    out.params =
        parse_params(out.name, info.params, info.param_count, text.substr(colon + 1, at - colon - 1));
  return out;
}

std::unique_ptr<LossClassifier> make_loss_classifier(const LossSpec& spec) {
  return std::make_unique<CoreLossClassifier>(spec);
}

std::vector<std::string> loss_feature_names() {
  std::vector<std::string> out;
  for (std::size_t i = 0; const tl_loss_feature_info* info = tl_loss_feature_at(i); ++i)
    out.emplace_back(info->name);
  return out;
}

}  // namespace tcplearn
