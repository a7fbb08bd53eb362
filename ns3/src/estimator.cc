// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "estimator.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "pipe_estimator.h"

namespace tcplearn {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

class CoreEstimator final : public Estimator {
 public:
  explicit CoreEstimator(const EstimatorSpec& spec)
      : info_(tl_estimator_find(spec.name.c_str(), spec.arithmetic)) {
    if (!info_) refuse("no estimator '" + spec.name + "'");
    alignas(std::int64_t) unsigned char params[TL_PARAMS_BYTES_MAX];
    info_->defaults(params);
    for (const auto& [key, value] : spec.params) set(params, key, value);
    const std::size_t word = sizeof(std::int64_t);
    state_.resize((info_->state_bytes(params) + word - 1) / word);
    info_->init(state_.data(), params);
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
  void set(void* params, const std::string& key, double value) const {
    for (std::size_t i = 0; i < info_->param_count; ++i) {
      if (key != info_->params[i].key) continue;
      if (info_->set(params, i, value) != 0)
        refuse(std::string(info_->name) + ": " + key + "=" + std::to_string(value) + " is out of range");
      return;
    }
    refuse(std::string("estimator '") + info_->name + "' has no parameter '" + key + "'");
  }

  const tl_estimator* info_;
  std::vector<std::int64_t> state_;
};

double choice_or_number(const tl_param& param, const std::string& text) {
  if (param.choices) {
    std::istringstream names(param.choices);
    std::string name;
    for (double at = 0; std::getline(names, name, '|'); ++at)
      if (name == text) return at;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') refuse(std::string(param.key) + "=" + text + " is not a number");
  return value;
}

}  // namespace

std::unique_ptr<Estimator> make_estimator(const EstimatorSpec& spec) {
  if (spec.name == "pipe") return std::make_unique<PipeEstimator>(spec.command);
  return std::make_unique<CoreEstimator>(spec);
}

std::vector<std::pair<std::string, double>> parse_params(const tl_estimator& info, const std::string& text) {
  std::vector<std::pair<std::string, double>> out;
  std::istringstream pairs(text);
  std::string pair;
  while (std::getline(pairs, pair, ',')) {
    const std::size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    const tl_param* param = nullptr;
    for (std::size_t i = 0; i < info.param_count; ++i)
      if (key == info.params[i].key) param = &info.params[i];
    if (equals == std::string::npos || !param)
      refuse(std::string("estimator '") + info.name + "': '" + pair + "' is not one of its parameters");
    out.emplace_back(key, choice_or_number(*param, pair.substr(equals + 1)));
  }
  return out;
}

}  // namespace tcplearn
