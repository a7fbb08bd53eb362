# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define what the emulating process is told: commands, network path, packets to drop
(native/emulate/link.h)."""

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Order:
    hops: list[dict[str, Any]]  # as path.hops() gives them
    seed: int
    command: list[str]  # the client's
    server: str = ""  # a command of the shell
    wait_port: int = 0  # the command starts when the server listens on this TCP port
    syns: int = 0  # to drop of each connection
    syn_acks: int = 0
    spin_us: int = 0  # waited for without sleep before a packet is due
    # the commands', before it is made safe for our own processes (search_path)
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def words(self) -> str:
        return json.dumps(asdict(self))


def order_of(words: str) -> Order:
    return Order(**json.loads(words))
