// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#ifndef TCPLEARN_CAPTURE_ERROR_H
#define TCPLEARN_CAPTURE_ERROR_H

#include <stdexcept>

namespace tcplearn {

// The error of a trace that cannot be used. The message is a line that says what is wrong and what to do.
struct TraceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tcplearn

#endif
