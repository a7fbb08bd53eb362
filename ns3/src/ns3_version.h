// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The differences between ns-3 3.37 (Debian 12) and 3.43 (Debian 13) that affect this program.
#ifndef TCPLEARN_NS3_VERSION_H
#define TCPLEARN_NS3_VERSION_H

#include <string>

#include "ns3/config.h"
#include "ns3/enum.h"
#include "ns3/event-id.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/version-defines.h"

#define TCPLEARN_NS3_SINCE(minor) (NS3_VERSION_MINOR >= (minor))

#if TCPLEARN_NS3_SINCE(38)
#include "ns3/tcp-westwood-plus.h"
#else
#include "ns3/tcp-westwood.h"
#endif

namespace tcplearn {

inline std::string ns3_version() {
  return std::to_string(NS3_VERSION_MAJOR) + "." + std::to_string(NS3_VERSION_MINOR);
}

// IsRunning() is deprecated since 3.42, and its successor is not in 3.37.
inline bool pending(const ns3::EventId& event) { return !event.IsExpired(); }

// Returns the type of a congestion control named in a scenario: ns-3's own begin with Tcp, the others are
// those of baselines.h. Westwood always means Westwood+, because plain Westwood is broken in 3.37 and gone
// since 3.38.
inline std::string congestion_control_type(const std::string& name) {
  if (name.rfind("Tcp", 0) != 0) return "tcplearn::" + name;
#if TCPLEARN_NS3_SINCE(38)
  if (name == "TcpWestwood") return "ns3::TcpWestwoodPlus";
#endif
  return "ns3::" + name;
}

inline void choose_westwood_plus() {
#if !TCPLEARN_NS3_SINCE(38)
  ns3::Config::SetDefault("ns3::TcpWestwood::ProtocolType", ns3::EnumValue(ns3::TcpWestwood::WESTWOODPLUS));
#endif
}

// The additional argument of TcpSocketBase::ProcessAck() since 3.43: whether the ACK carried data.
#if TCPLEARN_NS3_SINCE(43)
#define TCPLEARN_WITH_DATA_PARAMETER , bool with_data
#define TCPLEARN_WITH_DATA , with_data
#else
#define TCPLEARN_WITH_DATA_PARAMETER
#define TCPLEARN_WITH_DATA
#endif

// Sets the smoothed RTT for the congestion control; its member has another name since 3.43.
inline void set_rtt(ns3::TcpSocketState& state, ns3::Time rtt) {
#if TCPLEARN_NS3_SINCE(43)
  state.m_srtt = rtt;
#endif
  state.m_lastRtt = rtt;
}

}  // namespace tcplearn

#endif
