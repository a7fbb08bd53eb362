// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Bindings for the schema of a batch of samples, and for batches that Python provides.
#include "bind_columns.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace tcplearn {

namespace {

template <typename T>
const char* type_name();
template <>
const char* type_name<std::int64_t>() {
  return "int64";
}
template <>
const char* type_name<std::uint32_t>() {
  return "uint32";
}
template <>
const char* type_name<std::uint8_t>() {
  return "uint8";
}

nb::dict described(const char* table, const char* type, const char* name, int unknown, const char* meaning) {
  nb::dict d;
  d["table"] = table;
  d["name"] = name;
  d["type"] = type;
  d["default"] = unknown;
  d["meaning"] = meaning;
  return d;
}

nb::list columns() {
  nb::list out;
  const char* table = "required";
#define TCPLEARN_X(type, name, unknown, meaning) \
  out.append(described(table, type_name<type>(), #name, unknown, meaning));
  TCPLEARN_REQUIRED_COLUMNS(TCPLEARN_X)
  table = "filled";
  TCPLEARN_FILLED_COLUMNS(TCPLEARN_X)
  table = "optional";
  TCPLEARN_OPTIONAL_COLUMNS(TCPLEARN_X)
  table = "loss";
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
  table = "withdrawn";
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  return out;
}

std::size_t rows_of(const nb::dict& from, const char* name) {
  if (!from.contains(name)) throw std::invalid_argument(std::string("column ") + name + " is missing");
  return nb::len(nb::object(from[name]));
}

}  // namespace

template <typename T>
const T* HeldBatch::hold(const nb::dict& from, const char* name, std::size_t rows) {
  if (rows_of(from, name) != rows)
    throw std::invalid_argument(std::string("column ") + name + " differs in length");
  Array<T> array;
  if (!nb::try_cast(from[name], array, false))
    throw std::invalid_argument(std::string("column ") + name + " is not an array of " + type_name<T>());
  const T* data = array.data();
  held_.push_back(nb::cast(std::move(array)));
  return data;
}

HeldBatch::HeldBatch(const nb::dict& batch) {
  columns.rows = rows_of(batch, "time_us");
#define TCPLEARN_X(type, name, unknown, meaning) columns.name = hold<type>(batch, #name, columns.rows);
  TCPLEARN_REQUIRED_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
#define TCPLEARN_X(type, name, unknown, meaning) columns.name = hold_if_any<type>(batch, #name, columns.rows);
  TCPLEARN_FILLED_COLUMNS(TCPLEARN_X)
  TCPLEARN_OPTIONAL_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  if (batch.contains("losses")) hold_losses(nb::cast<nb::dict>(batch["losses"]));
}

void HeldBatch::hold_losses(const nb::dict& from) {
  losses.rows = rows_of(from, "flow");
  losses.withdrawn = rows_of(from, "withdrawn_flow");
#define TCPLEARN_X(type, name, unknown, meaning) losses.name = hold<type>(from, #name, losses.rows);
  TCPLEARN_LOSS_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
#define TCPLEARN_X(type, name, unknown, meaning) losses.name = hold<type>(from, #name, losses.withdrawn);
  TCPLEARN_WITHDRAWN_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  for (std::size_t i = 0; i < losses.rows; ++i) {
    const std::uint32_t row = losses.row[i];
    if (row >= columns.rows || (i > 0 && row < losses.row[i - 1]) || columns.flow[row] != losses.flow[i])
      throw std::invalid_argument("losses are not in the order of the rows that report them");
  }
}

void bind_columns(nb::module_& m) { m.def("columns", &columns); }

}  // namespace tcplearn
