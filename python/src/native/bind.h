// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What the binding files share.
#ifndef TCPLEARN_BIND_H
#define TCPLEARN_BIND_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "replay/flow_replay.h"

namespace tcplearn {

namespace nb = nanobind;

template <typename T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A numpy array that owns `values`.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

nb::object describe_param(const tl_param& p, double value);

// TL_F64 or TL_FIX; throws std::invalid_argument for what is neither double nor fixed.
tl_arithmetic arithmetic_of(const std::string& name);

// The parameters of an estimator or a classifier, with their defaults.
template <typename Algorithm>
nb::list describe_params(const Algorithm* a) {
  std::vector<std::uint64_t> params(TL_PARAMS_BYTES_MAX / sizeof(std::uint64_t));
  a->defaults(params.data());
  nb::list out;
  for (std::size_t k = 0; k < a->param_count; ++k)
    out.append(describe_param(a->params[k], a->get(params.data(), k)));
  return out;
}

// What every kind of algorithm is listed with.
template <typename Algorithm>
nb::dict describe(const Algorithm* a) {
  nb::dict d;
  d["name"] = a->name;
  d["summary"] = a->summary;
  d["about"] = a->about;
  d["params"] = describe_params(a);
  return d;
}

// Its defaults but for what is given. Throws std::invalid_argument where a key or a value is not allowed.
template <typename Algorithm>
std::vector<std::uint64_t> params_of(const Algorithm* a, const char* kind,
                                     const std::map<std::string, double>& given) {
  std::vector<std::uint64_t> params(TL_PARAMS_BYTES_MAX / sizeof(std::uint64_t));
  a->defaults(params.data());
  for (const auto& [key, value] : given) {
    std::size_t i = 0;
    while (i < a->param_count && key != a->params[i].key) ++i;
    if (i == a->param_count)
      throw std::invalid_argument(std::string(kind) + " '" + a->name + "' has no parameter '" + key + "'");
    const tl_param& p = a->params[i];
    if (a->set(params.data(), i, value) != 0) {
      std::ostringstream line;
      line << a->name << ": " << key << " = " << value << ": allowed is " << p.low << " to " << p.high;
      throw std::invalid_argument(line.str());
    }
  }
  return params;
}

// Throws std::invalid_argument with one clear line where the name, a key or a value is not known.
Chosen choose(const std::string& name, const std::string& arithmetic,
              const std::map<std::string, double>& params);

void bind_capture(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_core(nb::module_& m);
void bind_loss(nb::module_& m);
void bind_replay(nb::module_& m);
void bind_resend(nb::module_& m);
void bind_startup(nb::module_& m);

}  // namespace tcplearn

#endif
