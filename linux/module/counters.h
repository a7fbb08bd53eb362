/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the whole machine, in /sys/kernel/debug/tcplearn/counters. */
#ifndef TCPLEARN_MODULE_COUNTERS_H
#define TCPLEARN_MODULE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

struct dentry;

#define TL_COUNTERS(X) \
	X(connections, "started with an estimator or as stock, at their first data") \
	X(connections_ended, "of them, ended") \
	X(fallbacks, "started as the plain base: no memory") \
	X(acks, "ACKs that were looked at") \
	X(samples, "of them, with a sample of the RTT") \
	X(no_sample, "of them, without: Karn's rule, RTO and backoff left as they are") \
	X(handshakes, "samples that the kernel had taken of a handshake") \
	X(samples_differ, "samples that differ from the congestion control's (the last segment's)") \
	X(armed, "ACKs that armed the retransmission timer") \
	X(armed_ours, "of them, for what the module wrote") \
	X(armed_late, "of them, looked at no earlier than the next event") \
	X(armed_late_ours, "of these, for what the module wrote") \
	X(kept, "ACKs that left the running timer as it was: duplicates, and old data in recovery") \
	X(probe, "ACKs after which a tail loss probe is due first") \
	X(reorder, "ACKs after which the reordering timer is due first") \
	X(idle, "ACKs after which no timer runs: nothing is out") \
	X(lost_rto, "times that another part of the kernel had changed the RTO before the next ACK") \
	X(timeouts, "times that the retransmission timer fired") \
	X(startups, "handshakes whose startup was decided, or noted under stock") \
	X(startups_lost, "of them, with a lost SYN or SYN-ACK") \
	X(log_records, "written") \
	X(log_drops, "not written: the buffer was full") \
	X(loss_decisions, "fast recoveries whose cause was decided on") \
	X(loss_kept, "of them, random: the window was kept") \
	X(loss_measured, "decisions whose cost was measured") \
	X(cycles_loss, "of these") \
	X(cycles_loss_clock, "of reading the clock, to be taken off each") \
	X(resend_inherited, "connections whose resend policy began with what an earlier one had learned") \
	X(resend_first, "waits of a resend policy, written before segments leave or at an ACK") \
	X(resend_probes, "tail loss probes after which a resend policy's wait was written") \
	X(resend_timeouts, "timeouts, likewise") \
	X(resend_measured, "sendings, probes and timeouts whose cost to a resend policy was measured") \
	X(cycles_resend, "of these") \
	X(cycles_resend_clock, "of reading the clock, to be taken off each") \
	X(cycles_resend_log, "of logging what a resend policy says of ACKs, to be taken off cycles_all") \
	X(measured, "ACKs whose cost was measured") \
	X(cycles_base, "of the base's pkts_acked") \
	X(cycles_all, "of the base's and the module's") \
	X(cycles_clock, "of reading the clock, to be taken off each")

enum tl_counter {
#define TL_COUNTER_ID(name, text) TL_COUNT_##name,
	TL_COUNTERS(TL_COUNTER_ID)
	TL_COUNTER_COUNT
};

struct tl_counter_set {
	u64 of[TL_COUNTER_COUNT];
};
DECLARE_PER_CPU(struct tl_counter_set, tl_counts);
#define tl_count(name) this_cpu_inc(tl_counts.of[TL_COUNT_##name])
#define tl_count_add(name, n) this_cpu_add(tl_counts.of[TL_COUNT_##name], n)

void tl_counters_create(struct dentry *folder); /* creates the file `counters` in `folder` */

#endif
