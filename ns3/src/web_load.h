// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Web connections over a DelayBox. Each connection is drawn when it begins and freed when it is done, so
// a run needs memory only for open connections.
#ifndef TCPLEARN_NS3_WEB_LOAD_H
#define TCPLEARN_NS3_WEB_LOAD_H

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "delaybox.h"
#include "scenario.h"

namespace tcplearn {

// The measurements of a connection for its first object, which the handshake delays.
struct WebRecord {
  std::uint64_t id = 0;
  bool studied = false;  // uses the policy under study, in a mix with the standard
  ns3::Time start, connected, done;
  ns3::Time rtt, wait;  // RTT of the path without queues; the server's time before its answer
  std::uint32_t response_bytes = 0;
  std::uint32_t syns_lost = 0, syn_acks_lost = 0, syn_acks_forced = 0;
  std::uint32_t syn_resends = 0, syn_ack_resends = 0;  // retransmissions by timeout
  bool is_measured = false, is_done = false, died = false;

  // Returns the response time in RTTs. The handshake counts as one RTT, even after a loss in it.
  double response_rtts() const { return ((done - connected - wait) / rtt).GetDouble() + 1; }
};

class WebLoad {
 public:
  // Calls `ended` for each measured connection once its first object has arrived, or never will.
  WebLoad(const Scenario& scenario, std::function<void(const WebRecord&)> ended);
  WebLoad(const WebLoad&) = delete;  // ns-3 has callbacks that point to it
  WebLoad& operator=(const WebLoad&) = delete;

  const Cloud& cloud() const { return *cloud_; }
  double rate() const { return settings_.rate; }
  std::uint64_t begun() const { return begun_; }  // measured connections
  std::vector<WebRecord> open() const;            // measured connections whose first object has not arrived
  ns3::Time measured_until() const { return measured_until_; }  // when the last measured connection began

 private:
  struct Pair {
    ns3::Ptr<ns3::Node> client, server;
    ns3::Ptr<DelayBox> box;
    ns3::Ipv4Address address;  // the server's
    std::vector<std::uint64_t> flow_of_port = std::vector<std::uint64_t>(65536 - kFirstPort);
    std::shared_ptr<Startup> client_startup, client_standard;
    std::vector<std::uint32_t> place_of_port = std::vector<std::uint32_t>(65536 - kFirstPort);
    std::shared_ptr<FirstRto> client_first_rto, server_first_rto;  // null: ConnTimeout applies
    std::vector<ns3::Ptr<ns3::Socket>> listeners;
  };
  struct Flow {
    WebRecord record;
    WebConnection drawn;
    Pair* pair = nullptr;
    std::uint32_t place = 0;
    std::uint16_t port = 0;  // the client's
    ns3::Ptr<TcpSocket> client, server;
    std::size_t object = 0;
    std::uint32_t request_left = 0, to_send = 0, to_come = 0;
  };

  void make_pair(const Scenario& scenario, std::uint32_t index);
  ns3::Ptr<ns3::Socket> listener(Pair& pair, std::uint16_t port, const Spec& startup);
  void make_places(std::uint64_t seed);
  std::shared_ptr<FirstRto> first_rto(Pair& pair) const;
  void arrive();
  void begin(const WebConnection& drawn);
  void open_path(Flow& flow, std::uint16_t port);
  void request(std::uint64_t id);
  void accepted(Pair& pair, ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
  void requested(std::uint64_t id);
  void respond(std::uint64_t id);
  void fill(std::uint64_t id);
  void received(std::uint64_t id);
  static void note_losses(const Flow& flow, WebRecord& record);
  void first_object_done(Flow& flow);
  void died(std::uint64_t id);
  void forget(std::uint64_t id);
  Flow* find(std::uint64_t id);

  Web web_;
  Cloudbox box_;
  WebSettings settings_;
  std::shared_ptr<Cloud> cloud_;
  std::function<void(const WebRecord&)> ended_;
  WebDraw draw_;
  Dice dice_;
  // RTT on the client's side and on the server's side, for each destination
  std::vector<std::pair<double, double>> places_rtt_s_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Flow>> flows_;
  std::uint64_t next_id_ = 1, begun_ = 0, unfinished_ = 0;
  ns3::Time measured_until_;
};

}  // namespace tcplearn

#endif
