// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Carries packets between two TUN devices over an emulated path, in real time.
#ifndef TCPLEARN_EMULATE_LINK_H
#define TCPLEARN_EMULATE_LINK_H

#include <array>
#include <cstdint>

#include "emulate/handshakes.h"
#include "emulate/lateness.h"
#include "emulate/path.h"

namespace tcplearn::emulate {

struct Ends {          // file handles that do not block
  int client, server;  // TUN devices without a header before the packet (IFF_NO_PI)
  int stop;            // can be read when the link is to end
};

struct Counts {  // of one direction
  std::uint64_t packets = 0, bytes = 0, delivered = 0, delivered_bytes = 0;
  std::array<std::uint64_t, kCauses> dropped{};  // by Cause
  std::uint64_t refused = 0;                     // by the device that they were delivered to
};

struct LinkResult {
  std::array<Counts, 2> counts;  // [forward]
  std::uint64_t in_flight = 0;   // neither delivered nor dropped when the link ended
  Lateness lateness;
  bool real_time = false;  // whether the scheduler gave the link priority over all other processes
  std::int64_t lasted_ns = 0;
};

// Carries packets until `stop` can be read. Time 0 of the path is the call. The last `spin_ns` before a
// packet is due are waited for without sleep, because waking up takes as long. Throws std::system_error if a
// device cannot be read.
LinkResult carry(Path& path, const Ends& ends, ForcedDrops forced, std::int64_t spin_ns);

}  // namespace tcplearn::emulate

#endif
