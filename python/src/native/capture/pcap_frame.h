// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Functions of libpcap that both a file and an interface use.
#ifndef TCPLEARN_CAPTURE_PCAP_FRAME_H
#define TCPLEARN_CAPTURE_PCAP_FRAME_H

#include <pcap/pcap.h>

#include <string>

#include "error.h"
#include "frames.h"
#include "packet.h"

namespace tcplearn {

inline void check_link_type(int link_type, const std::string& name) {
  if (link_type_supported(link_type)) return;
  const char* known = pcap_datalink_val_to_name(link_type);
  throw TraceError(name + ": link type " +
                   (known != nullptr ? known : "number " + std::to_string(link_type)) +
                   " is not supported; capture on an Ethernet, loopback or tunnel interface, or with -i any");
}

// Converts a frame of libpcap. Returns false if its time is not plausible; the limits are far beyond any
// real capture and far below an overflow in microseconds. Some programs write a second or more into the field
// of the fraction, which counts as such.
inline bool frame_of(const pcap_pkthdr& header, const u_char* data, bool nanoseconds, Frame& out) {
  constexpr std::int64_t kLargestSecond = 1'000'000'000'000, kLargestNs = 5'000'000'000'000;
  const std::int64_t taken = header.ts.tv_sec, fraction = header.ts.tv_usec;
  // the format has 32 unsigned bits, which libpcap before 1.10.5 treats as signed
  const std::int64_t seconds = taken < 0 && taken >= INT32_MIN ? taken + (std::int64_t{1} << 32) : taken;
  const std::int64_t ns = nanoseconds ? fraction : fraction * 1000;
  if (seconds < 0 || seconds > kLargestSecond || ns < 0 || ns > kLargestNs) return false;
  out.time_us = seconds * 1'000'000 + (ns + 500) / 1000;
  out.data = data;
  out.captured = header.caplen;
  out.wire = header.len;
  return true;
}

}  // namespace tcplearn

#endif
