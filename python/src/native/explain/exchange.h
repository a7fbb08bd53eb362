// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A request with its answer, and how its time divides among causes.
#ifndef TCPLEARN_EXPLAIN_EXCHANGE_H
#define TCPLEARN_EXPLAIN_EXCHANGE_H

#include <cstdint>
#include <vector>

#include "rows.h"

namespace tcplearn {

// How far an answer went, in the server's stream, and when.
struct AnswerEnd {
  std::int64_t us = -1;            // transmission time of the copy that completed it; -1: not known
  std::int64_t to = 0, bytes = 0;  // position of the byte after its last; its bytes
};

struct Exchange {
  std::int64_t start_us = 0, end_us = -1;  // transmission time of the copy that completed the answer
  // Positions of the request in the client's stream: of its first byte, and of the byte after its last.
  std::int64_t request_from = 0, request_to = 0;
  std::int64_t request_bytes() const { return request_to - request_from; }
  // When the last of its parts was seen, and what the client sent since that is no part of it; -1: nothing.
  std::int64_t asked_us = 0, aside_us = -1;
  std::int64_t answer_to = 0;  // position in the server's stream of the byte after the answer's last
  std::int64_t answer_bytes = 0;
  // The answer before what the server sent after the last pause of a second or more, and when that was.
  AnswerEnd before_pause;
  std::int64_t resumed_us = 0;
  std::int64_t acknowledged_us = -1;  // time of an ACK of the request without an answer
  std::int64_t first_answer_us = -1;  // when the first data of the answer was seen
  bool answered = false, pipelined = false;

  // The parts of the request: where each begins in the stream, and when it was first seen.
  struct Piece {
    std::int64_t from, seen_us;
    std::int64_t acknowledged_us = -1;  // when an ACK of the request up to here came, before the next part
  };
  std::vector<Piece> pieces;
  // Moves what begins at `at` or later into the request `rest`. Returns false if there is nothing.
  bool split(std::int64_t at, Exchange& rest);

  struct Span {
    std::int64_t from_us, to_us;
    Cause cause;
    bool weak;
  };
  std::vector<Span> spans;

  // Takes a further part of the request, up to the position `to`.
  void grow(std::int64_t to, std::int64_t now_us) {
    if (!pieces.empty()) pieces.back().acknowledged_us = acknowledged_us;
    request_to = to;
    asked_us = now_us;
    acknowledged_us = -1;
  }

  AnswerEnd answer_end() const { return {end_us, answer_to, answer_bytes}; }
  void end_answer(const AnswerEnd& end) {
    end_us = end.us;
    answer_to = end.to;
    answer_bytes = end.bytes;
  }
  // Adds a cause of a part of the time; `weak`: if nothing else claims it.
  void add(Cause cause, std::int64_t from_us, std::int64_t to_us, bool weak = false);
  // Drops all but the first `count` causes that were added.
  void keep(std::size_t count) {
    spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(count), spans.end());
  }
  // Returns the row of this request. Each moment is assigned to the first cause in the list of causes
  // that claims it, and after all others to a weak one; the remaining time is kTransfer. `relayed`: who
  // acknowledges is not the server, so a pause of the server is unknown time.
  RequestRow row(std::uint32_t connection, std::int64_t to_client_us, bool relayed);
};

}  // namespace tcplearn

#endif
