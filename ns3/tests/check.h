// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What a test of this host counts.
#ifndef TCPLEARN_NS3_CHECK_H
#define TCPLEARN_NS3_CHECK_H

#include <cstdio>
#include <string>

inline int failures = 0;

inline void check(bool good, const std::string& what) {
  std::printf("%s %s\n", good ? "ok  " : "FAIL", what.c_str());
  failures += !good;
}

#endif
