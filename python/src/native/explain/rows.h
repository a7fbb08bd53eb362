// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Defines the output of an explained capture: requests, stalls and connections, each as columns. This is
// the only definition, for C++ and for Python.
#ifndef TCPLEARN_EXPLAIN_ROWS_H
#define TCPLEARN_EXPLAIN_ROWS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// X(identifier, key, meaning): the causes to which the time of a request is assigned. If several causes
// claim a moment, the first in this list gets it; a silence of which is known only which end broke it comes
// last. docs/explain.md has the rules.
#define TCPLEARN_CAUSES(X)                                                                                  \
  X(SynLost, syn_lost, "a SYN was lost; the client sends it again after its first RTO, usually 1 s")        \
  X(SynAckLost, syn_ack_lost, "a SYN-ACK was lost; one end sends again after its first RTO, usually 1 s")   \
  X(HandshakeLost, handshake_lost, "a packet of the handshake was lost; which one cannot be told")          \
  X(ResendLost, resend_lost,                                                                                \
    "a segment was lost, and so was its retransmission; each RTO is twice the last")                        \
  X(TailTimer, tail_timer, "a segment was lost and sent again when the RTO of its sender had passed")       \
  X(TailProbe, tail_probe,                                                                                  \
    "the last segment of a flight was lost, so no ACK showed it; a tail loss probe sent it again: Linux's " \
    "timer for it takes two round trips, and rto_min longer if no other segment is outstanding, but never " \
    "longer than the RTO")                                                                                  \
  X(LostFast, lost_fast, "a segment was lost and sent again once ACKs for later segments had shown it")     \
  X(Spurious, spurious, "an ACK or an answer was late or lost, and what was sent again had arrived")        \
  X(PathSilent, path_silent, "no packet came through on several connections at once")                       \
  X(WindowClosed, window_closed, "the receiver's buffer was full, so that the sender had to wait")          \
  X(DelayedAck, delayed_ack, "the sender waited for an ACK that the receiver held back")                    \
  X(Server, server, "the server had the request and had not begun to answer, or paused in its answer")      \
  X(Client, client, "the client paused before the rest of its request")                                     \
  X(SlowPath, slow_path, "the path took longer than its shortest round trip: a queue or a radio link")      \
  X(Unknown, unknown, "the answer was waited for; whether the server or the path held it cannot be told")   \
  X(Transfer, transfer, "data or ACKs were moving, so this is no stall")

// X(identifier, key, meaning): the packet that ended a stall.
#define TCPLEARN_ENDS(X)                                                         \
  X(Timer, timer, "a retransmission by the timer")                               \
  X(Probe, probe, "a tail loss probe")                                           \
  X(Fast, fast_retransmit, "a fast retransmit, by SACK or duplicate ACKs")       \
  X(Unclear, retransmission, "a retransmission that the capture point saw once") \
  X(Ack, ack, "an ACK")                                                          \
  X(Data, data, "new data")

#define TCPLEARN_REQUEST_COLUMNS(X)                                                            \
  X(std::uint32_t, connection, "number of the connection")                                     \
  X(std::int64_t, start_us, "when its first byte was seen, since the first packet")            \
  X(std::int64_t, response_us, "from its first byte to the last of its answer, at the client") \
  X(std::int64_t, request_bytes, "of payload")                                                 \
  X(std::int64_t, answer_bytes, "of payload")                                                  \
  X(std::uint8_t, pipelined, "it was sent before the answer to the one before was complete")   \
  X(std::int64_t, pauses_us, "of the server's or unknown time, after its first data; 0 below a second")

#define TCPLEARN_STALL_COLUMNS(X)                                                               \
  X(std::uint32_t, connection, "number of the connection")                                      \
  X(std::uint8_t, by_server, "1: the server's data or time; 0: the client's")                   \
  X(std::uint8_t, cause, "a place in the list of causes")                                       \
  X(std::uint8_t, ended_by, "a place in the list of ends")                                      \
  X(std::int64_t, start_us, "since the first packet")                                           \
  X(std::int64_t, duration_us, "until it ended")                                                \
  X(std::int64_t, waited_us, "from the lost sending to the first retransmission, or -1")        \
  X(std::int64_t, timer_us, "what the sender's RTO was then, as Linux reckons it, or -1")       \
  X(std::int64_t, srtt_us, "smoothed round trip of the sender then, or -1")                     \
  X(std::uint32_t, resends, "retransmissions until the one that arrived")                       \
  X(std::uint32_t, bytes, "that were lost")                                                     \
  X(std::int64_t, silent_until_us, "since the first packet: the last sending known to be lost") \
  X(std::uint32_t, out_segments, "that were out when what was lost was sent")                   \
  X(std::uint8_t, silent, "nothing came from the other host meanwhile, on any connection")      \
  X(std::int64_t, head_us, "of that, until the oldest segment was repaired: what a forecast is of; -1: none")
