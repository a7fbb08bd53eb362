# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Define a row, which has the results for one host, and write rows to a file."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

from tcplearn.errors import UserError, printable
from tcplearn.output.files import check_writable, write_atomically


@dataclass(slots=True, kw_only=True)
class Row:
    """A row of `tcplearn collect`: the results for one host. docs/collect.md describes the columns."""

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

    def measured(
        self,
        rtts_us: Sequence[int],
        sent: int | None,
        samples: int | None = None,
        summaries: Sequence[tuple[tuple[int, int, int], int]] = (),
    ) -> None:
        """Fill in the columns that follow from `rtts_us`, from the number `sent` of SYNs (None: unknown), and
        from the number `samples` of answers (default: one for each RTT). For answers without RTTs of their
        own, `summaries` has the minimum, mean and maximum RTT, and the number of answers."""
        self.samples, self.sent = len(rtts_us) if samples is None else samples, sent
        self.loss = round(1 - self.samples / sent, 6) if sent else None
        if rtts_us or summaries:
            self.rtt_min_us = min([*rtts_us, *(of[0] for of, _ in summaries)])
            self.rtt_max_us = max([*rtts_us, *(of[2] for of, _ in summaries)])
            total_us = sum(rtts_us) + sum(of[1] * answers for of, answers in summaries)
            self.rtt_avg_us = round(total_us / (len(rtts_us) + sum(answers for _, answers in summaries)))
        self.rtts_us = " ".join(map(str, rtts_us))


COLUMNS = tuple(field.name for field in fields(Row))


def check_output(path: Path, *, fresh: bool) -> None:
    """Raise UserError unless rows can be written to `path`, which may exist already only if `fresh`."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise UserError(f"{printable(path)}: rows are CSV or Parquet; name it hosts.csv or hosts.parquet")
    check_writable(path)
    if path.exists() and not fresh:
        raise UserError(f"{printable(path)}: exists already; name another file, or give --fresh")


def write(rows: Iterable[Row], path: Path) -> None:
    records = [asdict(row) for row in rows]
    if path.suffix.lower() == ".parquet":
        import polars as pl

        schema: Any = {field.name: next(iter(get_args(field.type)), field.type) for field in fields(Row)}
        packed = io.BytesIO()
        pl.DataFrame(records, schema).write_parquet(packed)
        write_atomically(path, packed.getvalue())
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        write_atomically(path, text.getvalue())
