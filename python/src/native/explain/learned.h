// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What the compared resend policies had learned from the last closed connection between two hosts. The next
// connection between them begins with it, as under `tcplearn live`.
#ifndef TCPLEARN_EXPLAIN_LEARNED_H
#define TCPLEARN_EXPLAIN_LEARNED_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "capture/packet.h"

namespace tcplearn {

class Learned {
 public:
  // The sending host and its peer.
  using Hosts = std::pair<Address, Address>;

  // Returns the states of the policies, or null. The pointer is valid until the next keep().
  const std::vector<std::uint64_t>* of(const Hosts& hosts) const {
    const auto it = states_.find(hosts);
    return it == states_.end() ? nullptr : &it->second;
  }
  void keep(const Hosts& hosts, const std::vector<std::uint64_t>& states) {
    const auto [it, added] = states_.insert_or_assign(hosts, states);
    if (!added) return;
    order_.push_back(hosts);
    if (order_.size() <= kMostHosts) return;
    states_.erase(order_.front());
    order_.pop_front();
  }

 private:
  // fewer than `tcplearn live` remembers, to save memory; the pair that was added first is forgotten first
  static constexpr std::size_t kMostHosts = 2048;
  std::map<Hosts, std::vector<std::uint64_t>> states_;
  std::deque<Hosts> order_;
};

}  // namespace tcplearn

#endif
