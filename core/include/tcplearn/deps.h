/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Defines the integer types of the core and a few compiler-specific macros. This is the only file of the
 * core that depends on where it is compiled: user space, the Linux kernel, or BPF. */
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
/* A function that is not inlined, for use where a second inlined copy would not fit on the stack. */
#define TL_FN_APART static __attribute__((__noinline__, unused))
#else
#define TL_FN static inline
#define TL_FN_APART static inline
#endif

/* Copies a struct. A memcpy of constant size is compiled to moves and needs no C library. */
#define TL_COPY(to, from) __builtin_memcpy((to), (from), sizeof(*(to)))

#endif
