/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A client of a protocol like DNS: queries and answers are single datagrams, and what is lost must be sent again.
 * The retry timer of libtcplearn says when. For comparison the same queries are sent again after a fixed second,
 * as many clients do. The server, a child of this program on the loopback interface, drops a tenth of the queries
 * and takes 4 to 6 ms for the others. Usage: lookup [QUERIES [SEED]]. Build:
 *   cc lookup.c $(pkg-config --cflags --libs tcplearn) -o lookup */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tcplearn/retry.h>

#define QUERIES_MAX 10000
#define AT_ONCE 4

/* A datagram: the number of a query and which copy of it this is; an answer repeats both. */
struct datagram {
	uint32_t query, copy;
};

struct client {
	int fd;
	struct tl_retry timer;
	int64_t sent_us[QUERIES_MAX], took_us[QUERIES_MAX];
	uint32_t queries, begun, answered;
};

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void nap_us(int64_t us)
{
	struct timespec t;

	t.tv_sec = (time_t)(us / 1000000);
	t.tv_nsec = (long)(us % 1000000) * 1000;
	nanosleep(&t, NULL);
}

/* Answers queries until it is killed. The same seed drops the same queries. */
static void serve(int fd, uint64_t seed)
{
	struct sockaddr_in from;
	struct datagram d;

	for (;;) {
		socklen_t length = sizeof(from);
		ssize_t n = recvfrom(fd, &d, sizeof(d), 0, (struct sockaddr *)&from, &length);

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (n != (ssize_t)sizeof(d) || (seed >> 33) % 10 == 0)
			continue;
		nap_us(1000 + (int64_t)((seed >> 40) % 500));
		if (sendto(fd, &d, sizeof(d), 0, (struct sockaddr *)&from, length) < 0)
			perror("lookup: sendto");
	}
}

static void ask(struct client *c, uint32_t query, uint32_t copy)
{
	struct datagram d;

	d.query = query;
	d.copy = copy;
	if (send(c->fd, &d, sizeof(d), 0) < 0)
		perror("lookup: send");
}

/* Sends the next queries, up to AT_ONCE without an answer. */
static void begin(struct client *c)
{
	while (c->begun < c->queries && c->begun - c->answered < AT_ONCE) {
		c->sent_us[c->begun] = now_us();
		if (tl_retry_sent(&c->timer, c->begun, c->sent_us[c->begun]) == TL_RETRY_OK)
			ask(c, c->begun, 0);
		c->begun++;
	}
}

/* Waits for an answer until the first wait of the timer ends, and takes the answers that there are. A second answer
 * to a query is refused by the timer. */
static void receive(struct client *c)
{
	const int64_t left_us = tl_retry_deadline(&c->timer) - now_us();
	struct pollfd p;
	struct datagram d;

	p.fd = c->fd;
	p.events = POLLIN;
	poll(&p, 1, left_us > 0 ? (int)((left_us + 999) / 1000) : 0);
	while (recv(c->fd, &d, sizeof(d), MSG_DONTWAIT) == (ssize_t)sizeof(d)) {
		if (d.query < c->queries &&
		    tl_retry_answered(&c->timer, d.query, d.copy, now_us()) == TL_RETRY_OK) {
			c->took_us[d.query] = now_us() - c->sent_us[d.query];
			c->answered++;
		}
	}
}

static int by_length(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void run(struct client *c, const char *name, const struct tl_retry_settings *how)
{
	struct tl_retry_again again;

	c->begun = c->answered = 0;
	if (tl_retry_init(&c->timer, how) != TL_RETRY_OK)
		return;
	while (c->answered < c->queries) {
		begin(c);
		receive(c);
		while (tl_retry_fired(&c->timer, now_us(), &again) == TL_RETRY_DUE)
			ask(c, (uint32_t)again.id, again.copy);
	}
	qsort(c->took_us, c->queries, sizeof(c->took_us[0]), by_length);
	printf("%u answers, %u resends, %u of them spurious; median %.1f ms, p99 %.1f ms: %s\n", c->answered,
	       (unsigned)c->timer.counts.resends, (unsigned)c->timer.counts.needless,
	       (double)c->took_us[c->queries / 2] / 1e3, (double)c->took_us[c->queries * 99 / 100] / 1e3,
	       name);
}

int main(int argc, char **argv)
{
	const long queries = argc > 1 ? strtol(argv[1], NULL, 10) : 300;
	const int server = socket(AF_INET, SOCK_DGRAM, 0);
	static struct client c;
	struct tl_retry_settings how;
	struct sockaddr_in at;
	socklen_t length = sizeof(at);
	pid_t child;

	if (queries < 1 || queries > QUERIES_MAX) {
		fprintf(stderr, "lookup: QUERIES is 1 to %d\n", QUERIES_MAX);
		return 2;
	}
	memset(&at, 0, sizeof(at));
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c.queries = (uint32_t)queries;
	c.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (server < 0 || c.fd < 0 || bind(server, (struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(server, (struct sockaddr *)&at, &length) ||
	    connect(c.fd, (struct sockaddr *)&at, sizeof(at))) {
		perror("lookup");
		return 1;
	}
	child = fork();
	if (child < 0) {
		perror("lookup: fork");
		return 1;
	}
	if (child == 0)
		serve(server, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);

	tl_retry_defaults(&how);
	how.rate_ppm = 10000; /* one needless resend in a hundred queries */
	run(&c, "by the retry timer", &how);
	how.min_wait_us = how.max_wait_us = 1000000;
	run(&c, "a fixed second", &how);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
