// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Functions that the binding files (bind_*.cpp, C++ called from Python through nanobind) share.
#ifndef TCPLEARN_BIND_H
#define TCPLEARN_BIND_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "replay/flow_replay.h"

namespace tcplearn {

namespace nb = nanobind;

template <typename T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns a numpy array that owns `values`.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

// Returns TL_F64 for "double" or TL_FIX for "fixed"; throws std::invalid_argument for other texts.
tl_arithmetic arithmetic_of(const std::string& name);

// Returns the parameters of algorithm `a`: the values in `given`, and defaults for all others. Throws
// std::invalid_argument if a key or a value is not allowed.
std::vector<std::uint64_t> params_of(tl_kind_of kind, const tl_algorithm& a,
                                     const std::map<std::string, double>& given);

// Returns an algorithm by its name. Throws std::invalid_argument with the error line of the core.
const tl_algorithm& algorithm_of(tl_kind_of kind, const std::string& name, const std::string& arithmetic);

// An algorithm of the core with its parameters and state. The operator -> gives access to its functions.
// T is the struct of its kind, which begins with struct tl_algorithm.
template <typename T, tl_kind_of kKind>
class Running {
 public:
  // Throws std::invalid_argument if the name, a parameter or a value is not allowed.
  Running(const std::string& name, const std::string& arithmetic, const std::map<std::string, double>& params)
      : verbs_(reinterpret_cast<const T*>(&algorithm_of(kKind, name, arithmetic))),
        params_(params_of(kKind, verbs_->algorithm, params)),
        state_((verbs_->algorithm.state_bytes(params_.data()) + 7) / 8) {
    begin();
  }

  void begin() { verbs_->algorithm.init(state_.data(), params_.data()); }
  const T* operator->() const { return verbs_; }
  void* state() { return state_.data(); }
  const void* state() const { return state_.data(); }
  std::size_t bytes() const { return state_.size() * sizeof(std::uint64_t); }

 private:
  const T* verbs_;
  std::vector<std::uint64_t> params_, state_;
};

// Returns an estimator with its parameters. Throws std::invalid_argument with one line of text if the
// name, a key or a value is not known.
Chosen choose(const std::string& name, const std::string& arithmetic,
              const std::map<std::string, double>& params);

// Each adds its classes and functions to the module.
using Bind = void(nb::module_&);
Bind bind_algorithms, bind_capture, bind_columns, bind_core, bind_emulate, bind_first_rto, bind_loss,
    bind_replay, bind_resend, bind_retry, bind_startup;

}  // namespace tcplearn

#endif
