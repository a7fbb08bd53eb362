// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// ML-TCP's rule (hwang2018) on top of a congestion control: after a loss that was classified as random,
// cwnd and ssthresh stay unchanged, and only the lost segment is retransmitted. Or, beyond hwang2018, only
// a share of what the congestion control would take away is kept.
#ifndef TCPLEARN_NS3_KEEP_WINDOW_H
#define TCPLEARN_NS3_KEEP_WINDOW_H

#include <memory>
#include <string>

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-cubic.h"

namespace tcplearn {

// ns-3 (3.37, 3.43) calls in this order: CongestionStateSet(CA_RECOVERY); the trace CongState, in which
// the socket decides; GetSsThresh, whose result is cwnd until the end of the recovery;
// CongestionStateSet(CA_OPEN); IncreaseWindow. On a timeout it calls GetSsThresh first, in any state.
template <typename Base>
class KeepWindow : public Base {
 public:
  KeepWindow() = default;
  // `kept` is the share, 0 to 1, of what the congestion control would take away at the present loss.
  explicit KeepWindow(std::shared_ptr<const double> kept) : kept_(std::move(kept)) {}

  std::string GetName() const override { return "KeepWindow" + Base::GetName(); }

  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb,
                          const ns3::TcpSocketState::TcpCongState_t state) override {
    if (state == ns3::TcpSocketState::CA_RECOVERY) {
      entering_ = true;
      cwnd_ = tcb->m_cWnd;
      ssthresh_ = tcb->m_ssThresh;
    } else if (state == ns3::TcpSocketState::CA_LOSS) {
      keeping_ = restore_ = false;
    } else if (state == ns3::TcpSocketState::CA_OPEN && keeping_) {
      keeping_ = false;
      restore_ = true;
    }
    Base::CongestionStateSet(tcb, state);
  }

  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t in_flight) override {
    const double kept = entering_ ? *kept_ : 0;
    entering_ = false;
    keeping_ = kept >= 1;
    if (keeping_) return cwnd_;
    const std::uint32_t ssthresh = Base::GetSsThresh(tcb, in_flight);
    return ssthresh + static_cast<std::uint32_t>(kept * (cwnd_ > ssthresh ? cwnd_ - ssthresh : 0));
  }

  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t segments) override {
    if (restore_) {
      restore_ = false;
      tcb->m_cWnd = cwnd_;
      tcb->m_ssThresh = ssthresh_;
    }
    Base::IncreaseWindow(tcb, segments);
  }

  ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<KeepWindow>(this); }

 private:
  std::shared_ptr<const double> kept_ = std::make_shared<double>(0.0);
  bool entering_ = false, keeping_ = false, restore_ = false;
  std::uint32_t cwnd_ = 0, ssthresh_ = 0;
};

}  // namespace tcplearn

#endif
