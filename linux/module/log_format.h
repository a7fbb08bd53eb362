/* SPDX-License-Identifier: GPL-2.0-only */
/* The format of the log. Records are in the machine's byte order (little endian on amd64 and arm64). Each
 * record has its size, so that a reader can skip unknown records. docs/kernel.md describes every field;
 * the reader is python/src/tcplearn/traces/tlog.py. */
#ifndef TCPLEARN_LOG_FORMAT_H
#define TCPLEARN_LOG_FORMAT_H

#include <linux/types.h>

#define TL_LOG_MAGIC 0x31474c54u /* "TLG1" */

enum tl_log_type {
	TL_LOG_OPEN = 1,
	TL_LOG_ACK = 2,
	TL_LOG_CLOSE = 3,
	TL_LOG_STARTUP = 5,
	TL_LOG_LOSS = 8,
	TL_LOG_LOSS_CHANGE = 9,
	TL_LOG_RESEND = 10
};

struct tl_log_header {
	__u32 magic;
	__u16 size; /* of the record, including the header */
	__u8 type;
	__u8 flags; /* TL_LOG_FROM_HEAD ... */
	__u64 time_us; /* CLOCK_MONOTONIC, as TCP reads it */
	__u32 connection; /* number of the connection since the module was loaded */
	__u32 record; /* number within the connection, from 0: a gap means lost records */
};

#define TL_LOG_FROM_HEAD 1
/* flags of an ACK's record: a loss classifier has observed the ACK; it was a duplicate ACK */
#define TL_LOG_OBSERVED 2
#define TL_LOG_DUPLICATE 4

struct tl_log_open {
	struct tl_log_header header;
	char estimator[32];
	char congestion[16];
	__u16 family; /* AF_INET or AF_INET6 */
	__u16 source_port, destination_port;
	__u16 hz; /* the kernel's tick rate */
	__u8 source[16], destination[16];
	__s64 rtt_q8, rto_q8; /* before the first sample */
	__u32 netns; /* inode of the network namespace, as in /proc/PID/ns/net */
	__u32 reserved;
	char spec[256]; /* the chosen estimator: its name and parameters */
};

struct tl_log_ack {
	struct tl_log_header header;
	__s32 rtt_us; /* RTT sample of the kernel's estimator; -1: none */
	__s32 last_rtt_us; /* RTT sample of the congestion control, from the last segment; -1: none */
	__s64 rtt_q8, rto_q8; /* prediction and RTO after this sample, in 2^-8 us */
	__u32 stock_rto_us; /* the kernel's own RTO after the last sample, in whole jiffies */
	__u32 rto_us; /* value of icsk_rto when the timer is armed */
	__u32 cwnd, ssthresh; /* in segments */
	__u32 flight_segments; /* in flight just before this ACK */
	__u32 acked_segments;
	__u32 mss_bytes;
	__u32 srtt_us; /* of the kernel's estimator */
	__u32 head_age_us; /* age of the oldest segment in flight after this ACK; 0: none */
	__u8 backoff, state; /* icsk_backoff; TCP_CA_Open ... TCP_CA_Loss */
	__u16 reserved;
};

/* Follows the open record if the end of the handshake was seen. Windows are in segments. */
struct tl_log_startup {
	struct tl_log_header header;
	char policy[32]; /* "stock": the kernel's windows */
	__u32 took_us; /* lower bound: expired timeouts by schedule, plus the age of the answered segment */
	__u32 iw, ssthresh; /* windows with which the connection began */
	__u32 whole_iw, whole_ssthresh; /* windows after a handshake without losses */
	__u8 loss; /* 0 none, 1 SYN, 2 SYN-ACK, 3 one of the two */
	__u8 passive; /* this end had the listening socket */
	__u8 resends; /* least number of rounds of loss; capped at 255, like the next field */
	__u8 retransmitted; /* SYNs or SYN-ACKs that this end retransmitted */
};

struct tl_log_close {
	struct tl_log_header header;
	__u64 bytes_acked, bytes_sent, bytes_retransmitted;
	__u32 segments_out, retransmitted; /* data segments; retransmissions among these */
};

#define TL_LOG_LOSS_FEATURES 32

/* A fast recovery begins, and the loss classifier has decided on the cause. */
struct tl_log_loss {
	struct tl_log_header header;
	__s64 congestion_q30; /* probability of congestion, with 30 fractional bits */
	__u32 cause; /* 0 congestion, 1 random: cwnd is kept */
	__u32 flight_segments, cwnd, ssthresh;
	__u32 first, end; /* first sequence number in flight, and the one after the last */
	__s64 features_q30[TL_LOG_LOSS_FEATURES]; /* in the order of core/include/tcplearn/loss/feature_list.h */
};

/* An event of enum tl_loss_change for the loss classifier, and the cause that the sender acted on. */
struct tl_log_loss_change {
	struct tl_log_header header;
	__u32 change, cause;
	__u32 cwnd, reserved;
};

/* An event for a resend policy, at this record's time, and the policy's answer. */
struct tl_log_resend {
	struct tl_log_header header;
	__s64 wait_us; /* time to the timer's expiry; 0: nothing in flight */
	__s32 rtt_us; /* RTT sample of an ACK; 0: none */
	__u32 out_segments;
	__u8 event; /* 0 transmission, 1 retransmission by the timer, 2 ACK */
	__u8 answers; /* what an ACK answers: 0 the first transmission, 1 a later one, 2 not known */
	__u8 probe; /* 1: the timer sends a tail loss probe */
	__u8 reserved;
	__u32 rto_us; /* after a retransmission: the RTO that the module set, in whole jiffies; otherwise 0 */
};

#endif
