// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "flow.h"

#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace tcplearn {
Flow::Flow(std::shared_ptr<Recorder> recorder, std::uint32_t id, const Network& network,
           std::uint32_t segment_bytes)
    : recorder_(std::move(recorder)),
      id_(id),
      ends_(network, record()),
      segment_bytes_(segment_bytes),
      left_(record().packets) {
  ns3::Simulator::ScheduleWithContext(ends_.from_node(), record().start, &Flow::start, this);
}

void Flow::start() {
  ends_.open(ns3::MakeCallback(&Flow::accepted, this));
  const ns3::Ptr<ns3::Socket>& socket = ends_.socket();
  socket->SetConnectCallback(ns3::MakeCallback(&Flow::connected, this), ns3::MakeCallback(&Flow::died, this));
  socket->SetCloseCallbacks(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>(),
                            ns3::MakeCallback(&Flow::died, this));
  socket->SetSendCallback(ns3::MakeCallback(&Flow::fill, this));
  if (!ends_.connect()) died(socket);
}

void Flow::connected(ns3::Ptr<ns3::Socket> socket) {
  record().is_connected = true;
  record().connected = ns3::Simulator::Now();
  fill(socket, socket->GetTxAvailable());
}

void Flow::fill(ns3::Ptr<ns3::Socket> socket, std::uint32_t) {
  if (left_ == 0) return;
  while (left_ > 0 && socket->GetTxAvailable() >= segment_bytes_) {
    if (socket->Send(ns3::Create<ns3::Packet>(segment_bytes_)) < 0) return;
    --left_;
  }
  if (left_ == 0) socket->Close();
}

void Flow::died(ns3::Ptr<ns3::Socket>) {
  if (!record().is_finished) record().died = true;
}

void Flow::accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
  socket->SetRecvCallback(ns3::MakeCallback(&Flow::received, this));
  socket->SetCloseCallbacks(ns3::MakeCallback(&Flow::received, this),
                            ns3::MakeCallback(&Flow::received, this));
  ends_.accepted();
}

void Flow::received(ns3::Ptr<ns3::Socket> socket) {
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) {  // the peer has closed its side
      socket->Close();
      break;
    }
    record().delivered_bytes += packet->GetSize();
  }
  if (!record().is_finished && record().delivered_bytes >= record().packets * segment_bytes_) {
    record().is_finished = true;
    record().finished = ns3::Simulator::Now();
  }
}

}  // namespace tcplearn
