// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-recovery-ops.h"
#include "tcp_socket.h"

namespace tcplearn {

NS_OBJECT_ENSURE_REGISTERED(TcpSocketFactory);

namespace {

template <typename T>
ns3::Ptr<T> create_by(const ns3::Ptr<ns3::TcpL4Protocol>& tcp, const char* attribute) {
  ns3::TypeIdValue type;
  tcp->GetAttribute(attribute, type);
  ns3::ObjectFactory factory;
  factory.SetTypeId(type.Get());
  return factory.Create<T>();
}

}  // namespace

ns3::TypeId TcpSocketFactory::GetTypeId() {
  static ns3::TypeId id = ns3::TypeId("tcplearn::TcpSocketFactory")
                              .SetParent<ns3::SocketFactory>()
                              .SetGroupName("Internet")
                              .AddConstructor<TcpSocketFactory>();
  return id;
}

void TcpSocketFactory::configure(std::shared_ptr<const SocketSettings> settings,
                                 std::shared_ptr<Recorder> recorder) {
  m_settings = std::move(settings);
  m_recorder = std::move(recorder);
}

ns3::Ptr<ns3::Socket> TcpSocketFactory::CreateSocket() {
  const ns3::Ptr<ns3::Node> node = GetObject<ns3::Node>();
  const ns3::Ptr<ns3::TcpL4Protocol> tcp = node->GetObject<ns3::TcpL4Protocol>();
  const ns3::Ptr<TcpSocket> socket = ns3::CreateObject<TcpSocket>();
  socket->SetNode(node);
  socket->SetTcp(tcp);
  if (m_settings->stock) {
    socket->SetRtt(ns3::CreateObject<ns3::RttMeanDeviation>());
  } else {
    const ns3::Ptr<CoreRttEstimator> rtt = ns3::CreateObject<CoreRttEstimator>();
    rtt->choose(m_settings->estimator);
    socket->SetRtt(rtt);
  }
  socket->SetCongestionControlAlgorithm(create_by<ns3::TcpCongestionOps>(tcp, "SocketType"));
  socket->SetRecoveryAlgorithm(create_by<ns3::TcpRecoveryOps>(tcp, "RecoveryType"));
  socket->configure(m_settings, m_recorder);
  tcp->AddSocket(socket);
  return socket;
}

}  // namespace tcplearn
