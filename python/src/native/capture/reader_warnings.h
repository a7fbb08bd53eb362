// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What a capture's reader says about packets that it left out, or could read in part only.
#ifndef TCPLEARN_CAPTURE_READER_WARNINGS_H
#define TCPLEARN_CAPTURE_READER_WARNINGS_H

#include <cstdint>
#include <string>
#include <vector>

#include "reader.h"

namespace tcplearn {

// Returns `n` and the noun `what`, with an s unless n is 1.
std::string count_of(std::uint64_t n, const char* what);

// Returns a line for each kind of packets that was left out or cut.
std::vector<std::string> warnings_of_left_out(const Stats& stats);

}  // namespace tcplearn

#endif
