// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Keeps the predictions and RTOs since the transmission of the oldest segment in flight.
#ifndef TCPLEARN_REPLAY_HISTORY_H
#define TCPLEARN_REPLAY_HISTORY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcplearn {

// The values of each estimator just before a row. The pointers are valid until the next row.
struct InForce {
  bool any_sample;
  double *rtt_us, *rto_us;
};

// A ring buffer that grows with the flight and keeps its memory.
class History {
 public:
  // The most rows that are kept only because a later sample may have been sent before them. Without this
  // limit a long stall would keep far too many rows.
  static constexpr std::size_t kMostBehind = std::size_t{1} << 14;

  explicit History(std::size_t estimators) : width_(2 * estimators) {}

  // Begins a row. Returns its predictions and RTOs, which the caller fills in.
  InForce add(std::int64_t time_us, bool any_sample);
  // Forgets the rows up to time_us; and of those up to head_us, all except the newest kMostBehind.
  void forget(std::int64_t time_us, std::int64_t head_us);
  // Returns the values in force at a time: those before the first row after it, or the newest.
  InForce at(std::int64_t time_us);

 private:
  struct Row {
    std::int64_t time_us;
    bool any_sample;
  };
  InForce in_force(std::size_t slot);
  std::size_t slot(std::size_t row) const { return (first_ + row) & (rows_.size() - 1); }
  void grow();

  std::size_t width_;
  std::size_t first_ = 0, count_ = 0;
  std::vector<Row> rows_;       // its size is the capacity, a power of two
  std::vector<double> values_;  // [slot][predictions of all estimators, then RTOs of all estimators]
};

}  // namespace tcplearn

#endif
