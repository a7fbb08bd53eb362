/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traffic over lo for bench/live_load.py, which runs it in a network namespace of its own:
 *
 * live_traffic bulk BYTES                      one connection sends so many bytes
 * live_traffic talk CONNECTIONS REQUESTS       requests, each after the answer to the one before
 * live_traffic hold CONNECTIONS ADDRESSES      opens all with a request each, opens half of them anew, closes
 * all
 *
 * bulk and talk print the seconds that they took, and those of CPU time in all processes. hold prints a word
 * after each step, and begins the next one when a line comes. A request has 1000 bytes and its answer 200; a
 * segment over lo is longer, so neither comes in parts. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 7000
#define CLIENTS 4
#define SERVERS 2
#define TALK_ADDRESSES 100
#define PART 16000 /* held connections of a process: it may not open many more files */
#define PARTS 64
#define STRIDE 128 /* between two server addresses: two in each /24 */

static char buffer[1 << 20];

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_s(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
			children.ru_stime.tv_sec) +
	       1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
			       children.ru_stime.tv_usec);
}

static int listening(int flags, uint16_t port)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	const int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&any, sizeof(any)) || listen(fd, 4096))
		err(1, "listening");
	return fd;
}

static int connected(uint32_t number, uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK + STRIDE * number) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		err(1, "connecting");
	return fd;
}

static void ask(int fd)
{
	if (send(fd, buffer, 1000, 0) != 1000 || recv(fd, buffer, 200, MSG_WAITALL) != 200)
		err(1, "asking");
}

/* Answers requests until it is killed. */
static void serve(int listener)
{
	struct epoll_event of = { .events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = listener }, ready[64];
	const int all = epoll_create1(0);

	epoll_ctl(all, EPOLL_CTL_ADD, listener, &of);
	for (;;) {
		const int count = epoll_wait(all, ready, 64, -1);

		for (int i = 0; i < count; i++) {
			int fd = ready[i].data.fd;

			if (fd == listener) {
				fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
				of = (struct epoll_event) { .events = EPOLLIN, .data.fd = fd };
				if (fd >= 0 && epoll_ctl(all, EPOLL_CTL_ADD, fd, &of))
					err(1, "accepting");
			} else if (recv(fd, buffer, sizeof(buffer), 0) <= 0) {
				close(fd);
			} else if (send(fd, buffer, 200, 0) != 200) {
				err(1, "answering");
			}
		}
	}
}

/* Runs servers in processes of their own, which end with this one; returns how many. */
static int served(pid_t *servers, int count, uint16_t port)
{
	const int listener = listening(SOCK_NONBLOCK, port);

	for (int i = 0; i < count; i++) {
		servers[i] = fork();
		if (servers[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve(listener);
		}
	}
	close(listener);
	return count;
}

static void end(const pid_t *servers, int count)
{
	for (int i = 0; i < count; i++) {
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "a process failed");
}

static void bulk(uint64_t bytes)
{
	const int listener = listening(0, PORT);
	const pid_t sink = fork();
	int fd;

	if (sink == 0) {
		fd = accept(listener, NULL, NULL);
		while (recv(fd, buffer, sizeof(buffer), 0) > 0)
			;
		exit(0);
	}
	fd = connected(0, PORT);
	while (bytes > 0) {
		const size_t most = bytes < sizeof(buffer) ? bytes : sizeof(buffer);
		const ssize_t sent = send(fd, buffer, most, 0);

		if (sent < 0)
			err(1, "sending");
		bytes -= (uint64_t)sent;
	}
	close(fd);
	wait_for(sink);
}

static void talk(uint32_t connections, uint32_t requests)
{
	pid_t servers[SERVERS], clients[CLIENTS];
	const int count = served(servers, SERVERS, PORT);

	for (uint32_t i = 0; i < CLIENTS; i++) {
		clients[i] = fork();
		if (clients[i] > 0)
			continue;
		for (uint32_t k = i; k < connections; k += CLIENTS) {
			const int fd = connected(k % TALK_ADDRESSES, PORT);

			for (uint32_t j = 0; j < requests; j++)
				ask(fd);
			close(fd);
		}
		exit(0);
	}
	for (int i = 0; i < CLIENTS; i++)
		wait_for(clients[i]);
	end(servers, count);
}

/* Opens, renews and closes connections, with a server of their own, and stops after each step. */
static void hold_part(uint32_t from, uint32_t to, uint32_t addresses, uint16_t port)
{
	int *fds = calloc(to - from, sizeof(*fds));
	pid_t server;

	if (!fds)
		err(1, "%u connections", to - from);
	served(&server, 1, port);
	for (uint32_t k = from; k < to; k++)
		ask(fds[k - from] = connected(k % addresses, port));
	raise(SIGSTOP);
	for (uint32_t k = from; k < to; k += 2) {
		close(fds[k - from]);
		ask(fds[k - from] = connected(k % addresses, port));
	}
	raise(SIGSTOP);
	for (uint32_t k = from; k < to; k++)
		close(fds[k - from]);
	raise(SIGSTOP);
	end(&server, 1);
	free(fds);
}

/* Waits until all parts have stopped after a step, says so, and lets them go on when a line comes. */
static void step(const pid_t *parts, uint32_t count, const char *name)
{
	char line[8];
	int status;

	for (uint32_t i = 0; i < count; i++)
		if (waitpid(parts[i], &status, WUNTRACED) != parts[i] || !WIFSTOPPED(status))
			errx(1, "a process failed");
	puts(name);
	if (!fgets(line, sizeof(line), stdin))
		errx(1, "no line");
	for (uint32_t i = 0; i < count; i++)
		kill(parts[i], SIGCONT);
}

static void hold(uint32_t connections, uint32_t addresses)
{
	const uint32_t count = (connections + PART - 1) / PART;
	struct rlimit files;
	pid_t parts[PARTS];

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	if (count > PARTS || files.rlim_max < (count > 1 ? PART : connections) + 64 ||
	    setrlimit(RLIMIT_NOFILE, &files))
		errx(1, "%u connections: too many files", connections);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t to = (i + 1) * PART;

		parts[i] = fork();
		if (parts[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			hold_part(i * PART, to < connections ? to : connections, addresses, PORT + i);
			exit(0);
		}
	}
	step(parts, count, "held");
	step(parts, count, "churned");
	step(parts, count, "closed");
	for (uint32_t i = 0; i < count; i++)
		wait_for(parts[i]);
}

int main(int argc, char **argv)
{
	const double begun_s = now_s();
	const char *what = argc > 2 ? argv[1] : "";
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	const uint32_t second = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "bulk") == 0)
		bulk(first);
	else if (strcmp(what, "talk") == 0 && second)
		talk((uint32_t)first, second);
	else if (strcmp(what, "hold") == 0 && second)
		hold((uint32_t)first, second);
	else
		errx(2, "bulk BYTES | talk CONNECTIONS REQUESTS | hold CONNECTIONS ADDRESSES");
	printf("%.6f %.6f\n", now_s() - begun_s, cpu_s());
	return 0;
}
