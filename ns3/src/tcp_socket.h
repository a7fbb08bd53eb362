// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// ns-3's TCP with exact round-trip times, and a timer that only the estimator sets.
//
// Its changes to TcpSocketBase, 3.37 and 3.43:
// - congestion control gets the RTT sample and the true minimum, not the estimator's smoothed value
// - a SYN that was sent twice gives no sample (Karn's rule; ns-3 never marks it)
// - the RTO stays doubled until a sample of a segment sent once (Karn and Partridge; RFC 6298, 5.7):
//   ns-3 goes back at any ACK. keep_backoff turns it off.
// - cwnd stops at cwnd_max_bytes (BSD: 65,535 without window scaling): ns-3 lets it grow without end where
// the
//   receiver's window is what limits
// - a lost SYN or SYN-ACK changes the windows as a startup policy says (ns-3 never does)
// - a timestamp is echoed where data carries the ACK too (RFC 7323, 4.3): ns-3 counts pure ACKs alone as sent
// - where a resend policy is given, its waits are the timer's, and it probes (tcp_socket_resends.cc)
// - SYNs are sent again at most backoff_max apart, for as long as the flow lives
#ifndef TCPLEARN_NS3_TCP_SOCKET_H
#define TCPLEARN_NS3_TCP_SOCKET_H

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "first_rto.h"
#include "flow_record.h"
#include "loss_judge.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/simulator.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-base.h"
#include "ns3_version.h"
#include "resend_timer.h"
#include "rtt_estimator.h"
#include "slow_clock.h"
#include "startup.h"

namespace tcplearn {

// The reaction to the cause of a loss.
struct LossSettings {
  Spec classifier{"congestion"};
  bool acts = false;  // keeps the window if the cause is random; otherwise the decision is only recorded
};

struct SocketSettings {
  EstimatorSpec estimator;
  bool stock = false;  // ns-3's own RttMeanDeviation in its place, with RFC 6298's G and floor below
  ns3::Time stock_granularity = ns3::MilliSeconds(1), stock_min_rto = ns3::Seconds(1);
  tl_sampling sampling = TL_EVERY_ACK;
  std::int64_t quantum_us = 0;
  Given given = Given::kCount;  // with counted ticks (TL_COUNTED), when timers run down on that clock
  std::uint32_t seed = 0;       // of the clocks' phases
  bool keep_backoff = true;
  ns3::Time backoff_max = ns3::Seconds(60);
  std::uint32_t cwnd_max_bytes = 0;  // 0: none
  std::optional<LossSettings> loss;  // of flows that are measured
  std::optional<Spec> resend;        // of these; without it the timer is ns-3's with the estimator's RTO
  std::vector<ResendEvent>* resend_events = nullptr;
  std::string beside_congestion_control;  // of the flows beside them; "": the same
};

class TcpSocket : public ns3::TcpSocketBase {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  TcpSocket() = default;
  TcpSocket(const TcpSocket& listening);

  void configure(std::shared_ptr<const SocketSettings> settings, std::shared_ptr<Recorder> recorder);
  void record_as(std::uint32_t flow);  // this end sends the flow's data
  // The policy of the windows after the handshake, for this end and the connections that it accepts; without
  // it ns-3's.
  void start_by(std::shared_ptr<Startup> startup) { m_startup = std::move(startup); }
  // The first RTO of the same ends; without it ns-3's ConnTimeout.
  void wait_by(std::shared_ptr<FirstRto> first_rto) { m_first_rto = std::move(first_rto); }
  std::uint32_t handshake_resends() const { return m_handshake_resends; }  // by a timeout
  void report_place();  // reports the data sent since the last report to the policy

 protected:
  ns3::Ptr<ns3::TcpSocketBase> Fork() override;
  void DoForwardUp(ns3::Ptr<ns3::Packet> packet, const ns3::Address& from, const ns3::Address& to) override;
  void SendEmptyPacket(std::uint8_t flags) override;
  void UpdateRttHistory(const ns3::SequenceNumber32& seq, std::uint32_t size, bool again) override;
  void EstimateRtt(const ns3::TcpHeader& header) override;
  void NewAck(const ns3::SequenceNumber32& ack, bool reset_timer) override;
  void ReTxTimeout() override;
  void ProcessAck(const ns3::SequenceNumber32& ack, bool scoreboard_updated, std::uint32_t delivered_bytes,
                  const ns3::SequenceNumber32& old_head TCPLEARN_WITH_DATA_PARAMETER) override;

