// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Where frames come from: a file, a pipe, a network interface.
#ifndef TCPLEARN_CAPTURE_FRAMES_H
#define TCPLEARN_CAPTURE_FRAMES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tcplearn {

struct Frame {
  std::int64_t time_us = 0;  // since 1970, nanoseconds rounded
  const std::uint8_t* data = nullptr;
  std::size_t captured = 0, wire = 0;
};

enum class Got { kFrame, kNothingYet, kEnd };

// How long next() waits for a frame of something live.
constexpr int kWaitMs = 200;

class Frames {
 public:
  Frames() = default;
  virtual ~Frames() = default;
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  // kNothingYet: only where live(). kEnd: damage() says whether it was the regular one.
  virtual Got next(Frame& out) = 0;
  virtual int link_type() const = 0;
  // Whether frames come as they are captured, so that a caller wants what there is and not only much.
  virtual bool live() const = 0;
  // Whether times are this machine's clock as it runs, which may be set meanwhile.
  virtual bool from_clock() const { return false; }
  // Of a file: bytes as they lie there; total 0: unknown.
  virtual std::uint64_t bytes_read() const { return 0; }
  virtual std::uint64_t bytes_total() const { return 0; }
  // What was lost before it came here, for people.
  virtual std::vector<std::string> warnings() const { return {}; }
  const std::string& damage() const { return damage_; }
  // Whether the last next() found nothing at first.
  bool waited() const { return waited_; }

 protected:
  bool waited_ = false;
  std::string damage_;
};

}  // namespace tcplearn

#endif
