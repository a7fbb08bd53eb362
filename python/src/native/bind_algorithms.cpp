// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the lists of the core's algorithms, and for reading specs such as "conformal:miss=0.001".
#include <nanobind/stl/string.h>

#include <array>
#include <sstream>
#include <stdexcept>

#include "bind.h"

namespace tcplearn {

namespace {

using Params = std::vector<std::uint64_t>;

Params room() { return Params(TL_PARAMS_BYTES_MAX / sizeof(std::uint64_t)); }

tl_kind_of kind_of(const std::string& key) {
  for (int k = 0; k < TL_KINDS; ++k)
    if (key == tl_kind_at(static_cast<tl_kind_of>(k), TL_F64)->key) return static_cast<tl_kind_of>(k);
  throw std::invalid_argument("no kind of algorithm '" + key + "'");
}

nb::dict describe_param(const tl_param& p, double value) {
  nb::dict d;
  d["key"] = p.key;
  d["low"] = tl_value_of_nano(p.low_nano);
  d["high"] = tl_value_of_nano(p.high_nano);
  d["default"] = value;
  d["text"] = p.text;
  d["whole"] = p.type != TL_PARAM_RATIO;
  nb::list choices;
  if (p.choices) {
    std::istringstream names(p.choices);
    for (std::string name; std::getline(names, name, '|');) choices.append(name);
  }
  d["choices"] = choices;
  return d;
}

nb::dict describe(const tl_algorithm& a) {
  Params params = room();
  a.defaults(params.data());
  nb::list all;
  for (std::uint32_t k = 0; k < a.param_count; ++k)
    all.append(describe_param(a.params[k], a.get(params.data(), k)));
  nb::dict d;
  d["name"] = a.name;
  d["summary"] = a.summary;
  d["about"] = a.about;
  d["learned"] = a.learned != TL_FORMULA;
  d["params"] = all;
  return d;
}

nb::list kinds() {
  nb::list out;
  for (int k = 0; k < TL_KINDS; ++k) {
    const tl_kind* kind = tl_kind_at(static_cast<tl_kind_of>(k), TL_F64);
    out.append(nb::make_tuple(kind->key, kind->name));
  }
  return out;
}

nb::list algorithms(const std::string& key) {
  const tl_kind* kind = tl_kind_at(kind_of(key), TL_F64);
  nb::list out;
  for (std::uint32_t i = 0; i < kind->count; ++i) out.append(describe(*kind->at(i)));
  return out;
}

// Returns the name of the algorithm in a spec, and the values of the parameters that the spec sets.
nb::tuple read_spec(const std::string& key, const std::string& spec) {
  std::array<char, TL_ERROR_BYTES_MAX> error{};
  Params params = room();
  std::uint64_t given = 0;
  const tl_algorithm* a = tl_algorithm_read(kind_of(key), TL_F64, spec.c_str(), params.data(), &given,
                                            error.data(), error.size());
  if (!a) throw std::invalid_argument(error.data());
  nb::dict values;
  for (std::uint32_t k = 0; k < a->param_count; ++k)
    if (given >> k & 1) values[a->params[k].key] = a->get(params.data(), k);
  return nb::make_tuple(a->name, values);
}

}  // namespace

tl_arithmetic arithmetic_of(const std::string& name) {
  if (name != "double" && name != "fixed")
    throw std::invalid_argument("arithmetic '" + name + "': it is double or fixed");
  return name == "fixed" ? TL_FIX : TL_F64;
}

const tl_algorithm& algorithm_of(tl_kind_of kind, const std::string& name, const std::string& arithmetic) {
  std::array<char, TL_ERROR_BYTES_MAX> error{};
  Params params = room();
  const tl_arithmetic of = arithmetic_of(arithmetic);
  const tl_algorithm* a = tl_algorithm_read(kind, of, name.substr(0, name.find(':')).c_str(), params.data(),
                                            nullptr, error.data(), error.size());
  if (!a) throw std::invalid_argument(error.data());
  return *a;
}

Params params_of(tl_kind_of kind, const tl_algorithm& a, const std::map<std::string, double>& given) {
  Params params = room();
  a.defaults(params.data());
  for (const auto& [key, value] : given) {
    std::uint32_t i = 0;
    while (i < a.param_count && key != a.params[i].key) ++i;
    if (i == a.param_count)
      throw std::invalid_argument(std::string(tl_kind_at(kind, TL_F64)->name) + " '" + a.name +
                                  "' has no parameter '" + key + "'");
    if (a.set(params.data(), i, value) != 0) {
      std::ostringstream line;
      line << a.name << ": " << key << " = " << value << ": allowed is "
           << tl_value_of_nano(a.params[i].low_nano) << " to " << tl_value_of_nano(a.params[i].high_nano);
      throw std::invalid_argument(line.str());
    }
  }
  return params;
}

void bind_algorithms(nb::module_& m) {
  using namespace nb::literals;
  m.def("kinds", &kinds);
  m.def("algorithms", &algorithms, "kind"_a);
  m.def("read_spec", &read_spec, "kind"_a, "spec"_a);
}

}  // namespace tcplearn
