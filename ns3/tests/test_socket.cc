// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// `jacobson` in this host against ns-3's own RttMeanDeviation in ns-3's own sockets, on whole runs; and
// Karn's rule after a lost SYN, which ns-3 lacks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "check.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/pointer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "tcp_socket.h"

using namespace ns3;

namespace {

// What is compared of two runs: every RTO that the sender's timer had.
struct Run {
  std::vector<std::pair<Time, Time>> rto;
  std::uint64_t delivered = 0, timeouts = 0;
};

struct Setting {
  bool ours;  // tcplearn's socket and estimator, or ns-3's
  std::string name = "jacobson";
  double loss = 0;
  std::uint32_t lost_syns = 0;
  std::string rate = "3333333bps";  // gives times that are not whole microseconds
  double seconds = 300;
  std::int64_t counted_us = 0;  // the tick of a slow clock
};

class FirstLost : public ErrorModel {
 public:
  std::uint32_t left = 0;

 private:
  bool DoCorrupt(Ptr<Packet>) override { return left > 0 && left--; }
  void DoReset() override {}
};

class Sender {
 public:
  explicit Sender(Ptr<Socket> socket) : socket_(socket) {
    socket->SetConnectCallback(MakeCallback(&Sender::connected, this), MakeNullCallback<void, Ptr<Socket>>());
    socket->SetSendCallback(MakeCallback(&Sender::fill, this));
    socket->TraceConnectWithoutContext("RTO", MakeCallback(&Sender::rto, this));
  }
  std::vector<std::pair<Time, Time>> rtos;

 private:
  void connected(Ptr<Socket> socket) { fill(socket, 0); }
  void fill(Ptr<Socket> socket, std::uint32_t) {
    while (socket->GetTxAvailable() >= 512 && socket->Send(Create<Packet>(512)) > 0) {
    }
  }
  void rto(Time, Time now) { rtos.emplace_back(Simulator::Now(), now); }
  Ptr<Socket> socket_;
};

tcplearn::EstimatorSpec rfc6298(const std::string& name) {
  return {{name == "jacobson" ? "jacobson:granularity_us=1000,rto_min_us=200000" : name}, ""};
}

Run run(const Setting& s) {
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(7);
  Config::SetDefault("ns3::TcpL4Protocol::RttEstimatorType", TypeIdValue(RttMeanDeviation::GetTypeId()));
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpNewReno")));
  Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
  Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(512));
  NodeContainer nodes;
  nodes.Create(2);
  PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", StringValue(s.rate));
  link.SetChannelAttribute("Delay", StringValue("17ms"));
  link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("40p"));
  const NetDeviceContainer devices = link.Install(nodes);
  InternetStackHelper stack;
  stack.Install(nodes);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
  const auto errors = CreateObject<RateErrorModel>();
  errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
  errors->SetRate(s.loss);
  errors->AssignStreams(5);
  const auto first = CreateObject<FirstLost>();
  first->left = s.lost_syns;
  devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(first));
  if (s.lost_syns == 0)  // if SYNs are lost, the first RTOs are tested elsewhere
    Simulator::Schedule(Seconds(0.5),
                        [&] { devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors)); });

  const auto settings = std::make_shared<tcplearn::SocketSettings>();
  settings->estimator = rfc6298(s.name);
  settings->keep_backoff = false;  // as ns-3
  if (s.counted_us > 0) {
    settings->sampling = TL_COUNTED;
    settings->quantum_us = s.counted_us;
  }
  const auto recorder = std::make_shared<tcplearn::Recorder>(Seconds(20));
  recorder->flows.resize(1);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const auto factory = CreateObject<tcplearn::TcpSocketFactory>();
    factory->configure(settings, recorder);
    nodes.Get(i)->AggregateObject(factory);
  }
  const TypeId type = s.ours ? tcplearn::TcpSocketFactory::GetTypeId() : TcpSocketFactory::GetTypeId();
  const Ptr<Socket> listener = Socket::CreateSocket(nodes.Get(1), type);
  std::uint64_t delivered = 0;
  const auto received = [&delivered](Ptr<Socket> socket) {
    while (const Ptr<Packet> packet = socket->Recv()) delivered += packet->GetSize();
  };
  listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
  listener->Listen();
  listener->SetAcceptCallback(
      MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
      Callback<void, Ptr<Socket>, const Address&>([&](Ptr<Socket> socket, const Address&) {
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>(received));
      }));
  const Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(0), type);
  if (s.ours) DynamicCast<tcplearn::TcpSocket>(socket)->record_as(0);
  Sender sender(socket);
  socket->Bind();
  Simulator::Schedule(Seconds(0.1), [&] { socket->Connect(InetSocketAddress(interfaces.GetAddress(1), 9)); });
  Simulator::Stop(Seconds(s.seconds));
  Simulator::Run();
  Run out{sender.rtos, delivered, recorder->flows[0].timeouts};
  Simulator::Destroy();
  return out;
}

