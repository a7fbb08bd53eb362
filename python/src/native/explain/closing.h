// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What a server sends after a pause, just before the connection is closed: TLS's close_notify, HTTP/2's
// GOAWAY.
#ifndef TCPLEARN_EXPLAIN_CLOSING_H
#define TCPLEARN_EXPLAIN_CLOSING_H

#include <cstdint>
#include <vector>

#include "rows.h"

namespace tcplearn {

// The state of the last answer before data that may be no part of it. Whether it is shows what follows: the
// end of the connection, or other data.
struct Closing {
  // The pause before such data has at least this length, and the data at most this many bytes.
  static constexpr std::int64_t kLeastPauseUs = 1'000'000, kMostBytes = 128;

  // A message of a server under TLS that comes after this pause, with at most this many bytes, is its own: a
  // ping of WebSocket or HTTP/2. It ends no request that has no more bytes either, such as the last pong.
  static constexpr std::int64_t kPingPauseUs = 5'000'000, kPingBytes = 64;

  bool open = false;              // it is not known yet
  bool deferring = false;         // stalls go to `stalls`
  std::int64_t request_from = 0;  // identifies the request
  std::int64_t end_us = 0, answer_to = 0, answer_bytes = 0;
  std::int64_t ping_to = 0;      // position in the server's stream after its last ping; 0: there was none
  std::vector<StallRow> stalls;  // of the pause
};

}  // namespace tcplearn

#endif
