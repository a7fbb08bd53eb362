// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Captures frames from a network interface with libpcap.
#ifndef TCPLEARN_CAPTURE_INTERFACE_H
#define TCPLEARN_CAPTURE_INTERFACE_H

#include "frames.h"

struct pcap;

namespace tcplearn {

class Interface final : public Frames {
 public:
  // Throws TraceError with a message that begins with `name`.
  explicit Interface(const std::string& name);
  ~Interface() override;

  Got next(Frame& out) override;
  int link_type() const override;
  bool live() const override { return true; }
  bool from_clock() const override { return true; }
  std::vector<std::string> warnings() const override;

 private:
  void require(int status) const;
  bool wait() const;

  std::string name_;
  pcap* handle_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace tcplearn

#endif
