// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "web_load.h"

#include <algorithm>
#include <tuple>

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-size.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

namespace tcplearn {

using ns3::Ptr;
using ns3::Simulator;
using ns3::Socket;

namespace {

constexpr std::uint32_t kEverything = 0xffffffff;  // reads all available bytes
constexpr std::uint16_t kStudiedPort = 80, kStandardPort = 81;
const Spec kStandard{"standard"};

ns3::Ipv4AddressHelper& addresses() {
  static ns3::Ipv4AddressHelper helper("10.0.0.0", "255.255.255.252");
  return helper;
}

WebSettings settings_of(const Scenario& s) {
  WebSettings out{0, s.web.persistent, s.web.response_max_bytes, s.cloudbox.server_mbps};
  out.rate = rate_for(s.web.level, s.cloudbox.rate_mbps, out, s.tcp.segment_bytes);
  return out;
}

}  // namespace

WebLoad::WebLoad(const Scenario& scenario, std::function<void(const WebRecord&)> ended)
    : web_(scenario.web),
      box_(scenario.cloudbox),
      settings_(settings_of(scenario)),
      cloud_(std::make_shared<Cloud>(box_.rate_mbps, box_.queue_packets, scenario.seed ^ 0x10551055)),
      ended_(std::move(ended)),
      draw_(settings_, scenario.seed),
      dice_(scenario.seed ^ 0xd1ced1ce) {
  make_places(scenario.seed ^ 0x91ace591ace5);
  for (std::uint32_t i = 0; i < box_.pairs; ++i) make_pair(scenario, i);
  cloud_->down.measure_from(ns3::Seconds(web_.warmup_s));
  cloud_->up.measure_from(ns3::Seconds(web_.warmup_s));
  Simulator::Schedule(ns3::Time(0), &WebLoad::arrive, this);
}

// Draws the paths of the destinations as PackMime does, from separate random numbers, so that connections
// are otherwise the same as without destinations.
void WebLoad::make_places(std::uint64_t seed) {
  WebDraw draw(settings_, seed);
  for (std::uint32_t i = 0; i < web_.places; ++i) {
    const WebConnection of = draw.next();
    places_rtt_s_.emplace_back(of.client_rtt_s, of.server_rtt_s);
  }
}

std::shared_ptr<FirstRto> WebLoad::first_rto(Pair& pair) const {
  if (!web_.first_rto) return nullptr;
  return std::make_shared<FirstRto>(*web_.first_rto, web_.places, [&pair](std::uint16_t port) {
    return pair.place_of_port[port - kFirstPort];
  });
}

void WebLoad::make_pair(const Scenario& scenario, std::uint32_t) {
  auto pair = std::make_unique<Pair>();
  ns3::NodeContainer nodes;
  nodes.Create(2);
  pair->client = nodes.Get(0);
  pair->server = nodes.Get(1);
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(nodes);
  pair->box = ns3::CreateObject<DelayBox>();
  pair->box->configure(cloud_);
  ns3::NetDeviceContainer devices;
  for (const Ptr<ns3::Node>& node : {pair->client, pair->server}) {
    const auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
    device->SetAddress(ns3::Mac48Address::Allocate());
    device->SetDataRate(ns3::DataRate(static_cast<std::uint64_t>(box_.edge_mbps * 1e6)));
    const auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
    queue->SetMaxSize(ns3::QueueSize("1000000p"));  // access links never drop packets
    device->SetQueue(queue);
    node->AddDevice(device);
    device->Attach(pair->box);
    devices.Add(device);
  }
  const auto interfaces = addresses().Assign(devices);
  addresses().NewNetwork();
  pair->address = interfaces.GetAddress(1);

  const auto settings = std::make_shared<const SocketSettings>(scenario.socket);
  for (const Ptr<ns3::Node>& node : {pair->client, pair->server}) {
    const auto factory = ns3::CreateObject<TcpSocketFactory>();
    factory->configure(settings, nullptr);
    node->AggregateObject(factory);
  }
  pair->client_startup = std::make_shared<Startup>(web_.startup);
  pair->client_standard = std::make_shared<Startup>(kStandard);
  pair->client_first_rto = first_rto(*pair);
  pair->server_first_rto = first_rto(*pair);
  pair->listeners = {listener(*pair, kStudiedPort, web_.startup), listener(*pair, kStandardPort, kStandard)};
  pairs_.push_back(std::move(pair));
}

Ptr<Socket> WebLoad::listener(Pair& pair, std::uint16_t port, const Spec& startup) {
  const Ptr<Socket> socket = Socket::CreateSocket(pair.server, TcpSocketFactory::GetTypeId());
  ns3::DynamicCast<TcpSocket>(socket)->start_by(std::make_shared<Startup>(startup));
  ns3::DynamicCast<TcpSocket>(socket)->wait_by(pair.server_first_rto);
  socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
  socket->Listen();
  socket->SetAcceptCallback(
      ns3::MakeNullCallback<bool, Ptr<Socket>, const ns3::Address&>(),
      [this, &pair](Ptr<Socket> s, const ns3::Address& from) { accepted(pair, s, from); });
  return socket;
}

WebLoad::Flow* WebLoad::find(std::uint64_t id) {
  const auto found = flows_.find(id);
  return found == flows_.end() ? nullptr : found->second.get();
}

// Begins a connection and schedules the next, until the last measured one has its first object. A crowd ends
// with the measured connections.
void WebLoad::arrive() {
  const WebConnection drawn = draw_.next();
  begin(drawn);
  if (web_.crowd && begun_ == web_.connections) return;
  Simulator::Schedule(ns3::Seconds(drawn.after_s), &WebLoad::arrive, this);
}

void WebLoad::begin(const WebConnection& drawn) {
  const std::uint64_t id = next_id_++;
  Flow& flow = *flows_.emplace(id, std::make_unique<Flow>()).first->second;
  flow.drawn = drawn;
  flow.pair = pairs_[id % pairs_.size()].get();
  if (web_.places > 0) {
    flow.place = std::min(static_cast<std::uint32_t>(dice_.uniform() * web_.places), web_.places - 1);
    std::tie(flow.drawn.client_rtt_s, flow.drawn.server_rtt_s) = places_rtt_s_[flow.place];
  }
  WebRecord& record = flow.record;
  record.id = id;
  record.studied = dice_.uniform() < web_.startup_share;
  record.start = Simulator::Now();
  record.rtt = ns3::Seconds(flow.drawn.client_rtt_s + flow.drawn.server_rtt_s + 2e-3 * box_.delay_ms);
  record.wait = ns3::Seconds(drawn.objects.front().wait_s);
  record.response_bytes = drawn.objects.front().response_bytes;
  record.is_measured = record.start >= ns3::Seconds(web_.warmup_s) && begun_ < web_.connections;
  if (record.is_measured) {
    ++begun_;
    ++unfinished_;
    measured_until_ = record.start;
    if (begun_ == web_.connections) {
      cloud_->down.measure_to(record.start);
      cloud_->up.measure_to(record.start);
      Simulator::Stop(ns3::Seconds(web_.drain_s));
    }
  }

  const Ptr<Socket> socket = Socket::CreateSocket(flow.pair->client, TcpSocketFactory::GetTypeId());
  flow.client = ns3::DynamicCast<TcpSocket>(socket);
  flow.client->wait_by(flow.pair->client_first_rto);
  flow.client->start_by(record.studied ? flow.pair->client_startup : flow.pair->client_standard);
  socket->SetConnectCallback(
      [this, id](Ptr<Socket>) {
        if (Flow* f = find(id)) f->record.connected = Simulator::Now();
        request(id);
      },
      [this, id](Ptr<Socket>) { died(id); });
  socket->SetCloseCallbacks(ns3::MakeNullCallback<void, Ptr<Socket>>(),
                            [this, id](Ptr<Socket>) { died(id); });
  socket->SetRecvCallback([this, id](Ptr<Socket>) { received(id); });
  ns3::Address local;
  if (socket->Bind() != 0 || socket->GetSockName(local) != 0) return died(id);
  open_path(flow, ns3::InetSocketAddress::ConvertFrom(local).GetPort());
  if (socket->Connect(
          ns3::InetSocketAddress(flow.pair->address, record.studied ? kStudiedPort : kStandardPort)) != 0)
    died(id);
}

void WebLoad::open_path(Flow& flow, std::uint16_t port) {
  flow.pair->flow_of_port[port - kFirstPort] = flow.record.id;
  flow.pair->place_of_port[port - kFirstPort] = flow.place;
  ConnectionPath path;
  path.client_delay = ns3::Seconds(flow.drawn.client_rtt_s / 2 + 1e-3 * box_.delay_ms);
  path.server_delay = ns3::Seconds(flow.drawn.server_rtt_s / 2);
  path.server_bits_a_second = flow.drawn.server_mbps * 1e6;
  path.loss = box_.loss.first + (box_.loss.second - box_.loss.first) * dice_.uniform();
  path.loses_syn_ack = dice_.uniform() < box_.syn_ack_loss;
  flow.pair->box->path(port) = path;
  flow.port = port;
}

void WebLoad::request(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow) return;
  const WebObject& object = flow->drawn.objects[flow->object];
  flow->request_left = object.request_bytes;
  flow->to_come = object.response_bytes;
  flow->client->Send(ns3::Create<ns3::Packet>(object.request_bytes), 0);
}

