// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The part of the socket in which a resend policy runs the retransmission timer. The policy gets the same
// events as in linux/module/resend.c: each first transmission of a segment, each expiry, and each ACK of
// data that was neither acknowledged nor SACKed before, including the handshake's. Waits are exact to the
// microsecond. As in Linux, new segments after SACKs do not change a running timer, and neither do SACKs
// unless they begin a recovery; otherwise a stream would postpone the timer for ever.
//
// ns-3 has no tail loss probe. If the wait ends in a probe, the last segment is sent again with unchanged
// windows (RFC 8985, 7.3); after SACKs the first missing segment is sent, where Linux would use RACK. A
// loss that a probe repairs does not change the windows either; in Linux it would (7.4).
#include <algorithm>

#include "ns3/simulator.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-tx-buffer.h"
#include "tcp_socket.h"
#include "westwood.h"

namespace tcplearn {

using ns3::Simulator;

void TcpSocket::resend_by_policy() {
  m_resend = std::make_unique<ResendTimer>(*m_settings->resend);
  m_resend->keep_events(m_settings->resend_events);
  if (m_settings->statistics) m_resend->know(m_settings->statistics);
}

bool TcpSocket::in_order() const {
  return m_txBuffer->GetSacked() == 0 && m_tcb->m_congState < ns3::TcpSocketState::CA_RECOVERY;
}

void TcpSocket::first_sent() {
  const std::int64_t wait_us = m_resend->sent_us(whole_us(Simulator::Now()), m_sent.size());
  if (in_order()) run_timer(wait_us);
}

void TcpSocket::read_echo(const ns3::TcpHeader& header) {
  const auto option = ns3::DynamicCast<const ns3::TcpOptionTS>(header.GetOption(ns3::TcpOption::TS));
  m_echo_ms = m_timestampEnabled && option ? std::optional(option->GetEcho()) : std::nullopt;
  if (m_state == SYN_SENT && m_raw_rtt_us > 0) m_resend->acknowledged_us(answer());
}

// Returns the ACK event for the policy. RTT samples come from segments that were sent once (Karn's rule).
// Without such a segment the sample comes from the timestamp, in ms and at least 1 ms, as in Linux.
tl_resend_ack TcpSocket::answer() const {
  tl_resend_ack out{};
  out.time_us = whole_us(Simulator::Now());
  out.rtt_us = m_raw_rtt_us;
  out.out_segments = static_cast<std::uint32_t>(m_sent.size());
  if (!m_resent_ms) return out;
  out.answers = !m_echo_ms                  ? TL_RESEND_UNCLEAR
                : *m_echo_ms < *m_resent_ms ? TL_RESEND_FIRST
                                            : TL_RESEND_LATER;
  return out;
}

void TcpSocket::ProcessAck(const ns3::SequenceNumber32& ack, bool scoreboard_updated,
                           std::uint32_t delivered_bytes,
                           const ns3::SequenceNumber32& old_head TCPLEARN_WITH_DATA_PARAMETER) {
  const auto recovers = [this] { return m_tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY; };
  const bool recovered = recovers();
  if (auto* westwood = dynamic_cast<Westwood*>(ns3::PeekPointer(m_congestionControl)))
    westwood->acknowledged(*m_tcb, delivered_bytes, Simulator::Now());
  ns3::TcpSocketBase::ProcessAck(ack, scoreboard_updated, delivered_bytes, old_head TCPLEARN_WITH_DATA);
  if (!m_resend || (ack <= old_head && !scoreboard_updated)) return;
  if (ack > old_head) {
    forget_transmissions(ack);
  }
  tl_resend_ack in = answer();
  if (in.rtt_us == 0 && ack > old_head && m_echo_ms)
    in.rtt_us =
        std::max<std::int64_t>(ns3::TcpOptionTS::ElapsedTimeFromTsValue(*m_echo_ms).GetMicroSeconds(), 1000);
  m_resent_ms.reset();
  const std::int64_t wait_us = m_resend->acknowledged_us(in);
  if (ack > old_head || (recovers() && !recovered)) run_timer(wait_us);
}

void TcpSocket::resend() {
  if (FlowRecord* f = flow())
    f->resent_after_fade(m_recorder->faded_until, m_sent.front().at, Simulator::Now());
  if (!m_resent_ms) m_resent_ms = ns3::TcpOptionTS::NowToTsValue();
  const bool as_probe = m_resend->ends_in_probe() && m_tcb->m_congState != ns3::TcpSocketState::CA_LOSS;
  m_resend->fired_us(whole_us(Simulator::Now()), m_sent.size());
  if (as_probe) {
    probe();
  } else {
    timed_out();
    ns3::TcpSocketBase::ReTxTimeout();  // after SACKs it may send new segments too
  }
  run_timer(m_resend->wait_us());
}

void TcpSocket::probe() {
  const bool whole = m_txBuffer->GetSacked() == 0;
  const ns3::SequenceNumber32 seq = whole ? m_sent.back().seq : m_txBuffer->HeadSequence();
  const ns3::SequenceNumber32 end = whole ? m_sent.back().end : m_sent.front().end;
  if (FlowRecord* f = flow()) {
    f->probes++;
    f->oracle.timed_out(seq, f->serial);
  }
  SendDataPacket(seq, static_cast<std::uint32_t>(end - seq), true);
}

void TcpSocket::run_timer(std::int64_t wait_us) {
  m_resend->armed();
  if (wait_us > 0)
    rearm(ns3::MicroSeconds(static_cast<std::uint64_t>(wait_us)));
  else if (m_state == ESTABLISHED)
    m_retxEvent.Cancel();
}

}  // namespace tcplearn
