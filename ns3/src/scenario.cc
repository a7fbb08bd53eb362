// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scenario.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"
#include "ns3_version.h"

namespace tcplearn {
namespace {

using nlohmann::json;

template <typename T>
void take(const json& from, const char* key, T& to) {
  from.at(key).get_to(to);
}

Manet read_manet(const json& j) {
  Manet m{};
  take(j, "nodes", m.nodes);
  take(j, "width_m", m.width_m);
  take(j, "height_m", m.height_m);
  take(j, "range_m", m.range_m);
  take(j, "placement", m.placement);
  m.mobile = j.at("mobility") == "random-waypoint";
  take(j, "speed_mps", m.speed_mps);
  take(j, "pause_s", m.pause_s);
  take(j, "data_mode", m.data_mode);
  take(j, "control_mode", m.control_mode);
  take(j, "queue_packets", m.queue_packets);
  take(j, "queue_delay_s", m.queue_delay_s);
  take(j, "rts_bytes", m.rts_bytes);
  take(j, "retries_short", m.retries_short);
  take(j, "retries_long", m.retries_long);
  take(j, "hello", m.hello);
  take(j, "active_route_s", m.active_route_s);
  take(j, "route_queue_s", m.route_queue_s);
  take(j, "route_queue_packets", m.route_queue_packets);
  take(j, "arp_dead_s", m.arp_dead_s);
  return m;
}

Dumbbell read_dumbbell(const json& j) {
  Dumbbell d{};
  take(j, "hosts_per_side", d.hosts_per_side);
  take(j, "access_mbps", d.access_mbps);
  take(j, "access_ms", d.access_ms);
  take(j, "rate_mbps", d.rate_mbps);
  take(j, "delay_ms", d.delay_ms);
  take(j, "queue", d.queue);
  take(j, "queue_packets", d.queue_packets);
  take(j, "trace", d.trace);
  return d;
}

Moving read_moving(const json& j) {
  Moving m{};
  take(j, "jitter_ms", m.jitter_ms);
  take(j, "tail_ms", m.tail_ms);
  take(j, "step_ms", m.step_ms);
  take(j, "step_every_s", m.step_every_s);
  take(j, "fade_s", m.fade_s);
  take(j, "fade_every_s", m.fade_every_s);
  take(j, "loss_back_rate", m.loss_back_rate);
  return m;
}

Path read_path(const json& j) {
  Path p{};
  take(j, "rate_mbps", p.rate_mbps);
  take(j, "rtt_ms", p.rtt_ms);
  take(j, "queue", p.queue);
  take(j, "queue_packets", p.queue_packets);
  take(j, "queue_bdp", p.queue_bdp);
  take(j, "trace", p.trace);
  take(j, "loss_rate", p.loss_rate);
  take(j, "loss_burst_packets", p.loss_burst_packets);
  take(j, "loss_place", p.loss_place);
  take(j, "last_hop_mbps", p.last_hop_mbps);
  take(j, "reorder_rate", p.reorder_rate);
  take(j, "reorder_ms", p.reorder_ms);
  if (j.contains("moving")) p.moving = read_moving(j.at("moving"));
  if (j.contains("described")) p.described = read_described(j.at("described"));
  return p;
}

Cloudbox read_cloudbox(const json& j) {
  Cloudbox c{};
  take(j, "pairs", c.pairs);
  take(j, "edge_mbps", c.edge_mbps);
  take(j, "rate_mbps", c.rate_mbps);
  take(j, "delay_ms", c.delay_ms);
  take(j, "queue_packets", c.queue_packets);
  take(j, "server_mbps", c.server_mbps);
  take(j, "loss", c.loss);
  take(j, "syn_ack_loss", c.syn_ack_loss);
  return c;
}

// Reads a spec. Specs are checked here, so that an invalid one does not stop a run in the middle.
Spec spec_of(const json& j) { return read_spec(j.at("algorithm").get<std::string>()); }

Web read_web(const json& j) {
  Web w{};
  take(j, "level", w.level);
  take(j, "connections", w.connections);
  take(j, "warmup_s", w.warmup_s);
  take(j, "drain_s", w.drain_s);
  take(j, "persistent", w.persistent);
  if (j.contains("crowd")) take(j, "crowd", w.crowd);
  take(j, "response_max_bytes", w.response_max_bytes);
  take(j, "startup_share", w.startup_share);
  if (j.contains("places")) take(j, "places", w.places);
  if (j.contains("first_rto")) {
    w.first_rto = spec_of(j.at("first_rto"));
    make_ready(TL_KIND_FIRST_RTO, *w.first_rto);
  }
  w.startup = spec_of(j.at("startup"));
  make_ready(TL_KIND_STARTUP, w.startup);
  return w;
}

Load read_load(const json& j) {
  Load l{};
  take(j, "kind", l.kind);
  take(j, "flows", l.flows);
  take(j, "packets", l.packets);
  take(j, "start_s", l.start_s);
  take(j, "every_s", l.every_s);
  if (l.kind == "long") {
    take(j, "beside", l.beside);
    take(j, "beside_congestion_control", l.beside_congestion_control);
    take(j, "beside_start_s", l.beside_start_s);
  } else if (l.kind == "requests") {
    take(j, "count", l.count);
    take(j, "request_bytes", l.request_bytes);
    take(j, "think_s", l.think_s);
    take(j, "answer_after_s", l.answer_after_s);
    take(j, "stream", l.stream);
  } else {
    return l;
  }
  take(j, "udp", l.udp);
  take(j, "udp_share", l.udp_share);
  take(j, "udp_reverse_share", l.udp_reverse_share);
  take(j, "udp_on_s", l.udp_on_s);
  take(j, "udp_off_s", l.udp_off_s);
  return l;
}

Tcp read_tcp(const json& j) {
  Tcp t{};
  take(j, "congestion_control", t.congestion_control);
  take(j, "segment_bytes", t.segment_bytes);
  take(j, "buffer_bytes", t.buffer_bytes);
  take(j, "initial_window", t.initial_window);
  take(j, "cwnd_max_bytes", t.cwnd_max_bytes);
  take(j, "delayed_ack_segments", t.delayed_ack_segments);
  take(j, "delayed_ack_s", t.delayed_ack_s);
  take(j, "connect_timeout_s", t.connect_timeout_s);
  take(j, "backoff_max_s", t.backoff_max_s);
  take(j, "max_segment_lifetime_s", t.max_segment_lifetime_s);
  take(j, "sack", t.sack);
  take(j, "keep_backoff", t.keep_backoff);
  t.timestamps = j.contains("timestamps") && j.at("timestamps").get<bool>();
  return t;
}

LossSettings read_loss(const json& j) {
  LossSettings out;
  take(j, "acts", out.acts);
  out.by_probability = j.contains("cut") && j.at("cut").get<std::string>() == "probability";
  out.classifier = read_spec(j.at("classifier").get<std::string>());
  make_ready(TL_KIND_LOSS, out.classifier);
  if (j.contains("weights")) out.model = std::make_shared<LossModel>(j.at("weights").get<std::string>());
  return out;
}

// Sets the congestion controls' parameters as in hwang2018, if the file has a loss table.
void set_loss_defaults(const json& j) {
  const ns3::UintegerValue beta(j.at("veno_beta").get<std::uint32_t>());
  ns3::Config::SetDefault("ns3::TcpVeno::Beta", beta);
  ns3::Config::SetDefault("tcplearn::Veno::Beta", beta);
  choose_westwood_plus();
}

SocketSettings read_socket(const json& j, const Tcp& tcp) {
  SocketSettings s;
  const json& e = j.at("estimator");
  take(e, "command", s.estimator.command);
  s.estimator.core = spec_of(e);
  s.stock = s.estimator.core.text == "ns3";
  const auto sampling = j.at("sampling").get<std::string>();
  s.sampling = sampling == "counted" ? TL_COUNTED : sampling == "one-per-rtt" ? TL_ONE_PER_RTT : TL_EVERY_ACK;
  s.quantum_us = j.at("quantum_us").get<std::int64_t>();
  if (s.sampling == TL_COUNTED) {
    const auto given = j.at("given").get<std::string>();
    s.given = given == "count" ? Given::kCount : given == "less-one" ? Given::kCountLessOne : Given::kTime;
    take(j, "seed", s.seed);
  }
  s.cwnd_max_bytes = tcp.cwnd_max_bytes;
  s.keep_backoff = tcp.keep_backoff;
  s.backoff_max = ns3::Seconds(tcp.backoff_max_s);
  if (!s.stock) make_estimator(s.estimator);
  if (const auto& of_tcp = j.at("tcp"); of_tcp.contains("resend")) {
    const auto text = of_tcp.at("resend").get<std::string>();
    if (text == "clairvoyant") s.limit = Limit::kClairvoyant;
    if (text == "clairvoyant/doubling") s.limit = Limit::kClairvoyantDoubling;
    if (text == "statistical") s.limit = Limit::kStatistical;
    s.resend = read_spec(s.limit == Limit::kNone ? text : "stock", TL_FIX);
    make_ready(TL_KIND_RESEND, *s.resend);
  }
  return s;
}

}  // namespace

Scenario read_scenario(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(path + ": cannot open");
  const json j = json::parse(file);
  Scenario s{};
  take(j, "seed", s.seed);
  take(j, "duration_s", s.duration_s);
  take(j, "tick_s", s.tick_s);
  take(j, "cwnd_bin_s", s.cwnd_bin_s);
  s.topology = j.at("topology").at("kind").get<std::string>();
  if (s.topology == "manet")
    s.manet = read_manet(j.at("topology"));
  else if (s.topology == "path")
    s.path = read_path(j.at("topology"));
  else if (s.topology == "delaybox")
    s.cloudbox = read_cloudbox(j.at("topology"));
  else
    s.dumbbell = read_dumbbell(j.at("topology"));
  s.load = read_load(j.at("load"));
  if (s.load.kind == "web") s.web = read_web(j.at("load"));
  s.tcp = read_tcp(j.at("tcp"));
  s.socket = read_socket(j, s.tcp);
  if (s.load.kind == "long" && s.load.beside > 0)
    s.socket.beside_congestion_control = congestion_control_type(s.load.beside_congestion_control);
  s.loss_rows = 0;
  if (!j.contains("loss")) return s;
  const json& loss = j.at("loss");
  take(loss, "rows", s.loss_rows);
  set_loss_defaults(loss);
  s.socket.loss = read_loss(loss);
  return s;
}

// Sets every TCP attribute that affects results, because ns-3's defaults differ from the papers. A
// comment states any other reason.
void set_tcp_defaults(const Tcp& t) {
  const auto set = [](const std::string& name, const ns3::AttributeValue& value) {
    ns3::Config::SetDefault("ns3::" + name, value);
  };
  using ns3::BooleanValue, ns3::UintegerValue, ns3::TimeValue, ns3::TypeIdValue, ns3::Seconds;
  set("TcpL4Protocol::SocketType",
      TypeIdValue(ns3::TypeId::LookupByName(congestion_control_type(t.congestion_control))));
  // PRR, the default, changes cwnd during recovery; this is the recovery of RFC 5681 and NewReno
  set("TcpL4Protocol::RecoveryType", TypeIdValue(ns3::TypeId::LookupByName("ns3::TcpClassicRecovery")));
  set("TcpSocketBase::Sack", BooleanValue(t.sack));
  // the sockets of this program take samples from timestamps, in ms, only after a retransmission
  set("TcpSocketBase::Timestamp", BooleanValue(t.timestamps));
  set("TcpSocketBase::WindowScaling", BooleanValue(t.buffer_bytes > 65535));
  set("TcpSocketBase::LimitedTransmit", BooleanValue(true));
  set("TcpSocketBase::MaxSegLifetime", ns3::DoubleValue(t.max_segment_lifetime_s));
  set("TcpSocket::SegmentSize", UintegerValue(t.segment_bytes));
  set("TcpSocket::SndBufSize", UintegerValue(t.buffer_bytes));
  set("TcpSocket::RcvBufSize", UintegerValue(t.buffer_bytes));
  set("TcpSocket::InitialCwnd", UintegerValue(t.initial_window));
  set("TcpSocket::DelAckCount", UintegerValue(t.delayed_ack_segments));
  set("TcpSocket::DelAckTimeout", TimeValue(Seconds(t.delayed_ack_s)));
  set("TcpSocket::ConnTimeout", TimeValue(Seconds(t.connect_timeout_s)));
  set("TcpSocket::TcpNoDelay", BooleanValue(true));
  // a flow must not end silently; by default it ends after six failures
  set("TcpSocket::ConnCount", UintegerValue(1000000));
  set("TcpSocket::DataRetries", UintegerValue(1000000));
}

}  // namespace tcplearn
