// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "web_draw.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "web_quantiles.h"

namespace tcplearn {
namespace {

// values from ns-2.35, packmime_ranvar.cc, unless another source is named
constexpr double kPersistent = 0.09, kOnePage = 0.82, kOneObject = 0.69;
constexpr double kMorePages = 0.417, kMoreObjects = 1.578;  // means of the numbers beyond the first
constexpr std::uint32_t kTerms = 1000;
constexpr double kArrivalMemory = 0.33, kRequestMemory = 0.31;
constexpr double kRunScale[2] = {0.775, 3.11};  // scale of the lengths of runs: of validations, of files
constexpr double kValidationMost = 275;         // a response of at most this size is a validation

double inverse_logit(double x) { return 1 / (1 + std::exp(-x)); }
double below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double logit(double p) { return std::log(p / (1 - p)); }

template <std::size_t n>
Curve through(const double (&quantiles)[n]) {
  static_assert(n == std::size(web::kP));
  std::vector<std::pair<double, double>> knots;
  for (std::size_t i = 0; i < n; ++i) knots.emplace_back(logit(web::kP[i]), std::log(quantiles[i]));
  return Curve(std::move(knots));
}

// Returns a quantile, bounded by the outermost quantiles of the table.
double quantile(const Curve& curve, double u) {
  return std::exp(curve.at(logit(std::clamp(u, web::kP[0], web::kP[std::size(web::kP) - 1]))));
}

const Curve validations = through(web::kValidation), files = through(web::kFile),
            requests = through(web::kRequest), client_rtts_ms = through(web::kClientRtt),
            server_rtts_ms = through(web::kServerRtt);

// Returns the Weibull shape of the lengths of runs, by the rate of connections.
double run_shape(bool is_file, double rate) {
  const double log2_rate = std::log2(rate);
  return is_file ? inverse_logit(1.293 + 0.316 * log2_rate) : inverse_logit(0.718 + 0.357 * log2_rate);
}

double mean_run(bool is_file, double rate) {
  const double shape = run_shape(is_file, rate);
  double sum = 0;  // E ceil(W) = sum of P(W > k)
  for (int k = 0; k < 1000; ++k) sum += std::exp(-std::pow(k / kRunScale[is_file], shape));
  return sum;
}

}  // namespace

double Curve::at(double x) const {
  const auto right = std::lower_bound(knots_.begin() + 1, knots_.end() - 1, x,
                                      [](const auto& knot, double value) { return knot.first < value; });
  const auto left = right - 1;
  return left->second + (right->second - left->second) * (x - left->first) / (right->first - left->first);
}

double validation_bytes(double u) { return std::floor(quantile(validations, u)); }
double file_bytes(double u) { return std::floor(quantile(files, u)); }
double request_bytes(double u) { return std::floor(quantile(requests, u)); }
double client_rtt_s(double u) { return quantile(client_rtts_ms, u) * 1e-3; }
double server_rtt_s(double u) { return quantile(server_rtts_ms, u) * 1e-3; }

// Returns 1 / X with X from a Weibull distribution, at most 0.1 s.
double server_wait_s(double u) { return 1 / std::max(305 * std::pow(-std::log(u), 1 / 0.63), 10.0); }

double Dice::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * M_PI * uniform());  // Box-Muller method, without the sine
}

double Dice::weibull(double shape, double scale) { return scale * std::pow(-std::log(uniform()), 1 / shape); }

// The method of Marsaglia and Tsang (2000).
double Dice::gamma(double shape) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(), v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

LongMemory::LongMemory(double d, double noise, std::uint32_t terms, Dice& dice)
    : dice_(dice), weights_(terms + 1), past_(terms), noise_(std::sqrt(noise)) {
  const double log_ratio = std::lgamma(1 - 2 * d) - 2 * std::lgamma(1 - d);
  double variance = std::exp(log_ratio);
  scale_ = std::sqrt(std::exp(-log_ratio) / (2 + 2 * d / (1 - d)) * (1 - noise));
  std::vector<double> old;
  for (std::uint32_t t = 1; t <= terms; ++t) {
    old = weights_;
    weights_[t] = d / (t - d);
    for (std::uint32_t j = 1; j < t; ++j) weights_[j] = old[j] - weights_[t] * old[t - j];
    variance *= 1 - weights_[t] * weights_[t];
  }
  deviation_ = std::sqrt(variance);
  // the ring buffer begins with zeros, so discard two lengths of it
  for (std::uint32_t t = 0; t < 2 * terms; ++t) next();
}

double LongMemory::weighted() const {
  const std::uint32_t n = static_cast<std::uint32_t>(past_.size());
  double sum = 0;
  std::uint32_t j = 1;
  for (std::uint32_t k = at_; k-- > 0;) sum += weights_[j++] * past_[k];
  for (std::uint32_t k = n; k-- > at_;) sum += weights_[j++] * past_[k];
  return sum;
}

double LongMemory::next() {
  const double x = weighted() + dice_.normal() * deviation_;
  past_[at_] = x;
  at_ = (at_ + 1) % static_cast<std::uint32_t>(past_.size());
  const double y = (x + before_) * scale_ + dice_.normal() * noise_;
  before_ = x;
  return y;
}

WebDraw::WebDraw(const WebSettings& settings, std::uint64_t seed)
    : settings_(settings),
      dice_(seed),
      arrivals_(kArrivalMemory, inverse_logit(0.333 + 0.414 * std::log2(settings.rate)), kTerms, dice_),
      requests_(kRequestMemory, inverse_logit(0.123 + 0.494 * std::log2(settings.rate)), kTerms, dice_) {}

