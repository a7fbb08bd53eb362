// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The predictions and timeouts of the last rows, back to the sending of the oldest segment still out.
#ifndef TCPLEARN_REPLAY_HISTORY_H
#define TCPLEARN_REPLAY_HISTORY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tcplearn {

// In force just before a row, by estimator; borrowed until the next row comes.
struct InForce {
  bool any_sample;
  double *rtt_us, *rto_us;
};

// A ring that grows with the flight and keeps its memory.
class History {
 public:
  // Fewer samples overtake another; without the limit a long stall would keep far too many rows.
  static constexpr std::size_t kMostBehind = std::size_t{1} << 14;

  explicit History(std::size_t estimators) : width_(2 * estimators) {}

  // Begins a row and returns its predictions and timeouts, which the caller fills in.
  InForce add(std::int64_t time_us, bool any_sample);
  // Forgets rows up to time_us, and up to head_us those beyond the newest kMostBehind.
  void forget(std::int64_t time_us, std::int64_t head_us);
  // Returns the values in force at a time: those just before the first row after it, or the newest ones.
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
  std::vector<Row> rows_;       // the capacity, a power of two
  std::vector<double> values_;  // [slot][prediction by estimator, timeout by estimator]
};

}  // namespace tcplearn

#endif
