/* SPDX-License-Identifier: GPL-2.0-only */
/* Opens many connections, switches their congestion control, closes, resets and disconnects them, and if asked to does
 * what few programs do (unusual.h). Connections of Multipath TCP go to the next port. */
#include "storm.h"
#include "sockets.h"
#include "unusual.h"

#include <stdbool.h>

/* splitmix64: the same seed gives the same storm */
static uint64_t seed;
static uint32_t pick(uint32_t below)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % below);
}

static struct {
	uint64_t opened, switched, switch_failed, closed, aborted, disconnected, failed, multipath, encrypted, mapped,
		repaired, lost;
} storms;

static bool unusual; /* whether the storm does what few programs do */

static int storm_open(const struct sockaddr_in *a, const char *congestion)
{
	struct sockaddr_in to = *a;
	int fd = -1;

	if (unusual && pick(8) == 0)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_MPTCP);
	if (fd >= 0) {
		to.sin_port = htons((uint16_t)(ntohs(a->sin_port) + 1));
		storms.multipath++;
	} else {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	}
	if (fd < 0)
		die("socket");
	if (use(fd, congestion))
		storms.switch_failed++;
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) && errno != EINPROGRESS) {
		storms.failed++;
		close(fd);
		return -1;
	}
	storms.opened++;
	return fd;
}

static int storm_unusual(int fd)
{
	switch (pick(3)) {
	case 0:
		storms.encrypted += encrypt_sending(fd) == 0;
		return fd;
	case 1:
		storms.mapped += put_into_sockmap(fd, pick(1024)) == 0;
		return fd;
	}
	fd = repaired(fd);
	if (fd >= 0)
		storms.repaired++;
	else
		storms.lost++;
	return fd;
}

static int storm_step(int fd, const struct sockaddr_in *a, char *const *names, uint32_t count)
{
	struct linger hard = { 1, 0 };
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	uint32_t what = pick(100);

	if (fd < 0)
		return storm_open(a, names[pick(count)]);
	if (what < 55) {
		if (write(fd, buffer, 1 + pick(sizeof(buffer))) < 0 && errno != EAGAIN && errno != EINPROGRESS &&
		    errno != ENOTCONN) {
			storms.failed++;
			close(fd);
			return -1;
		}
	} else if (what < 65 && unusual) {
		return storm_unusual(fd);
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

int storm(char **argv)
{
	struct sockaddr_in a = address_of(argv[0], argv[1]);
	uint32_t count = (uint32_t)atoi(argv[2]), names_count = 0, i;
	int64_t end = now_us() + atoll(argv[3]) * 1000000;
	char *names[16], *word;
	int *fds = malloc(count * sizeof(*fds));

	seed = (uint64_t)atoll(argv[4]);
	unusual = argv[6] != NULL;
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
	printf("opened %llu\nswitched %llu\nswitch_failed %llu\nclosed %llu\naborted %llu\ndisconnected %llu\nfailed %llu\n"
	       "multipath %llu\nencrypted %llu\nmapped %llu\nrepaired %llu\nlost %llu\n",
	       (unsigned long long)storms.opened, (unsigned long long)storms.switched,
	       (unsigned long long)storms.switch_failed, (unsigned long long)storms.closed,
	       (unsigned long long)storms.aborted, (unsigned long long)storms.disconnected,
	       (unsigned long long)storms.failed, (unsigned long long)storms.multipath,
	       (unsigned long long)storms.encrypted, (unsigned long long)storms.mapped,
	       (unsigned long long)storms.repaired, (unsigned long long)storms.lost);
	return 0;
}
