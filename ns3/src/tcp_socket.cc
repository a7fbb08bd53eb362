// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "tcp_socket.h"

#include <algorithm>
#include <cmath>

#include "baselines.h"
#include "keep_window.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"

namespace tcplearn {

using ns3::Simulator;
using ns3::Time;

NS_OBJECT_ENSURE_REGISTERED(TcpSocket);

namespace {
// ns-3 doubles a SYN's wait by shifting an int by the number of tries; this limits the shift, and 2^6
// times the first wait is above any cap
constexpr std::uint32_t kSynDoublings = 6;
// retransmissions of a web connection's FIN, each after twice the wait; Linux's tcp_orphan_retries is 8
constexpr std::uint32_t kFinResends = 6;
// a long transfer reports to its startup policy after this many segments
constexpr std::uint32_t kReportSegments = 32;

ns3::Ptr<ns3::TcpCongestionOps> congestion_control(const std::string& name) {
  ns3::ObjectFactory factory;
  factory.SetTypeId(name);
  return factory.Create<ns3::TcpCongestionOps>();
}

double as_us(Time time) { return static_cast<double>(time.GetNanoSeconds()) * 1e-3; }
}  // namespace

ns3::TypeId TcpSocket::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::TcpSocket")
                              .SetParent<ns3::TcpSocketBase>()
                              .SetGroupName("Internet")
                              .AddConstructor<TcpSocket>();
  return id;
}

TcpSocket::TcpSocket(const TcpSocket& listening)
    : ns3::TcpSocketBase(listening),
      m_settings(listening.m_settings),
      m_recorder(listening.m_recorder),
      m_startup(listening.m_startup),
      m_first_rto(listening.m_first_rto) {
  tl_sampler_init(&m_sampler);
}

void TcpSocket::configure(std::shared_ptr<const SocketSettings> settings,
                          std::shared_ptr<Recorder> recorder) {
  m_settings = std::move(settings);
  m_recorder = std::move(recorder);
  tl_sampler_init(&m_sampler);
  // the estimator's RTO includes minimum and granularity already; see CoreRttEstimator
  SetMinRto(m_settings->stock ? m_settings->stock_min_rto : Time(0));
  SetClockGranularity(m_settings->stock ? m_settings->stock_granularity : Time(0));
}

void TcpSocket::record_as(std::uint32_t flow) {
  m_flow = flow;
  m_is_sender = true;
  if (m_settings->sampling == TL_COUNTED) m_clock = SlowClock(m_settings->quantum_us, m_settings->seed, flow);
  m_txTrace.ConnectWithoutContext(ns3::MakeCallback(&TcpSocket::tag, this));
  if (m_recorder->flows[flow].beside) {
    if (const std::string& other = m_settings->beside_congestion_control; !other.empty())
      SetCongestionControlAlgorithm(congestion_control(other));
  } else {
    if (m_settings->loss) judge_losses();
    if (m_settings->resend) resend_by_policy();
    if (foresees()) foresee();
  }
}

void TcpSocket::judge_losses() {
  const LossSettings& loss = *m_settings->loss;
  m_judge = std::make_unique<LossJudge>(m_flow, loss, m_recorder->losses, m_recorder->drops);
  m_tcb->TraceConnectWithoutContext("CongState", ns3::MakeCallback(&TcpSocket::state_changes, this));
  if (!loss.acts) return;
  if (m_congestionControl->GetInstanceTypeId() == ns3::TcpCubic::GetTypeId())
    SetCongestionControlAlgorithm(ns3::CreateObject<KeepWindow<ns3::TcpCubic>>(m_judge->kept()));
  else if (m_congestionControl->GetInstanceTypeId() == NewReno::GetTypeId())
    SetCongestionControlAlgorithm(ns3::CreateObject<KeepWindow<NewReno>>(m_judge->kept()));
  else
    SetCongestionControlAlgorithm(ns3::CreateObject<KeepWindow<ns3::TcpNewReno>>(m_judge->kept()));
}

SenderState TcpSocket::sender_state() const {
  return {m_txBuffer->HeadSequence(), m_tcb->m_highTxMark.Get(), m_tcb->m_cWnd.Get(), m_tcb->m_ssThresh.Get(),
          m_tcb->m_segmentSize};
}

void TcpSocket::state_changes(ns3::TcpSocketState::TcpCongState_t before,
                              ns3::TcpSocketState::TcpCongState_t now) {
  if (now == before) return;
  if (now == ns3::TcpSocketState::CA_RECOVERY)
    m_judge->recovery_begins(sender_state());
  else if (before == ns3::TcpSocketState::CA_RECOVERY && now == ns3::TcpSocketState::CA_OPEN)
    m_judge->recovery_ends(sender_state());
}

ns3::Ptr<ns3::TcpSocketBase> TcpSocket::Fork() { return ns3::CopyObject<TcpSocket>(this); }

