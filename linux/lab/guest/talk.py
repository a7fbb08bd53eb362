# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes requests in several writes, and answers that a server may give late.

talk.py answer PORT JSON             serves; JSON has the keys of the scenario's [transfer.talks]
talk.py ask ADDRESS PORT JSON SEED   sends the requests, then prints the bytes sent and the time taken
"""

import json
import random
import socket
import sys
import threading
import time


def received(s, size):
    while size > 0:
        got = s.recv(min(size, 1 << 16))
        if not got:
            return False
        size -= len(got)
    return True


def answers(s, talks, seed):
    draw = random.Random(seed)
    while True:
        if talks["read_after_ms"]:
            s.recv(1, socket.MSG_PEEK)
            time.sleep(draw.uniform(0.5, 1.5) * talks["read_after_ms"] / 1000)
        if not received(s, talks["request_bytes"]):
            return
        if talks["answer_after_ms"]:
            time.sleep(draw.uniform(0, 2) * talks["answer_after_ms"] / 1000)
        s.sendall(bytes(talks["answer_bytes"]))


def serve(port, talks):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if talks["receive_buffer_bytes"]:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, talks["receive_buffer_bytes"])
    listener.bind(("0.0.0.0", port))
    listener.listen(128)
    for seed in range(1 << 30):
        s, _ = listener.accept()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=answers, args=(s, talks, seed), daemon=True).start()


def ask(at, talks, seed):
    draw, s = random.Random(seed), None
    size = talks["request_bytes"] // talks["writes"]
    parts = [size] * (talks["writes"] - 1) + [talks["request_bytes"] - size * (talks["writes"] - 1)]
    for k in range(talks["count"]):
        if s is None or (talks["on_one"] and k % talks["on_one"] == 0):
            if s:
                s.close()
            s = socket.create_connection(at)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not talks["nagle"])
        for n, part in enumerate(parts):
            if n and talks["write_pause_ms"]:
                time.sleep(draw.uniform(0, 2) * talks["write_pause_ms"] / 1000)
            s.sendall(bytes(part))
        if not received(s, talks["answer_bytes"]):
            raise SystemExit("talk: the server closed")
        time.sleep(draw.uniform(0.5, 1.5) * talks["think_ms"] / 1000)
    s.close()


def main(words):
    if words[0] == "answer":
        serve(int(words[1]), json.loads(words[2]))
    talks, seed, start = json.loads(words[3]), int(words[4]), time.monotonic()
    at = (words[1], int(words[2]))
    asking = [threading.Thread(target=ask, args=(at, talks, f"{seed}/{n}")) for n in range(talks["at_once"])]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    print("bytes", talks["request_bytes"] * talks["count"] * talks["at_once"])
    print("elapsed_us", round(1e6 * (time.monotonic() - start)))


main(sys.argv[1:])
