// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Parameters of what the core's registries list, estimators and classifiers alike.
#ifndef TCPLEARN_NS3_CORE_PARAMS_H
#define TCPLEARN_NS3_CORE_PARAMS_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tcplearn/tcplearn.h"

namespace tcplearn {

using Params = std::vector<std::pair<std::string, double>>;

// "n=50,eta=1", as users type it; a choice may be given by name. Throws std::invalid_argument with one line.
Params parse_params(const std::string& name, const tl_param* params, std::size_t count,
                    const std::string& text);

// A state made ready by `info`. Throws std::invalid_argument with one line.
template <typename Info>
std::vector<std::int64_t> make_state(const Info& info, const Params& params) {
  alignas(std::int64_t) unsigned char raw[TL_PARAMS_BYTES_MAX];
  info.defaults(raw);
  for (const auto& [key, value] : params) {
    std::size_t at = 0;
    while (at < info.param_count && key != info.params[at].key) ++at;
    if (at == info.param_count)
      throw std::invalid_argument(std::string("'") + info.name + "' has no parameter '" + key + "'");
    if (info.set(raw, at, value) != 0)
      throw std::invalid_argument(std::string(info.name) + ": " + key + "=" + std::to_string(value) +
                                  " is out of range");
  }
  const std::size_t word = sizeof(std::int64_t);
  std::vector<std::int64_t> state((info.state_bytes(raw) + word - 1) / word);
  info.init(state.data(), raw);
  return state;
}

}  // namespace tcplearn

#endif
