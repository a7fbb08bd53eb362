# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The row of a host: its columns, and files of rows."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tcplearn.errors import UserError, printable
from tcplearn.output.files import write_atomically

#: The columns in their order, with types and meanings.
COLUMNS: dict[str, tuple[type, str]] = {
    "host": (str, "as it was given"),
    "address": (str, "what was measured; empty: the name has none"),
    "port": (int, "TCP port"),
    "method": (
        str,
        "raw: SYNs of our own; connect: the kernel's; hping3, traceroute, tcptraceroute: read from what they "
        "printed",
    ),
    "state": (
        str,
        "open, closed (it answers with RST), answered (which of them is not said), silent, unreachable or "
        "unresolved",
    ),
    "hops": (int, "routers on the way there; none: not found out"),
    "ttl": (int, "TTL of its answers as they come in; none without privilege"),
    "rtt_min_us": (int, "least RTT"),
    "rtt_avg_us": (int, "mean RTT"),
    "rtt_max_us": (int, "largest RTT"),
    "samples": (int, "pings answered"),
    "sent": (int, "pings sent; none: not known"),
    "loss": (float, "share of them that was not answered"),
    "started_us": (int, "when it was measured: microseconds since 1970 in UTC"),
    "ended_us": (int, "when that was done"),
    "rtts_us": (str, "each RTT in its order, spaces between"),
}


@dataclass(slots=True, kw_only=True)
class Row:
    host: str
    address: str = ""
    port: int = 0
    method: str = ""
    state: str = "silent"
    hops: int | None = None
    ttl: int | None = None
    rtt_min_us: int | None = None
    rtt_avg_us: int | None = None
    rtt_max_us: int | None = None
    samples: int = 0
    sent: int | None = 0
    loss: float | None = None
    started_us: int | None = None
    ended_us: int | None = None
    rtts_us: str = ""

    def measured(self, rtts_us: Sequence[int], sent: int) -> None:
        """Fill in the columns computed from the RTTs and the number of SYNs sent."""
        self.samples, self.sent = len(rtts_us), sent
        self.loss = round(1 - len(rtts_us) / sent, 6) if sent else None
        if rtts_us:
            self.rtt_min_us, self.rtt_max_us = min(rtts_us), max(rtts_us)
            self.rtt_avg_us = round(sum(rtts_us) / len(rtts_us))
        self.rtts_us = " ".join(map(str, rtts_us))

    def record(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def row_of(record: Mapping[str, Any]) -> Row:
    return Row(**{name: record[name] for name in COLUMNS if name in record})


def check_name(path: Path) -> None:
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UserError(f"{printable(path)}: rows are CSV or Parquet; name it hosts.csv or hosts.parquet")


def write(rows: Iterable[Row], path: Path) -> None:
    records = [row.record() for row in rows]
    write_atomically(path, _parquet(records) if path.suffix.lower() == ".parquet" else _csv(records))


def _csv(records: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def _parquet(records: Sequence[Mapping[str, Any]]) -> bytes:
    import polars as pl

    types = {int: pl.Int64, float: pl.Float64, str: pl.String}
    out = io.BytesIO()
    pl.DataFrame(list(records), {name: types[kind] for name, (kind, _) in COLUMNS.items()}).write_parquet(out)
    return out.getvalue()
