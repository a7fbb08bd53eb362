/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The bytes that a fuzzer gives to a target, read as numbers; after the last byte each number is 0. */
#ifndef TCPLEARN_TESTS_BYTES_H
#define TCPLEARN_TESTS_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t take(struct bytes *b, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0 && b->left > 0) {
		value = value << 8 | *b->at++;
		b->left--;
	}
	return value;
}

#endif
