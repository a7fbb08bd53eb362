/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends requests and measures the response times of their answers. KIND is
 *   kept    one connection, one request at a time, with pauses of half to one and a half of THINK_MS
 *   stream  at such intervals, without waiting for answers
 *   fresh   as kept, each request on its own connection
 *   page:N  as kept, each request of N times BYTES with N answers; the response time ends with the last
 *   many:N  as kept, on each of N concurrent connections, COUNT requests in all
 * Each line of FILE has the response time and the start of a request, in us. */
#include "requests.h"
#include "sockets.h"

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* the linear congruential generator of Knuth's MMIX */
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

int answer(char **argv)
{
	struct sockaddr_in a = address_of("0.0.0.0", argv[0]);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 64))
		die("listen");
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		/* one process for each connection, so that a loss on one delays no other */
		if (fork() == 0) {
			no_delay(fd);
			answer_one(fd, atoll(argv[1]), (uint64_t)atoll(argv[2]) * 1000, 1);
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

/* Sends a request and waits for its answers. */
static void respond(int fd, long long bytes, long long answers)
{
	write_all(fd, bytes);
	while (answers > 0) {
		ssize_t n = read(fd, buffer, (size_t)answers);

		if (n <= 0)
			die("read");
		answers -= n;
	}
}

struct client {
	const char *host, *port, *congestion;
	long long bytes, count;
	uint64_t think_us, seed;
	long long number; /* objects of a page, or concurrent connections */
	FILE *file;
};

static void answered(struct client *c, int64_t start_us)
{
	fprintf(c->file, "%lld %lld\n", (long long)(now_us() - start_us), (long long)start_us);
}

static uint64_t pause_us(struct client *c)
{
	uint64_t z = next_of(&c->seed);

	return c->think_us / 2 + (c->think_us ? z % c->think_us : 0);
}

static void kept(struct client *c, int fd)
{
	long long k;

	for (k = 0; k < c->count; k++) {
		int64_t start = now_us();

		respond(fd, c->bytes * c->number, c->number);
		answered(c, start);
		usleep((useconds_t)pause_us(c));
	}
}

/* Sends requests without waiting for the answers to earlier ones. */
static void stream(struct client *c, int fd)
{
	int64_t *sent = calloc((size_t)c->count, sizeof(*sent)), at = now_us();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long long k = 0, done = 0, i;

	if (!sent)
		die("calloc");
	while (done < c->count) {
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
		for (i = 0; i < n; i++, done++)
			answered(c, sent[done]);
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

/* Opens a connection for each request; the response time includes the handshake. */
static struct tcp_info fresh(struct client *c)
{
	struct tcp_info sum = {};
	long long k;

	for (k = 0; k < c->count; k++) {
		int64_t start = now_us();
		int fd = connected(c->host, c->port, c->congestion);

		no_delay(fd);
		respond(fd, c->bytes, 1);
		answered(c, start);
		add(&sum, info_of(fd));
		close(fd);
		usleep((useconds_t)pause_us(c));
	}
	return sum;
}

struct flow {
	int64_t at_us; /* start of the connection's next request, or of the one that awaits its answer */
	int waits;
};

static int ready(struct pollfd *p, const struct flow *f, long long flows)
{
	int64_t next_us = now_us() + 1000000;
	struct timespec t = {};
	long long i;

	for (i = 0; i < flows; i++) {
		p[i].events = f[i].waits ? POLLIN : 0;
		if (!f[i].waits && f[i].at_us < next_us)
			next_us = f[i].at_us;
	}
	next_us -= now_us();
	t.tv_sec = next_us > 0 ? next_us / 1000000 : 0;
	t.tv_nsec = next_us > 0 ? next_us % 1000000 * 1000 : 0;
	return ppoll(p, (nfds_t)flows, &t, NULL);
}

/* Runs `kept` on many connections with separate pauses, until COUNT requests in all are answered. */
static struct tcp_info many(struct client *c, int64_t *elapsed_us)
{
	struct pollfd *p = calloc((size_t)c->number, sizeof(*p));
	struct flow *f = calloc((size_t)c->number, sizeof(*f));
	struct tcp_info sum = {};
	int64_t start;
	long long i, done = 0;

	if (!p || !f)
		die("calloc");
	for (i = 0; i < c->number; i++) {
		p[i].fd = connected(c->host, c->port, c->congestion);
		no_delay(p[i].fd);
	}
	start = now_us();
	for (i = 0; i < c->number; i++)
		f[i].at_us = start + (int64_t)pause_us(c) - (int64_t)c->think_us / 2;
	while (done < c->count) {
		ready(p, f, c->number);
		for (i = 0; i < c->number; i++) {
			if (f[i].waits && p[i].revents) {
				if (read(p[i].fd, buffer, 1) != 1)
					die("read");
				answered(c, f[i].at_us);
				f[i].waits = 0;
				f[i].at_us = now_us() + (int64_t)pause_us(c);
				done++;
			} else if (!f[i].waits && f[i].at_us <= now_us()) {
				f[i].waits = 1;
				f[i].at_us = now_us();
				write_all(p[i].fd, c->bytes);
			}
		}
	}
	*elapsed_us = now_us() - start;
	for (i = 0; i < c->number; i++) {
		shutdown(p[i].fd, SHUT_WR);
		while (read(p[i].fd, buffer, sizeof(buffer)) > 0)
			; /* answers to the requests that were sent */
		add(&sum, info_of(p[i].fd));
		close(p[i].fd);
	}
	free(p);
	free(f);
	return sum;
}

int send_requests(char **argv)
{
	const char *kind = strtok(argv[7], ":"), *number = strtok(NULL, ":");
	struct client c = {
		.host = argv[0],
		.port = argv[1],
		.bytes = atoll(argv[2]),
		.congestion = argv[3],
		.count = atoll(argv[4]),
		.think_us = (uint64_t)atoll(argv[5]) * 1000,
		.seed = (uint64_t)atoll(argv[6]),
		.number = number ? atoll(number) : 1,
		.file = fopen(argv[8], "w"),
	};
	struct tcp_info info;
	int64_t start, elapsed;
	int fd;

	if (!c.file)
		die(argv[8]);
	if (!strcmp(kind, "fresh")) {
		start = now_us();
		info = fresh(&c);
		elapsed = now_us() - start;
	} else if (!strcmp(kind, "many")) {
		info = many(&c, &elapsed);
	} else {
		fd = connected(c.host, c.port, c.congestion);
		start = now_us();
		no_delay(fd);
		if (!strcmp(kind, "stream"))
			stream(&c, fd);
		else
			kept(&c, fd);
		finish(fd);
		info = info_of(fd);
		close(fd);
		elapsed = now_us() - start;
	}
	fclose(c.file);
	print_info(c.bytes * c.count * (strcmp(kind, "page") ? 1 : c.number), elapsed, info);
	return 0;
}
