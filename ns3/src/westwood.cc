// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "westwood.h"

namespace tcplearn {

using ns3::Ptr;
using ns3::TcpSocketState;
using ns3::TypeId;

NS_OBJECT_ENSURE_REGISTERED(Westwood);
NS_OBJECT_ENSURE_REGISTERED(LinuxWestwood);

TypeId Westwood::GetTypeId() {
  static TypeId id =
      TypeId("tcplearn::Westwood").SetParent<NewReno>().SetGroupName("Internet").AddConstructor<Westwood>();
  return id;
}

void Westwood::acknowledged(const TcpSocketState& state, std::uint32_t bytes, ns3::Time now) {
  const ns3::Time took = now - began_, rtt = state.m_lastRtt.Get();
  if (began_.IsZero() || rtt.IsZero()) {
    began_ = now;  // the first ACK only begins an interval
    return;
  }
  if (took >= std::max(rtt, shortest())) {
    filter(bytes_ / took.GetSeconds());
    began_ = now;
    bytes_ = 0;
  }
  bytes_ += bytes;
}

void Westwood::filter(double sample) {
  bytes_per_s_ = bytes_per_s_ > 0 ? 0.9 * bytes_per_s_ + 0.1 * sample : sample;
}

std::uint32_t Westwood::window(const TcpSocketState& state) const {
  return reduced(state, static_cast<std::uint32_t>(bytes_per_s_ * state.m_minRtt.GetSeconds()), 1);
}

std::uint32_t Westwood::GetSsThresh(Ptr<const TcpSocketState> state, std::uint32_t in_flight) {
  return bytes_per_s_ > 0 ? window(*state) : NewReno::GetSsThresh(state, in_flight);
}

TypeId LinuxWestwood::GetTypeId() {
  static TypeId id = TypeId("tcplearn::LinuxWestwood")
                         .SetParent<Westwood>()
                         .SetGroupName("Internet")
                         .AddConstructor<LinuxWestwood>();
  return id;
}

void LinuxWestwood::filter(double sample) {
  const auto smoothed = [](double old, double now) { return old > 0 ? (7 * old + now) / 8 : now; };
  once_ = smoothed(once_, sample);
  bytes_per_s_ = smoothed(bytes_per_s_, once_);
}

void LinuxWestwood::CongestionStateSet(Ptr<TcpSocketState> state, TcpSocketState::TcpCongState_t now) {
  Westwood::CongestionStateSet(state, now);
  // ns-3 sets cwnd to ssthresh next
  if (recovers_ && now == TcpSocketState::CA_OPEN && bytes_per_s_ > 0) state->m_ssThresh = window(*state);
  entering_ = recovers_ = now == TcpSocketState::CA_RECOVERY;
}

std::uint32_t LinuxWestwood::GetSsThresh(Ptr<const TcpSocketState> state, std::uint32_t in_flight) {
  if (!entering_) return Westwood::GetSsThresh(state, in_flight);  // a timeout
  entering_ = false;
  return reduced(*state, state->m_cWnd.Get(), 0.5);
}

}  // namespace tcplearn
