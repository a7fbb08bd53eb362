// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What a server sends by itself after a pause: pings of WebSocket or HTTP/2, and messages before the
// connection is closed (close_notify of TLS, GOAWAY of HTTP/2).
#ifndef TCPLEARN_EXPLAIN_CLOSING_H
#define TCPLEARN_EXPLAIN_CLOSING_H

#include <cstdint>
#include <vector>

#include "rows.h"

namespace tcplearn {

// The state of the last answer before data that may be no part of it. What follows shows whether it is: the
// end of the connection, a pause, a request, or more data.
struct Closing {
  // The pause before such data has at least this length, and the data at most this many bytes.
  static constexpr std::int64_t kLeastPauseUs = 1'000'000, kMostBytes = 128;
  // Data after this pause, with at most this many bytes, is a ping unless more follows within kAtOnceUs. It
  // ends no request that has no more bytes either, such as the last pong.
  static constexpr std::int64_t kPingPauseUs = 5'000'000, kPingBytes = 64, kAtOnceUs = 1'000'000;
  // Data after this pause, with at most this many bytes and the server's FIN at once, is no answer either.
  static constexpr std::int64_t kFinPauseUs = 30'000'000, kFinBytes = 512, kFinUs = 1000;
  // After the client's FIN, data of the server with at most this many bytes is no part of an answer that the
  // client had acknowledged.
  static constexpr std::int32_t kLeftBytes = 512;

  bool open = false;       // it is not known yet
  bool deferring = false;  // stalls go to `stalls`
  bool ping = false;
  bool by_fin = false;  // only the server's FIN, at once, shows that it is no answer
  bool over = false;    // there was a ping since the client's last data, so what follows is no answer either
  bool no_request = false;        // what it seems to answer is no request, if it is a ping
  std::int64_t request_from = 0;  // identifies the request
  std::int64_t began_us = 0, from = 0;
  std::int64_t end_us = 0, answer_to = 0, answer_bytes = 0;  // of the answer without it
  std::vector<StallRow> stalls;                              // of the pause
};

}  // namespace tcplearn

#endif
