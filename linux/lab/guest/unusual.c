/* SPDX-License-Identifier: GPL-2.0-only */
#include "unusual.h"
#include "sockets.h"

#include <linux/bpf.h>
#include <linux/tls.h>
#include <sys/syscall.h>

#define LEVEL_TLS 282
#define OPTION_ULP 31
#define OPTION_MSS 2
#define OPTION_WINDOW_SCALE 3
#define OPTION_SACK_PERMITTED 4
#define OPTION_TIMESTAMP 8
#define SOCKMAP_PLACES 1024

int encrypt_sending(int fd)
{
	struct tls12_crypto_info_aes_gcm_128 keys = { .info = { TLS_1_2_VERSION, TLS_CIPHER_AES_GCM_128 } };

	memset(keys.key, 1, sizeof(keys.key));
	if (setsockopt(fd, SOL_TCP, OPTION_ULP, "tls", sizeof("tls")))
		return -1;
	return setsockopt(fd, LEVEL_TLS, TLS_TX, &keys, sizeof(keys));
}

static int bpf(int what, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, what, attr, sizeof(*attr));
}

/* Returns a new sockmap, with a program that lets each message pass. */
static int sockmap(void)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = SK_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr map = { .map_type = BPF_MAP_TYPE_SOCKMAP,
			       .key_size = sizeof(uint32_t),
			       .value_size = sizeof(uint32_t),
			       .max_entries = SOCKMAP_PLACES };
	union bpf_attr program = { .prog_type = BPF_PROG_TYPE_SK_MSG,
				   .insns = (uintptr_t)pass,
				   .insn_cnt = sizeof(pass) / sizeof(pass[0]),
				   .license = (uintptr_t) "GPL" };
	union bpf_attr attach = { .attach_type = BPF_SK_MSG_VERDICT };
	int fd = bpf(BPF_MAP_CREATE, &map);

	attach.target_fd = (uint32_t)fd;
	attach.attach_bpf_fd = (uint32_t)bpf(BPF_PROG_LOAD, &program);
	if (fd < 0 || bpf(BPF_PROG_ATTACH, &attach))
		die("sockmap");
	return fd;
}

int put_into_sockmap(int fd, unsigned int place)
{
	static int map = -1;
	uint32_t key = place % SOCKMAP_PLACES, value = (uint32_t)fd;
	union bpf_attr update = { .key = (uintptr_t)&key, .value = (uintptr_t)&value, .flags = BPF_ANY };

	if (map < 0)
		map = sockmap();
	update.map_fd = (uint32_t)map;
	return bpf(BPF_MAP_UPDATE_ELEM, &update);
}

static int set(int fd, int option, int value)
{
	return setsockopt(fd, SOL_TCP, option, &value, sizeof(value));
}

static int get(int fd, int option, uint32_t *value)
{
	socklen_t size = sizeof(*value);

	return getsockopt(fd, SOL_TCP, option, value, &size);
}

/* What has to be kept of a connection. */
struct kept {
	struct sockaddr_in here, there;
	struct tcp_info info;
	uint32_t sent, received, timestamp; /* sequence numbers of what comes next, and the clock */
	int unacked;                        /* bytes */
	char name[16];                      /* of the congestion control */
};

static int keep(int fd, struct kept *k)
{
	socklen_t here = sizeof(k->here), there = sizeof(k->there), name = sizeof(k->name);

	k->info = info_of(fd);
	return k->info.tcpi_state != BPF_TCP_ESTABLISHED || set(fd, TCP_REPAIR, 1) ||
	       getsockname(fd, (struct sockaddr *)&k->here, &here) ||
	       getpeername(fd, (struct sockaddr *)&k->there, &there) ||
	       getsockopt(fd, SOL_TCP, TCP_CONGESTION, k->name, &name) || ioctl(fd, SIOCOUTQ, &k->unacked) ||
	       set(fd, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE) || get(fd, TCP_QUEUE_SEQ, &k->sent) ||
	       set(fd, TCP_REPAIR_QUEUE, TCP_RECV_QUEUE) || get(fd, TCP_QUEUE_SEQ, &k->received) ||
	       get(fd, TCP_TIMESTAMP, &k->timestamp);
}

static int restore(int fd, const struct kept *k)
{
	const struct tcp_repair_opt options[] = {
		{ OPTION_WINDOW_SCALE, k->info.tcpi_snd_wscale | (uint32_t)k->info.tcpi_rcv_wscale << 16 },
		{ OPTION_SACK_PERMITTED, 0 },
		{ OPTION_TIMESTAMP, 0 },
		{ OPTION_MSS, k->info.tcpi_snd_mss },
	};
	const int on = 1;

	if (set(fd, TCP_REPAIR, 1) || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    use(fd, k->name) || set(fd, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE) ||
	    set(fd, TCP_QUEUE_SEQ, (int)(k->sent - (uint32_t)k->unacked)) ||
	    set(fd, TCP_REPAIR_QUEUE, TCP_RECV_QUEUE) || set(fd, TCP_QUEUE_SEQ, (int)k->received) ||
	    bind(fd, (const struct sockaddr *)&k->here, sizeof(k->here)) ||
	    connect(fd, (const struct sockaddr *)&k->there, sizeof(k->there)) ||
	    setsockopt(fd, SOL_TCP, TCP_REPAIR_OPTIONS, options, sizeof(options)) ||
	    set(fd, TCP_TIMESTAMP, (int)k->timestamp) || set(fd, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE))
		return -1;
	if (k->unacked && send(fd, buffer, k->unacked < BUFFER_BYTES ? (size_t)k->unacked : BUFFER_BYTES, 0) < 0)
		return -1;
	return set(fd, TCP_REPAIR, 0);
}

int repaired(int fd)
{
	struct kept k = { .unacked = 0 };
	int next;

	if (keep(fd, &k)) {
		close(fd);
		return -1;
	}
	close(fd);
	next = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (next >= 0 && restore(next, &k)) {
		close(next);
		return -1;
	}
	return next;
}
