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
  explicit Explainer(const std::vector<std::string>& candidates = {});
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
  // So many packets are read twice. They take some 5 MB.
  static constexpr std::size_t kTwice = 1U << 15U;
  struct Event {
    std::uint32_t connection;
    unsigned side;
    bool ends;
    std::int64_t now_us;
    Packet packet;
  };
  struct Ahead {
    Candidates none;
    Conversations first{none};
    std::vector<Event> events;
  };
  void add(const Event& event);
  // Ends the first reading, and explains its packets.
  void read_again();

  ExplainedRows rows_;
  Candidates candidates_;
  std::unique_ptr<Ahead> ahead_ = std::make_unique<Ahead>();
  std::unique_ptr<Conversations> all_;  // from the second reading on
};

}  // namespace tcplearn

#endif
