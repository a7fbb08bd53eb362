// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bind_explain.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tcplearn {

namespace {

template <typename T>
nb::dict requests_of(T& from) {
  nb::dict d;
#define TCPLEARN_X(type, name, meaning) d[#name] = to_numpy(std::move(from.name));
  TCPLEARN_REQUEST_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
#define TCPLEARN_X(identifier, key, meaning) \
  d[#key "_us"] = to_numpy(std::move(from.by_cause_us[static_cast<std::size_t>(Cause::k##identifier)]));
  TCPLEARN_CAUSES(TCPLEARN_X)
#undef TCPLEARN_X
  return d;
}

// Stores one column for each resend policy that is compared, named NAME0, NAME1 and so on.
void put(nb::dict& d, const char* name, std::array<std::vector<std::int32_t>, kMostCandidates>& from,
         std::size_t candidates) {
  for (std::size_t k = 0; k < candidates; ++k)
    d[(name + std::to_string(k)).c_str()] = to_numpy(std::move(from[k]));
}

template <typename T>
nb::dict stalls_of(T& from) {
  nb::dict d;
#define TCPLEARN_X(type, name, meaning) d[#name] = to_numpy(std::move(from.name));
  TCPLEARN_STALL_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  return d;
}

template <typename T>
nb::dict connections_of(T& from) {
  nb::dict d;
#define TCPLEARN_X(type, name, meaning) d[#name] = to_numpy(std::move(from.name));
  TCPLEARN_CONNECTION_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  d["client"] = std::move(from.client);
  d["server"] = std::move(from.server);
  return d;
}

// Returns the keys and meanings of all causes and of all ends, in the order of their enums.
nb::tuple explain_names() {
  nb::list causes, ends;
#define TCPLEARN_X(identifier, key, meaning) causes.append(nb::make_tuple(#key, meaning));
  TCPLEARN_CAUSES(TCPLEARN_X)
#undef TCPLEARN_X
#define TCPLEARN_X(identifier, key, meaning) ends.append(nb::make_tuple(#key, meaning));
  TCPLEARN_ENDS(TCPLEARN_X)
#undef TCPLEARN_X
  return nb::make_tuple(causes, ends);
}

}  // namespace

nb::dict explained(ExplainedRows rows) {
  nb::dict d;
  d["requests"] = requests_of(rows.requests);
  nb::dict stalls = stalls_of(rows.stalls), connections = connections_of(rows.connections);
  put(stalls, "same_", rows.stalls.same_us, rows.candidates);
  put(stalls, "repaired_", rows.stalls.repaired_us, rows.candidates);
  put(connections, "client_spurious_", rows.connections.client_spurious, rows.candidates);
  put(connections, "server_spurious_", rows.connections.server_spurious, rows.candidates);
  d["stalls"] = stalls;
  d["connections"] = connections;
  return d;
}

nb::dict packets_of(WindowPackets packets) {
  nb::dict d;
  d["window"] = to_numpy(std::move(packets.window));
  d["time_us"] = to_numpy(std::move(packets.time_us));
  d["by_server"] = to_numpy(std::move(packets.by_server));
  d["kind"] = to_numpy(std::move(packets.kind));
  d["bytes"] = to_numpy(std::move(packets.bytes));
  d["byte"] = to_numpy(std::move(packets.byte));
  return d;
}

void bind_explain(nb::module_& m) { m.def("explain_names", &explain_names); }

}  // namespace tcplearn
