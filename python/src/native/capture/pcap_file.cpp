// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "pcap_file.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "error.h"
#include "packet.h"

namespace tcplearn {
namespace {

ssize_t read_source(void* cookie, char* to, std::size_t size) {
  return static_cast<ssize_t>(static_cast<ByteSource*>(cookie)->read(to, size));
}

// The format's own, of draft-ietf-opsawg-pcap, sections 4 and 5.
constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4, kNanoseconds = 0xa1b23c4d;
constexpr std::size_t kFileHeaderBytes = 24;
struct RecordHeader {
  std::uint32_t seconds, fraction, captured, wire;
};

// Far beyond any real capture and far below what overflows in microseconds.
constexpr std::int64_t kLargestSecond = 1'000'000'000'000;
// What libpcap may take for a negative number is for it to judge.
constexpr std::uint32_t kLargestSecond32 = 0x7fffffff;

std::string link_type_name(int link_type) {
  const char* name = pcap_datalink_val_to_name(link_type);
  return name != nullptr ? name : "number " + std::to_string(link_type);
}

}  // namespace

PcapFile::PcapFile(std::unique_ptr<ByteSource> source, const std::string& name)
    : source_(std::move(source)), name_(name) {
  if (source_->empty()) {
    throw TraceError(name + ": " + (source_->damage().empty() ? "the file is empty" : source_->damage()));
  }
  std::FILE* file =
      fopencookie(source_.get(), "r", cookie_io_functions_t{read_source, nullptr, nullptr, nullptr});
  if (file == nullptr) throw TraceError(name + ": no memory to read it");
  see_if_direct();
  if (direct_) std::setvbuf(file, nullptr, _IONBF, 0);  // libpcap takes no more than it wants
  char message[PCAP_ERRBUF_SIZE] = "";
  handle_ = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, message);
  if (handle_ == nullptr) {
    std::fclose(file);
    if (!source_->damage().empty()) {
      throw TraceError(name + ": nothing in it can be read: " + source_->damage());
    }
    const std::string text = message;
    if (text.find("unknown file format") != std::string::npos) {
      throw TraceError(name + ": not a capture: it is neither pcap nor pcapng");
    }
    if (text.find("truncated") != std::string::npos) {
      throw TraceError(name + ": the capture ends before its first packet");
    }
    throw TraceError(name + ": cannot be read as a capture: " + text);
  }
  link_type_ = pcap_datalink(handle_);
  most_captured_ = static_cast<std::uint32_t>(std::max(pcap_snapshot(handle_), 0));
  if (!link_type_supported(link_type_)) {
    const std::string type = link_type_name(link_type_);
    pcap_close(handle_);
    throw TraceError(
        name + ": link type " + type +
        " is not supported; capture on an Ethernet, loopback or tunnel interface, or with -i any");
  }
}

PcapFile::~PcapFile() { pcap_close(handle_); }

void PcapFile::see_if_direct() {
  if (source_->ahead_bytes() < kFileHeaderBytes) return;
  std::uint32_t magic = 0;
  std::uint16_t version[2] = {};
  std::memcpy(&magic, source_->ahead(), sizeof magic);
  std::memcpy(version, source_->ahead() + sizeof magic, sizeof version);
  nanoseconds_ = magic == kNanoseconds;
  direct_ = (nanoseconds_ || magic == kMicroseconds) && version[0] == 2 && version[1] == 4;
}

bool PcapFile::next_direct(Frame& out) {
  const std::size_t bytes = source_->ahead_bytes();
  if (bytes < sizeof(RecordHeader)) return false;
  RecordHeader header;
  std::memcpy(&header, source_->ahead(), sizeof header);
  const std::uint32_t second = nanoseconds_ ? 1'000'000'000 : 1'000'000;
  if (header.captured > most_captured_ || header.captured > bytes - sizeof header) return false;
  if (header.seconds > kLargestSecond32 || header.fraction >= second) return false;
  out.time_us = std::int64_t{header.seconds} * 1'000'000 +
                (nanoseconds_ ? (std::int64_t{header.fraction} + 500) / 1000 : header.fraction);
  out.data = source_->ahead() + sizeof header;
  out.captured = header.captured;
  out.wire = header.wire;
  source_->skip(sizeof header + header.captured);
  ++frames_;
  return true;
}

bool PcapFile::next_by_libpcap(Frame& out) {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  const int status = pcap_next_ex(handle_, &header, &data);
  if (status != 1) {
    if (!source_->damage().empty()) {
      damage_ = source_->damage();
    } else if (status != PCAP_ERROR_BREAK) {
      const std::string text = pcap_geterr(handle_);
      damage_ = text.find("truncated") == std::string::npos ? text : "the file ends inside a packet";
    }
    return false;
  }
  ++frames_;
  const std::int64_t seconds = header->ts.tv_sec;
  const std::int64_t nanoseconds = header->ts.tv_usec;  // as requested when opening
  if (seconds < 0 || seconds > kLargestSecond || nanoseconds < 0 || nanoseconds > 1'000'000'000) {
    damage_ = "packet " + std::to_string(frames_) + " has an impossible time";
    return false;
  }
  out.time_us = seconds * 1'000'000 + (nanoseconds + 500) / 1000;
  out.data = data;
  out.captured = header->caplen;
  out.wire = header->len;
  return true;
}

}  // namespace tcplearn