void WebLoad::accepted(Pair& pair, Ptr<Socket> socket, const ns3::Address& from) {
  const std::uint64_t id =
      pair.flow_of_port[ns3::InetSocketAddress::ConvertFrom(from).GetPort() - kFirstPort];
  Flow* const flow = find(id);
  if (!flow || flow->server) return;
  flow->server = ns3::DynamicCast<TcpSocket>(socket);
  socket->SetRecvCallback([this, id](Ptr<Socket>) { requested(id); });
  socket->SetSendCallback([this, id](Ptr<Socket>, std::uint32_t) { fill(id); });
  socket->SetCloseCallbacks(ns3::MakeNullCallback<void, Ptr<Socket>>(),
                            [this, id](Ptr<Socket>) { died(id); });
}

void WebLoad::requested(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow || !flow->server) return;
  while (const Ptr<ns3::Packet> packet = flow->server->Recv(kEverything, 0)) {
    if (packet->GetSize() == 0) return;
    flow->request_left -= std::min(packet->GetSize(), flow->request_left);
    if (flow->request_left == 0)
      Simulator::Schedule(ns3::Seconds(flow->drawn.objects[flow->object].wait_s), &WebLoad::respond, this,
                          id);
  }
}

void WebLoad::respond(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow) return;
  flow->to_send = flow->drawn.objects[flow->object].response_bytes;
  fill(id);
}

