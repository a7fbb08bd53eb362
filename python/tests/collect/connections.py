# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Opens connections one after another to each of several addresses, on the measuring machine:

python connections.py COUNT SECONDS ADDRESS...    # JSON: address, number, port, milliseconds until connected

A connection that is not established after SECONDS is given up; its time is null."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import sys
import time

from emulated_network import PORT


async def connections(address: str, count: int, longest_s: float) -> list[tuple[str, int, int, float | None]]:
    loop, out = asyncio.get_running_loop(), []
    for number in range(count):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            begun_s = time.monotonic()
            elapsed_ms = None
            with contextlib.suppress(TimeoutError):  # ours, and ETIMEDOUT
                await asyncio.wait_for(loop.sock_connect(sock, (address, PORT)), longest_s)
                elapsed_ms = (time.monotonic() - begun_s) * 1000
            out.append((address, number, sock.getsockname()[1], elapsed_ms))
    return out


async def main(count: int, longest_s: float, addresses: list[str]) -> None:
    found = await asyncio.gather(*(connections(address, count, longest_s) for address in addresses))
    print(json.dumps([row for rows in found for row in rows]))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
