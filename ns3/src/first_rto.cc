// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "first_rto.h"

#include <utility>

#include "ns3/simulator.h"

namespace tcplearn {
namespace {

std::int64_t now_us() { return ns3::Simulator::Now().GetMicroSeconds(); }

}  // namespace

FirstRto::FirstRto(const tl_first_rto_model& model, std::uint32_t places, PlaceOf place_of)
    : model_(model), places_(places), place_of_(std::move(place_of)) {
  for (tl_first_rto_place& place : places_) tl_first_rto_place_init(&place);
}

ns3::Time FirstRto::rto(std::uint16_t client_port, bool accepts) const {
  tl_first_rto_place none;
  tl_first_rto_place_init(&none);
  const tl_first_rto_place& place = places_.at(place_of_(client_port));
  const std::int64_t us = tl_first_rto_us(&model_, &place, &none, TL_FIRST_RTO_HOPS_UNKNOWN, now_us());
  return ns3::MicroSeconds(
      static_cast<std::uint64_t>(accepts ? tl_clamp_us(us + (us >> 3), model_.floor_us, model_.cap_us) : us));
}

void FirstRto::ended(std::uint16_t client_port, ns3::Time took, bool resent, bool accepts) {
  tl_first_rto_place& place = places_.at(place_of_(client_port));
  if (resent)
    tl_first_rto_resent(&place, 0, rto(client_port, accepts).GetMicroSeconds(), now_us());
  else
    tl_first_rto_report(&place, took.GetMicroSeconds(), now_us());
}

}  // namespace tcplearn
