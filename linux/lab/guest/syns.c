/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends TCP SYNs through a raw socket, as hping3 -S does: each from the next port, without a connection.
 *
 *   syns flood ADDRESS PORT EVERY_US          sends SYNs until it is killed
 *   syns pings ADDRESS PORT EVERY_US COUNT    prints the number of answers; least, mean and largest RTT */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FIRST_PORT 2000
#define PORTS 30000
#define LAST_ANSWER_US 2000000

static int64_t sent_us[PORTS];

static void die(const char *what)
{
	fprintf(stderr, "syns: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_us(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		die("clock");
	return 1000000ll * now.tv_sec + now.tv_nsec / 1000;
}

struct packet {
	struct {
		uint32_t from, to;
		uint8_t zero, protocol;
		uint16_t bytes;
	} pseudo; /* pseudo-header of the checksum; not sent */
	struct tcphdr tcp;
};

static uint16_t checksum(const void *of, size_t bytes)
{
	const uint16_t *words = of;
	uint32_t sum = 0;

	for (; bytes > 1; bytes -= 2)
		sum += *words++;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Returns this host's address on the route to `to`. */
static uint32_t source_of(const struct sockaddr_in *to)
{
	struct sockaddr_in from = { 0 };
	socklen_t size = sizeof(from);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, sizeof(*to)) ||
	    getsockname(fd, (struct sockaddr *)&from, &size))
		die("connect");
	close(fd);
	return from.sin_addr.s_addr;
}

static void send_syn(int fd, const struct sockaddr_in *to, uint32_t from, uint16_t port, uint32_t k)
{
	struct packet p = { .pseudo = { from, to->sin_addr.s_addr, 0, IPPROTO_TCP, htons(sizeof(p.tcp)) },
			    .tcp = { .source = htons(port),
				     .dest = to->sin_port,
				     .seq = htonl(k),
				     .doff = 5,
				     .syn = 1,
				     .window = htons(512) } };
	struct sockaddr_in host = *to;

	host.sin_port = 0;
	p.tcp.check = checksum(&p, sizeof(p));
	sendto(fd, &p.tcp, sizeof(p.tcp), 0, (struct sockaddr *)&host, sizeof(host));
}

static void answers(int fd, uint16_t port, int64_t until_us, int64_t sums[4])
{
	struct {
		struct iphdr ip;
		struct tcphdr tcp;
		char more[64];
	} got;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left_us;

	while ((left_us = until_us - now_us()) > 0) {
		struct timespec wait = { left_us / 1000000, left_us % 1000000 * 1000 };
		int64_t rtt_us;
		unsigned k;

		if (ppoll(&p, 1, &wait, NULL) <= 0)
			continue;
		if (recv(fd, &got, sizeof(got), 0) < (ssize_t)(sizeof(got.ip) + sizeof(got.tcp)) ||
		    got.ip.ihl != 5)
			continue;
		k = ntohs(got.tcp.dest) - FIRST_PORT;
		if (got.tcp.source != htons(port) || !got.tcp.ack || k >= PORTS || !sent_us[k])
			continue;
		rtt_us = now_us() - sent_us[k];
		sent_us[k] = 0;
		sums[1] = sums[0] && sums[1] < rtt_us ? sums[1] : rtt_us;
		sums[2] += rtt_us;
		sums[3] = sums[3] > rtt_us ? sums[3] : rtt_us;
		sums[0]++;
	}
}

int main(int argc, char **argv)
{
	int pings = argc == 6 && !strcmp(argv[1], "pings"), nothing = 1, fd;
	struct sockaddr_in to = { .sin_family = AF_INET };
	int64_t every_us, start, sums[4] = { 0 }, k, count;
	uint32_t from;

	if (!pings && !(argc == 5 && !strcmp(argv[1], "flood"))) {
		fputs("usage: syns flood|pings ADDRESS PORT EVERY_US [COUNT]\n", stderr);
		return 2;
	}
	to.sin_port = htons((uint16_t)atoi(argv[3]));
	if (inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		die(argv[2]);
	every_us = atoll(argv[4]);
	count = pings ? atoll(argv[5]) : INT64_MAX;
	from = source_of(&to);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	if (fd < 0)
		die("socket");
	if (!pings) /* the kernel handles the answers */
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &nothing, sizeof(nothing));
	start = now_us();
	for (k = 0; k < count; k++) {
		int64_t at_us = start + k * every_us, wait_us;

		if (pings)
			answers(fd, (uint16_t)atoi(argv[3]), at_us, sums);
		else if ((wait_us = at_us - now_us()) > 0)
			usleep((useconds_t)wait_us);
		sent_us[k % PORTS] = now_us();
		send_syn(fd, &to, from, (uint16_t)(FIRST_PORT + k % PORTS), (uint32_t)k);
	}
	answers(fd, (uint16_t)atoi(argv[3]), now_us() + LAST_ANSWER_US, sums);
	printf("%lld %lld %lld %lld\n", (long long)sums[0], (long long)sums[1],
	       (long long)(sums[0] ? sums[2] / sums[0] : 0), (long long)sums[3]);
	return 0;
}
