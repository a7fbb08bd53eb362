// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A bottleneck that all connections between a cloud of clients and a cloud of servers share, and the
// settings of each connection on either side of it: delay, the server's rate, loss (ns-2's DelayBox).
// Pairs of nodes represent the clouds. One channel is the network between them.
#ifndef TCPLEARN_NS3_DELAYBOX_H
#define TCPLEARN_NS3_DELAYBOX_H

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "ns3/nstime.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "web_draw.h"

namespace tcplearn {

// A drop-tail queue before a link of fixed rate, represented by the times at which its packets leave.
class Bottleneck {
 public:
  struct Second {
    std::uint32_t arrived = 0, dropped = 0;  // packets
    std::uint64_t sent_bytes = 0;
  };
  Bottleneck(double rate_mbps, std::uint32_t queue_packets)
      : bits_a_second_(rate_mbps * 1e6), queue_packets_(queue_packets) {}

  // Returns the time until the packet has left the link, or nothing if the queue was full.
  std::optional<ns3::Time> take(std::uint32_t bytes);
  void measure_from(ns3::Time from) { from_ = from; }
  void measure_to(ns3::Time to) { to_ = to; }
  const std::vector<Second>& seconds() const { return seconds_; }  // since measure_from

 private:
  Second* second(ns3::Time now);

  double bits_a_second_;
  std::uint32_t queue_packets_;
  std::deque<ns3::Time> leaving_;
  ns3::Time from_, to_ = ns3::Time::Max();
  std::vector<Second> seconds_;
};

// The path of one connection, identified by the client's port.
struct ConnectionPath {
  ns3::Time client_delay, server_delay;  // one-way delay on either side of the bottleneck
  double server_bits_a_second = 1e9;
  double loss = 0;             // loss rate of every packet towards the client
  bool loses_syn_ack = false;  // drops the first SYN-ACK, whatever the queue
  ns3::Time server_free;       // when the server's access link is free
  std::uint32_t syns_lost = 0, syn_acks_lost = 0, syn_acks_forced = 0;
};

struct Cloud {  // shared by all pairs
  Cloud(double rate_mbps, std::uint32_t queue_packets, std::uint64_t seed)
      : down(rate_mbps, queue_packets), up(rate_mbps, queue_packets), dice(seed) {}
  Bottleneck down, up;  // towards clients, towards servers
  Dice dice;
  std::uint64_t data_segments = 0;  // data segments towards clients
};

// ns-3's ephemeral ports begin here; they are the clients' ports.
inline constexpr std::uint32_t kFirstPort = 49152;

// The channel between the clouds. The first device attached is the clients', the second the servers'.
class DelayBox : public ns3::PointToPointChannel {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

  void configure(std::shared_ptr<Cloud> cloud) { cloud_ = std::move(cloud); }
  // Returns the path of a connection, which is kept until the port has its next connection.
  ConnectionPath& path(std::uint16_t client_port) { return paths_.at(client_port - kFirstPort); }

  bool TransmitStart(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::PointToPointNetDevice> from,
                     ns3::Time transmission) override;

 private:
  void down(ns3::Ptr<ns3::Packet> packet, std::uint16_t port, bool syn);
  void up(ns3::Ptr<ns3::Packet> packet, std::uint16_t port, bool syn);
  void deliver(const ns3::Ptr<ns3::Packet>& packet, std::uint32_t to, ns3::Time after);

  std::shared_ptr<Cloud> cloud_;
  std::vector<ConnectionPath> paths_ = std::vector<ConnectionPath>(65536 - kFirstPort);
};

}  // namespace tcplearn

#endif
