// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Draws random web connections as PackMime-HTTP does (web_quantiles.h names the source). Arrivals and
// request sizes come from long-memory processes; response sizes from runs of validations (of cached
// copies) and runs of files. Persistent connections (HTTP/1.1) have objects, pages and pauses. The RTT of
// each connection has a part on the client's side and one on the server's.
#ifndef TCPLEARN_NS3_WEB_DRAW_H
#define TCPLEARN_NS3_WEB_DRAW_H

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace tcplearn {

// A piecewise linear function, given by its knots.
class Curve {
 public:
  explicit Curve(std::vector<std::pair<double, double>> knots) : knots_(std::move(knots)) {}
  double at(double x) const;

 private:
  std::vector<std::pair<double, double>> knots_;
};

// Quantile functions of the published distributions; u is in (0, 1).
double validation_bytes(double u);
double file_bytes(double u);
double request_bytes(double u);
double client_rtt_s(double u);
double server_rtt_s(double u);
double server_wait_s(double u);

// Uniform and normal random numbers that, unlike the standard library's, are the same on every machine.
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

// A fractional ARIMA (0, d, 0) process by the Durbin-Levinson recursion (Hosking 1984), with each value
// added to the previous one, plus white noise. The total variance is 1, of which `noise` is white noise.
class LongMemory {
 public:
  LongMemory(double d, double noise, std::uint32_t terms, Dice& dice);
  double next();

 private:
  double weighted() const;

  Dice& dice_;
  std::vector<double> weights_, past_;  // weight of the value j steps before; a ring buffer of values
  std::uint32_t at_ = 0;
  double deviation_, scale_, noise_, before_ = 0;
};

struct WebObject {
  double gap_s, wait_s;  // pause before the request; the server's time before the response
  std::uint32_t request_bytes, response_bytes;
};

struct WebConnection {
  double after_s;  // time from the start of the previous connection to the start of this one
  double client_rtt_s, server_rtt_s, server_mbps;
  std::vector<WebObject> objects;
};

struct WebSettings {
  double rate;                // new connections per second
  bool persistent;            // some connections carry several objects
  double response_max_bytes;  // larger responses are cut to this size
  std::pair<double, double> server_mbps;
};

class WebDraw {
 public:
  WebDraw(const WebSettings& settings, std::uint64_t seed);
  WebConnection next();
  // Returns the mean over persistent connections of the sum of wire(bytes) of objects after the first.
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

// Returns the mean bytes on the wire for a connection's responses, with headers and handshake.
double mean_wire_bytes(const WebSettings& settings, std::uint32_t segment_bytes);
// Returns the connections per second whose responses take the share `level` of the bottleneck's rate.
double rate_for(double level, double bottleneck_mbps, WebSettings settings, std::uint32_t segment_bytes);

}  // namespace tcplearn

#endif
