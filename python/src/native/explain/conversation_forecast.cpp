// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Runs the candidate resend policies on the data of a connection.
#include <algorithm>
#include <cstdint>

#include "conversation.h"

namespace tcplearn {

// Computes what the candidate resend policies would have done until this ACK reached the sender, `end`.
void Conversation::forecast(unsigned end, const DataSide::Acked& acked, std::int64_t now_us) {
  DataSide& data = ends_[end].data;
  const std::int64_t back_us = leg_to(end).known_us();
  Repaired* first = losses_.empty() || !losses_[0].head ? nullptr : &losses_[0];
  const bool timed = first != nullptr && !first->spurious && !first->clocked;
  TimedLoss lost;
  if (timed) {
    const bool lone = first->out_segments == 1 && first->tail;
    lost = {first->start_us, first->end_us, first->silent_until_us, first->copies,
            lone ? first->first_wait_us : -1};
  }
  UnheardAcks unheard;
  if (first != nullptr && first->spurious && first->doubled)
    unheard = {first->all_copies, now_us + back_us - first->last_copy_us};
  Fates fates;
  const std::int64_t rtt_us = acked.rtt_us < 0 ? -1 : acked.rtt_us + back_us;
  data.forecast->on_ack(now_us + back_us, rtt_us, data.out(), timed ? &lost : nullptr, unheard,
                        (options_ & 2) != 0, fates);
  if (!timed) return;
  for (std::size_t k = 0; k < kMostCandidates; ++k) {
    if (fates.repaired_us[k] < 0) continue;
    const auto own_us =
        static_cast<std::int32_t>(std::min<std::int64_t>(first->end_us - first->start_us, INT32_MAX));
    // a fast retransmit does not depend on the timer; a probe with a later segment leads to one about a
    // round trip later
    if (first->by == End::kProbe && !first->tail && first->srtt_us > 0)
      fates.repaired_us[k] += static_cast<std::int32_t>(std::min<std::int64_t>(first->srtt_us, own_us));
    if (first->by == End::kFast) fates.repaired_us[k] = std::min(fates.repaired_us[k], own_us);
  }
  first->fates = fates;
}

void Conversation::keep_learned() {
  for (const unsigned end : {kClient, kServer})
    if (ends_[end].data.forecast) learned_.keep(hosts(end), ends_[end].data.forecast->states());
}

}  // namespace tcplearn
