# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Runs a user's Python estimator for ns-3, which sends RTTs as lines (ns3/src/pipe_estimator.h)."""

import copy
import sys
from typing import Any

from tcplearn import estimators


def serve(spec: str) -> None:
    """Read lines from ns-3, each with the name of a socket. Answer each with the predicted RTT and the RTO
    that the socket's own instance of the estimator `spec` gives. The line "drop" ends a socket and has no
    answer."""
    bank: dict[str, Any] = {}
    seen: dict[str, dict[str, int]] = {}
    for line in sys.stdin:
        verb, name, *rest = line.split()
        if verb == "drop":
            bank.pop(name, None)
            continue
        if verb == "new":
            bank[name], seen[name] = estimators.create(spec), {"time_us": 0, "sent_us": 0}
        elif verb == "copy":
            bank[name], seen[name] = copy.deepcopy(bank[rest[0]]), dict(seen[rest[0]])
        else:
            time_us, sent_us, rtt_us, flight = map(int, rest)
            seen[name] = {"time_us": time_us, "sent_us": sent_us, "flight_segments": flight}
            bank[name].learn_one(seen[name], rtt_us)
        print(bank[name].predict_one(seen[name]), bank[name].rto_one(seen[name]), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
