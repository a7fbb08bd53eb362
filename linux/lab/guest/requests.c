/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests and answers on a kept connection: what a user waits for. */
#include "transfer.h"

static void at_once(int fd)
{
	int one = 1;

	setsockopt(fd, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
}

int answer(const char *port, long long bytes)
{
	struct sockaddr_in a = address_of("0.0.0.0", port);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 64))
		die("listen");
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		long long got = 0;
		ssize_t n;

		if (fd < 0)
			die("accept");
		at_once(fd);
		while ((n = read(fd, buffer, bytes - got < BUFFER_BYTES ? (size_t)(bytes - got) : BUFFER_BYTES)) > 0) {
			got += n;
			if (got < bytes)
				continue;
			got = 0;
			if (write(fd, "x", 1) != 1)
				break;
		}
		close(fd);
	}
}

static int64_t response_us(int fd, long long bytes)
{
	int64_t start = now_us();
	long long left = bytes;

	while (left > 0) {
		ssize_t n = write(fd, buffer, left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES);

		if (n < 0)
			die("write");
		left -= n;
	}
	if (read(fd, buffer, 1) != 1)
		die("read");
	return now_us() - start;
}

int send_requests(char **argv)
{
	long long bytes = atoll(argv[2]), count = atoll(argv[4]), k;
	uint64_t think_us = (uint64_t)atoll(argv[5]) * 1000, z = (uint64_t)atoll(argv[6]);
	int fd = connected(argv[0], argv[1], argv[3]);
	int64_t start = now_us();
	FILE *file = fopen(argv[7], "w");

	if (!file)
		die(argv[7]);
	at_once(fd);
	for (k = 0; k < count; k++) {
		fprintf(file, "%lld\n", (long long)response_us(fd, bytes));
		z = z * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
		usleep((useconds_t)(think_us / 2 + (think_us ? (z >> 33) % think_us : 0)));
	}
	fclose(file);
	finish(fd);
	print_info(bytes * count, now_us() - start, info_of(fd));
	close(fd);
	return 0;
}
