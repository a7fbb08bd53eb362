// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Converts the rows of an explained capture to Python.
#ifndef TCPLEARN_BIND_EXPLAIN_H
#define TCPLEARN_BIND_EXPLAIN_H

#include "bind.h"
#include "explain/rows.h"
#include "explain/windows.h"

namespace tcplearn {

void bind_explain(nb::module_& m);
nb::dict explained(ExplainedRows rows);
nb::dict packets_of(WindowPackets packets);

}  // namespace tcplearn

#endif
