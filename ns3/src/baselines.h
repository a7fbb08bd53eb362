// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// NewReno, Veno and Vegas by their equations, for comparisons with senders that classify losses. ns-3's own
// (TcpNewReno, TcpVeno, TcpVegas; 3.37 and 3.43) differ: they reduce what is left of the flight after SACK,
// Veno never grows more slowly, because its count of RTTs starts again at each ACK, and Vegas takes one
// segment off.
#ifndef TCPLEARN_NS3_BASELINES_H
#define TCPLEARN_NS3_BASELINES_H

#include <algorithm>
#include <cstdint>

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-vegas.h"

namespace tcplearn {

// FlightSize (RFC 5681, section 2), in bytes: what is sent and not acknowledged cumulatively. Section 3.2
// leaves out what limited transmit has sent; that is what exceeds cwnd.
inline std::uint32_t flight_size(const ns3::TcpSocketState& state) {
  const auto sent = static_cast<std::uint32_t>(state.m_highTxMark.Get() - state.m_lastAckedSeq);
  return std::min(sent, state.m_cWnd.Get());
}

// Returns `share` of `bytes`, at least two segments.
inline std::uint32_t reduced(const ns3::TcpSocketState& state, std::uint32_t bytes, double share) {
  return std::max(static_cast<std::uint32_t>(bytes * share), 2 * state.m_segmentSize);
}

// NewReno whose ssthresh after a loss is half of FlightSize (RFC 5681, equation 4).
class NewReno : public ns3::TcpNewReno {
 public:
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "NewReno"; }
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<NewReno>(this); }
};

// Veno (Fu and Liew 2003) by equations (1) and (2) of hwang2018. N = cwnd (RTT - RTTmin) / RTT segments are
// in the queue, by the last RTT sample and the connection's smallest. With N below Beta, cwnd grows as
// NewReno's and a fast retransmit leaves 4/5 of it; otherwise it grows at every second ACK and a fast
// retransmit leaves half.
class Veno : public NewReno {
 public:
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "Veno"; }
  void PktsAcked(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments, const ns3::Time& rtt) override;
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state,
                          ns3::TcpSocketState::TcpCongState_t now) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<Veno>(this); }

 private:
  void CongestionAvoidance(ns3::Ptr<ns3::TcpSocketState> state, std::uint32_t segments) override;
  bool few_queued(const ns3::TcpSocketState& state) const;

  std::uint32_t beta_ = 3;  // segments
  ns3::Time rtt_, least_;   // 0: no sample yet
  bool entering_ = false, grows_ = true;
};

// Vegas whose fast retransmit leaves 3/4 of cwnd (Brakmo and Peterson 1995), and a timeout half of
// FlightSize.
class Vegas : public ns3::TcpVegas {
 public:
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "Vegas"; }
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> state,
                          ns3::TcpSocketState::TcpCongState_t now) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> state, std::uint32_t in_flight) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<Vegas>(this); }

 protected:
  double kept_ = 0.75;

 private:
  bool entering_ = false;
};

// Vegas as Linux has it: a fast retransmit leaves half of cwnd.
class LinuxVegas : public Vegas {
 public:
  LinuxVegas() { kept_ = 0.5; }
  static ns3::TypeId GetTypeId();
  std::string GetName() const override { return "LinuxVegas"; }
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<LinuxVegas>(this); }
};

}  // namespace tcplearn

#endif
