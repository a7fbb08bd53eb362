/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends bursts on one connection: COUNT bursts of BYTES, one every EVERY_MS, then one after each pause.
 * The time of a burst ends when all of it is acknowledged. */
#include "bursts.h"
#include "sockets.h"

/* Writes a burst. Returns the time in us until it is acknowledged; *cwnd is cwnd before the first write. */
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

int send_bursts(char **argv)
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