 private:
  struct Sent {
    ns3::SequenceNumber32 seq, end;
    ns3::Time at;            // last time
    double prediction_us;    // of that time
    ns3::Time rto;           // in force then
    bool again = false;      // sent more than once: no sample
    bool forgotten = false;  // a timeout came since: not looked at
  };

  FlowRecord* flow() const { return m_recorder && m_is_sender ? &m_recorder->flows[m_flow] : nullptr; }
  double standing_us() const;           // prediction
  CoreRttEstimator& estimator() const;  // not of the stock one
  void tag(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
           ns3::Ptr<const ns3::TcpSocketBase>);
  void take_sample(const Sent& sent);
  void measure(const Sent& sent, std::int64_t sample_us, std::int64_t counted_us, std::int64_t raw_us);
  void rearm(ns3::Time wait);
  void count_down();
  void timed_out();
  void resend_by_policy();
  void first_sent();
  void read_echo(const ns3::TcpHeader& header);
  tl_resend_ack answer() const;
  void resend();
  bool in_order() const;  // nothing has been SACKed, and nothing is being recovered
  void probe();
  void run_timer(std::int64_t wait_us);
  void judge_losses();
  void state_changes(ns3::TcpSocketState::TcpCongState_t before, ns3::TcpSocketState::TcpCongState_t now);
  SenderState sender_state() const;
  void begin_windows();
  void handshake_ended() {
    const bool resent = m_synCount + 1 < m_synRetries;  // or it answered a SYN again
    m_first_rto->ended(client_port(), ns3::Simulator::Now() - m_handshake_began, resent, !m_is_client);
  }
  std::uint16_t client_port() const {
    return m_is_client ? m_endPoint->GetLocalPort() : m_endPoint->GetPeerPort();
  }
  void send_fin(std::uint8_t flags);

  std::shared_ptr<const SocketSettings> m_settings;
  std::shared_ptr<Recorder> m_recorder;
  std::uint32_t m_flow = 0;
  bool m_is_sender = false;
  tl_sampler m_sampler{};
  SlowClock m_clock;
  ns3::EventId m_counting_down;  // the retransmission timer that was last set to a boundary
  std::deque<Sent> m_sent;
  bool m_backed_off = false;
  std::int64_t m_raw_rtt_us = 0;  // of the ACK being processed; 0: none
  std::unique_ptr<LossJudge> m_judge;

  std::unique_ptr<ResendTimer> m_resend;
  std::optional<std::uint32_t> m_echo_ms;    // of the ACK being processed, if it has a timestamp
  std::optional<std::uint32_t> m_resent_ms;  // timestamp of the timer's first resend since the last ACK

  std::shared_ptr<Startup> m_startup;
  std::shared_ptr<FirstRto> m_first_rto;
  ns3::Time m_handshake_began;
  std::uint32_t m_handshake_resends = 0;
  std::uint32_t m_fin_resends = 0;
  bool m_is_client = false;
  bool m_answering = false;  // within DoForwardUp, where transmissions are not due to a timeout
  tl_startup_report m_unreported{};
  std::int64_t m_unreported_rtts = 0;
};

// One on each node: node->AggregateObject(factory). Sockets come from Socket::CreateSocket with its type.
class TcpSocketFactory : public ns3::SocketFactory {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  void configure(std::shared_ptr<const SocketSettings> settings, std::shared_ptr<Recorder> recorder);
  ns3::Ptr<ns3::Socket> CreateSocket() override;

 private:
  std::shared_ptr<const SocketSettings> m_settings = std::make_shared<SocketSettings>();
  std::shared_ptr<Recorder> m_recorder;
};

}  // namespace tcplearn

#endif