void WebLoad::fill(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow || flow->to_send == 0) return;
  while (flow->to_send > 0) {
    const std::uint32_t part = std::min(flow->to_send, flow->server->GetTxAvailable());
    if (part == 0 || flow->server->Send(ns3::Create<ns3::Packet>(part), 0) < 0) return;
    flow->to_send -= part;
  }
  // after the last response the server closes
  if (flow->object + 1 == flow->drawn.objects.size()) flow->server->Close();
}

void WebLoad::received(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow) return;
  while (const Ptr<ns3::Packet> packet = flow->client->Recv(kEverything, 0)) {
    if (packet->GetSize() == 0) return;
    flow->to_come -= std::min(packet->GetSize(), flow->to_come);
    if (flow->to_come > 0) continue;
    if (flow->object == 0) first_object_done(*flow);
    if (++flow->object < flow->drawn.objects.size()) {
      Simulator::Schedule(ns3::Seconds(flow->drawn.objects[flow->object].gap_s), &WebLoad::request, this, id);
      return;
    }
    // scheduled, because a callback of the socket must not release the socket
    Simulator::ScheduleNow(&WebLoad::forget, this, id);
    return;
  }
}

void WebLoad::note_losses(const Flow& flow, WebRecord& record) {
  const ConnectionPath& path = flow.pair->box->path(flow.port);
  record.syns_lost = path.syns_lost;
  record.syn_acks_lost = path.syn_acks_lost;
  record.syn_acks_forced = path.syn_acks_forced;
}

void WebLoad::first_object_done(Flow& flow) {
  WebRecord& record = flow.record;
  record.is_done = true;
  record.done = Simulator::Now();
  note_losses(flow, record);
  record.syn_resends = flow.client->handshake_resends();
  record.syn_ack_resends = flow.server->handshake_resends();
  if (!record.is_measured) return;
  ended_(record);
  if (--unfinished_ == 0 && begun_ == web_.connections) Simulator::Stop();
}

void WebLoad::died(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow || flow->record.died) return;
  flow->record.died = true;
  if (flow->record.is_measured && !flow->record.is_done) {
    ended_(flow->record);
    --unfinished_;
  }
  Simulator::ScheduleNow(&WebLoad::forget, this, id);
}

// Forgets a connection; TCP continues until both ends are closed.
void WebLoad::forget(std::uint64_t id) {
  Flow* const flow = find(id);
  if (!flow) return;
  for (const Ptr<TcpSocket>& socket : {flow->client, flow->server}) {
    if (!socket) continue;
    socket->SetConnectCallback(ns3::MakeNullCallback<void, Ptr<Socket>>(),
                               ns3::MakeNullCallback<void, Ptr<Socket>>());
    socket->SetCloseCallbacks(ns3::MakeNullCallback<void, Ptr<Socket>>(),
                              ns3::MakeNullCallback<void, Ptr<Socket>>());
    socket->SetRecvCallback(ns3::MakeNullCallback<void, Ptr<Socket>>());
    socket->SetSendCallback(ns3::MakeNullCallback<void, Ptr<Socket>, std::uint32_t>());
    socket->report_place();
    socket->Close();
  }
  flows_.erase(id);
}

std::vector<WebRecord> WebLoad::open() const {
  std::vector<WebRecord> out;
  for (const auto& [id, flow] : flows_)
    if (flow->record.is_measured && !flow->record.is_done && !flow->record.died) {
      WebRecord record = flow->record;
      note_losses(*flow, record);
      out.push_back(record);
    }
  std::sort(out.begin(), out.end(), [](const WebRecord& a, const WebRecord& b) { return a.id < b.id; });
  return out;
}

}  // namespace tcplearn
