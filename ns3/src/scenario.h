// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The description of one run: JSON that `tcplearn simulate` checks and writes, with every value given.
#ifndef TCPLEARN_NS3_SCENARIO_H
#define TCPLEARN_NS3_SCENARIO_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "described.h"
#include "drop_log.h"
#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "startup.h"
#include "tcp_socket.h"

namespace tcplearn {

using Range = std::pair<double, double>;

struct Manet {
  std::uint32_t nodes;
  double width_m, height_m, range_m;
  std::string placement;  // uniform, grid
  bool mobile;            // moves by random waypoints
  Range speed_mps;
  double pause_s;
  std::string data_mode, control_mode;
  std::uint32_t queue_packets;
  double queue_delay_s;  // the longest time for which a frame may wait
  std::uint32_t rts_bytes, retries_short, retries_long;
  bool hello;
  double active_route_s, route_queue_s;
  std::uint32_t route_queue_packets;
  double arp_dead_s;
};

struct Dumbbell {
  std::uint32_t hosts_per_side;
  double access_mbps, access_ms;
  double rate_mbps, delay_ms;
  std::string queue;  // droptail, codel
  std::uint32_t queue_packets;
  std::string trace;  // replaces the rate; "": none
};

// a first hop whose delay varies and which has fades (it then delivers nothing): moving_channel.h
struct Moving {
  double jitter_ms, tail_ms;
  double step_ms, step_every_s;
  Range fade_s;
  double fade_every_s;
  double loss_back_rate;
};

struct Path {
  double rate_mbps, rtt_ms;
  std::string queue;  // droptail, codel, fq-codel, pie
  std::uint32_t queue_packets;
  double queue_bdp;   // replaces queue_packets, in bandwidth-delay products; 0: unused
  std::string trace;  // replaces the rate; "": none
  double loss_rate, loss_burst_packets;
  std::string loss_place;  // one of first-hop, bottleneck, last-hop
  double last_hop_mbps;    // rate of the last hop, which then has a queue as the bottleneck's; 0: no limit
  double reorder_rate, reorder_ms;
  std::optional<Moving> moving;
  std::optional<Described> described;  // replaces delays, losses and `moving`
};

struct Cloudbox {  // a bottleneck between two clouds, with a separate path for each connection: delaybox.h
  std::uint32_t pairs;  // pairs of nodes; only the length of a node's list of connections depends on it
  double edge_mbps, rate_mbps, delay_ms;
  std::uint32_t queue_packets;
  Range server_mbps;    // access rate at the server's side of a connection
  Range loss;           // loss rate of a connection, towards the client
  double syn_ack_loss;  // share of connections whose first SYN-ACK is dropped
};

struct Web {     // web_load.h
  double level;  // offered load as a share of the bottleneck's rate
  std::uint32_t connections;
  double warmup_s, drain_s;
  bool persistent;
  bool crowd;  // no connection begins after the measured ones
  double response_max_bytes;
  Spec startup;
  double startup_share;  // share of connections with this policy; the others use the standard
  std::uint32_t
      places;  // number of destinations, each with its own path; 0: each connection has its own path
  std::optional<Spec> first_rto;  // first-RTO policy of all hosts; without it, ConnTimeout applies
};

struct Load {
  std::string kind;  // ftp, bursts, long, requests
  std::uint32_t flows;
  Range packets;  // [0, 0] of `long`: endless
  Range start_s;
  double every_s;
  // requests: their number on each flow, their size and timing: request_flow.h
  std::uint32_t count, request_bytes;
  double think_s, answer_after_s;
  bool stream;
  // For `long`: the number of competing transfers. For `long` and `requests`: the UDP settings below.
  std::uint32_t beside;
  std::string beside_congestion_control;
  Range beside_start_s;
  std::string udp;                      // none, cbr, onoff
  double udp_share, udp_reverse_share;  // shares of the bottleneck's rate
  double udp_on_s, udp_off_s;           // means of the on and off times
};

struct Tcp {
  std::string congestion_control;
  std::uint32_t segment_bytes, buffer_bytes, initial_window, cwnd_max_bytes, delayed_ack_segments;
  double delayed_ack_s, connect_timeout_s, backoff_max_s, max_segment_lifetime_s;
  bool sack, keep_backoff, timestamps;
};

struct Scenario {
  std::uint32_t seed;
  double duration_s, tick_s, cwnd_bin_s;
  std::string topology;  // manet, dumbbell, path, delaybox
  Manet manet;
  Dumbbell dumbbell;
  Path path;
  Cloudbox cloudbox;
  Load load;
  Web web;
  Tcp tcp;
  SocketSettings socket;
  std::uint32_t loss_rows;  // the most fast retransmits that the report has
};

Scenario read_scenario(const std::string& path);

// The part of a topology that loads use.
struct Network {
  ns3::NodeContainer hosts;
  std::vector<ns3::Ipv4Address> addresses;
  std::vector<std::uint32_t> senders, receivers;
  std::function<double()> queued_bytes;  // current mean over the relevant queues
};

void set_tcp_defaults(const Tcp& tcp);
Network make_manet(const Manet& manet);
Network make_dumbbell(const Dumbbell& dumbbell);
Network make_path(const Path& path, const std::shared_ptr<Recorder>& recorder);
std::vector<FlowRecord> make_load(const Scenario& scenario, const Network& network);
void start_udp(const Scenario& scenario, const Network& network);

}  // namespace tcplearn

#endif
