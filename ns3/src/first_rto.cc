// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "first_rto.h"

#include <utility>

#include "ns3/simulator.h"

namespace tcplearn {
namespace {

constexpr std::int32_t kHopsUnknown = -1;

std::int64_t now_us() { return ns3::Simulator::Now().GetMicroSeconds(); }

}  // namespace

FirstRto::FirstRto(const Spec& spec, std::uint32_t places, PlaceOf place_of)
    : places_(places, Algorithm<tl_first_rto_policy>(TL_KIND_FIRST_RTO, spec)),
      place_of_(std::move(place_of)) {}

ns3::Time FirstRto::rto(std::uint16_t client_port, bool accepts) const {
  const auto& place = places_.at(place_of_(client_port));
  return ns3::MicroSeconds(static_cast<std::uint64_t>(
      place.verbs().rto_us(place.state(), place.state(), kHopsUnknown, accepts, now_us())));
}

void FirstRto::ended(std::uint16_t client_port, ns3::Time took, bool resent, bool accepts) {
  auto& place = places_.at(place_of_(client_port));
  if (resent)
    place.verbs().resent(place.state(), 0, rto(client_port, accepts).GetMicroSeconds(), now_us());
  else
    place.verbs().report(place.state(), took.GetMicroSeconds(), now_us());
}

}  // namespace tcplearn
