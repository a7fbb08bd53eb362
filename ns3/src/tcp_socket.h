// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// ns-3's TCP socket with exact round-trip times and a timer that only the estimator sets.
//
// It changes TcpSocketBase of ns-3 3.37 and 3.43 in these points:
// - The congestion control gets the RTT sample and the true minimum, not the estimator's smoothed value.
// - A SYN that was sent twice gives no sample (Karn's rule; ns-3 never marks it).
// - The RTO stays doubled until a sample of a segment that was sent once (Karn and Partridge; RFC 6298,
//   5.7); ns-3 resets it at any ACK. keep_backoff turns this off.
// - cwnd stops at cwnd_max_bytes (BSD: 65,535 without window scaling); ns-3 lets it grow without limit when
//   the receiver's window is the limit.
// - A lost SYN or SYN-ACK changes the windows as a startup policy says; in ns-3 it never does.
// - A timestamp is echoed also if data carries the ACK (RFC 7323, 4.3); ns-3 counts only pure ACKs as sent.
// - With a resend policy, the policy sets the timer's waits and sends probes (tcp_socket_resends.cc).
// - A clairvoyant sender is told of drops and has no timer (tcp_socket_clairvoyant.cc).
// - A statistical sender is told how RTTs and losses are distributed (path_statistics.h).
// - SYNs are retransmitted at most backoff_max apart, for as long as the flow lives.
#ifndef TCPLEARN_NS3_TCP_SOCKET_H
#define TCPLEARN_NS3_TCP_SOCKET_H

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "first_rto.h"
#include "flow_record.h"
#include "loss_judge.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/simulator.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-base.h"
#include "ns3_version.h"
#include "path_statistics.h"
#include "resend_timer.h"
#include "rtt_estimator.h"
#include "slow_clock.h"
#include "startup.h"

namespace tcplearn {

// A sender that knows what no sender can know: of each packet that is dropped (tcp_socket_clairvoyant.cc), or
// the statistics of its path (path_statistics.h).
enum class Limit { kNone, kClairvoyant, kClairvoyantDoubling, kStatistical };

struct SocketSettings {
  EstimatorSpec estimator;
  bool stock = false;  // use ns-3's own RttMeanDeviation, with the G and floor of RFC 6298 below
  ns3::Time stock_granularity = ns3::MilliSeconds(1), stock_min_rto = ns3::Seconds(1);
  tl_sampling sampling = TL_EVERY_ACK;
  std::int64_t quantum_us = 0;
  // what the estimator gets with counted ticks (TL_COUNTED); timers then run down on that clock
  Given given = Given::kCount;
  std::uint32_t seed = 0;  // seed of the clocks' phases
  bool keep_backoff = true;
  ns3::Time backoff_max = ns3::Seconds(60);
  std::uint32_t cwnd_max_bytes = 0;  // 0: none
  std::optional<LossSettings> loss;  // for measured flows
  std::optional<Spec> resend;  // for measured flows; without it the timer is ns-3's with the estimator's RTO
  std::vector<ResendEvent>* resend_events = nullptr;
  Limit limit = Limit::kNone;                        // with a resend policy, whose waits then have no effect
  std::shared_ptr<const PathStatistics> statistics;  // for Limit::kStatistical
  PathStatistics* observed = nullptr;                // gets what measured flows see; with Limit::kClairvoyant
  std::string beside_congestion_control;  // spec for competing flows; "": the same as for measured flows
};

class TcpSocket : public ns3::TcpSocketBase {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  TcpSocket() = default;
  ~TcpSocket() override;
  TcpSocket(const TcpSocket& listening);

  void configure(std::shared_ptr<const SocketSettings> settings, std::shared_ptr<Recorder> recorder);
  void record_as(std::uint32_t flow);  // marks this end as the sender of the flow's data
  // Sets the startup policy (windows after the handshake) of this end and of the connections that it
  // accepts; without it ns-3's windows apply.
  void start_by(std::shared_ptr<Startup> startup) { m_startup = std::move(startup); }
  // Sets the first-RTO policy of this end and of the connections that it accepts; default: ConnTimeout.
  void wait_by(std::shared_ptr<FirstRto> first_rto) { m_first_rto = std::move(first_rto); }
  std::uint32_t handshake_resends() const { return m_handshake_resends; }  // retransmissions by timeout
  void report_place();  // reports the data since the last report to the startup policy

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
    ns3::Time at;            // time of the last transmission
    double prediction_us;    // prediction at that time
    ns3::Time rto;           // RTO at that time
    bool again = false;      // sent more than once, so it gives no sample
    bool forgotten = false;  // a timeout came later, so it is not evaluated
  };

  FlowRecord* flow() const { return m_recorder && m_is_sender ? &m_recorder->flows[m_flow] : nullptr; }
  double standing_us() const;           // the current prediction
  CoreRttEstimator& estimator() const;  // not valid with `stock`
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
  bool in_order() const;  // nothing is SACKed, and no recovery is in progress
  void probe();
  void run_timer(std::int64_t wait_us);
  void foresee();
  void dropped(std::uint64_t serial);
  void overdue(std::uint64_t serial);
  void forget_transmissions(ns3::SequenceNumber32 acked);
  bool foresees() const {
    return m_is_sender && m_resend &&
           (m_settings->limit == Limit::kClairvoyant || m_settings->limit == Limit::kClairvoyantDoubling);
  }
  void judge_losses();
  void state_changes(ns3::TcpSocketState::TcpCongState_t before, ns3::TcpSocketState::TcpCongState_t now);
  SenderState sender_state() const;
  void begin_windows();
  void handshake_ended() {
    const bool resent = m_synCount + 1 < m_synRetries;  // or this end answered a repeated SYN
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
  ns3::EventId m_counting_down;  // the retransmission timer that was last aligned to a tick
  std::deque<Sent> m_sent;
  bool m_backed_off = false;
  std::int64_t m_raw_rtt_us = 0;  // for the ACK being processed; 0: none
  std::unique_ptr<LossJudge> m_judge;

  std::unique_ptr<ResendTimer> m_resend;
  std::optional<std::uint32_t> m_echo_ms;  // echo in the ACK being processed, if it has a timestamp
  // timestamp of the timer's first retransmission since the last ACK
  std::optional<std::uint32_t> m_resent_ms;

  struct Transmission {
    ns3::SequenceNumber32 seq, end;
    ns3::Time at;
    bool original;  // new data
  };
  std::map<std::uint64_t, Transmission> m_transmissions;  // by serial, while not acknowledged; if foresees()
  std::vector<ns3::EventId> m_overdue;                    // scheduled retransmissions

  std::shared_ptr<Startup> m_startup;
  std::shared_ptr<FirstRto> m_first_rto;
  ns3::Time m_handshake_began;
  std::uint32_t m_handshake_resends = 0;
  std::uint32_t m_fin_resends = 0;
  bool m_is_client = false;
  bool m_answering = false;  // in DoForwardUp, where transmissions are not caused by a timeout
  tl_startup_report m_unreported{};
  std::int64_t m_unreported_rtts = 0;
};

// Makes the sockets of a node. There is one for each node: node->AggregateObject(factory). Sockets come
// from Socket::CreateSocket with its type.
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
