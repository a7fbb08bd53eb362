# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Return what was found in captures as rows of output: summaries by destination, requests,
connections and stalls (waits in which no data moved)."""

from collections.abc import Iterator

import polars as pl

from tcplearn.explain.answers import Outlook
from tcplearn.explain.model import Explained, Summary
from tcplearn.metrics import EXPLAIN
from tcplearn.output.rows import TOTAL, Record, head_of, tidy


def summaries(found: Explained) -> list[Record]:
    """Return wide rows of the response times in `found`: one for all requests, one for each destination, one
    for each capture if there are several, and one for each forecast setting."""
    rows = [(summary.destination, summary) for summary in found.destinations]
    seen = [{"destination": name, **measured(summary)} for name, summary in [(TOTAL, found.total), *rows]]
    seen += [{"destination": TOTAL, "source": of.destination, **measured(of)} for of in found.captures]
    forecasts: list[Record] = []
    for forecast, advice in ((found.forecast, found.advice), (found.handshakes, found.handshake_advice)):
        chosen = advice.chosen if advice else None
        if forecast is None:
            continue
        end = forecast.by[0] if len(forecast.by) == 1 else "both"
        for one in forecast.outlooks:
            head: Record = {"destination": TOTAL, "setting": one.candidate.name, "end": end}
            forecasts.append({**head, "advised": int(one is chosen), **foretold(one)})
    if found.handshakes:
        seen[0] |= {key: figure.value for key, figure in found.handshakes.seen.figures.items()}
    if forecasts:
        seen = [{"destination": row.pop("destination"), "setting": "", "end": "", **row} for row in seen]
    return seen + forecasts


def measured(summary: Summary) -> Record:
    """Return the metrics of the requests in `summary`, by name."""
    out: Record = {"requests": summary.requests, **summary.response_ms}
    for part in summary.parts:
        out[f"slow_share_{part.cause}"] = part.slow_share
        out[f"time_share_{part.cause}"] = part.share
        out[f"stalls_{part.cause}"] = part.stalls
    return out


def foretold(one: Outlook) -> Record:
    """Return the metrics of the forecast `one`, by name."""
    out: Record = {}
    for key, figure in one.figures.items():
        stem = key.removesuffix("_ms")
        out |= {key: figure.value, f"{stem}_low_ms": figure.low, f"{stem}_high_ms": figure.high}
    what = "resends" if one.what == "response" else "syns"
    return {**out, f"needless_{what}_permille": one.spurious_permille}


def tidied(found: Explained) -> Iterator[Record]:
    """Yield the summaries of the response times and causes in `found`, with one row for each metric."""
    for record in summaries(found):
        name = str(record.pop("destination"))
        setting, source = str(record.pop("setting", "")), str(record.pop("source", found.named))
        end = record.pop("end", "")
        own = {"end": end} if end else {}
        head = head_of(EXPLAIN, found.made_by, algorithm=setting, source=source, flow=name, parameters=own)
        yield from tidy(head, record)


def table(found: Explained, which: str) -> pl.DataFrame:
    """Return the table `which` of `found`, with names of sources and causes in place of their numbers."""
    chosen: pl.DataFrame = getattr(found, which)
    names = pl.Series("source", found.sources, pl.String).gather(chosen["source"])
    coded = (pl.Enum, pl.Categorical)
    words = [pl.col(name).cast(pl.String) for name, kind in chosen.schema.items() if isinstance(kind, coded)]
    # columns that end in a digit are for the forecast: one for each candidate
    own = [name for name in chosen.columns if not name[-1].isdigit()]
    # single precision has more digits than the microseconds of a capture
    exact = [
        pl.col(name).cast(pl.Float64).round(3) for name, kind in chosen.schema.items() if kind == pl.Float32
    ]
    named = chosen.with_columns(names, *words, *exact).select(own)
    first = ["source", "client", "server"]
    return named.select(*first, *(name for name in named.columns if name not in first))
