// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A batch of samples given by Python, as columns that are read in place.
#ifndef TCPLEARN_BIND_COLUMNS_H
#define TCPLEARN_BIND_COLUMNS_H

#include <vector>

#include "bind.h"
#include "columns.h"

namespace tcplearn {

// Keeps the numpy arrays of a batch alive while they are read. The constructor throws
// std::invalid_argument or nb::cast_error if a column is missing or has another type or length, or if
// losses are not in the order of their rows.
class HeldBatch {
 public:
  explicit HeldBatch(const nb::dict& batch);
  Columns columns;
  LossColumns losses;

 private:
  template <typename T>
  const T* hold(const nb::dict& from, const char* name, std::size_t rows);
  template <typename T>
  const T* hold_if_any(const nb::dict& from, const char* name, std::size_t rows) {
    return from.contains(name) ? hold<T>(from, name, rows) : nullptr;
  }
  void hold_losses(const nb::dict& from);
  std::vector<nb::object> held_;
};

}  // namespace tcplearn

#endif
