// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What the compared resend policies had learned from the last closed connection between two hosts. A
// connection between them begins with it, as under `tcplearn live`.
#ifndef TCPLEARN_EXPLAIN_LEARNED_H
#define TCPLEARN_EXPLAIN_LEARNED_H

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "capture/packet.h"

namespace tcplearn {

class Learned {
 public:
  // The sending host and its peer: IPv4 addresses, or the /64 of IPv6 addresses.
  using Hosts = std::pair<Address, Address>;
  // The states of all policies; null: nothing is known.
  using States = std::shared_ptr<const std::vector<std::uint64_t>>;

  static Hosts hosts(const Endpoint& sender, const Endpoint& peer) { return {host(sender), host(peer)}; }

  States of(const Hosts& hosts) const {
    const auto it = known_.find(hosts);
    return it == known_.end() ? nullptr : it->second->states;
  }
  void keep(const Hosts& hosts, const std::vector<std::uint64_t>& states) {
    if (const auto it = known_.find(hosts); it != known_.end()) {
      order_.erase(it->second);
    } else if (known_.size() == kMostHosts) {
      known_.erase(order_.back().hosts);
      order_.pop_back();
    }
    order_.push_front({hosts, std::make_shared<const std::vector<std::uint64_t>>(states)});
    known_[hosts] = order_.begin();
  }

 private:
  // fewer than `tcplearn live` remembers, to save memory; what was kept first is forgotten first
  static constexpr std::size_t kMostHosts = 2048;
  struct Entry {
    Hosts hosts;
    States states;
  };
  static Address host(const Endpoint& end) { return end.v6 ? Address{end.address.high, 0} : end.address; }

  std::list<Entry> order_;
  std::map<Hosts, std::list<Entry>::iterator> known_;
};

}  // namespace tcplearn

#endif
