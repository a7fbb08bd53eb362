// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// How long receivers delay ACKs (RFC 1122, 4.2.3.2).
#ifndef TCPLEARN_EXPLAIN_ACK_DELAY_H
#define TCPLEARN_EXPLAIN_ACK_DELAY_H

#include <cstdint>

namespace tcplearn {

// The shortest delay of a delayed ACK: 20 ms; on Linux at least 40 ms.
constexpr std::int64_t kLeastDelayUs = 20'000;
// The longest delay of an ACK without data to send: Linux delays ACKs for 40 ms, other systems for up to
// 200 ms, and their timers fire some milliseconds late. A longer delay is the path's.
constexpr std::int64_t kLinuxDelayUs = 50'000, kMostDelayUs = 220'000;

}  // namespace tcplearn

#endif
