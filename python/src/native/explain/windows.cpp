// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "windows.h"

#include <algorithm>
#include <utility>

#include "conversation.h"

namespace tcplearn {

bool Windows::wanted(std::uint32_t connection) const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [&](const PacketWindow& window) { return std::get<0>(window) == connection; });
}

void Windows::on_packet(std::uint32_t connection, unsigned side, const Packet& packet, std::int64_t now_us) {
  if (!wanted(connection)) return;
  const auto [at, made] = alive_.try_emplace(connection);
  Ends& ends = at->second;
  if (made) ends.client = Conversation::client_side(packet);
  Stream& mine = ends.streams[side];
  Stream& other = ends.streams[1 - side];
  if (!mine.begun) {
    mine.first = mine.next = packet.seq + (packet.has(kSyn) ? 1u : 0u);
    mine.begun = true;
  }
  const std::uint32_t end = packet.seq + packet.payload_bytes;
  const bool data = packet.payload_bytes > 0;
  const bool again = data && static_cast<std::int32_t>(end - mine.next) <= 0;
  if (data && !again) mine.next = end;
  for (std::size_t k = 0; k < windows_.size(); ++k) {
    const auto& [number, from_us, to_us] = windows_[k];
    if (number != connection || now_us < from_us || now_us > to_us) continue;
    const std::uint32_t byte = data ? end - mine.first : other.begun ? packet.ack - other.first : 0u;
    found_.window.push_back(static_cast<std::uint32_t>(k));
    found_.time_us.push_back(now_us);
    found_.by_server.push_back(side == ends.client ? 0 : 1);
    found_.kind.push_back(data ? again ? 2 : 1 : 0);
    found_.bytes.push_back(packet.payload_bytes);
    found_.byte.push_back(byte);
  }
}

}  // namespace tcplearn
