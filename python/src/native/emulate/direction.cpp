// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/direction.h"

namespace tcplearn::emulate {

InForce in_force(const Direction& d, std::int64_t now_ns) {
  InForce out{d.rate_mbps.value_or(0), d.loss, d.delay_ns, d.jitter_ns};
  for (const Changed& c : d.changes) {
    if (!c.holds(now_ns)) continue;
    out.rate_mbps = c.rate_mbps.value_or(out.rate_mbps);
    out.loss = c.loss.value_or(out.loss);
    out.delay_ns = c.delay_ns.value_or(out.delay_ns);
    out.jitter_ns = c.jitter_ns.value_or(out.jitter_ns);
  }
  return out;
}

}  // namespace tcplearn::emulate
