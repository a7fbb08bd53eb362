// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The interface of a source of frames: a file, a pipe, or a network interface.
#ifndef TCPLEARN_CAPTURE_FRAMES_H
#define TCPLEARN_CAPTURE_FRAMES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tcplearn {

struct Frame {
  std::int64_t time_us = 0;  // since 1970, rounded from nanoseconds
  const std::uint8_t* data = nullptr;
  std::size_t captured = 0, wire = 0;
};

enum class Got { kFrame, kNothingYet, kEnd };

// The longest time in milliseconds for which next() waits for a frame of a live source.
constexpr int kWaitMs = 200;

class Frames {
 public:
  Frames() = default;
  virtual ~Frames() = default;
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  // Stores the next frame in `out`. Returns kNothingYet only if live(). After kEnd, see damage().
  virtual Got next(Frame& out) = 0;
  virtual int link_type() const = 0;
  // Returns whether frames arrive during the capture, so that a caller wants the available ones at once.
  virtual bool live() const = 0;
  // Returns whether the times are from this machine's clock, which may be set during the capture.
  virtual bool from_clock() const { return false; }
  // Bytes read and total bytes of the stored file; a total of 0 means unknown.
  virtual std::uint64_t bytes_read() const { return 0; }
  virtual std::uint64_t bytes_total() const { return 0; }
  // Returns warnings about frames that were lost before this program read them.
  virtual std::vector<std::string> warnings() const { return {}; }
  const std::string& damage() const { return damage_; }
  // Returns whether the last next() had to wait.
  bool waited() const { return waited_; }

 protected:
  bool waited_ = false;
  std::string damage_;
};

}  // namespace tcplearn

#endif