// Called just before each segment leaves. The packet is const, but tags may be added.
void TcpSocket::tag(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
                    ns3::Ptr<const ns3::TcpSocketBase>) {
  if (packet->GetSize() == 0) return;
  SerialTag tag;
  tag.flow = m_flow;
  tag.serial = ++flow()->serial;
  tag.original = header.GetSequenceNumber() >= m_tcb->m_highTxMark.Get();
  packet->AddPacketTag(tag);
  if (foresees())
    m_transmissions[tag.serial] = {header.GetSequenceNumber(), header.GetSequenceNumber() + packet->GetSize(),
                                   Simulator::Now(), tag.original};
  if (PathStatistics* seen = m_settings->observed) ++(tag.original ? seen->first : seen->again).sent;
  if (m_judge)
    m_judge->sent(header.GetSequenceNumber(), header.GetSequenceNumber() + packet->GetSize(), tag.serial);
}

void TcpSocket::DoForwardUp(ns3::Ptr<ns3::Packet> packet, const ns3::Address& from, const ns3::Address& to) {
  SerialTag tag;
  if (m_recorder && packet->PeekPacketTag(tag)) {
    ns3::TcpHeader header;
    const std::uint32_t size = packet->GetSize() - packet->PeekHeader(header);
    FlowRecord& sender = m_recorder->flows[tag.flow];
    sender.arrived++;
    sender.oracle.arrived(header.GetSequenceNumber(), header.GetSequenceNumber() + size, tag.serial,
                          tag.original);
  }
  const ns3::TcpSocket::TcpStates_t before = m_state.Get();
  m_answering = true;
  ns3::TcpSocketBase::DoForwardUp(packet, from, to);
  m_answering = false;
  if ((before == SYN_SENT || before == SYN_RCVD) && m_connected) {
    if (m_first_rto) handshake_ended();
    begin_windows();
  }
}

// Sets the windows at the end of the handshake, before any data leaves and before the application is
// notified. A client cannot know which of the two handshake packets was lost. To a server, a duplicate
// SYN shows the same loss as its own timer does.
void TcpSocket::begin_windows() {
  if (!m_startup) return;
  tl_handshake handshake{};
  handshake.time_us = whole_us(Simulator::Now());
  handshake.took_us = whole_us(Simulator::Now() - m_handshake_began);
  handshake.resends = m_handshake_resends;
  if (m_handshake_resends > 0) handshake.loss = m_is_client ? TL_HANDSHAKE_EITHER : TL_HANDSHAKE_SYN_ACK;
  handshake.iw_segments = m_tcb->m_initialCWnd;
  handshake.ssthresh_segments = m_tcb->m_initialSsThresh / m_tcb->m_segmentSize;
  const tl_startup_window out = m_startup->windows(handshake);
  const std::uint64_t ssthresh = std::uint64_t{out.ssthresh_segments} * m_tcb->m_segmentSize;
  m_tcb->m_cWnd = out.iw_segments * m_tcb->m_segmentSize;
  m_tcb->m_cWndInfl = m_tcb->m_cWnd.Get();
  m_tcb->m_ssThresh = static_cast<std::uint32_t>(std::min<std::uint64_t>(ssthresh, m_tcb->m_initialSsThresh));
}

void TcpSocket::report_place() {
  if (!m_startup || m_unreported.sent_segments == 0) return;
  m_unreported.time_us = whole_us(Simulator::Now());
  if (m_unreported_rtts > 0) {
    m_unreported.rtt_us /= m_unreported_rtts;
    m_unreported.rtt_min_us = whole_us(m_tcb->m_minRtt);
  }
  m_startup->report(m_unreported);
  m_unreported = {};
  m_unreported_rtts = 0;
}

void TcpSocket::SendEmptyPacket(std::uint8_t flags) {
  const bool syn = flags & ns3::TcpHeader::SYN;
  if (syn && m_synCount == m_synRetries) {
    m_handshake_began = Simulator::Now();
    m_is_client = !(flags & ns3::TcpHeader::ACK);
    if (m_first_rto) m_cnTimeout = m_first_rto->rto(client_port(), !m_is_client);
  } else if (syn && !m_answering) {
    ++m_handshake_resends;
  }
  if (syn && m_synCount + kSynDoublings < m_synRetries) m_synCount = m_synRetries - kSynDoublings;
  if (syn && m_synCount < m_synRetries && flow()) flow()->syn_retransmitted++;
  if (m_startup && (flags & ns3::TcpHeader::FIN)) return send_fin(flags);
  ns3::TcpSocketBase::SendEmptyPacket(flags);
  if (syn && pending(m_retxEvent) && m_rto.Get() > m_settings->backoff_max) {
    m_rto = m_settings->backoff_max;
    m_retxEvent.Cancel();
    m_retxEvent = Simulator::Schedule(m_rto, &TcpSocket::SendEmptyPacket, this, flags);
  }
}

