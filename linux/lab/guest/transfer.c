/* SPDX-License-Identifier: GPL-2.0-only */
/* The lab's traffic program.
 *
 *   transfer sink PORT                      takes what comes, closes when its peer has
 *   transfer send ADDRESS PORT BYTES CC     sends, waits until all is acknowledged, prints TCP_INFO
 *   transfer bursts ADDRESS PORT BYTES CC COUNT EVERY_MS PAUSE_MS,...
 *                                           COUNT bursts of BYTES, one each EVERY_MS, then one after each pause;
 *                                           each timed until all of it is acknowledged. Prints as send does
 *   transfer answer PORT BYTES AFTER_MS     answers each BYTES with one byte, after up to twice AFTER_MS
 *   transfer requests ADDRESS PORT BYTES CC COUNT THINK_MS SEED KIND FILE
 *                                           COUNT requests of BYTES, each answered by one byte: requests.c.
 *                                           Prints as send does
 *   transfer udp ADDRESS PORT KBIT_S BYTES SECONDS  datagrams of so many bytes at a constant rate
 *   transfer pace PERIOD_MS FILE [LOG]      prints FILE's lines, "MS TEXT", each TEXT at its time, again and again;
 *                                           PERIOD_MS 0: once. The time of each, in us, is a line of LOG
 *   transfer clocks                         prints CLOCK_REALTIME less CLOCK_MONOTONIC, as captures and the log have them
 *   transfer storm ADDRESS PORT COUNT SECONDS SEED CC,CC...
 *                                           keeps COUNT connections busy: opens, switches their congestion
 *                                           control, closes, resets and disconnects them
 */
#include "transfer.h"

char buffer[BUFFER_BYTES];

void die(const char *what)
{
	fprintf(stderr, "transfer: %s: %s\n", what, strerror(errno));
	exit(1);
}

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

struct sockaddr_in address_of(const char *host, const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };

	if (inet_pton(AF_INET, host, &a.sin_addr) != 1) {
		errno = EINVAL;
		die(host);
	}
	return a;
}

static int sink(const char *port)
{
	struct sockaddr_in a = address_of("0.0.0.0", port);
	struct epoll_event e = { .events = EPOLLIN }, got[64];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), set = epoll_create1(0), one = 1, n, i;

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

static int use(int fd, const char *congestion)
{
	return setsockopt(fd, SOL_TCP, TCP_CONGESTION, congestion, (socklen_t)strlen(congestion));
}

struct tcp_info info_of(int fd)
{
	struct tcp_info t;
	socklen_t size = sizeof(t);

	if (getsockopt(fd, SOL_TCP, TCP_INFO, &t, &size))
		die("TCP_INFO");
	return t;
}

void print_info(long long bytes, int64_t elapsed_us, struct tcp_info t)
{
	printf("bytes %lld\nelapsed_us %lld\nretrans %u\nsegs_out %u\ndata_segs_out %u\nbytes_sent %llu\n"
	       "bytes_retrans %llu\nbytes_acked %llu\nlost %u\nreordering %u\nrtt_us %u\nrttvar_us %u\nmin_rtt_us %u\n"
	       "rto_us %u\nsnd_cwnd %u\nsnd_ssthresh %u\ndelivered %u\nbusy_time_us %llu\ndsack_dups %u\n",
	       bytes, (long long)elapsed_us, t.tcpi_total_retrans, t.tcpi_segs_out, t.tcpi_data_segs_out,
	       (unsigned long long)t.tcpi_bytes_sent, (unsigned long long)t.tcpi_bytes_retrans,
	       (unsigned long long)t.tcpi_bytes_acked, t.tcpi_lost, t.tcpi_reordering, t.tcpi_rtt, t.tcpi_rttvar,
	       t.tcpi_min_rtt, t.tcpi_rto, t.tcpi_snd_cwnd, t.tcpi_snd_ssthresh, t.tcpi_delivered,
	       (unsigned long long)t.tcpi_busy_time, t.tcpi_dsack_dups);
}

