// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The measurements of one flow, taken at both of its ends.
#ifndef TCPLEARN_NS3_FLOW_RECORD_H
#define TCPLEARN_NS3_FLOW_RECORD_H

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "drop_log.h"
#include "loss_record.h"
#include "ns3/nstime.h"
#include "ns3/sequence-number.h"
#include "ns3/tag.h"

namespace tcplearn {

// A running mean and variance (Welford's algorithm).
class Moments {
 public:
  void add(double value) {
    ++count_;
    const double step = value - mean_;
    mean_ += step / static_cast<double>(count_);
    squares_ += step * (value - mean_);
  }
  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  double variance() const { return count_ > 1 ? squares_ / static_cast<double>(count_ - 1) : 0; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Classifies timeouts exactly, because the simulator sees the receiver. A timeout is spurious if the
// original transmission of its segment arrives, at any time. A timeout is needless if any copy sent
// before the timeout arrives, including one from a fast retransmission.
class TimeoutOracle {
 public:
  void arrived(ns3::SequenceNumber32 from, ns3::SequenceNumber32 end, std::uint64_t serial, bool original);
  void acked(ns3::SequenceNumber32
                 // the sender knows that segments with lower sequence numbers arrived, so these are not
                 // needed any more
                 upto);
  void timed_out(ns3::SequenceNumber32 head, std::uint64_t last_serial);
  std::uint64_t spurious() const { return spurious_; }
  std::uint64_t needless() const { return needless_; }
  std::uint64_t arrived_again() const { return arrived_again_; }  // segments that had arrived already

 private:
  struct Arrived {
    ns3::SequenceNumber32 end;
    bool original;
  };
  struct Open {
    ns3::SequenceNumber32 head;
    std::uint64_t last_serial;
    bool counted;  // already counted as needless; only the original is awaited now
  };
  std::map<ns3::SequenceNumber32, Arrived> arrived_;  // indexed by first byte
  std::vector<Open> open_;
  ns3::SequenceNumber32 acked_{0};
  std::uint64_t spurious_ = 0, needless_ = 0, arrived_again_ = 0;
};

struct FlowRecord {
  std::uint32_t id = 0, source = 0, destination = 0;
  std::uint64_t packets = 0;  // packets to send
  bool beside = false;        // a competing flow that is not measured
  ns3::Time start, connected, finished;
  bool is_connected = false, is_finished = false, died = false;

  std::uint64_t serial = 0;  // number of the last data segment sent
  std::uint64_t sent = 0, retransmitted = 0, timeouts = 0, syn_retransmitted = 0;
  std::uint64_t arrived = 0, delivered_bytes = 0;
  TimeoutOracle oracle;

  std::uint64_t probes = 0;  // tail loss probes by a resend policy
  std::vector<std::int64_t>
      responses_us;  // response time of each request, from its first write to its answer
  // from the end of each fade (the path delivers nothing) to the timer's next retransmission
  std::vector<std::int64_t> overruns_us;
  void resent_after_fade(ns3::Time faded_until, ns3::Time last_sent, ns3::Time now);

  Moments error_us, raw_error_us, at_send_error_us;  // |prediction - sample|
  // if RTTs are counted in ticks: errors against the count, and against the count minus one
  Moments count_error_us, passed_error_us;
  Moments first_error_us;  // error of the first sample
  Moments bias_us;         // prediction - sample
  Moments sample_us, raw_rtt_us, rto_us, cwnd_bytes;
  std::uint64_t rto_misses = 0;  // samples above the RTO in force when their segment was sent
};

// All measurements of a run. Sockets have a pointer to it.
class Recorder {
 public:
  explicit Recorder(ns3::Time bin) : bin_(bin) {}

  std::vector<FlowRecord> flows;  // must not grow once a socket has a pointer to an element
  std::shared_ptr<DropLog> drops = std::make_shared<DropLog>();
  std::shared_ptr<LossRecord> losses = std::make_shared<LossRecord>(0u);
  ns3::Time faded_until;  // end of the last fade
  void cwnd(ns3::Time now, double bytes);
  const std::vector<Moments>& cwnd_over_time() const { return cwnd_; }
  ns3::Time bin() const { return bin_; }

 private:
  ns3::Time bin_;
  std::vector<Moments> cwnd_;
};

// A tag on every data segment: its flow, number of the transmission, and whether it is new data.
class SerialTag : public ns3::Tag {
 public:
  static ns3::TypeId GetTypeId();
  ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  std::uint32_t GetSerializedSize() const override { return 13; }
  void Serialize(ns3::TagBuffer buffer) const override;
  void Deserialize(ns3::TagBuffer buffer) override;
  void Print(std::ostream& out) const override { out << flow << ':' << serial; }

  std::uint32_t flow = 0;
  std::uint64_t serial = 0;
  bool original = true;
};

}  // namespace tcplearn

#endif
