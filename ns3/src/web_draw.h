// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Draws web connections as PackMime-HTTP does (web_quantiles.h names the source): arrivals and request sizes
// from long-memory processes, response sizes from runs of validations and files, objects, pages and pauses of
// persistent connections (HTTP/1.1), and each connection's part of the RTT on either side.
#ifndef TCPLEARN_NS3_WEB_DRAW_H
#define TCPLEARN_NS3_WEB_DRAW_H

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace tcplearn {

// Linear between knots.
class Curve {
 public:
  explicit Curve(std::vector<std::pair<double, double>> knots) : knots_(std::move(knots)) {}
  double at(double x) const;

 private:
  std::vector<std::pair<double, double>> knots_;
};

// The published marginals by their quantile: u is uniform in (0, 1).
double validation_bytes(double u);
double file_bytes(double u);
double request_bytes(double u);
double client_rtt_s(double u);
double server_rtt_s(double u);
double server_wait_s(double u);

// Uniform and normal numbers that are the same on every machine, which those of standard distributions are
// not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
  double normal();
  double weibull(double shape, double scale);
  double gamma(double shape);  // scale 1; shape > 1

 private:
  std::mt19937_64 engine_;
};

// Fractional ARIMA (0, d, 0) by Durbin-Levinson (Hosking 1984), each value added to the one before, with
// white noise: variance 1, of which `noise` is white.
class LongMemory {
 public:
  LongMemory(double d, double noise, std::uint32_t terms, Dice& dice);
  double next();

 private:
  double weighted() const;

  Dice& dice_;
  std::vector<double> weights_, past_;  // the weight of the value j before; a ring
  std::uint32_t at_ = 0;
  double deviation_, scale_, noise_, before_ = 0;
};

struct WebObject {
  double gap_s, wait_s;  // before the request; the server's before the response
  std::uint32_t request_bytes, response_bytes;
};

struct WebConnection {
  double after_s;  // the connection before
  double client_rtt_s, server_rtt_s, server_mbps;
  std::vector<WebObject> objects;
};

struct WebSettings {
  double rate;                // new connections a second
  bool persistent;            // some connections carry several objects
  double response_max_bytes;  // larger ones are cut to it
  std::pair<double, double> server_mbps;
};

class WebDraw {
 public:
  WebDraw(const WebSettings& settings, std::uint64_t seed);
  WebConnection next();
  // The mean of the sum of `wire` over the bytes of a persistent connection's objects after the first.
  double mean_more(const std::function<double(double)>& wire);

 private:
  WebObject object();
  std::uint32_t cut(double bytes) const;
  std::uint32_t response();
  void more(WebConnection& of);

  WebSettings settings_;
  Dice dice_;
  LongMemory arrivals_, requests_;
  bool is_file_ = false;
  double run_ = 0;
};

// Mean bytes on the wire of a connection's responses, headers and handshake included, with segments of that
// size.
double mean_wire_bytes(const WebSettings& settings, std::uint32_t segment_bytes);
// The rate at which these bytes are `level` of the bottleneck.
double rate_for(double level, double bottleneck_mbps, WebSettings settings, std::uint32_t segment_bytes);

}  // namespace tcplearn

#endif