// Returns the largest difference of the RTOs of two runs, without the first one, which is set before any
// sample: to RFC 6298's initial second ns-3 adds G.
double worst_rto_us(const Run& a, const Run& b) {
  double worst = 0;
  for (std::size_t i = 1; i < std::min(a.rto.size(), b.rto.size()); ++i)
    worst = std::max(
        worst, std::fabs(static_cast<double>((a.rto[i].second - b.rto[i].second).GetNanoSeconds())) / 1e3);
  return worst;
}

void same_as_stock(const char* what, double loss, const std::string& rate) {
  const Run stock = run({false, "jacobson", loss, 0, rate}), ours = run({true, "jacobson", loss, 0, rate});
  char line[200];
  const double worst = worst_rto_us(stock, ours);
  std::snprintf(line, sizeof(line),
                "%s: %zu and %zu RTOs, %llu timeouts, %llu and %llu bytes, RTO within %.3f us", what,
                stock.rto.size(), ours.rto.size(), static_cast<unsigned long long>(ours.timeouts),
                static_cast<unsigned long long>(stock.delivered),
                static_cast<unsigned long long>(ours.delivered), worst);
  check(stock.rto.size() > 3 && stock.rto.size() == ours.rto.size() && stock.delivered == ours.delivered &&
            worst <= 1,
        line);
}

// Checks that a timeout doubles the RTO and comes at a tick of the clock. A timer of n ticks is set within a
// tick, so it waits up to one tick less.
void timers_run_down_at_boundaries() {
  const std::int64_t tick_us = 300000;
  const Run r = run({true, "jacobson/freebsd-2.2", 0.10, 0, "3333333bps", 300, tick_us});
  const std::int64_t phase_us = tcplearn::SlowClock(tick_us, 0, 0).phase_us();
  std::size_t doubled = 0, off = 0;
  for (std::size_t i = 1; i < r.rto.size(); ++i) {
    if (r.rto[i].second != 2 * r.rto[i - 1].second) continue;
    ++doubled;
    off += (r.rto[i].first.GetNanoSeconds() + phase_us * 1000) % (tick_us * 1000) > 1000;
  }
  check(doubled > 10 && r.timeouts > 10 && off == 0, "counted ticks: " + std::to_string(doubled) +
                                                         " timeouts, " + std::to_string(off) +
                                                         " between boundaries");
}

void countdowns_are_of_whole_ticks() {
  const tcplearn::SlowClock clock(500000, 3, 1);
  const Time boundary = MicroSeconds(static_cast<std::uint64_t>(10 * 500000 - clock.phase_us()));
  check(clock.countdown(boundary, MilliSeconds(1000)) == MilliSeconds(1000) &&
            clock.countdown(boundary, MilliSeconds(1001)) == MilliSeconds(1500) &&
            clock.countdown(boundary + MilliSeconds(200), MilliSeconds(1000)) == MilliSeconds(800) &&
            clock.countdown(boundary, MilliSeconds(0)) == MilliSeconds(500),
        "two ticks last between one and two of them");
}

}  // namespace

int main() {
  countdowns_are_of_whole_ticks();
  timers_run_down_at_boundaries();
  same_as_stock("no loss", 0, "3Mbps");
  same_as_stock("1 % loss, times in whole us", 0.01, "4Mbps");
  same_as_stock("1 % loss", 0.01, "3333333bps");
  same_as_stock("10 % loss", 0.10, "3333333bps");

  // compare the first RTO after a SYN that was lost and retransmitted after 3 s, which gives no sample
  const Run stock = run({false, "jacobson", 0, 1, "1Mbps"}), ours = run({true, "jacobson", 0, 1, "1Mbps"});
  const auto longest = [](const Run& r) {
    Time out;
    for (const auto& [at, rto] : r.rto)
      if (at > Seconds(3.2)) out = std::max(out, rto);
    return out.GetSeconds();
  };
  check(longest(stock) > 8, "ns-3 times a SYN sent twice: RTO " + std::to_string(longest(stock)) + " s");
  check(longest(ours) > 0.2 && longest(ours) < 3.5,
        "this host does not: RTO " + std::to_string(longest(ours)) + " s");

  for (std::size_t i = 0; const tl_estimator* estimator = tl_estimator_at(i, TL_F64); ++i) {
    const char* name = estimator->algorithm.name;
    const Run r = run({true, name, 0.01, 0, "3333333bps", 20});
    check(r.delivered > 50000, std::string(name) + ": " + std::to_string(r.delivered) + " bytes at 1 % loss");
  }
  return failures ? 1 : 0;
}
