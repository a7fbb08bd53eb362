# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Measure all hosts, several at once. After an interruption the same command continues the work."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tcplearn import documents
from tcplearn.collect import raw, rows
from tcplearn.collect.connect import TIMEOUT_MAX_S, ConnectProber
from tcplearn.collect.host import Settings, measure
from tcplearn.collect.hosts import Target
from tcplearn.collect.probe import Pacer, Prober
from tcplearn.collect.raw import RawProber
from tcplearn.collect.rows import Row
from tcplearn.errors import InterruptedWork, UserError, printable
from tcplearn.jobs import shape
from tcplearn.output.files import mending

Progress = Callable[[float, str], None]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    settings: Settings = field(default_factory=Settings)
    rate: float = 50.0  # SYNs per second, to all hosts together
    concurrency: int = 32  # number of hosts measured at once
    connect: bool = False  # use connect() even if raw sockets are allowed
    fresh: bool = False


def collect(
    targets: Sequence[Target],
    options: Options,
    output: Path,
    progress: Progress | None = None,
    say: Say | None = None,
) -> list[Row]:
    """Measure `targets`, write their rows of results to `output`, and return the rows. If UserError or
    InterruptedWork is raised, finished rows stay in the journal, OUTPUT.part."""
    rows.check_output(output, fresh=options.fresh)
    with _Journal(output, options, fresh=options.fresh) as journal:
        missing = [target for target in targets if target not in journal.done]
        done = len(targets) - len(missing)
        if say and done:
            say(f"{done} of {len(targets)} hosts are done; continuing with the others")

        def measured(target: Target, row: Row) -> None:
            nonlocal done
            journal.add(target, row)
            done += 1
            if progress:
                rtt = f", {row.rtt_min_us / 1000:.1f} ms" if row.rtt_min_us is not None else ""
                progress(done / len(targets), f"{row.host}: {row.state}{rtt}")

        try:
            asyncio.run(_all(missing, options, measured, say))
        except KeyboardInterrupt:
            kept = sum(target in journal.done for target in targets)
            raise InterruptedWork(
                f"stopped: {kept} of {len(targets)} hosts are in {printable(journal.path)}; the same command "
                "goes on"
            ) from None
        found = [journal.done[target] for target in targets]
        rows.write(found, output)
        journal.finish()
    return found


async def _all(
    targets: Sequence[Target], options: Options, measured: Callable[[Target, Row], None], say: Say | None
) -> None:
    if not targets:
        return
    prober = _prober(options, say)
    waiting = iter(targets)

    async def work() -> None:
        for target in waiting:
            measured(target, await measure(target, prober, options.settings))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(options.concurrency, len(targets))):
                group.create_task(work())
    except* UserError as errors:  # a full disk causes the same error in all workers
        raise errors.exceptions[0] from None
    finally:
        prober.close()


def _prober(options: Options, say: Say | None) -> Prober:
    pacer = Pacer(options.rate)
    if options.connect:
        return ConnectProber(pacer)
    if not raw.allowed():
        why = "no right to raw sockets (CAP_NET_RAW)"
    else:
        try:
            return RawProber(pacer)
        except ImportError:
            why = "scapy is missing (pip install 'tcplearn[collect]')"
    if say:
        say(
            f"{why}: timing connect() instead, which gives no TTL and waits {TIMEOUT_MAX_S:g} s for an "
            "answer at most"
        )
    return ConnectProber(pacer)


class _Journal:
    """The file of finished rows, called OUTPUT.part, with one line of JSON for each row."""

    def __init__(self, output: Path, options: Options, *, fresh: bool) -> None:
        self.path = output.with_name(f"{output.name}.part")
        self.done: dict[Target, Row] = {}
        self._head = {"tcplearn collect": asdict(options.settings), "connect": options.connect}
        if fresh:
            self.path.unlink(missing_ok=True)
        whole = self._read() if self.path.exists() else 0
        with mending(self.path):
            self._file = self.path.open("r+b" if whole else "wb")
            self._file.truncate(whole)
            self._file.seek(whole)
        if not whole:
            self._write(self._head)

    def _read(self) -> int:
        """Read the rows of finished hosts from OUTPUT.part, and return the number of bytes in its complete
        lines. The last line may be incomplete."""
        with mending(self.path):
            content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        if lines and self._document(lines[0], "tcplearn collect") != self._head:
            raise UserError(
                f"{printable(self.path)}: begun with other options; give these, or --fresh to begin anew"
            )
        for line in lines[1:]:
            document = self._document(line, "host", Row)
            row = Row(**{name: document[name] for name in rows.COLUMNS if name in document})
            self.done[Target(row.host, row.port)] = row
        return whole

    def _document(self, line: bytes, key: str, of: Any = dict) -> dict[str, Any]:
        with contextlib.suppress(ValueError):
            document: dict[str, Any] = documents.json_value(line)
            shape.check(document, of)
            if key in document:
                return document
        raise UserError(f"{printable(self.path)}: not a journal of collect; give --fresh to begin anew")

    def _write(self, document: dict[str, Any]) -> None:
        with mending(self.path):
            self._file.write(json.dumps(document).encode() + b"\n")
            self._file.flush()

    def add(self, target: Target, row: Row) -> None:
        self._write(asdict(row))
        self.done[target] = row

    def finish(self) -> None:
        """Remove the journal (the file of finished rows), because the output file has its rows."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> _Journal:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
