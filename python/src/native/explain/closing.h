// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What a server sends by itself after a pause: pings of WebSocket or HTTP/2, and messages before the
// connection is closed (close_notify of TLS, GOAWAY of HTTP/2), and messages in a row (events, pushes).
#ifndef TCPLEARN_EXPLAIN_CLOSING_H
#define TCPLEARN_EXPLAIN_CLOSING_H

#include <cstdint>
#include <vector>

#include "exchange.h"
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
  // client had acknowledged: within a second, or at any time if the pause before the FIN was kPingPauseUs.
  // After a message of at most kPingBytes that was only acknowledged, it is kAlertBytes within a second: a
  // close_notify of TLS 1.3 has 24 bytes, of TLS 1.2 with AES-GCM 31 (RFC 8446, 5.2 and 6.1; RFC 5288, 3).
  static constexpr std::int32_t kAfterFinBytes = 512, kAlertBytes = 31;
  static constexpr std::int64_t kAfterFinUs = 1'000'000;
  // After so many such pauses without data of the client it is a row of messages.
  static constexpr std::uint32_t kLeastPauses = 3;

  bool open = false;       // it is not known yet
  bool deferring = false;  // stalls go to `stalls`
  // What shows that it is no answer: nothing more; a FIN; the server's FIN at once; another pause and more
  // data; an answer to the newer request, which had not arrived when it was sent.
  bool ping = false, closes = false, closes_at_once = false, repeats = false, crosses = false;
  std::uint32_t pauses = 0;  // of a row of messages
  // It was no answer, and neither is what follows until the client's next data is answered.
  bool over = false;
  bool no_request = false;        // what it seems to answer is no request, if it is a ping
  std::int64_t request_from = 0;  // identifies the request
  std::int64_t began_us = 0, from = 0;
  AnswerEnd before;              // the answer without it
  std::vector<StallRow> stalls;  // of the pause
};

}  // namespace tcplearn

#endif
