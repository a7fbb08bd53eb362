// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bind.h"
#include "bind_explain.h"

NB_MODULE(_native, m) {
  m.doc() = "Core estimators, capture reader and replay engine.";
  tcplearn::bind_algorithms(m);
  tcplearn::bind_columns(m);
  tcplearn::bind_core(m);
  tcplearn::bind_emulate(m);
  tcplearn::bind_explain(m);
  tcplearn::bind_first_rto(m);
  tcplearn::bind_loss(m);
  tcplearn::bind_replay(m);
  tcplearn::bind_resend(m);
  tcplearn::bind_retry(m);
  tcplearn::bind_startup(m);
  tcplearn::bind_capture(m);
}
