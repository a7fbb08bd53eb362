// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The losses of one sender: what its classifier observes and decides, and the true causes.
#ifndef TCPLEARN_NS3_LOSS_JUDGE_H
#define TCPLEARN_NS3_LOSS_JUDGE_H

#include <map>
#include <memory>

#include "drop_log.h"
#include "loss_classifier.h"
#include "loss_record.h"
#include "ns3/nstime.h"
#include "ns3/sequence-number.h"

namespace tcplearn {

// How the socket reacts to the cause of a loss.
struct LossSettings {
  Spec classifier{"congestion"};
  bool acts = false;            // keep the window if the cause is random; otherwise only record the decision
  bool by_probability = false;  // cut the window by the probability of congestion, whatever the decision
  std::shared_ptr<const LossModel> model = nullptr;  // the weights of a classifier with `model=own`
};

// The state of the sender just before it retransmits.
struct SenderState {
  ns3::SequenceNumber32 head, high;  // oldest unacknowledged byte; first byte never sent
  std::uint32_t cwnd_bytes, ssthresh_bytes, segment_bytes;
};

class LossJudge {
 public:
  LossJudge(std::uint32_t flow, const LossSettings& settings, std::shared_ptr<LossRecord> record,
            std::shared_ptr<DropLog> drops);

  void sent(ns3::SequenceNumber32 from, ns3::SequenceNumber32 end, std::uint64_t serial);
  // Takes an ACK before the sender processes it. `rtt_us` is 0 if the ACK gave no sample.
  void acknowledged(ns3::SequenceNumber32 upto, std::int64_t rtt_us, const SenderState& sender);
  void recovery_begins(const SenderState& sender);
  void recovery_ends(const SenderState& sender);
  void timed_out(const SenderState& sender);

  // Points to the share of the reduction that is left out at the loss that was decided on last: 1 keeps the
  // window, 0 is the congestion control's own reduction.
  std::shared_ptr<const double> kept() const { return kept_; }

 private:
  struct Sending {
    ns3::SequenceNumber32 end;
    std::uint64_t serial;  // number of its last transmission
  };
  tl_loss_moment moment(const SenderState& sender) const;
  void count_drops(const SenderState& sender, Recovery& out) const;

  std::uint32_t flow_;
  bool acts_, by_probability_;
  std::unique_ptr<LossClassifier> classifier_;
  std::shared_ptr<LossRecord> record_;
  std::shared_ptr<DropLog> drops_;
  std::map<ns3::SequenceNumber32, Sending> out_;  // indexed by first byte
  std::shared_ptr<double> kept_ = std::make_shared<double>(0.0);
};

}  // namespace tcplearn

#endif
