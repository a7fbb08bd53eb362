// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "baselines.h"

#include "ns3/uinteger.h"

namespace tcplearn {

using ns3::Ptr;
using ns3::TcpSocketState;
using ns3::TypeId;

NS_OBJECT_ENSURE_REGISTERED(NewReno);
NS_OBJECT_ENSURE_REGISTERED(Veno);
NS_OBJECT_ENSURE_REGISTERED(Vegas);
NS_OBJECT_ENSURE_REGISTERED(LinuxVegas);

TypeId NewReno::GetTypeId() {
  static TypeId id = TypeId("tcplearn::NewReno")
                         .SetParent<ns3::TcpNewReno>()
                         .SetGroupName("Internet")
                         .AddConstructor<NewReno>();
  return id;
}

std::uint32_t NewReno::GetSsThresh(Ptr<const TcpSocketState> state, std::uint32_t) {
  return reduced(*state, flight_size(*state), 0.5);
}

TypeId Veno::GetTypeId() {
  static TypeId id = TypeId("tcplearn::Veno")
                         .SetParent<NewReno>()
                         .SetGroupName("Internet")
                         .AddConstructor<Veno>()
                         .AddAttribute("Beta", "segments in the queue from which a loss is of congestion",
                                       ns3::UintegerValue(3), ns3::MakeUintegerAccessor(&Veno::beta_),
                                       ns3::MakeUintegerChecker<std::uint32_t>());
  return id;
}

void Veno::PktsAcked(Ptr<TcpSocketState>, std::uint32_t, const ns3::Time& rtt) {
  if (!rtt.IsStrictlyPositive()) return;
  rtt_ = rtt;
  if (least_.IsZero() || rtt < least_) least_ = rtt;
}

// N < Beta, without a division
bool Veno::few_queued(const TcpSocketState& state) const {
  const double queued_s = (rtt_ - least_).GetSeconds();
  return state.GetCwndInSegments() * queued_s < beta_ * rtt_.GetSeconds() || rtt_.IsZero();
}

void Veno::CongestionStateSet(Ptr<TcpSocketState> state, TcpSocketState::TcpCongState_t now) {
  entering_ = now == TcpSocketState::CA_RECOVERY;
  NewReno::CongestionStateSet(state, now);
}

std::uint32_t Veno::GetSsThresh(Ptr<const TcpSocketState> state, std::uint32_t in_flight) {
  if (!entering_) return NewReno::GetSsThresh(state, in_flight);  // a timeout
  entering_ = false;
  return reduced(*state, state->m_cWnd.Get(), few_queued(*state) ? 0.8 : 0.5);
}

void Veno::CongestionAvoidance(Ptr<TcpSocketState> state, std::uint32_t segments) {
  grows_ = few_queued(*state) || !grows_;
  if (grows_) NewReno::CongestionAvoidance(state, segments);
}

TypeId Vegas::GetTypeId() {
  static TypeId id =
      TypeId("tcplearn::Vegas").SetParent<ns3::TcpVegas>().SetGroupName("Internet").AddConstructor<Vegas>();
  return id;
}

TypeId LinuxVegas::GetTypeId() {
  static TypeId id =
      TypeId("tcplearn::LinuxVegas").SetParent<Vegas>().SetGroupName("Internet").AddConstructor<LinuxVegas>();
  return id;
}

void Vegas::CongestionStateSet(Ptr<TcpSocketState> state, TcpSocketState::TcpCongState_t now) {
  entering_ = now == TcpSocketState::CA_RECOVERY;
  ns3::TcpVegas::CongestionStateSet(state, now);
}

std::uint32_t Vegas::GetSsThresh(Ptr<const TcpSocketState> state, std::uint32_t) {
  const bool fast = entering_;
  entering_ = false;
  return fast ? reduced(*state, state->m_cWnd.Get(), kept_) : reduced(*state, flight_size(*state), 0.5);
}

}  // namespace tcplearn
