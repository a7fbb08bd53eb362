# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Types lines at random times, as over a remote shell; prints the response time and the start of each line,
in us.

echo.py serve PORT BYTES
echo.py type ADDRESS PORT BYTES CONGESTION COUNT A_MINUTE SEED ON    (ON is ignored)
"""

import random
import select
import socket
import sys
import time


def serve(port, size):
    listener = socket.create_server(("0.0.0.0", port))
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := connection.recv(size):
            connection.sendall(data)
        connection.close()


def now_us():
    return time.monotonic_ns() // 1000


def type_lines(address, port, size, congestion, count, a_minute, seed):
    rng = random.Random(seed)
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.connect((address, port))
    sent, back, due = [], 0, now_us()
    while back < count * size:
        wait_us = due - now_us() if len(sent) < count else 1_000_000
        if wait_us <= 0:
            sent.append(now_us())
            connection.sendall(bytes(size))
            due += round(60e6 / a_minute * rng.uniform(0.5, 1.5))
        elif select.select([connection], [], [], wait_us / 1e6)[0]:
            before = back // size
            back += len(connection.recv(65536))
            for start in sent[before : back // size]:
                print(now_us() - start, start)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*map(int, sys.argv[2:]))
    address, port, size, congestion, *numbers = sys.argv[2:]
    type_lines(address, int(port), int(size), congestion, *map(int, numbers[:3]))
