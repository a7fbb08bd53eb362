// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#ifndef TCPLEARN_CAPTURE_TCP_OPTIONS_H
#define TCPLEARN_CAPTURE_TCP_OPTIONS_H

#include <cstddef>
#include <cstdint>

#include "packet.h"

namespace tcplearn {

// Decodes `length` bytes of the options of a TCP header (RFC 9293, 3.2) into `out`. A cut option ends them.
void decode_options(const std::uint8_t* p, std::size_t length, Packet& out);

}  // namespace tcplearn

#endif
