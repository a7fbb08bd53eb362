# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define what the emulating process is told: commands, network path, packets to drop
(native/emulate/link.h)."""

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Order:
    """What the emulating process is to emulate, and the commands that it is to run."""

    hops: list[dict[str, Any]]  # as path.hops() gives them
    seed: int
    command: list[str]  # the client's
    server: str = ""  # a command of the shell
    wait_port: int = 0  # the command starts when the server listens on this TCP port
    syns: int = 0  # to drop of each connection
    syn_acks: int = 0
    spin_us: int = 0  # the time before a packet is due in which the emulator does not sleep
    # the environment of the commands: the user's, not the one that search_path makes safe for processes of
    # tcplearn
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def words(self) -> str:
        return json.dumps(asdict(self))


def order_of(words: str) -> Order:
    return Order(**json.loads(words))
