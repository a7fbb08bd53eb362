// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "tcp_options.h"

#include "big_endian.h"

namespace tcplearn {

void decode_options(const std::uint8_t* p, std::size_t length, Packet& out) {
  std::size_t at = 0;
  while (at < length) {
    const std::uint8_t kind = p[at];
    if (kind == 0) return;
    if (kind == 1) {
      ++at;
      continue;
    }
    if (at + 2 > length) return;
    const std::size_t size = p[at + 1];
    // A snap length may cut an option; the options before it are still valid.
    if (size < 2 || at + size > length) return;
    const std::uint8_t* value = p + at + 2;
    if (kind == 2 && size == 4) {
      out.mss_option = be16(value);
    } else if (kind == 3 && size == 3) {
      out.window_scale = value[0];
    } else if (kind == 4 && size == 2) {
      out.sack_permitted = true;
    } else if (kind == 5) {
      const std::size_t blocks = (size - 2) / 8;
      for (std::size_t i = 0; i < blocks && out.sack_count < out.sack.size(); ++i) {
        out.sack[out.sack_count++] = {be32(value + i * 8), be32(value + i * 8 + 4)};
      }
    } else if (kind == 8 && size == 10) {
      out.has_timestamp = true;
      out.ts_value = be32(value);
      out.ts_echo = be32(value + 4);
    }
    at += size;
  }
}

}  // namespace tcplearn
