// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Westwood+ by its equations, and as Linux has it. ns-3's own (TcpWestwoodPlus; 3.37 and 3.43) estimates more
// than the bandwidth: it divides by one RTT what is acknowledged from the first ACK of that RTT to the last,
// one ACK more than arrive in an RTT, and does not count the time until the next RTT begins. In a small
// window one ACK is much, so a loss hardly reduces the window, or even increases it.
#ifndef TCPLEARN_NS3_WESTWOOD_H
#define TCPLEARN_NS3_WESTWOOD_H

#include <cstdint>

#include "baselines.h"

namespace tcplearn {

// Westwood+ (Grieco and Mascolo 2004): each RTT gives a sample b of the bandwidth, the acknowledged bytes
// divided by the time in which they were acknowledged. The estimate is B = 0.9 B + 0.1 b. A fast retransmit
// and a timeout set ssthresh to B RTTmin.
class Westwood : public NewReno {
 public:
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "Westwood"; }
  // Takes the bytes that an ACK reports, cumulatively or by SACK, at the time `now`.
  void acknowledged(const ns3::TcpSocketState& state, std::uint32_t bytes, ns3::Time now);
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<Westwood>(this); }

 protected:
  // Updates the estimate by a sample in bytes per second.
  virtual void filter(double sample);
  std::uint32_t window(const ns3::TcpSocketState& state) const;  // B RTTmin in bytes, at least two segments

  double bytes_per_s_ = 0;  // B; 0: no sample yet

 private:
  virtual ns3::Time shortest() const { return {}; }  // of the intervals between samples, besides the RTT

  ns3::Time began_;
  double bytes_ = 0;
};

// Westwood+ as Linux has it: a recovery halves the window, and at its end cwnd and ssthresh become B RTTmin.
// Samples are at least 50 ms apart, and the estimate is smoothed twice, each time by 7/8.
class LinuxWestwood : public Westwood {
 public:
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "LinuxWestwood"; }
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state,
                          ns3::TcpSocketState::TcpCongState_t now) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<LinuxWestwood>(this); }

 private:
  void filter(double sample) override;
  ns3::Time shortest() const override { return ns3::MilliSeconds(50); }

  double once_ = 0;  // smoothed once
  bool entering_ = false, recovers_ = false;
};

}  // namespace tcplearn

#endif
