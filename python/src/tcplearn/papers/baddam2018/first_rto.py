# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The first RTO from a trained model, on a real kernel: connections that lose SYNs and SYN-ACKs, beside
stock's second and the best constants. What is kept is not run again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tcplearn.errors import UserError
from tcplearn.jobs import Progress
from tcplearn.lab import first_rto
from tcplearn.lab.first_rto import TICKS_PER_SECOND, Network, Place, Trial
from tcplearn.lab.handshake_waits import Connection
from tcplearn.learn.export import shipped_rtt
from tcplearn.learn.rtt.model import Model
from tcplearn.learn.rtt.settings import packed
from tcplearn.output.files import make_directory, write_atomically
from tcplearn.output.markdown import table_of
from tcplearn.papers import Request, lab_runs
from tcplearn.papers.baddam2018 import published

PAGE = "first-rto"
#: A profile: a few connections.
SMOKE = "smoke"
#: Of places and losses: other draws than those that the shipped model was trained on (seed 1) and that the
#: program was tried on (seed 2).
SEED, PLACES, COUNT, LOSS_PERCENT, JITTER = 3, 40, 50, 10.0, 0.05
#: No slower place is drawn: as few SYNs are needless as of the model.
SAFE_US, WRONG_US = 350_000, 20_000
RESAMPLES = 2000
STOCK, BEST, BEST_AT_BOTH = "stock, 1 s", "best constant of the training", "best constant at both ends"
KNOWN, KNOWN_AT_BOTH = "model, known places", "model at both ends, known places"
UNSEEN, UNSEEN_AT_BOTH = "model, unseen places", "model at both ends, unseen places"
#: What is compared with which constant.
BESIDE = {KNOWN_AT_BOTH: BEST_AT_BOTH, UNSEEN_AT_BOTH: BEST_AT_BOTH, KNOWN: BEST, UNSEEN: BEST}
HEAD = (
    "first RTO", "connections", "with a loss", "mean wait, ms", "to stock's", "p99, ms", "to stock's",
    "needless SYNs, %", "unanswered SYNs, %", "needless SYN-ACKs, %", "first bytes, ms",
)  # fmt: skip
ABOUT = (
    "A client, two routers and a server on a stock kernel in the lab; between the routers a path for each "
    "of {places} places, 2 to 300 ms, {jitter:.0f} % of jitter, {loss:g} % of all packets lost each way, "
    "the same draws of places as no training has seen. {count} connections with each place, one after the "
    "other, all places at once; 100 bytes there and 100 back on each. The sock_ops program is in the "
    "client's cgroup, in the server's, or in both; *known*: each place had a connection without loss "
    "before, which is not counted; *unseen*: each connection is between addresses and prefixes that had "
    "none. Everything is counted from captures at both ends.\n\n"
    "*Wait*, of connections that lost a SYN or SYN-ACK: until the packets that got through were sent (the "
    "SYN after the first SYN, and the SYN-ACK after a SYN had arrived). *Needless*: a SYN resent while the "
    "answer that got through, or the SYN that it answered, was on its way; a SYN-ACK after one that got "
    "through. *Unanswered*: a SYN that arrived and got nothing, for Linux answers a SYN that comes again "
    "once in half a second. *First bytes*: the 99th percentile from the end of the handshake to the answer. "
    "In brackets 95 % intervals by drawing connections again, {resamples:,} times.\n\n"
    "*Fixed before these runs*: places and losses are a draw that nothing was tried on; each arm is run "
    "once for the tables, so long that some 380 connections lose a SYN or a SYN-ACK. What is judged is the "
    "program at both ends, for active and passive opens each have their timer, beside constants at both "
    "ends; at the client alone it is compared with constants at the client."
)

Floats = npt.NDArray[np.float64]


def trials() -> list[Trial]:
    model = shipped_rtt()[1]
    best = model.steps["nothing"] or {}

    def constant(us: float) -> bytes:
        steps = dict.fromkeys(model.steps) | {"nothing": {"constant_us": us}}
        return _packed(replace(model, steps=steps, max_age_us=0))

    known, trained, safe = _packed(model), constant(best["constant_us"]), constant(SAFE_US)
    wrong = _packed(replace(model, steps=dict.fromkeys(model.steps) | {"nothing": {"constant_us": WRONG_US}}))
    return [
        Trial(STOCK),
        Trial(BEST, trained),
        Trial("constant of 350 ms", safe),
        Trial(KNOWN, known),
        Trial(UNSEEN, known, fresh=True),
        Trial("model of another network (20 ms)", wrong),
        Trial(BEST_AT_BOTH, trained, trained),
        Trial("350 ms at both ends", safe, safe),
        Trial(KNOWN_AT_BOTH, known, known),
        Trial(UNSEEN_AT_BOTH, known, known, fresh=True),
        Trial("model of another network at both ends", wrong, wrong),
        Trial("model at the server alone, known places", None, known),
    ]


