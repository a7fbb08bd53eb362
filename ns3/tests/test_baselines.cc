// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// NewReno, Veno, Vegas and Westwood+ against their formulas: RFC 5681, equation 4; hwang2018, equations 1 and
// 2; the share of cwnd that Vegas keeps at a fast retransmit; the bandwidth of Westwood+ times RTTmin.
#include <string>

#include "baselines.h"
#include "check.h"
#include "ns3/simulator.h"
#include "ns3/tcp-veno.h"
#include "ns3/uinteger.h"
#include "ns3_version.h"
#include "westwood.h"

using ns3::CreateObject;
using ns3::MilliSeconds;
using ns3::Ptr;
using ns3::TcpSocketState;

namespace {

constexpr std::uint32_t kSegment = 1000;

// Returns a sender with `cwnd` segments in flight, none of them acknowledged, and two more sent by limited
// transmit.
Ptr<TcpSocketState> sender(std::uint32_t cwnd, std::uint32_t ssthresh) {
  auto state = CreateObject<TcpSocketState>();
  state->m_segmentSize = kSegment;
  state->m_cWnd = cwnd * kSegment;
  state->m_ssThresh = ssthresh * kSegment;
  state->m_lastAckedSeq = ns3::SequenceNumber32(5000);
  state->m_highTxMark = ns3::SequenceNumber32(5000 + (cwnd + 2) * kSegment);
  return state;
}

// Returns ssthresh, in segments, after a fast retransmit at which SACK leaves `in_flight` segments in flight.
template <typename Control>
double after_loss(Ptr<Control> control, Ptr<TcpSocketState> state, std::uint32_t in_flight) {
  control->CongestionStateSet(state, TcpSocketState::CA_RECOVERY);
  return static_cast<double>(control->GetSsThresh(state, in_flight * kSegment)) / kSegment;
}

template <typename Control>
double after_timeout(Ptr<Control> control, Ptr<TcpSocketState> state) {
  control->CongestionStateSet(state, TcpSocketState::CA_OPEN);
  return static_cast<double>(control->GetSsThresh(state, kSegment)) / kSegment;
}

// Returns a Veno congestion control with a smallest RTT of 60 ms and a last RTT of `rtt_ms`.
template <typename Control>
Ptr<Control> measured(Ptr<TcpSocketState> state, std::int64_t rtt_ms) {
  auto control = CreateObject<Control>();
  control->SetAttribute("Beta", ns3::UintegerValue(5));
  control->PktsAcked(state, 1, MilliSeconds(60));
  control->PktsAcked(state, 1, MilliSeconds(rtt_ms));
  return control;
}

// Returns by how many segments cwnd grows over `acks` ACKs of a segment, in congestion avoidance.
template <typename Control>
double growth(std::uint32_t cwnd, std::int64_t rtt_ms, int acks) {
  auto state = sender(cwnd, 2);
  auto control = measured<Control>(state, rtt_ms);
  for (int i = 0; i < acks; ++i) {
    control->PktsAcked(state, 1, MilliSeconds(rtt_ms));
    control->IncreaseWindow(state, 1);
  }
  return static_cast<double>(state->m_cWnd.Get()) / kSegment - cwnd;
}

// Returns a congestion control of the type `type` that has had an ACK of one segment every 10 ms, on a path
// whose RTT is 100 ms. So the bandwidth times RTTmin is 10 segments.
template <typename Control>
Ptr<Control> ten_in_an_rtt(const std::string& type, Ptr<TcpSocketState> state) {
  ns3::ObjectFactory factory(type);
  auto control = factory.Create<Control>();
  state->m_lastRtt = state->m_minRtt = MilliSeconds(100);
  for (int i = 1; i <= 1000; ++i)
    ns3::Simulator::Schedule(MilliSeconds(10 * i), [control, state] {
      if (auto ours = ns3::DynamicCast<tcplearn::Westwood>(control))
        ours->acknowledged(*state, kSegment, ns3::Simulator::Now());
      control->PktsAcked(state, 1, MilliSeconds(100));
    });
  ns3::Simulator::Run();
  ns3::Simulator::Destroy();
  return control;
}

bool near(double a, double b) { return a > b - 0.02 && a < b + 0.02; }

}  // namespace

