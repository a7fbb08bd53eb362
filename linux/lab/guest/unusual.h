/* SPDX-License-Identifier: GPL-2.0-only */
/* What few programs do to a connection, for the storm. */
#ifndef UNUSUAL_H
#define UNUSUAL_H

/* Lets the kernel encrypt what is sent from now on (kTLS, AES-128-GCM). Returns 0, or -1. */
int encrypt_sending(int fd);
/* Puts the connection into a sockmap, whose program lets each message pass. Returns 0, or -1. */
int put_into_sockmap(int fd, unsigned int place);
/* Closes the connection without a packet, and restores it on a new socket with what was not yet acknowledged, as a
 * checkpoint of a process does (TCP_REPAIR). Returns the new socket; -1: the connection is lost. */
int repaired(int fd);

#endif
