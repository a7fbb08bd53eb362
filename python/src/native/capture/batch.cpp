// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "batch.h"

namespace tcplearn {

void Events::add(const Event& event) {
  if (!wanted) return;
#define TCPLEARN_X(type, name, unknown, meaning) name.push_back(event.name);
  TCPLEARN_EVENT_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
}

void Events::clear() {
#define TCPLEARN_X(type, name, unknown, meaning) name.clear();
  TCPLEARN_EVENT_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
}

void Batch::clear() {
#define TCPLEARN_X(type, name, unknown, meaning) name.clear();
  TCPLEARN_BATCH_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  ended.clear();
  losses.clear();
  events.clear();
  below_clock = 0;
}

}  // namespace tcplearn