// Sends a FIN again, at most kFinResends times. If the other end has no such connection any more, its
// listening socket ignores the FIN; without a limit such FINs would fill the link.
void TcpSocket::send_fin(std::uint8_t flags) {
  // An event that calls this holds no reference to the socket; `held` keeps it alive until the return.
  const ns3::Ptr<TcpSocket> held(this);
  if (m_fin_resends > kFinResends) return CloseAndNotify();
  ns3::TcpSocketBase::SendEmptyPacket(flags);
  if (!pending(m_retxEvent) || m_txBuffer->Size() > 0) return;
  m_retxEvent.Cancel();
  m_retxEvent = Simulator::Schedule(m_rto.Get() * (std::int64_t{1} << m_fin_resends++),
                                    &TcpSocket::SendEmptyPacket, this, flags);
}

// TcpSocketFactory gave the socket a CoreRttEstimator
CoreRttEstimator& TcpSocket::estimator() const { return static_cast<CoreRttEstimator&>(*m_rtt); }

double TcpSocket::standing_us() const {
  if (m_settings->stock) return m_rtt->GetNSamples() ? as_us(m_rtt->GetEstimate()) : 0;
  return estimator().prediction().rtt_us;
}

// Replaces ns-3's history: stores prediction and RTO at each transmission, and marks repeated SYNs too.
void TcpSocket::UpdateRttHistory(const ns3::SequenceNumber32& seq, std::uint32_t size, bool again) {
  count_down();
  if (m_timestampEnabled && size) m_highTxAck = std::max(m_highTxAck, m_tcb->m_rxBuffer->NextRxSequence());
  if (FlowRecord* f = flow(); f && size) {
    f->sent++;
    f->retransmitted += again;
  }
  m_unreported.sent_segments += size > 0;
  m_unreported.resent_segments += size > 0 && again;
  if (m_unreported.sent_segments >= kReportSegments) report_place();
  if (!again) {
    m_sent.push_back({seq, seq + size, Simulator::Now(), standing_us(), m_rto.Get()});
    if (m_resend && size) first_sent();
    return;
  }
  for (Sent& sent : m_sent)
    if (sent.seq == seq || (sent.seq < seq + size && seq < sent.end)) {
      sent.again = true;
      sent.at = Simulator::Now();
    }
}

// Takes an RTT sample, before the ACK is processed. The sample is that of the oldest segment that the ACK
// covers; a segment sent twice gives none (Karn and Partridge; RFC 6298, section 3).
void TcpSocket::EstimateRtt(const ns3::TcpHeader& header) {
  const ns3::SequenceNumber32 ack = header.GetAckNumber();
  const auto head =
      std::find_if(m_sent.begin(), m_sent.end(), [](const Sent& sent) { return !sent.forgotten; });
  m_raw_rtt_us = 0;
  if (head != m_sent.end() && !head->again && ack >= head->end) take_sample(*head);
  if (m_judge && m_state == ESTABLISHED) m_judge->acknowledged(ack, m_raw_rtt_us, sender_state());
  while (!m_sent.empty() && m_sent.front().end <= ack) m_sent.pop_front();
  if (FlowRecord* f = flow()) f->oracle.acked(ack);
  if (m_resend) read_echo(header);
}

void TcpSocket::take_sample(const Sent& sent) {
  const Time raw = Simulator::Now() - sent.at;
  if (raw.IsZero()) return;
  tl_sample sample{};
  sample.time_us = whole_us(Simulator::Now());
  sample.rtt_us = std::max<std::int64_t>(whole_us(raw), 1);
  sample.sent_us = sample.time_us - sample.rtt_us;
  sample.flight_segments = (UnAckDataCount() + m_tcb->m_segmentSize - 1) / m_tcb->m_segmentSize;
  const std::int64_t raw_us = m_raw_rtt_us = sample.rtt_us;
  if (PathStatistics* seen = m_settings->observed; seen && m_is_sender) {
    seen->sent_us.push_back(sample.sent_us);
    seen->rtt_us.push_back(raw_us);
  }
  m_unreported.rtt_us += raw_us;
  ++m_unreported_rtts;
  set_rtt(*m_tcb, raw);
  m_tcb->m_minRtt = std::min(raw, m_tcb->m_minRtt);

  tl_sample by_clock = sample;
  by_clock.time_us += m_clock.phase_us();
  by_clock.sent_us += m_clock.phase_us();
  const std::int64_t counted_us = sample.rtt_us =
      tl_sampler_take(&m_sampler, &by_clock, m_settings->sampling, m_settings->quantum_us);
  if (sample.rtt_us == 0) return;
  if (m_settings->sampling == TL_COUNTED)
    sample.rtt_us = m_clock.given_us(m_settings->given, counted_us, raw_us);
  measure(sent, sample.rtt_us, counted_us, raw_us);
  if (m_settings->stock)
    m_rtt->Measurement(
        m_settings->quantum_us > 1 ? ns3::MicroSeconds(static_cast<std::uint64_t>(sample.rtt_us)) : raw);
  else
    estimator().observe(sample);
  m_rto = std::max(m_rtt->GetEstimate() + std::max(m_clockGranularity, m_rtt->GetVariation() * 4), m_minRto);
  m_backed_off = false;
}

