/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests and answers: what a user waits for. */
#include "transfer.h"

static void at_once(int fd)
{
	int one = 1;

	setsockopt(fd, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Knuth's MMIX generator */
static uint64_t next_of(uint64_t *z)
{
	*z = *z * 6364136223846793005u + 1442695040888963407u;
	return *z >> 33;
}

static void answer_one(int fd, long long bytes, uint64_t after_us, uint64_t seed)
{
	long long got = 0;
	ssize_t n;

	while ((n = read(fd, buffer, bytes - got < BUFFER_BYTES ? (size_t)(bytes - got) : BUFFER_BYTES)) > 0) {
		got += n;
		if (got < bytes)
			continue;
		got = 0;
		if (after_us)
			usleep((useconds_t)(next_of(&seed) % (2 * after_us)));
		if (write(fd, "x", 1) != 1)
			break;
	}
}

int answer(const char *port, long long bytes, int64_t after_ms)
{
	struct sockaddr_in a = address_of("0.0.0.0", port);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 64))
		die("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		/* a process each: one whose end is lost holds up no other */
		if (fork() == 0) {
			at_once(fd);
			answer_one(fd, bytes, (uint64_t)after_ms * 1000, 1);
			_exit(0);
		}
		close(fd);
	}
}

static void write_all(int fd, long long bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, buffer, bytes < BUFFER_BYTES ? (size_t)bytes : BUFFER_BYTES);

		if (n < 0)
			die("write");
		bytes -= n;
	}
}

static int64_t response_us(int fd, long long bytes)
{
	int64_t start = now_us();

	write_all(fd, bytes);
	if (read(fd, buffer, 1) != 1)
		die("read");
	return now_us() - start;
}

struct client {
	const char *host, *port, *congestion;
	long long bytes, count;
	uint64_t think_us, seed;
	FILE *file;
};

static uint64_t pause_us(struct client *c)
{
	uint64_t z = next_of(&c->seed);

	return c->think_us / 2 + (c->think_us ? z % c->think_us : 0);
}

static void kept(struct client *c, int fd)
{
	long long k;

	for (k = 0; k < c->count; k++) {
		fprintf(c->file, "%lld\n", (long long)response_us(fd, c->bytes));
		usleep((useconds_t)pause_us(c));
	}
}

/* Whether or not those before are answered. */
static void stream(struct client *c, int fd)
{
	int64_t *sent = calloc((size_t)c->count, sizeof(*sent)), at = now_us();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long long k = 0, answered = 0, i;

	if (!sent)
		die("calloc");
	while (answered < c->count) {
		int64_t wait = k < c->count ? at - now_us() : 1000000;
		struct timespec t = { wait / 1000000, wait % 1000000 * 1000 };
		ssize_t n;

		if (k < c->count && wait <= 0) {
			sent[k++] = now_us();
			write_all(fd, c->bytes);
			at += (int64_t)pause_us(c);
			continue;
		}
		if (ppoll(&p, 1, &t, NULL) <= 0)
			continue;
		n = read(fd, buffer, sizeof(buffer));
		if (n <= 0)
			die("read");
		for (i = 0; i < n; i++, answered++)
			fprintf(c->file, "%lld\n", (long long)(now_us() - sent[answered]));
	}
	free(sent);
}

static void add(struct tcp_info *sum, struct tcp_info t)
{
	t.tcpi_total_retrans += sum->tcpi_total_retrans;
	t.tcpi_segs_out += sum->tcpi_segs_out;
	t.tcpi_data_segs_out += sum->tcpi_data_segs_out;
	t.tcpi_bytes_sent += sum->tcpi_bytes_sent;
	t.tcpi_bytes_retrans += sum->tcpi_bytes_retrans;
	t.tcpi_bytes_acked += sum->tcpi_bytes_acked;
	t.tcpi_lost += sum->tcpi_lost;
	t.tcpi_delivered += sum->tcpi_delivered;
	t.tcpi_busy_time += sum->tcpi_busy_time;
	t.tcpi_dsack_dups += sum->tcpi_dsack_dups;
	*sum = t;
}

/* A connection each, its handshake in the response time. */
static struct tcp_info fresh(struct client *c)
{
	struct tcp_info sum = {};
	long long k;

	for (k = 0; k < c->count; k++) {
		int64_t start = now_us();
		int fd = connected(c->host, c->port, c->congestion);

		at_once(fd);
		response_us(fd, c->bytes);
		fprintf(c->file, "%lld\n", (long long)(now_us() - start));
		add(&sum, info_of(fd));
		close(fd);
		usleep((useconds_t)pause_us(c));
	}
	return sum;
}

int send_requests(char **argv)
{
	struct client c = {
		.host = argv[0],
		.port = argv[1],
		.bytes = atoll(argv[2]),
		.congestion = argv[3],
		.count = atoll(argv[4]),
		.think_us = (uint64_t)atoll(argv[5]) * 1000,
		.seed = (uint64_t)atoll(argv[6]),
		.file = fopen(argv[8], "w"),
	};
	struct tcp_info info;
	int64_t start;
	int fd;

	if (!c.file)
		die(argv[8]);
	if (!strcmp(argv[7], "fresh")) {
		start = now_us();
		info = fresh(&c);
	} else {
		fd = connected(c.host, c.port, c.congestion);
		start = now_us();
		at_once(fd);
		if (!strcmp(argv[7], "stream"))
			stream(&c, fd);
		else
			kept(&c, fd);
		finish(fd);
		info = info_of(fd);
		close(fd);
	}
	fclose(c.file);
	print_info(c.bytes * c.count, now_us() - start, info);
	return 0;
}
