// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "emulate/delay.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tcplearn::emulate {

namespace {

constexpr double kMostDeviations = 4;
constexpr std::size_t kSteps = 2048;  // of the table: 1/256 of a deviation each

double deviations(std::size_t step) { return kMostDeviations * (2 * static_cast<double>(step) / kSteps - 1); }

double normal_chance(double value) { return 0.5 * std::erfc(-value / std::sqrt(2.0)); }

std::array<double, kSteps + 1> normal_table() {
  std::array<double, kSteps + 1> out{};
  for (std::size_t i = 0; i <= kSteps; ++i) out[i] = normal_chance(deviations(i));
  return out;
}

double normal_quantile(double chance) {
  static const auto table = normal_table();
  const auto above =
      static_cast<std::size_t>(std::upper_bound(table.begin(), table.end(), chance) - table.begin());
  if (above == 0) return -kMostDeviations;
  if (above > kSteps) return kMostDeviations;
  const double part = (chance - table[above - 1]) / (table[above] - table[above - 1]);
  return deviations(above - 1) + part * (deviations(above) - deviations(above - 1));
}

// netem's Pareto distribution: shape 3, centred at 0, scaled by 4/3.
double pareto_quantile(double chance) {
  return std::min((std::pow(1 - chance, -1.0 / 3) - 1.5) * 4 / 3, kMostDeviations);
}

}  // namespace

double jitter_quantile(const std::string& distribution, double chance) {
  if (distribution == "uniform") return 2 * chance - 1;
  if (distribution == "uniform-above") return 2 * chance;
  return distribution == "pareto" ? pareto_quantile(chance) : normal_quantile(chance);
}

Delay::Delay(const Direction& direction, std::uint64_t seed, std::uint64_t hop, bool forward)
    : d_(direction),
      jitter_(seed, hop, forward, Purpose::kJitter),
      tail_(seed, hop, forward, Purpose::kTail),
      reorder_(seed, hop, forward, Purpose::kReorder),
      slots_(seed, hop, forward, Purpose::kSlot) {}

double Delay::jitter_ns(std::int64_t deviation_ns) {
  if (deviation_ns <= 0) return 0;
  double chance = jitter_.uniform();
  if (d_.correlation > 0) {  // of normal variables, so that the distribution stays that of the path
    last_normal_ = d_.correlation * last_normal_ +
                   std::sqrt(1 - d_.correlation * d_.correlation) * normal_quantile(chance);
    chance = normal_chance(last_normal_);
  }
  return static_cast<double>(deviation_ns) * jitter_quantile(d_.distribution, chance);
}

std::int64_t Delay::arrives_ns(std::int64_t now_ns) {
  const InForce has = d_.changes.empty() ? InForce{0, 0, d_.delay_ns, d_.jitter_ns} : in_force(d_, now_ns);
  double ns = std::max(static_cast<double>(has.delay_ns) + jitter_ns(has.jitter_ns), 0.0);
  if (d_.tail_ns > 0) ns += tail_.exponential(static_cast<double>(d_.tail_ns));
  std::int64_t arrives = now_ns + std::llround(ns);
  if (d_.reorder > 0 && reorder_.uniform() < d_.reorder) return arrives + d_.reorder_ns;
  if (!d_.jitter_reorders) arrives = std::max(arrives, last_ns_);
  if (d_.slot_ns) {
    const auto [least, most] = *d_.slot_ns;
    const auto drawn = [&] {
      return least + std::llround(static_cast<double>(most - least) * slots_.uniform());
    };
    // as in netem, a slot that is over by then is drawn anew, and if that is over too, from the packet's time
    if (slot_ns_ < arrives) slot_ns_ = std::max(now_ns, last_ns_) + drawn();
    if (slot_ns_ < arrives) slot_ns_ = arrives + drawn();
    arrives = std::max(arrives, slot_ns_);
  }
  last_ns_ = arrives;
  return arrives;
}

}  // namespace tcplearn::emulate
