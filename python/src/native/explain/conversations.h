// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The live connections of a capture, and what they share.
#ifndef TCPLEARN_EXPLAIN_CONVERSATIONS_H
#define TCPLEARN_EXPLAIN_CONVERSATIONS_H

#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include "conversation.h"
#include "learned.h"
#include "path.h"
#include "rows.h"

namespace tcplearn {

// What a first reading shows, and the second one knows from the beginning.
struct FirstReading {
  std::unordered_map<std::uint32_t, Conversation::Seen> connections;
  std::map<std::pair<Address, Address>, Path::Seen> paths;
  NearHosts near_clients;
};

class Conversations {
 public:
  // For a first reading. `candidates` outlive this.
  explicit Conversations(const Candidates& candidates) : candidates_(candidates), is_first_(true) {}
  // For a second reading. `seen`: what the first one has shown.
  Conversations(const Candidates& candidates, FirstReading seen);
  void on_packet(std::uint32_t connection, unsigned side, const Packet& packet, std::int64_t now_us,
                 ExplainedRows& out);
  void on_end(std::uint32_t connection, ExplainedRows& out);
  // Returns what all packets of a first reading have shown. Nothing may follow.
  FirstReading seen();

 private:
  Conversation& begun(std::uint32_t connection, const Packet& first, std::int64_t now_us);
  void note(std::uint32_t connection, const Conversation& one);

  FirstReading
      seen_;  // of the connections that have ended, in a first reading; of those to come, in a second
  const Candidates& candidates_;
  const bool is_first_ = false;
  Learned learned_;
  // Paths by client address and server address. None is removed before the end, so they are stored in large
  // blocks, which go back to the system as a whole.
  std::pmr::monotonic_buffer_resource path_blocks_;
  std::pmr::map<std::pair<Address, Address>, Path> paths_{&path_blocks_};
  std::unordered_map<const Path*, Leg> to_servers_;  // in a first reading, without relays
  NearHosts near_clients_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Conversation>> alive_;
  std::uint32_t last_number_ = 0;
  Conversation* last_ = nullptr;  // consecutive packets often belong to the same connection
};

}  // namespace tcplearn

#endif
