// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "algorithm.h"

#include <array>
#include <stdexcept>

namespace tcplearn {

Spec read_spec(const std::string& text, tl_arithmetic usual) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return {text, usual};
  const std::string arithmetic = text.substr(at + 1);
  if (arithmetic != "fixed" && arithmetic != "double")
    throw std::invalid_argument("'" + text + "': after @ only fixed and double are known");
  return {text.substr(0, at), arithmetic == "fixed" ? TL_FIX : TL_F64};
}

std::string name_of(const Spec& spec) { return spec.text.substr(0, spec.text.find(':')); }

Ready make_ready(tl_kind_of kind, const Spec& spec) {
  std::array<char, TL_ERROR_BYTES_MAX> error{};
  std::array<std::int64_t, TL_PARAMS_BYTES_MAX / sizeof(std::int64_t)> params{};
  const tl_algorithm* algorithm = tl_algorithm_read(kind, spec.arithmetic, spec.text.c_str(), params.data(),
                                                    nullptr, error.data(), error.size());
  if (!algorithm) throw std::invalid_argument(error.data());
  const std::size_t word = sizeof(std::int64_t);
  Ready out{algorithm, std::vector<std::int64_t>((algorithm->state_bytes(params.data()) + word - 1) / word)};
  algorithm->init(out.state.data(), params.data());
  return out;
}

}  // namespace tcplearn
