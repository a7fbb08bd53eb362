/* SPDX-License-Identifier: GPL-2.0-only */
#include "sockets.h"

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

int use(int fd, const char *congestion)
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

/* Closes our direction and waits until the peer has closed its own. */
void finish(int fd)
{
	shutdown(fd, SHUT_WR);
	if (read(fd, buffer, sizeof(buffer)) != 0)
		die("read");
}

void sleep_until(int64_t at_us)
{
	int64_t wait = at_us - now_us();

	if (wait > 0)
		usleep((useconds_t)wait);
}
