// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Reads numbers of network byte order.
#ifndef TCPLEARN_CAPTURE_BIG_ENDIAN_H
#define TCPLEARN_CAPTURE_BIG_ENDIAN_H

#include <cstdint>

namespace tcplearn {

inline std::uint16_t be16(const std::uint8_t* p) { return static_cast<std::uint16_t>((p[0] << 8) | p[1]); }

inline std::uint32_t be32(const std::uint8_t* p) {
  return (static_cast<std::uint32_t>(be16(p)) << 16) | be16(p + 2);
}

inline std::uint64_t be64(const std::uint8_t* p) {
  return (static_cast<std::uint64_t>(be32(p)) << 32) | be32(p + 4);
}

}  // namespace tcplearn

#endif