int main() {
  using tcplearn::LinuxVegas, tcplearn::NewReno, tcplearn::Vegas, tcplearn::Veno;

  check(after_loss(CreateObject<NewReno>(), sender(12, 6), 10) == 6, "NewReno: half of FlightSize, 12 to 6");
  check(after_loss(CreateObject<ns3::TcpNewReno>(), sender(12, 6), 10) == 5, "ns-3's NewReno: 12 to 5");
  check(after_loss(CreateObject<NewReno>(), sender(3, 6), 1) == 2, "never below two segments");
  check(after_timeout(CreateObject<NewReno>(), sender(12, 6)) == 6, "NewReno: half after a timeout too");

  // N = 10 (66 - 60) / 66 = 0.9, below 5; 20 (90 - 60) / 90 = 6.7, above
  auto few = sender(10, 4), many = sender(20, 4);
  check(after_loss(measured<Veno>(few, 66), few, 8) == 8, "Veno: 4/5 of cwnd where few are queued, 10 to 8");
  check(after_loss(measured<Veno>(many, 90), many, 18) == 10, "Veno: half of cwnd where many are, 20 to 10");
  check(after_loss(measured<ns3::TcpVeno>(few, 66), few, 8) < 7, "ns-3's Veno: 10 to less than 7");
  check(after_timeout(measured<Veno>(few, 66), few) == 5, "Veno: half of FlightSize after a timeout");

  // Over the ACKs of one window, Veno's cwnd grows by one segment, or by half a segment where many are
  // queued.
  check(near(growth<Veno>(20, 66, 20), 1 - 0.02), "Veno: cwnd + 1 in an RTT where few are queued");
  check(near(growth<Veno>(20, 90, 20), 0.5), "Veno: cwnd + 1/2 in an RTT where many are");
  check(near(growth<ns3::TcpVeno>(20, 90, 20), 1 - 0.02), "ns-3's Veno: cwnd + 1 in each");
  check(near(growth<Veno>(20, 80, 20), 0.5), "N = 5 is not below Beta = 5");

  check(after_loss(CreateObject<Vegas>(), sender(24, 30), 20) == 18, "Vegas: 3/4 of cwnd, 24 to 18");
  check(after_loss(CreateObject<LinuxVegas>(), sender(24, 30), 20) == 12, "Linux's Vegas: half, 24 to 12");
  check(after_loss(CreateObject<ns3::TcpVegas>(), sender(24, 30), 20) > 20,
        "ns-3's Vegas: 24 to more than 20");
  check(after_timeout(CreateObject<Vegas>(), sender(24, 30)) == 12, "Vegas: half after a timeout");

  tcplearn::choose_westwood_plus();
  auto at_ten = sender(12, 6);
  using tcplearn::LinuxWestwood, tcplearn::Westwood;
  const auto westwood = ten_in_an_rtt<Westwood>("tcplearn::Westwood", at_ten);
  check(near(after_loss(westwood, at_ten, 10), 10), "Westwood+: B RTTmin after a loss, 12 to 10");
  check(near(after_timeout(westwood, at_ten), 10), "Westwood+: B RTTmin after a timeout too");
  const auto linux_ = ten_in_an_rtt<LinuxWestwood>("tcplearn::LinuxWestwood", at_ten);
  check(after_loss(linux_, at_ten, 10) == 6, "Linux's Westwood+: half of cwnd during the recovery");
  linux_->CongestionStateSet(at_ten, TcpSocketState::CA_OPEN);
  check(near(at_ten->m_ssThresh.Get() / 1000.0, 10), "Linux's Westwood+: B RTTmin after the recovery");
  const auto ns3s = ten_in_an_rtt<ns3::TcpNewReno>(tcplearn::congestion_control_type("TcpWestwood"), at_ten);
  check(after_loss(ns3s, at_ten, 10) > 10.9, "ns-3's Westwood+: a segment more than B RTTmin, 11");

  return failures != 0;
}
