# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes connections over paths that lose packets, with a short request and answer on each.

first_rto.py serve PORT
first_rto.py connect PORT FIRST COUNT FRESH HOST...

`connect` opens COUNT connections in sequence to each server 10.HOST.x.1, from port 20000 + FIRST on; x is
the connection's number if FRESH is 1, else 0. It prints a line for each connection: HOST, the connection's
number, and in us the time to connect and the time from then to the answer (-1: never).
"""

import asyncio
import contextlib
import socket
import struct
import sys
import time

FIRST_PORT = 20_000
REQUEST = bytes(100)
LONGEST_S = 300.0  # more seconds than seven retransmissions take if the first comes after a second


async def serve(port):
    async def answer(reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(len(REQUEST))
            writer.write(REQUEST)
            await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "0.0.0.0", port, backlog=4096)
    await server.serve_forever()


async def connection(host, x, number, port):
    loop, times_us = asyncio.get_running_loop(), [-1, -1]
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.bind((f"10.{host + 64}.{x}.1", FIRST_PORT + number))
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(LONGEST_S):
                begun = time.monotonic_ns()
                await loop.sock_connect(sock, (f"10.{host}.{x}.1", port))
                connected = time.monotonic_ns()
                times_us[0] = (connected - begun) // 1000
                await loop.sock_sendall(sock, REQUEST)
                left = len(REQUEST)
                while left > 0 and (got := await loop.sock_recv(sock, left)):
                    left -= len(got)
                if left == 0:
                    times_us[1] = (time.monotonic_ns() - connected) // 1000
        return times_us


async def with_place(host, port, first, count, fresh):
    for number in range(first, first + count):
        print(host, number, *await connection(host, number if fresh else 0, number, port))


async def main(port, first, count, fresh, hosts):
    await asyncio.gather(*(with_place(host, port, first, count, fresh) for host in hosts))


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:]]
    asyncio.run(serve(*numbers) if sys.argv[1] == "serve" else main(*numbers[:4], numbers[4:]))
