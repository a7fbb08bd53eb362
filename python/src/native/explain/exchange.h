// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A request and its answer, and where its time went.
#ifndef TCPLEARN_EXPLAIN_EXCHANGE_H
#define TCPLEARN_EXPLAIN_EXCHANGE_H

#include <cstdint>
#include <vector>

#include "rows.h"

namespace tcplearn {

struct Exchange {
  std::int64_t start_us = 0, end_us = -1;         // the last sending of its answer that arrived
  std::int64_t request_from = 0, request_to = 0;  // places in the client's stream
  std::int64_t answer_to = 0;                     // in the server's
  std::int64_t answer_bytes = 0;
  std::int64_t acknowledged_us = -1;  // by an ACK without an answer
  bool answered = false, pipelined = false;

  // Pieces of the request: where each begins, and when it was seen first.
  struct Piece {
    std::int64_t from, seen_us;
  };
  std::vector<Piece> pieces;
  // What of it begins at a place, or after it, as a request of its own; false: nothing does.
  bool split(std::int64_t at, Exchange& rest);

  struct Span {
    std::int64_t from_us, to_us;
    Cause cause;
  };
  std::vector<Span> spans;

  void add(Cause cause, std::int64_t from_us, std::int64_t to_us);
  // Its row; each moment goes to the first of the causes that have it, the rest to kTransfer.
  RequestRow row(std::uint32_t connection, std::int64_t to_client_us);
};

}  // namespace tcplearn

#endif
