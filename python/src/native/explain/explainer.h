// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Explains a capture while it is read, with one conversation for each live connection.
#ifndef TCPLEARN_EXPLAIN_EXPLAINER_H
#define TCPLEARN_EXPLAIN_EXPLAINER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/reader.h"
#include "conversation.h"
#include "learned.h"
#include "path.h"
#include "rows.h"

namespace tcplearn {

class Explainer final : public PacketObserver {
 public:
  explicit Explainer(const std::vector<std::string>& candidates = {});
  void on_packet(std::uint32_t connection, unsigned side, const Packet& packet, std::int64_t now_us) override;
  void on_end(std::uint32_t connection) override;

  // Returns the number of rows that take() would return.
  std::size_t held() const {
    return rows_.requests.connection.size() + rows_.stalls.connection.size() +
           rows_.connections.connection.size();
  }
  // Returns the rows since the last call.
  ExplainedRows take();

 private:
  ExplainedRows rows_;
  Candidates candidates_;
  Learned learned_;
  // Paths by client address and server address. None is removed before the end, so they are stored in large
  // blocks, which go back to the system as a whole.
  std::pmr::monotonic_buffer_resource path_blocks_;
  std::pmr::map<std::pair<Address, Address>, Path> paths_{&path_blocks_};
  NearHosts near_clients_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Conversation>> alive_;
  std::uint32_t last_number_ = 0;
  Conversation* last_ = nullptr;  // consecutive packets often belong to the same connection
};

}  // namespace tcplearn

#endif