def _packed(model: Model) -> bytes:
    return packed(model, TICKS_PER_SECOND)


def network(*, small: bool = False) -> Network:
    draw = random.Random(SEED)
    rtts_ms = [round(2 * 150 ** draw.random(), 3) for _ in range(3 if small else PLACES)]
    places = tuple(Place(rtt, round(rtt / 2 * JITTER, 3)) for rtt in rtts_ms)
    return Network(places, LOSS_PERCENT, 24 if small else COUNT, SEED)


def write(request: Request, progress: Progress | None, say: Callable[[str], None]) -> str | None:
    if not (request.folder / published.FILE).exists():
        return None
    small = request.profile == SMOKE
    of, every = network(small=small), trials()
    chosen = [trial for trial in every if trial.name in (STOCK, KNOWN_AT_BOTH)] if small else every
    kept = lab_runs.folder(request)
    found = first_rto.run(
        of,
        chosen,
        request.place,
        kept,
        progress,
        say,
        only_kept=request.profile == lab_runs.KEPT,
    )
    if STOCK not in found:
        raise UserError("stock's connections are not kept; without --profile kept they are done")
    make_directory(request.out)
    about = ABOUT.format(
        places=len(of.places), jitter=100 * JITTER, loss=of.loss_percent, count=of.count, resamples=RESAMPLES
    )
    lines = [
        "# The first RTO, on a real kernel",
        f"Made by `{request.command}`; do not edit.",
        about,
        table_of(HEAD, list(_rows(found)), [True, *[False] * (len(HEAD) - 1)]),
        *_beside_constants(found),
        request.notes(PAGE).strip(),
    ]
    write_atomically(request.out / f"{PAGE}.md", "\n\n".join(filter(None, lines)) + "\n")
    return f"{len(found)} runs: {request.out / PAGE}.md"


def waits_ms(connections: Sequence[Connection]) -> Floats:
    return np.array([one.wait_us for one in connections if one.lost]) / 1000


def _rows(found: dict[str, list[Connection]]) -> Iterator[list[str]]:
    stock = waits_ms(found[STOCK])
    for name, of in found.items():
        waits = waits_ms(of)
        syns, answers = sum(len(c.syns) for c in of), sum(len(c.answers) for c in of)
        shares = [
            100 * sum(c.needless_syns for c in of) / syns,
            100 * sum(c.unanswered_syns for c in of) / syns,
            100 * sum(c.needless_answers for c in of) / answers,
        ]
        first = np.percentile([c.answered_us / 1000 for c in of if c.answered_us >= 0], 99)
        yield [
            name, str(len(of)), str(len(waits)),
            *_beside(waits, stock, _mean), *_beside(waits, stock, _p99),
            *(f"{share:.2f}" for share in shares), f"{first:.0f}",
        ]  # fmt: skip


def _beside_constants(found: dict[str, list[Connection]]) -> Iterator[str]:
    pairs = [(name, of) for name, of in BESIDE.items() if name in found and of in found]
    rows = [
        [
            name,
            of,
            *(_beside(waits_ms(found[name]), waits_ms(found[of]), figure)[1] for figure in (_mean, _p99)),
        ]
        for name, of in pairs
    ]
    if rows:
        yield table_of(["first RTO", "beside", "mean wait", "p99"], rows, [True, True, False, False])


def _mean(waits: Floats) -> Floats:
    return np.asarray(np.mean(waits, axis=-1))


def _p99(waits: Floats) -> Floats:
    return np.asarray(np.percentile(waits, 99, axis=-1))


def _beside(waits: Floats, stock: Floats, of: Callable[[Floats], Floats]) -> tuple[str, str]:
    """A figure, and its ratio to stock's with an interval; dashes where no connection lost a packet."""
    if not (len(waits) and len(stock)):
        return "–", "–"
    draw = np.random.default_rng(SEED)
    drawn = [of(w[draw.integers(0, len(w), (RESAMPLES, len(w)))]) for w in (waits, stock)]
    low, high = np.quantile(drawn[0] / drawn[1], (0.025, 0.975))
    ratio = float(of(waits) / of(stock))
    return f"{of(waits):.0f}", "" if waits is stock else f"{ratio:.2f} [{low:.2f}, {high:.2f}]"
