/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets, their TCP_INFO and the clock, for all commands of the lab's traffic program. */
#ifndef SOCKETS_H
#define SOCKETS_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SOL_TCP 6
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#define BUFFER_BYTES (1 << 16)
extern char buffer[BUFFER_BYTES];

void die(const char *what);
int64_t now_us(void);
void sleep_until(int64_t at_us);
struct sockaddr_in address_of(const char *host, const char *port);
int use(int fd, const char *congestion);
int connected(const char *host, const char *port, const char *congestion);
struct tcp_info info_of(int fd);
void print_info(long long bytes, int64_t elapsed_us, struct tcp_info t);
/* Closes our direction and waits until the peer has closed its own. */
void finish(int fd);

#endif
