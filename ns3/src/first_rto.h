// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A first-RTO policy of the core (the RTO before the first RTT sample) with the history of one host's
// destinations, shared by the host's sockets.
#ifndef TCPLEARN_NS3_FIRST_RTO_H
#define TCPLEARN_NS3_FIRST_RTO_H

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithm.h"
#include "ns3/nstime.h"

namespace tcplearn {

class FirstRto {
 public:
  using PlaceOf = std::function<std::uint32_t(std::uint16_t client_port)>;
  // Throws std::invalid_argument for a spec that the core does not accept.
  FirstRto(const Spec& spec, std::uint32_t places, PlaceOf place_of);

  // Returns the first RTO; an eighth longer if `accepts`, as in linux/bpf/first_rto.bpf.c.
  ns3::Time rto(std::uint16_t client_port, bool accepts) const;
  // Takes a completed handshake; `took` is the time since this end's first packet. There are no
  // timestamps, so a handshake with retransmissions gives no RTT.
  void ended(std::uint16_t client_port, ns3::Time took, bool resent, bool accepts);

 private:
  std::vector<Algorithm<tl_first_rto_policy>> places_;
  PlaceOf place_of_;
};

}  // namespace tcplearn

#endif
