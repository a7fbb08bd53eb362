// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "pcap_file.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "error.h"
#include "pcap_frame.h"

namespace tcplearn {
namespace {

ssize_t read_source(void* cookie, char* to, std::size_t size) {
  return static_cast<ssize_t>(static_cast<ByteSource*>(cookie)->read(to, size));
}

// Constants of the pcap format (draft-ietf-opsawg-pcap, sections 4 and 5).
constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4, kNanoseconds = 0xa1b23c4d;
constexpr std::size_t kFileHeaderBytes = 24;
struct RecordHeader {
  std::uint32_t seconds, fraction, captured, wire;
};

}  // namespace

PcapFile::PcapFile(std::unique_ptr<ByteSource> source, const std::string& name) : source_(std::move(source)) {
  if (source_->empty()) {
    throw TraceError(name + ": " + (source_->damage().empty() ? "the file is empty" : source_->damage()));
  }
  std::FILE* file =
      fopencookie(source_.get(), "r", cookie_io_functions_t{read_source, nullptr, nullptr, nullptr});
  if (file == nullptr) throw TraceError(name + ": no memory to read it");
  see_if_direct();
  // unbuffered, so that libpcap reads no more than it needs
  if (direct_) std::setvbuf(file, nullptr, _IONBF, 0);
  // Buffered data is not visible elsewhere, so a live source must not be buffered.
  if (source_->live()) {
    std::setvbuf(file, nullptr, _IONBF, 0);
    const std::uint8_t* magic = source_->seen(4);
    blocks_ = magic != nullptr && std::memcmp(magic, "\x0a\x0d\x0d\x0a", 4) == 0;
  }
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
  try {
    check_link_type(link_type_, name);
  } catch (const TraceError&) {
    pcap_close(handle_);
    throw;
  }
}

PcapFile::~PcapFile() { pcap_close(handle_); }

void PcapFile::see_if_direct() {
  if (source_->live() || source_->here_bytes() < kFileHeaderBytes) return;
  std::uint32_t magic = 0;
  std::uint16_t version[2] = {};
  std::memcpy(&magic, source_->seen(0), sizeof magic);
  std::memcpy(version, source_->seen(0) + sizeof magic, sizeof version);
  nanoseconds_ = magic == kNanoseconds;
  direct_ = (nanoseconds_ || magic == kMicroseconds) && version[0] == 2 && version[1] == 4;
}

bool PcapFile::next_direct(Frame& out) {
  const std::size_t bytes = source_->here_bytes();
  if (bytes < sizeof(RecordHeader)) return false;
  RecordHeader header;
  std::memcpy(&header, source_->seen(0), sizeof header);
  const std::uint32_t second = nanoseconds_ ? 1'000'000'000 : 1'000'000;
  if (header.captured > most_captured_ || header.captured > bytes - sizeof header) return false;
  if (header.fraction >= second) return false;
  out.time_us = std::int64_t{header.seconds} * 1'000'000 +
                (nanoseconds_ ? (std::int64_t{header.fraction} + 500) / 1000 : header.fraction);
  out.data = source_->seen(0) + sizeof header;
  out.captured = header.captured;
  out.wire = header.wire;
  source_->skip(sizeof header + header.captured);
  ++frames_;
  return true;
}

bool PcapFile::complete() {
  constexpr std::size_t kHeaderBytes = 16;
  waited_ = source_->seen(kHeaderBytes) == nullptr;
  if (!source_->ahead(kHeaderBytes, kWaitMs)) return false;
  const std::uint8_t* at = source_->seen(kHeaderBytes);
  if (at == nullptr) return true;  // end of the data
  const std::uint8_t* length = at + (blocks_ ? 4 : 8);
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, length, sizeof bytes);
  if (pcap_is_swapped(handle_) != 0) bytes = __builtin_bswap32(bytes);
  const std::size_t whole = std::size_t{bytes} + (blocks_ ? 0 : kHeaderBytes);
  waited_ = waited_ || source_->seen(whole) == nullptr;
  return whole > ByteSource::kMostAhead || source_->ahead(whole, kWaitMs);
}

Got PcapFile::next(Frame& out) {
  if (direct_ && next_direct(out)) return Got::kFrame;
  if (source_->live() && !complete()) return Got::kNothingYet;
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
    return Got::kEnd;
  }
  ++frames_;
  if (frame_of(*header, data, true, out)) return Got::kFrame;  // nanoseconds, as requested at opening
  damage_ = "packet " + std::to_string(frames_) + " has an impossible time";
  return Got::kEnd;
}

}  // namespace tcplearn