std::uint32_t WebDraw::cut(double bytes) const {
  return static_cast<std::uint32_t>(std::clamp(bytes, 1.0, settings_.response_max_bytes));
}

std::uint32_t WebDraw::response() {
  if (run_ <= 0) {
    is_file_ = !is_file_;
    run_ = std::ceil(dice_.weibull(run_shape(is_file_, settings_.rate), kRunScale[is_file_]));
  }
  --run_;
  const double u = dice_.uniform();
  return cut(is_file_ ? file_bytes(u) : validation_bytes(u));
}

WebObject WebDraw::object() {
  WebObject out{};
  out.request_bytes =
      static_cast<std::uint32_t>(std::clamp(request_bytes(below(requests_.next())), 1.0, 65535.0));
  out.response_bytes = response();
  out.wait_s = server_wait_s(dice_.uniform());
  return out;
}

// Draws further pages and objects of a persistent connection. All its requests are alike. File sizes are
// log-normal about a level of the connection, in powers of two.
void WebDraw::more(WebConnection& of) {
  const WebObject first = of.objects.front();
  const double level = 10.62 + dice_.normal() * std::sqrt(0.94);
  const double spread = std::sqrt(dice_.gamma(3.22) / 3.22 * 2.43);
  const double gap_level = -4.15 + dice_.normal() * std::sqrt(3.12);
  const double gap_spread = std::sqrt(dice_.gamma(2.35) / 2.35 * 1.57);
  const double page_level = 3.22 + dice_.normal() * std::sqrt(0.73);
  const double page_spread = std::sqrt(dice_.gamma(1.85) / 1.85 * 1.21);
  const int pages =
      dice_.uniform() < kOnePage ? 1 : 1 + static_cast<int>(std::ceil(dice_.weibull(1, kMorePages)));
  for (int page = 0; page < pages; ++page) {
    const bool one = pages > 1 && dice_.uniform() < kOneObject;
    const int objects =
        one ? 1 : std::max(2, 1 + static_cast<int>(std::ceil(dice_.weibull(1, kMoreObjects))));
    for (int k = 0; k < objects; ++k) {
      if (page == 0 && k == 0) continue;
      WebObject next = first;
      next.wait_s = server_wait_s(dice_.uniform());
      next.gap_s = k == 0 ? std::exp2(page_level + page_spread * dice_.normal())
                          : std::exp2(gap_level + gap_spread * dice_.normal());
      if (first.response_bytes > kValidationMost)
        next.response_bytes = cut(std::exp2(level + spread * dice_.normal()));
      of.objects.push_back(next);
    }
  }
}

double WebDraw::mean_more(const std::function<double(double)>& wire) {
  constexpr int kConnections = 100'000;
  double sum = 0;
  for (int k = 0; k < kConnections; ++k) {
    WebConnection drawn{};
    drawn.objects.emplace_back().response_bytes = response();
    more(drawn);
    for (std::size_t i = 1; i < drawn.objects.size(); ++i) sum += wire(drawn.objects[i].response_bytes);
  }
  return sum / kConnections;
}

WebConnection WebDraw::next() {
  WebConnection out{};
  const double shape = inverse_logit(0.352 + 0.388 * std::log2(settings_.rate));
  const double scale = 1 / (settings_.rate * std::tgamma(1 + 1 / shape));
  out.after_s = scale * std::pow(-std::log(1 - below(arrivals_.next())), 1 / shape);
  out.client_rtt_s = client_rtt_s(dice_.uniform());
  out.server_rtt_s = server_rtt_s(dice_.uniform());
  out.server_mbps = settings_.server_mbps.first +
                    (settings_.server_mbps.second - settings_.server_mbps.first) * dice_.uniform();
  out.objects.push_back(object());
  if (settings_.persistent && dice_.uniform() < kPersistent) more(out);
  return out;
}

double mean_wire_bytes(const WebSettings& settings, std::uint32_t segment_bytes) {
  constexpr int kPoints = 200'000;
  constexpr double kHeader = 42;  // headers of IPv4, TCP and PPP, in bytes
  // Mean number of packets without data from the server: SYN-ACK, FIN, ACKs of the request and of the
  // client's FIN.
  constexpr double kPackets = 3.5;
  const auto wire = [&](double bytes) {
    const double size = std::clamp(bytes, 1.0, settings.response_max_bytes);
    return size + kHeader * std::ceil(size / segment_bytes);
  };
  const double files = mean_run(true, settings.rate), validations = mean_run(false, settings.rate);
  double first = 0;
  for (int k = 0; k < kPoints; ++k) {
    const double u = (k + 0.5) / kPoints;
    first += (files * wire(file_bytes(u)) + validations * wire(validation_bytes(u))) / (files + validations);
  }
  double rest = 0;
  if (settings.persistent) rest = kPersistent * WebDraw(settings, 1).mean_more(wire);
  return first / kPoints + rest + kPackets * kHeader;
}

double rate_for(double level, double bottleneck_mbps, WebSettings settings, std::uint32_t segment_bytes) {
  settings.rate = 50;
  for (int round = 0; round < 4; ++round)  // the sizes depend little on the rate, so a few rounds suffice
    settings.rate = level * bottleneck_mbps * 1e6 / 8 / mean_wire_bytes(settings, segment_bytes);
  return settings.rate;
}

}  // namespace tcplearn
