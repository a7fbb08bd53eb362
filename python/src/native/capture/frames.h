// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The source of frames: a file, a pipe, or a network interface.
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

// The time for which next() waits for a frame of a live source.
constexpr int kWaitMs = 200;

class Frames {
 public:
  Frames() = default;
  virtual ~Frames() = default;
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  // kNothingYet occurs only if live(). After kEnd damage() shows whether the end was regular.
  virtual Got next(Frame& out) = 0;
  virtual int link_type() const = 0;
  // Whether frames come while they are captured, so that a caller wants the available ones at once.
  virtual bool live() const = 0;
  // Whether times are this machine's running clock, which may be set meanwhile.
  virtual bool from_clock() const { return false; }
  // Bytes of a file as stored; total 0: unknown.
  virtual std::uint64_t bytes_read() const { return 0; }
  virtual std::uint64_t bytes_total() const { return 0; }
  // Lines on frames that were lost earlier.
  virtual std::vector<std::string> warnings() const { return {}; }
  const std::string& damage() const { return damage_; }
  // Whether the last next() had to wait.
  bool waited() const { return waited_; }

 protected:
  bool waited_ = false;
  std::string damage_;
};

}  // namespace tcplearn

#endif
