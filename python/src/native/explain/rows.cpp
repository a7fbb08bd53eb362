// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "rows.h"

namespace tcplearn {

void ExplainedRows::add(const RequestRow& row) {
#define TCPLEARN_X(type, name, meaning) requests.name.push_back(row.name);
  TCPLEARN_REQUEST_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  for (std::size_t i = 0; i < kCauses; ++i) requests.by_cause_us[i].push_back(row.by_cause_us[i]);
}

void ExplainedRows::add(const StallRow& row) {
#define TCPLEARN_X(type, name, meaning) stalls.name.push_back(row.name);
  TCPLEARN_STALL_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  for (std::size_t k = 0; k < candidates; ++k) {
    stalls.same_us[k].push_back(row.fates.same_us[k]);
    stalls.repaired_us[k].push_back(row.fates.repaired_us[k]);
  }
}

void ExplainedRows::add(const ConnectionRow& row) {
#define TCPLEARN_X(type, name, meaning) connections.name.push_back(row.name);
  TCPLEARN_CONNECTION_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  connections.client.push_back(row.client);
  connections.server.push_back(row.server);
  for (std::size_t k = 0; k < candidates; ++k) {
    connections.client_spurious[k].push_back(row.client_spurious[k]);
    connections.server_spurious[k].push_back(row.server_spurious[k]);
  }
}

}  // namespace tcplearn
