// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The part of the socket in which a clairvoyant sender retransmits: the limit of what a retransmission timer
// can give. The simulated links tell it of each data packet that they drop. It sends the packet's data again
// when its ACK is overdue, which is one SRTT after the packet was sent, and never in vain. A retransmission
// changes no window, as if it were a tail loss probe (RFC 8985, 7.3).
//
// Limit::kClairvoyantDoubling knows the same, but for successive losses of the same data it waits SRTT, SRTT
// again (after what stands for a probe), 2 SRTT, 4 SRTT, ...: the limit of a timer that doubles its waits.
#include <algorithm>

#include "ns3/simulator.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-tx-buffer.h"
#include "tcp_socket.h"

namespace tcplearn {

using ns3::Simulator;

namespace {

constexpr std::int64_t kMostDoublings = 16;

}  // namespace

void TcpSocket::foresee() {
  m_recorder->drops->watch(m_flow, [this](std::uint64_t serial) { dropped(serial); });
}

TcpSocket::~TcpSocket() {
  if (m_recorder && foresees()) m_recorder->drops->watch(m_flow, nullptr);
  for (ns3::EventId& event : m_overdue) event.Cancel();
}

void TcpSocket::dropped(std::uint64_t serial) {
  const auto found = m_transmissions.find(serial);
  if (found == m_transmissions.end()) return;
  const Transmission& lost = found->second;
  if (PathStatistics* seen = m_settings->observed) ++(lost.original ? seen->first : seen->again).lost;
  std::int64_t times = 1;
  if (m_settings->limit == Limit::kClairvoyantDoubling) {
    const auto before = std::count_if(m_transmissions.begin(), found, [&](const auto& of) {
      return of.second.end > lost.seq && of.second.seq < lost.end;
    });
    times <<= std::clamp<std::int64_t>(before - 1, 0, kMostDoublings);
  }
  const ns3::Time due = lost.at + m_rtt->GetEstimate() * times;
  m_overdue.push_back(
      Simulator::Schedule(std::max(due - Simulator::Now(), ns3::Time(0)), &TcpSocket::overdue, this, serial));
}

void TcpSocket::overdue(std::uint64_t serial) {
  const auto found = m_transmissions.find(serial);
  if (found == m_transmissions.end()) return;  // the data arrived by another packet
  const Transmission lost = found->second;
  const auto is_later = [&](const auto& of) {
    return of.first > serial && of.second.end > lost.seq && of.second.seq < lost.end;
  };
  if (std::any_of(m_transmissions.begin(), m_transmissions.end(), is_later)) return;  // sent again meanwhile
  if (FlowRecord* f = flow()) {
    f->probes++;
    f->oracle.timed_out(lost.seq, f->serial);
    f->resent_after_fade(m_recorder->faded_until, lost.at, Simulator::Now());
  }
  if (!m_resent_ms) m_resent_ms = ns3::TcpOptionTS::NowToTsValue();
  m_resend->fired_us(whole_us(Simulator::Now()), m_sent.size());
  SendDataPacket(lost.seq, static_cast<std::uint32_t>(lost.end - lost.seq), true);
}

// Called when an ACK acknowledges new data up to `acked`.
void TcpSocket::forget_transmissions(ns3::SequenceNumber32 acked) {
  m_overdue.erase(std::remove_if(m_overdue.begin(), m_overdue.end(),
                                 [](const ns3::EventId& event) { return !pending(event); }),
                  m_overdue.end());
  for (auto of = m_transmissions.begin(); of != m_transmissions.end();)
    of = of->second.end <= acked ? m_transmissions.erase(of) : std::next(of);
}

}  // namespace tcplearn