int connected(const char *host, const char *port, const char *congestion)
{
	struct sockaddr_in a = address_of(host, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (use(fd, congestion))
		die(congestion);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	return fd;
}

/* Waits for the peer's end, which comes after our last byte. */
void finish(int fd)
{
	shutdown(fd, SHUT_WR);
	if (read(fd, buffer, sizeof(buffer)) != 0)
		die("read");
}

static int send_all(const char *host, const char *port, long long bytes, const char *congestion)
{
	int64_t start = now_us(), cwnd_sum = 0, cwnds = 0;
	int fd = connected(host, port, congestion);
	long long left = bytes;

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

void sleep_until(int64_t at_us)
{
	int64_t wait = at_us - now_us();

	if (wait > 0)
		usleep((useconds_t)wait);
}

/* Until all of it is acknowledged; *cwnd: what the first write found. */
static int64_t burst_us(int fd, long long bytes, uint32_t *cwnd)
{
	int64_t start = now_us();
	long long left = bytes;
	int unacked = 1;

	*cwnd = 0;
	while (left > 0) {
		ssize_t n = write(fd, buffer, left < (long long)sizeof(buffer) ? (size_t)left : sizeof(buffer));

		if (n < 0)
			die("write");
		left -= n;
		if (!*cwnd)
			*cwnd = info_of(fd).tcpi_snd_cwnd;
	}
	while (!ioctl(fd, SIOCOUTQ, &unacked) && unacked)
		usleep(100);
	return now_us() - start;
}

static int send_bursts(char **argv)
{
	long long bytes = atoll(argv[2]), sent = 0;
	int64_t count = atoll(argv[4]), every_us = atoll(argv[5]) * 1000, start = now_us(), sum = 0, longest = 0, k;
	int64_t pause_sum = 0, pauses = 0, first;
	int fd = connected(argv[0], argv[1], argv[3]);
	uint64_t cwnd_sum = 0;
	uint32_t cwnd;
	char *pause;

	first = now_us();
	for (k = 0; k < count; k++) {
		int64_t took;

		sleep_until(first + k * every_us);
		took = burst_us(fd, bytes, &cwnd);
		sum += took;
		longest = took > longest ? took : longest;
		sent += bytes;
	}
	for (pause = strtok(argv[6], ","); pause; pause = strtok(NULL, ",")) {
		uint32_t before = info_of(fd).tcpi_snd_cwnd;
		int64_t took;

		sleep_until(now_us() + atoll(pause) * 1000);
		took = burst_us(fd, bytes, &cwnd);
		printf("cwnd_before_%sms_segments %u\ncwnd_after_%sms_segments %u\nburst_after_%sms_us %lld\n", pause, before,
		       pause, cwnd, pause, (long long)took);
		pause_sum += took;
		pauses++;
		cwnd_sum += cwnd;
		sent += bytes;
	}
	printf("burst_mean_us %.1f\nburst_max_us %lld\n", (double)sum / (double)count, (long long)longest);
	if (pauses)
		printf("burst_after_pause_us %.1f\ncwnd_after_pause_segments %.3f\n", (double)pause_sum / (double)pauses,
		       (double)cwnd_sum / (double)pauses);
	finish(fd);
	print_info(sent, now_us() - start, info_of(fd));
	close(fd);
	return 0;
}

static int send_datagrams(const char *host, const char *port, long long kbit_s, size_t bytes, int64_t seconds)
{
	struct sockaddr_in a = address_of(host, port);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int64_t start = now_us(), gap_us = (int64_t)bytes * 8000 / kbit_s, k;

	for (k = 0; k * gap_us < seconds * 1000000; k++) {
		sleep_until(start + k * gap_us);
		sendto(fd, buffer, bytes, 0, (struct sockaddr *)&a, sizeof(a));
	}
	return 0;
}

static int pace(int64_t period_ms, const char *path, const char *log_path)
{
	FILE *log = log_path ? fopen(log_path, "w") : NULL;
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
				return 0; /* the reader has gone */
		}
		fclose(file);
		if (!period_ms)
			break;
	}
	if (log)
		fclose(log);
	return 0;
}

static int clocks(void)
{
	struct timespec t;
	int64_t monotonic_us = now_us();

	clock_gettime(CLOCK_REALTIME, &t);
	printf("%lld\n", (long long)(t.tv_sec * 1000000ll + t.tv_nsec / 1000 - monotonic_us));
	return 0;
}

