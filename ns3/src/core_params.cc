// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "core_params.h"

#include <cstdlib>
#include <sstream>

namespace tcplearn {
namespace {

double choice_or_number(const tl_param& param, const std::string& text) {
  if (param.choices) {
    std::istringstream names(param.choices);
    std::string name;
    for (double at = 0; std::getline(names, name, '|'); ++at)
      if (name == text) return at;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw std::invalid_argument(std::string(param.key) + "=" + text + " is not a number");
  return value;
}

}  // namespace

Params parse_params(const std::string& name, const tl_param* params, std::size_t count,
                    const std::string& text) {
  Params out;
  std::istringstream pairs(text);
  std::string pair;
  while (std::getline(pairs, pair, ',')) {
    const std::size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    const tl_param* param = nullptr;
    for (std::size_t i = 0; i < count; ++i)
      if (key == params[i].key) param = &params[i];
    if (equals == std::string::npos || !param)
      throw std::invalid_argument("'" + name + "': '" + pair + "' is not one of its parameters");
    out.emplace_back(key, choice_or_number(*param, pair.substr(equals + 1)));
  }
  return out;
}

}  // namespace tcplearn
