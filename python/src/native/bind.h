// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What the binding files share.
#ifndef TCPLEARN_BIND_H
#define TCPLEARN_BIND_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
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

// Throws std::invalid_argument with one clear line where the name, a key or a value is not known.
Chosen choose(const std::string& name, const std::string& arithmetic,
              const std::map<std::string, double>& params);

void bind_capture(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_core(nb::module_& m);
void bind_replay(nb::module_& m);

}  // namespace tcplearn

#endif
