// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Frames of a pcap or pcapng file, plain or gzipped, through libpcap; of a plain pcap file those that lie in
// memory whole are read where they lie.
#ifndef TCPLEARN_CAPTURE_PCAP_FILE_H
#define TCPLEARN_CAPTURE_PCAP_FILE_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "source.h"

struct pcap;

namespace tcplearn {

struct Frame {
  std::int64_t time_us = 0;  // since 1970, nanoseconds rounded
  const std::uint8_t* data = nullptr;
  std::size_t captured = 0, wire = 0;
};

class PcapFile {
 public:
  // Throws TraceError, its message beginning with `name`.
  PcapFile(std::unique_ptr<ByteSource> source, const std::string& name);
  ~PcapFile();
  PcapFile(const PcapFile&) = delete;
  PcapFile& operator=(const PcapFile&) = delete;

  // False at the end, or where the file cannot be read further: damage() tells which.
  bool next(Frame& out) { return (direct_ && next_direct(out)) || next_by_libpcap(out); }
  const std::string& damage() const { return damage_; }
  int link_type() const { return link_type_; }
  const ByteSource& source() const { return *source_; }

 private:
  void see_if_direct();
  // False: it is for libpcap to read, or to refuse.
  bool next_direct(Frame& out);
  bool next_by_libpcap(Frame& out);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  pcap* handle_ = nullptr;
  int link_type_ = 0;
  bool direct_ = false;  // pcap 2.4 in this machine's byte order
  bool nanoseconds_ = false;
  std::uint32_t most_captured_ = 0;
  std::uint64_t frames_ = 0;
  std::string damage_;
};

}  // namespace tcplearn

#endif
