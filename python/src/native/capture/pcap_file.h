// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Reads frames from a pcap or pcapng file, plain or gzipped, with libpcap. Complete frames of a plain
// pcap file are read directly from the buffer.
#ifndef TCPLEARN_CAPTURE_PCAP_FILE_H
#define TCPLEARN_CAPTURE_PCAP_FILE_H

#include <cstdint>
#include <memory>
#include <string>

#include "frames.h"
#include "source.h"

struct pcap;

namespace tcplearn {

class PcapFile final : public Frames {
 public:
  // Throws TraceError with a message that begins with `name`.
  PcapFile(std::unique_ptr<ByteSource> source, const std::string& name);
  ~PcapFile() override;

  Got next(Frame& out) override;
  int link_type() const override { return link_type_; }
  bool live() const override { return source_->live(); }
  std::uint64_t bytes_read() const override { return source_->consumed(); }
  std::uint64_t bytes_total() const override { return source_->size(); }

 private:
  // For a pipe: returns whether the next packet is complete, or will never be complete.
  bool complete();
  void see_if_direct();
  // Reads a frame directly from the buffer. Returns false if libpcap has to read or reject it.
  bool next_direct(Frame& out);

  std::unique_ptr<ByteSource> source_;
  pcap* handle_ = nullptr;
  int link_type_ = 0;
  bool direct_ = false;  // a pcap 2.4 file in this machine's byte order
  bool nanoseconds_ = false;
  std::uint32_t most_captured_ = 0;
  bool blocks_ = false;  // a pcapng file
  std::uint64_t frames_ = 0;
};

}  // namespace tcplearn

#endif
