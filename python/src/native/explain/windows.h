// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Collects the packets of some connections in some intervals of time.
#ifndef TCPLEARN_EXPLAIN_WINDOWS_H
#define TCPLEARN_EXPLAIN_WINDOWS_H

#include <array>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/packet.h"
#include "capture/reader.h"

namespace tcplearn {

// A connection, and the beginning and end of an interval since the capture's first packet.
using PacketWindow = std::tuple<std::uint32_t, std::int64_t, std::int64_t>;

struct WindowPackets {
  std::vector<std::uint32_t> window;
  std::vector<std::int64_t> time_us;
  std::vector<std::uint8_t> by_server, kind;  // kind: 0 a pure ACK, 1 new data, 2 retransmitted data
  std::vector<std::uint32_t> bytes;           // of data
  std::vector<std::int64_t> byte;  // position in the stream: the packet's last byte, or the acknowledged byte
};

class Windows final : public PacketObserver {
 public:
  explicit Windows(std::vector<PacketWindow> windows) : windows_(std::move(windows)) {}
  void on_packet(std::uint32_t connection, unsigned side, const Packet& packet, std::int64_t now_us) override;
  void on_end(std::uint32_t connection) override { alive_.erase(connection); }
  WindowPackets take() { return std::exchange(found_, {}); }

 private:
  struct Stream {
    bool begun = false;
    std::uint32_t first = 0, next = 0;
  };
  struct Ends {
    unsigned client = 0;
    std::array<Stream, 2> streams;
  };
  bool wanted(std::uint32_t connection) const;

  std::vector<PacketWindow> windows_;
  std::unordered_map<std::uint32_t, Ends> alive_;
  WindowPackets found_;
};

}  // namespace tcplearn

#endif