/* splitmix64: the same storm for the same seed */
static uint64_t seed;
static uint32_t pick(uint32_t below)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % below);
}

static struct {
	uint64_t opened, switched, switch_failed, closed, aborted, disconnected, failed;
} storms;

static int storm_open(const struct sockaddr_in *a, const char *congestion)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("socket");
	if (use(fd, congestion))
		storms.switch_failed++;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) && errno != EINPROGRESS) {
		storms.failed++;
		close(fd);
		return -1;
	}
	storms.opened++;
	return fd;
}

static int storm_step(int fd, const struct sockaddr_in *a, char *const *names, uint32_t count)
{
	struct linger hard = { 1, 0 };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	uint32_t what = pick(100);

	if (fd < 0)
		return storm_open(a, names[pick(count)]);
	if (what < 60) {
		if (write(fd, buffer, 1 + pick(sizeof(buffer))) < 0 && errno != EAGAIN && errno != EINPROGRESS &&
		    errno != ENOTCONN) {
			storms.failed++;
			close(fd);
			return -1;
		}
	} else if (what < 85) {
		if (use(fd, names[pick(count)]))
			storms.switch_failed++;
		else
			storms.switched++;
	} else if (what < 91) {
		close(fd);
		storms.closed++;
		return -1;
	} else if (what < 95) {
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(fd);
		storms.aborted++;
		return -1;
	} else if (!connect(fd, &none, sizeof(none))) { /* disconnect, and use the socket again */
		storms.disconnected++;
		if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) && errno != EINPROGRESS) {
			close(fd);
			return -1;
		}
		storms.opened++;
	}
	return fd;
}

static int storm(char **argv)
{
	struct sockaddr_in a = address_of(argv[0], argv[1]);
	uint32_t count = (uint32_t)atoi(argv[2]), names_count = 0, i;
	int64_t end = now_us() + atoll(argv[3]) * 1000000;
	char *names[16], *word;
	int *fds = malloc(count * sizeof(*fds));

	seed = (uint64_t)atoll(argv[4]);
	for (word = strtok(argv[5], ","); word && names_count < 16; word = strtok(NULL, ","))
		names[names_count++] = word;
	for (i = 0; i < count; i++)
		fds[i] = -1;
	while (now_us() < end) {
		for (i = 0; i < count; i++)
			fds[i] = storm_step(fds[i], &a, names, names_count);
		usleep(20000 + pick(20000));
	}
	for (i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	printf("opened %llu\nswitched %llu\nswitch_failed %llu\nclosed %llu\naborted %llu\ndisconnected %llu\nfailed %llu\n",
	       (unsigned long long)storms.opened, (unsigned long long)storms.switched,
	       (unsigned long long)storms.switch_failed, (unsigned long long)storms.closed,
	       (unsigned long long)storms.aborted, (unsigned long long)storms.disconnected,
	       (unsigned long long)storms.failed);
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && !strcmp(argv[1], "sink"))
		return sink(argv[2]);
	if (argc == 6 && !strcmp(argv[1], "send"))
		return send_all(argv[2], argv[3], atoll(argv[4]), argv[5]);
	if (argc == 9 && !strcmp(argv[1], "bursts") && atoll(argv[6]) > 0)
		return send_bursts(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "answer"))
		return answer(argv[2], atoll(argv[3]), atoll(argv[4]));
	if (argc == 11 && !strcmp(argv[1], "requests"))
		return send_requests(argv + 2);
	if (argc == 7 && !strcmp(argv[1], "udp"))
		return send_datagrams(argv[2], argv[3], atoll(argv[4]), (size_t)atoll(argv[5]), atoll(argv[6]));
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "pace") && atoll(argv[2]) >= 0)
		return pace(atoll(argv[2]), argv[3], argv[4]);
	if (argc == 2 && !strcmp(argv[1], "clocks"))
		return clocks();
	if (argc == 8 && !strcmp(argv[1], "storm"))
		return storm(argv + 2);
	fputs("usage: transfer sink|send|bursts|answer|requests|udp|pace|clocks|storm ...: see transfer.c\n", stderr);
	return 2;
}
