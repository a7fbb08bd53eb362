/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The only host-specific file of the core: integer types, and nothing else, come from the host. */
#ifndef TCPLEARN_DEPS_H
#define TCPLEARN_DEPS_H

#if defined(__KERNEL__)
#include <linux/types.h>
#define TL_NO_F64 1 /* the kernel has no floating point */
#elif defined(__bpf__)
#ifndef TL_HAVE_TYPES /* a program that includes vmlinux.h has these types already */
typedef unsigned char uint8_t;
typedef signed char int8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
#endif
#define TL_NO_F64 1
#else
#include <stdint.h>
#endif

#if defined(__KERNEL__) || defined(__bpf__)
#define TL_FN static __attribute__((always_inline, unused)) inline
/* a function with its own frame, where a second copy would not fit on the stack */
#define TL_FN_APART static __attribute__((__noinline__, unused))
#else
#define TL_FN static inline
#define TL_FN_APART static inline
#endif

/* memcpy of a constant size is a move, for which compilers need no symbol. */
#define TL_COPY(to, from) __builtin_memcpy((to), (from), sizeof(*(to)))

#endif
