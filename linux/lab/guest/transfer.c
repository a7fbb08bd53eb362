/* SPDX-License-Identifier: GPL-2.0-only */
/* The traffic program of the lab.
 *
 *   transfer sink PORT [mptcp]              receives data, and closes after its peer
 *   transfer send ADDRESS PORT BYTES CC     sends, waits until all is acknowledged, prints TCP_INFO
 *   transfer bursts ADDRESS PORT BYTES CC COUNT EVERY_MS PAUSE_MS,...
 *                                           COUNT bursts of BYTES, one every EVERY_MS, then one after each pause;
 *                                           a burst ends when it is acknowledged. Prints as send does
 *   transfer answer PORT BYTES AFTER_MS     answers each BYTES with one byte, after up to twice AFTER_MS
 *   transfer requests ADDRESS PORT BYTES CC COUNT THINK_MS SEED KIND FILE
 *                                           COUNT requests of BYTES, each answered by one byte: requests.c.
 *                                           Prints TCP_INFO as send does
 *   transfer udp ADDRESS PORT KBIT_S BYTES SECONDS  sends datagrams of BYTES at a constant rate
 *   transfer pace PERIOD_MS FILE [LOG]      FILE has lines "MS TEXT": prints each TEXT at its time in a period
 *                                           (PERIOD_MS 0: once). LOG gets the time of each line in us
 *   transfer clocks                         CLOCK_REALTIME (of captures) minus CLOCK_MONOTONIC (of the log)
 *   transfer storm ADDRESS PORT COUNT SECONDS SEED CC,CC... [unusual]
 *                                           keeps COUNT connections busy: opens, switches their congestion
 *                                           control, closes, resets and disconnects them, and what is in unusual.h */
#include "bursts.h"
#include "requests.h"
#include "sockets.h"
#include "storm.h"

static int sink(char **argv)
{
	struct sockaddr_in a = address_of("0.0.0.0", argv[0]);
	struct epoll_event e = { .events = EPOLLIN }, got[64];
	int protocol = argv[1] ? IPPROTO_MPTCP : IPPROTO_TCP;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, protocol), set = epoll_create1(0), one = 1, n, i;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 1024))
		die("listen");
	e.data.fd = listener;
	epoll_ctl(set, EPOLL_CTL_ADD, listener, &e);
	while ((n = epoll_wait(set, got, 64, -1)) >= 0 || errno == EINTR) {
		for (i = 0; i < n; i++) {
			int fd = got[i].data.fd;

			if (fd == listener) {
				fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
				e.data.fd = fd;
				if (fd >= 0)
					epoll_ctl(set, EPOLL_CTL_ADD, fd, &e);
			} else {
				ssize_t got_bytes = read(fd, buffer, sizeof(buffer));

				if (got_bytes == 0 || (got_bytes < 0 && errno != EAGAIN))
					close(fd);
			}
		}
	}
	return 1;
}

static int send_all(char **argv)
{
	int64_t start = now_us(), cwnd_sum = 0, cwnds = 0;
	int fd = connected(argv[0], argv[1], argv[3]);
	long long bytes = atoll(argv[2]), left = bytes;

	while (left > 0) {
		ssize_t n = write(fd, buffer, left < (long long)sizeof(buffer) ? (size_t)left : sizeof(buffer));

		if (n < 0)
			die("write");
		left -= n;
		cwnd_sum += info_of(fd).tcpi_snd_cwnd;
		cwnds++;
	}
	finish(fd);
	print_info(bytes, now_us() - start, info_of(fd));
	printf("mean_cwnd_at_write %.3f\n", cwnds ? (double)cwnd_sum / (double)cwnds : 0.0);
	close(fd);
	return 0;
}

static int send_datagrams(char **argv)
{
	long long kbit_s = atoll(argv[2]), bytes = atoll(argv[3]), seconds = atoll(argv[4]);
	struct sockaddr_in a = address_of(argv[0], argv[1]);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int64_t start = now_us(), gap_us = bytes * 8000 / kbit_s, k;

	for (k = 0; k * gap_us < seconds * 1000000; k++) {
		sleep_until(start + k * gap_us);
		sendto(fd, buffer, (size_t)bytes, 0, (struct sockaddr *)&a, sizeof(a));
	}
	return 0;
}

static int pace(char **argv)
{
	const char *path = argv[1], *log_path = argv[2];
	FILE *log = log_path ? fopen(log_path, "w") : NULL;
	int64_t period_ms = atoll(argv[0]);
	int64_t start = now_us(), round;

	if (log_path && !log)
		die(log_path);

	for (round = 0;; round++) {
		FILE *file = fopen(path, "r");
		long long ms;

		if (!file)
			die(path);
		while (fscanf(file, "%lld %255[^\n]", &ms, buffer) == 2) {
			sleep_until(start + (round * period_ms + ms) * 1000);
			if (log)
				fprintf(log, "%lld\n", (long long)now_us());
			if (puts(buffer) < 0 || fflush(stdout))
				return 0; /* the reader has closed */
		}
		fclose(file);
		if (!period_ms)
			break;
	}
	if (log)
		fclose(log);
	return 0;
}

static int clocks(char **argv)
{
	struct timespec t;
	int64_t monotonic_us = now_us();

	(void)argv;

	clock_gettime(CLOCK_REALTIME, &t);
	printf("%lld\n", (long long)(t.tv_sec * 1000000ll + t.tv_nsec / 1000 - monotonic_us));
	return 0;
}

static const struct {
	const char *name;
	int words, words_more; /* number of words after the command's name */
	int (*run)(char **argv);
} commands[] = {
	{ "sink", 1, 1, sink },
	{ "send", 4, 0, send_all },
	{ "bursts", 7, 0, send_bursts },
	{ "answer", 3, 0, answer },
	{ "requests", 9, 0, send_requests },
	{ "udp", 5, 0, send_datagrams },
	{ "pace", 2, 1, pace },
	{ "clocks", 0, 0, clocks },
	{ "storm", 6, 1, storm },
};

int main(int argc, char **argv)
{
	size_t i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name) && argc - 2 >= commands[i].words &&
		    argc - 2 <= commands[i].words + commands[i].words_more)
			return commands[i].run(argv + 2);
	fputs("usage: transfer sink|send|bursts|answer|requests|udp|pace|clocks|storm ...: see transfer.c\n", stderr);
	return 2;
}