void TcpSocket::measure(const Sent& sent, std::int64_t sample_us, std::int64_t counted_us,
                        std::int64_t raw_us) {
  FlowRecord* f = flow();
  if (!f) return;
  const auto sample = static_cast<double>(sample_us);
  const double prediction = standing_us();
  f->sample_us.add(sample);
  f->raw_rtt_us.add(static_cast<double>(raw_us));
  f->cwnd_bytes.add(m_tcb->m_cWnd.Get());
  m_recorder->cwnd(Simulator::Now(), m_tcb->m_cWnd.Get());
  f->rto_us.add(as_us(sent.rto));
  f->rto_misses += static_cast<double>(raw_us) > as_us(sent.rto);
  // As in replay (docs/metrics.md), the first sample is not scored: some estimators predict nothing
  // before it, others have a prior, and all must be measured on the same samples.
  if (f->sample_us.count() == 1) {
    f->first_error_us.add(std::fabs(prediction - sample));
    return;
  }
  if (prediction > 0) {
    f->error_us.add(std::fabs(prediction - sample));
    f->bias_us.add(prediction - sample);
    f->raw_error_us.add(std::fabs(prediction - static_cast<double>(raw_us)));
    if (m_settings->sampling == TL_COUNTED) {
      const auto counted = static_cast<double>(counted_us);
      f->count_error_us.add(std::fabs(prediction - counted));
      f->passed_error_us.add(std::fabs(prediction - (counted - static_cast<double>(m_settings->quantum_us))));
    }
  }
  if (sent.prediction_us > 0) f->at_send_error_us.add(std::fabs(sent.prediction_us - sample));
}

void TcpSocket::NewAck(const ns3::SequenceNumber32& ack, bool reset_timer) {
  const Time backed_off = m_rto;
  const bool in_handshake = m_state == SYN_RCVD;
  if (const std::uint32_t most = m_settings->cwnd_max_bytes; most && m_tcb->m_cWnd.Get() > most) {
    m_tcb->m_cWnd = most;
    m_tcb->m_cWndInfl = most;
  }
  ns3::TcpSocketBase::NewAck(ack, reset_timer);
  if (!reset_timer || in_handshake || !pending(m_retxEvent)) return;
  if (m_backed_off && m_settings->keep_backoff) {
    m_rto = std::max(backed_off, m_rto.Get());
    rearm(m_rto);
  } else if (!m_settings->stock && !m_sent.empty() && estimator().timer() == TL_TIMER_FROM_HEAD) {
    rearm(std::max<Time>(m_rto.Get() - (Simulator::Now() - m_sent.front().at), ns3::MilliSeconds(1)));
  }
  count_down();
}

// Aligns the retransmission timer to a tick of the slow clock. Called each time the timer is set.
void TcpSocket::count_down() {
  if (m_settings->sampling != TL_COUNTED || !m_is_sender || m_state == SYN_SENT) return;
  if (!pending(m_retxEvent) || m_retxEvent == m_counting_down) return;
  rearm(m_clock.countdown(Simulator::Now(), Simulator::GetDelayLeft(m_retxEvent)));
  m_counting_down = m_retxEvent;
}

void TcpSocket::rearm(Time wait) {
  m_retxEvent.Cancel();
  m_retxEvent = Simulator::Schedule(wait, &TcpSocket::ReTxTimeout, this);
}

void TcpSocket::ReTxTimeout() {
  const bool of_data =
      m_state != CLOSED && m_state != TIME_WAIT && m_state != SYN_SENT && m_txBuffer->Size() > 0;
  if (of_data && foresees()) return rearm(ns3::Hours(1));  // the base class has armed it
  if (of_data && m_resend && !m_sent.empty()) return resend();
  if (of_data) timed_out();
  ns3::TcpSocketBase::ReTxTimeout();
}

void TcpSocket::timed_out() {
  if (FlowRecord* f = flow()) {
    f->timeouts++;
    f->oracle.timed_out(m_txBuffer->HeadSequence(), f->serial);
  }
  if (m_judge) m_judge->timed_out(sender_state());
  m_backed_off = true;
  for (Sent& sent : m_sent) sent.forgotten = true;
}

}  // namespace tcplearn
