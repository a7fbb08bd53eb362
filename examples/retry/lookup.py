# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements a client of a protocol like DNS: queries and answers are single datagrams, and a lost query must
be sent again. A tcplearn.RetryTimer decides when. For comparison the client runs a second time with a fixed
wait of one second, which many clients use. The server, a thread on the loopback interface, drops a tenth of
the queries.

python lookup.py --queries 300 --seed 1"""

import contextlib
import random
import socket
import struct
import threading
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter

import tcplearn

#: A datagram: the number of a query and which copy of it this is; an answer repeats both.
DATAGRAM = struct.Struct("!II")
AT_ONCE = 4


def serve(server: socket.socket, seed: int) -> None:
    """Answer queries until the socket is closed, and drop a tenth of them. The same seed drops the same
    queries."""
    dice = random.Random(seed)
    while True:
        try:
            datagram, client = server.recvfrom(64)
            if dice.random() >= 0.1:
                threading.Timer(dice.uniform(0.001, 0.0015), _answer, (server, datagram, client)).start()
        except OSError:
            return


def _answer(server: socket.socket, datagram: bytes, client: tuple[str, int]) -> None:
    with contextlib.suppress(OSError):  # the socket is closed
        server.sendto(datagram, client)


def now_us() -> int:
    return time.monotonic_ns() // 1000


def run(client: socket.socket, queries: int, name: str, timer: tcplearn.RetryTimer) -> None:
    """Send `queries` queries, of which at most AT_ONCE are unanswered at the same time. `timer` decides when
    one is sent again. Print the response times under `name`."""
    sent, took = {}, []
    while len(took) < queries:
        while len(sent) < queries and timer.out < AT_ONCE:
            query = len(sent)
            sent[query] = now_us()
            timer.sent(query, sent[query])
            client.send(DATAGRAM.pack(query, 0))
        client.settimeout(max((timer.deadline_us() or 0) - now_us(), 1) / 1e6)
        # no answer came in time, or a second one to a query
        with contextlib.suppress(TimeoutError, tcplearn.RetryTimer.NotWaiting):
            query, copy = DATAGRAM.unpack(client.recv(64))
            timer.answered(query, now_us(), copy)
            took.append(now_us() - sent[query])
        for query, copy in timer.fired(now_us()):
            client.send(DATAGRAM.pack(query, copy))
    took.sort()
    counts = timer.counts
    print(
        f"{counts['answers']} answers, {counts['resends']} resends, {counts['needless']} of them spurious; "
        f"median {took[queries // 2] / 1e3:.1f} ms, p99 {took[queries * 99 // 100] / 1e3:.1f} ms: {name}"
    )


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.queries < 1:
        parser.error("--queries is at least 1")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client,
    ):
        server.bind(("127.0.0.1", 0))
        client.connect(server.getsockname())
        threading.Thread(target=serve, args=(server, given.seed), daemon=True).start()
        run(client, given.queries, "by the retry timer", tcplearn.RetryTimer(rate=0.01))
        fixed = tcplearn.RetryTimer(min_wait_us=1_000_000, max_wait_us=1_000_000)
        run(client, given.queries, "a fixed second", fixed)


if __name__ == "__main__":
    main()