#define TCPLEARN_CONNECTION_COLUMNS(X)                                                             \
  X(std::uint32_t, connection, "number of the connection")                                         \
  X(std::int64_t, handshake_us, "from the first SYN to the SYN-ACK's ACK, or -1")                  \
  X(std::int64_t, first_us, "since the first packet")                                              \
  X(std::int64_t, last_us, "since the first packet")                                               \
  X(std::int64_t, to_client_us, "shortest round trip from the capture point to the client, or -1") \
  X(std::int64_t, to_server_us, "the same to the server, or -1")                                   \
  X(std::uint32_t, client_segments, "with data, retransmissions too")                              \
  X(std::uint32_t, server_segments, "likewise")                                                    \
  X(std::uint32_t, resent_segments, "by either end")                                               \
  X(std::uint32_t, needless_segments, "of these, those known to have arrived before")              \
  X(std::uint32_t, client_needless_segments, "of these, the client's")                             \
  X(std::int64_t, client_bytes, "of new data")                                                     \
  X(std::int64_t, server_bytes, "of new data")                                                     \
  X(std::uint8_t, options, "1: SACK, 2: timestamps, 4: its first SYN was captured, 8: the ends were guessed")

namespace tcplearn {

enum class Cause : std::uint8_t {
#define TCPLEARN_X(identifier, key, meaning) k##identifier,
  TCPLEARN_CAUSES(TCPLEARN_X)
#undef TCPLEARN_X
};
constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::kTransfer) + 1;
// The most resend policies that one run compares.
constexpr std::size_t kMostCandidates = 12;
using PerCandidate = std::array<std::int32_t, kMostCandidates>;

enum class End : std::uint8_t {
#define TCPLEARN_X(identifier, key, meaning) k##identifier,
  TCPLEARN_ENDS(TCPLEARN_X)
#undef TCPLEARN_X
};

// What each candidate policy would have done about a loss, in us since the lost transmission. same_us:
// its retransmission with the same number as the one that arrived. repaired_us: its first retransmission
// after the path is assumed to work again. -1: not known.
struct Fates {
  PerCandidate same_us, repaired_us;
  Fates() {
    same_us.fill(-1);
    repaired_us.fill(-1);
  }
};

struct StallRow {
#define TCPLEARN_X(type, name, meaning) type name = 0;
  TCPLEARN_STALL_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  Fates fates;
  StallRow() { waited_us = timer_us = srtt_us = head_us = -1; }
  std::int64_t end_us() const { return start_us + duration_us; }
};

struct RequestRow {
#define TCPLEARN_X(type, name, meaning) type name = 0;
  TCPLEARN_REQUEST_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  std::array<std::int64_t, kCauses> by_cause_us{};
};

struct ConnectionRow {
#define TCPLEARN_X(type, name, meaning) type name = 0;
  TCPLEARN_CONNECTION_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
  std::string client, server;
  PerCandidate client_spurious{}, server_spurious{};  // spurious retransmissions by each candidate
};

// All rows, as columns.
struct ExplainedRows {
  struct {
#define TCPLEARN_X(type, name, meaning) std::vector<type> name;
    TCPLEARN_REQUEST_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
    std::array<std::vector<std::int64_t>, kCauses> by_cause_us;
  } requests;
  struct {
#define TCPLEARN_X(type, name, meaning) std::vector<type> name;
    TCPLEARN_STALL_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
    std::array<std::vector<std::int32_t>, kMostCandidates> same_us, repaired_us;
  } stalls;
  struct {
#define TCPLEARN_X(type, name, meaning) std::vector<type> name;
    TCPLEARN_CONNECTION_COLUMNS(TCPLEARN_X)
#undef TCPLEARN_X
    std::vector<std::string> client, server;
    std::array<std::vector<std::int32_t>, kMostCandidates> client_spurious, server_spurious;
  } connections;
  std::size_t candidates = 0;  // how many entries of the arrays by candidate are used

  void add(const RequestRow& row);
  void add(const StallRow& row);
  void add(const ConnectionRow& row);
};

}  // namespace tcplearn

#endif
