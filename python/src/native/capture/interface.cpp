// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "interface.h"

#include <pcap/pcap.h>
#include <poll.h>

#include "error.h"
#include "pcap_frame.h"

namespace tcplearn {
namespace {

// Enough for Ethernet, VLAN tags, IPv6 with extension headers and TCP options; payloads are not copied.
constexpr int kSnapBytes = 256;
// The size of the kernel's buffer for unread frames.
constexpr int kKernelBufferBytes = 16 << 20;
// The time after which the kernel delivers a block of frames that is not full.
constexpr int kBlockMs = 50;

}  // namespace

void Interface::require(int status) const {
  if (status >= 0) return;  // above 0: a warning, for example that there is no promiscuous mode
  const std::string detail = pcap_geterr(handle_);
  pcap_close(handle_);
  if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED)
    throw TraceError(name_ +
                     ": capturing needs root or CAP_NET_RAW; run it with sudo, or send "
                     "`sudo tcpdump -U -w - -i " +
                     name_ + "` into the same command with - in place of -i");
  if (status == PCAP_ERROR_NO_SUCH_DEVICE)
    throw TraceError(name_ + ": no such interface; `ip link` lists them, `any` is all of them");
  if (status == PCAP_ERROR_IFACE_NOT_UP) throw TraceError(name_ + ": the interface is down");
  throw TraceError(name_ + ": cannot be captured from: " +
                   (detail.empty() ? std::string(pcap_statustostr(status)) : detail));
}

Interface::Interface(const std::string& name) : name_(name) {
  char message[PCAP_ERRBUF_SIZE] = "";
  handle_ = pcap_create(name.c_str(), message);
  if (handle_ == nullptr) throw TraceError(name + ": cannot be captured from: " + message);
  pcap_set_snaplen(handle_, kSnapBytes);
  pcap_set_promisc(handle_, 0);
  pcap_set_timeout(handle_, kBlockMs);
  pcap_set_buffer_size(handle_, kKernelBufferBytes);
  pcap_set_tstamp_precision(handle_, PCAP_TSTAMP_PRECISION_NANO);
  require(pcap_activate(handle_));
  require(pcap_setnonblock(handle_, 1, message));
  descriptor_ = pcap_get_selectable_fd(handle_);
  try {
    check_link_type(pcap_datalink(handle_), name);
  } catch (const TraceError&) {
    pcap_close(handle_);
    throw;
  }
}

Interface::~Interface() { pcap_close(handle_); }

int Interface::link_type() const { return pcap_datalink(handle_); }

// Waits for a frame. A signal ends the wait too, so that the caller can handle it.
bool Interface::wait() const {
  pollfd watched{descriptor_, POLLIN, 0};
  return poll(&watched, 1, kWaitMs) > 0;
}

Got Interface::next(Frame& out) {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int status = pcap_next_ex(handle_, &header, &data);
  waited_ = status == 0;
  if (waited_ && wait()) status = pcap_next_ex(handle_, &header, &data);
  if (status == 0) return Got::kNothingYet;
  if (status < 0) {
    damage_ = pcap_geterr(handle_);
    return Got::kEnd;
  }
  const bool nanoseconds = pcap_get_tstamp_precision(handle_) == PCAP_TSTAMP_PRECISION_NANO;
  if (frame_of(*header, data, nanoseconds, out)) return Got::kFrame;
  damage_ = "a packet has an impossible time";
  return Got::kEnd;
}

std::vector<std::string> Interface::warnings() const {
  pcap_stat stats{};
  if (pcap_stats(handle_, &stats) != 0 || stats.ps_drop == 0) return {};
  return {std::to_string(stats.ps_drop) + " of " + std::to_string(stats.ps_recv) +
          " packets came faster than they were read and were dropped: round trips across them are missing"};
}

}  // namespace tcplearn
