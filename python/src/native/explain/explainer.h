// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Explains a capture while it is read. The first packets are read twice: first to learn what only later
// packets show, such as the shortest round trip of a connection, and then to explain them.
#ifndef TCPLEARN_EXPLAIN_EXPLAINER_H
#define TCPLEARN_EXPLAIN_EXPLAINER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/reader.h"
#include "conversations.h"
#include "rows.h"

namespace tcplearn {

class Explainer final : public PacketObserver {
 public:
  // `twice`: how many packets are read twice; each takes some 170 bytes until then.
  explicit Explainer(const std::vector<std::string>& candidates = {}, std::size_t twice = 1U << 15U);
  void on_packet(std::uint32_t connection, unsigned side, const Packet& packet, std::int64_t now_us) override;
  void on_end(std::uint32_t connection) override;

  // Returns the number of rows that take() would return before the end.
  std::size_t held() const {
    return rows_.requests.connection.size() + rows_.stalls.connection.size() +
           rows_.connections.connection.size();
  }
  // Returns the rows since the last call. `over`: no packet follows.
  ExplainedRows take(bool over);

 private:
  struct Event {
    std::uint32_t connection;
    unsigned side;
    bool ends;
    std::int64_t now_us;
    Packet packet;
  };
  // Reads the first packets twice.
  void read_first();

  ExplainedRows rows_;
  Candidates candidates_;
  std::size_t twice_;
  std::size_t packets_ = 0;             // in first_
  std::vector<Event> first_;            // the first packets, and ends of connections
  std::unique_ptr<Conversations> all_;  // once the first packets were read
};

}  // namespace tcplearn

#endif
