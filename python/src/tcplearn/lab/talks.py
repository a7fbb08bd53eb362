# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defines `[transfer.talks]` of a scenario file of `tcplearn lab`: requests in several writes, and delayed
answers."""

from __future__ import annotations

import json
import shlex
from typing import Annotated, ClassVar

from pydantic import Field

from .workload import Lines, Setup, Workload

Milliseconds = Annotated[int, Field(ge=0, le=60_000)]
Bytes = Annotated[int, Field(ge=1, le=10**8)]


class Talks(Workload):
    function: ClassVar[str] = "talks"
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 100  # on each of `at_once` connections
    at_once: Annotated[int, Field(ge=1, le=100)] = 1  # connections at the same time
    on_one: Annotated[int, Field(ge=0, le=1_000_000)] = 0  # requests before a new connection; 0: all
    think_ms: Milliseconds = 100  # half to one and a half of this passes between requests
    writes: Annotated[int, Field(ge=1, le=1000)] = 1  # the number of writes in which a request is sent
    write_pause_ms: Milliseconds = 0  # mean pause between the writes of a request
    nagle: bool = False
    answer_bytes: Bytes = 1
    answer_after_ms: Milliseconds = 0  # mean delay of the answer
    read_after_ms: Milliseconds = 0  # mean delay from a request's first byte to reading the rest
    receive_buffer_bytes: Annotated[int, Field(ge=0, le=10**8)] = 0  # the server's; 0: the kernel's default
    timestamps: bool = True
    sack: bool = True

    @property
    def one_connection(self) -> bool:
        return False

    def starts(self, setup: Setup) -> Lines:
        for option in ("timestamps", "sack"):
            if not getattr(self, option):
                yield f"in_ns c0 sysctl -qw net.ipv4.tcp_{option}=0"
        asked = json.dumps({**self.model_dump(), "request_bytes": setup.bytes})
        yield f"talks={shlex.quote(asked)} talks_seed={setup.seed}"
        yield "start_talks"
