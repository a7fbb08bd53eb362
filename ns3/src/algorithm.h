// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// An algorithm of the core, of any kind, read from its spec and ready to run. Only this file of the ns-3
// program uses the core's registries.
#ifndef TCPLEARN_NS3_ALGORITHM_H
#define TCPLEARN_NS3_ALGORITHM_H

#include <cstdint>
#include <string>
#include <vector>

#include "tcplearn/tcplearn.h"

namespace tcplearn {

// An algorithm as a scenario names it, for example "mlp/hwang2018:threshold=0.2@fixed": a spec
// (tcplearn/spec.h), then the arithmetic if it is not the usual one.
struct Spec {
  std::string text;  // without the arithmetic
  tl_arithmetic arithmetic = TL_F64;
};

// Splits a text into the spec and the arithmetic. Throws std::invalid_argument with one line of text
// unless the arithmetic is fixed or double.
Spec read_spec(const std::string& text, tl_arithmetic usual = TL_F64);

std::string name_of(const Spec& spec);  // without its parameters

struct Ready {
  const tl_algorithm* algorithm;
  std::vector<std::int64_t> state;
};

// Throws std::invalid_argument with the core's error line if a name, key or value is not valid.
Ready make_ready(tl_kind_of kind, const Spec& spec);

// `Type` is tl_estimator, tl_resend_policy, ...; each of these structs begins with a tl_algorithm.
template <typename Type>
class Algorithm {
 public:
  Algorithm(tl_kind_of kind, const Spec& spec) : ready_(make_ready(kind, spec)) {}

  const Type& verbs() const { return *reinterpret_cast<const Type*>(ready_.algorithm); }
  void* state() { return ready_.state.data(); }
  const void* state() const { return ready_.state.data(); }

 private:
  Ready ready_;
};

}  // namespace tcplearn

#endif
