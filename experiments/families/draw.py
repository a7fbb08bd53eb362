# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Draws network paths from a seed, by families of conditions, and writes them as scenario files of ns-3.

`python -m experiments.families` writes the scenario files again. Every range in this module was fixed before
any path was drawn. A path depends only on the seed of its set, its family and its number."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
#: The sets of paths and their seeds. The results on `tuning` may be used to change a resend policy. The
#: policy `priced` was changed after the results on `kept` had been seen too, so a further set, `kept-2`, was
#: drawn after that change (ADR 73).
SETS = {"tuning": 340, "kept": 341, "kept-2": 342}
#: The set on whose results policies are judged, and the set from which paths also run in the lab.
JUDGED, LAB = "kept-2", "kept"
EACH = 5  # number of paths of a family in each set
#: The families that the lab can emulate without other traffic, and how many of their paths in the set `kept`
#: run there.
IN_LAB = {"random": 3, "bursts-packets": 3, "fades": 3, "handovers": 3, "jitter": 3, "swings": 3, "slots": 2}
#: The number of paths of each family of `LAB_ONLY`.
EACH_LAB_ONLY = 3
LAB_REQUESTS = 1500  # number of requests of a run


class Draw(random.Random):
    """A random generator that draws the values of a path, rounded to three significant digits."""

    def between(self, low: float, high: float) -> float:
        """Returns a value from `low` to `high` whose logarithm is uniform."""
        return _rounded(math.exp(self.uniform(math.log(low), math.log(high))))

    def some(self, low: float, high: float) -> float:
        return _rounded(self.uniform(low, high))


def _rounded(value: float) -> float:
    """Returns `value` with three significant digits."""
    return float(f"{value:.3g}")


def _common(draw: Draw) -> tuple[Json, Json]:
    """Returns what is drawn for a path of every family: the TOML table of a hop without losses, and values
    for other keys of the scenario file."""
    rtt_ms = draw.between(4, 250)
    forward = draw.some(0.3, 0.7)
    hop: Json = {
        "rate_mbps": draw.between(2, 100),
        "queue_packets": draw.randint(20, 200),
        "forward": {"delay_ms": _rounded(rtt_ms * forward)},
        "reverse": {"delay_ms": _rounded(rtt_ms * (1 - forward))},
    }
    more: Json = {
        "load.request_bytes": draw.choice([200, 1000, 1000, 1000, 4000, 14_000]),
        "load.think_s": draw.between(0.03, 0.3),
        "tcp.timestamps": draw.random() < 0.75,
    }
    return hop, more


def _rtt_ms(hop: Json) -> float:
    return float(hop["forward"]["delay_ms"] + hop["reverse"]["delay_ms"])


def _some_jitter(draw: Draw, hop: Json, most: float = 0.15) -> None:
    jitter_ms = _rounded(_rtt_ms(hop) * draw.uniform(0, most) / 2)
    for side in ("forward", "reverse"):
        hop[side] |= {"jitter_ms": min(jitter_ms, hop[side]["delay_ms"]), "distribution": "uniform-above"}


def _random(draw: Draw, hop: Json, more: Json) -> None:
    hop["forward"]["loss_percent"] = draw.between(0.3, 4)


def _bursts_of_packets(draw: Draw, hop: Json, more: Json) -> None:
    bad, good = draw.between(0.2, 2), draw.between(20, 70)
    hop["forward"]["bursts"] = {"kind": "packets", "to_bad_percent": bad, "to_good_percent": good}


def _bursts_in_time(draw: Draw, hop: Json, more: Json) -> None:
    good_ms, bad_ms = draw.between(2000, 20_000), draw.between(20, 400)
    hop["forward"]["bursts"] = {"kind": "time", "good_ms": good_ms, "bad_ms": bad_ms}


def _fades(draw: Draw, hop: Json, more: Json) -> Json:
    hop["forward"]["loss_percent"] = draw.between(0.05, 0.5)
    fades = {"hop": "line", "lasts_s": [0.2, draw.between(1, 8)], "apart_s": draw.between(12, 40)}
    return {"drawn_fades": {**fades, "pauses": "even", "sides": "forward"}}


def _handovers(draw: Draw, hop: Json, more: Json) -> Json:
    hop["forward"]["loss_percent"] = draw.between(0.1, 1)
    every_s = draw.between(6, 20)
    lost = {"at_s": draw.some(2, 6), "lasts_s": draw.between(0.05, 0.5), "every_s": every_s}
    return {"fade": [{"hop": "line", **lost, "sides": draw.choice(["forward", "both"])}]}


def _jitter(draw: Draw, hop: Json, more: Json) -> None:
    spread = draw.uniform(0.05, 0.25)
    for side in ("forward", "reverse"):
        delay_ms = hop[side]["delay_ms"]
        jitter_ms = _rounded(delay_ms * spread * 2)
        hop[side] |= {"jitter_ms": jitter_ms, "distribution": draw.choice(["normal", "pareto"])}
        hop[side]["correlation_percent"] = draw.choice([0, 25, 50])
    hop["forward"]["loss_percent"] = draw.between(0.3, 2)


def _swings(draw: Draw, hop: Json, more: Json) -> Json:
    hop["forward"]["loss_percent"] = draw.between(0.3, 2)
    longer_ms = _rounded(hop["forward"]["delay_ms"] + _rtt_ms(hop) * draw.uniform(0.3, 3))
    when = {"at_s": 2, "lasts_s": 2, "every_s": 4}
    return {"change": [{"hop": "line", **when, "forward": {"delay_ms": longer_ms}}]}


def _busy(draw: Draw, more: Json, low: float, high: float, on_s: float) -> None:
    more |= {
        "load.udp": "onoff",
        "load.udp_share": draw.some(low, high),
        "load.udp_on_s": draw.between(on_s / 3, on_s),
        "load.udp_off_s": draw.between(on_s / 3, on_s),
    }


def _queues(draw: Draw, hop: Json, more: Json) -> None:
    rate_mbps = hop["rate_mbps"] = draw.between(2, 15)
    hop["queue_packets"] = math.ceil(draw.between(40, 400) * rate_mbps * 1e3 / 12_000)
    hop["forward"]["queue"] = draw.choice(["droptail", "codel", "fq-codel", "pie"])
    _busy(draw, more, 0.4, 0.7, 4)


def _shallow(draw: Draw, hop: Json, more: Json) -> None:
    hop["rate_mbps"] = draw.between(1, 8)
    hop["queue_packets"] = draw.randint(4, 15)
    _busy(draw, more, 0.3, 0.6, 0.6)


def _load(hop: Json, more: Json, connections: int, rate_mbps: float, share: float) -> None:
    """Sets the time between requests so that those of all `connections` are this `share` of the rate, if
    nothing is lost."""
    took_s = connections * more["load.request_bytes"] * 8 / (rate_mbps * 1e6 * share)
    more["load.think_s"] = _rounded(max(took_s - _rtt_ms(hop) / 1000, 0.03))


def _policer(draw: Draw, hop: Json, more: Json) -> None:
    mbps, kb = draw.between(0.5, 5), draw.between(6, 60)
    hop["rate_mbps"] = draw.between(10, 100)
    hop["forward"] |= {"policer_mbps": mbps, "policer_kb": kb}
    more["load.request_bytes"] = round(1000 * kb * draw.uniform(0.3, 2))
    _load(hop, more, 1, mbps, draw.uniform(0.2, 0.8))


def _own_queue(draw: Draw, hop: Json, more: Json) -> None:
    hop["rate_mbps"] = draw.between(0.5, 4)
    hop["queue_packets"] = draw.randint(20, 200)
    hop["forward"]["loss_percent"] = draw.between(0.1, 1)
    more["load.request_bytes"] = round(1000 * draw.between(15, 60))


def _sender_queue(draw: Draw, hop: Json, more: Json) -> Json:
    hop["rate_mbps"] = draw.between(20, 100)
    hop["forward"]["loss_percent"] = draw.between(0.1, 1)
    rate_mbps, at_once = draw.between(1, 8), draw.randint(4, 12)
    more["load.request_bytes"] = round(1000 * draw.between(5, 40))
    more["load.at_once"] = at_once
    _load(hop, more, at_once, rate_mbps, draw.uniform(0.3, 0.7))
    return {"sender_queue": {"rate_mbps": rate_mbps, "queue_ms": 4000}}


def _slots(draw: Draw, hop: Json, more: Json) -> None:
    hop["forward"]["loss_percent"] = draw.between(0.3, 2)
    least = draw.between(2, 20)
    hop["reverse"]["slot_ms"] = [least, _rounded(least * draw.uniform(1.5, 6))]


def _reordering(draw: Draw, hop: Json, more: Json) -> None:
    hop["forward"] |= {
        "loss_percent": draw.between(0.3, 2),
        "reorder_percent": draw.between(0.5, 5),
        "reorder_ms": _rounded(_rtt_ms(hop) * draw.uniform(0.1, 1)),
        "rate_mbps": _rounded(hop["rate_mbps"] / draw.uniform(2, 10)),
    }


def _delayed_acks(draw: Draw, hop: Json, more: Json) -> None:
    hop["forward"]["loss_percent"] = draw.between(0.3, 2)
    more["tcp.delayed_ack_s"] = draw.choice([0.04, 0.1, 0.2])
    more["load.answer_after_s"] = draw.between(0.02, 0.3)


#: Draws a path of a family: it changes the table of the hop and the values for other keys of the scenario
#: file, and may return further tables of the path.
Rule = Callable[[Draw, Json, Json], Json | None]
Families = Mapping[str, tuple[str, Rule, bool]]
#: For each family of paths: a description for readers, the rule, and whether a small jitter is added.
FAMILIES: Families = {
    "random": ("random losses of 0.3 to 4 %", _random, True),
    "bursts-packets": ("bursts of losses, counted in packets (Gilbert)", _bursts_of_packets, True),
    "bursts-time": ("bursts of losses, in time (Gilbert)", _bursts_in_time, True),
    "fades": ("fades of 0.2 to 8 s, and a few random losses", _fades, True),
    "handovers": ("nothing arrives for 0.05 to 0.5 s, each 6 to 20 s", _handovers, True),
    "jitter": ("jitter of a tenth to a half of the delay, and random losses", _jitter, False),
    "swings": ("the RTT changes each 2 s by 0.3 to 3 times its base, and random losses", _swings, True),
    "queues": ("a queue that others fill: drop tail, CoDel, FQ-CoDel, PIE", _queues, False),
    "shallow": ("a queue of 4 to 15 packets that others' bursts overflow", _shallow, False),
    "policers": ("a policer drops what exceeds a rate; requests of its bucket's size", _policer, True),
    "own-queue": ("requests of 15 to 60 kB fill the queue of a slow line alone", _own_queue, True),
    "slots": ("ACKs arrive together, in slots; random losses", _slots, True),
    "reordering": ("packets overtake each other; a slower uplink; random losses", _reordering, True),
    "delayed-acks": ("the server answers late, ACKs are delayed; random losses", _delayed_acks, True),
}
#: Families that ns-3 does not simulate.
_SENDER_QUEUE = "4 to 12 connections share a slow queue of their own host; random losses"
LAB_ONLY: Families = {"sender-queue": (_SENDER_QUEUE, _sender_queue, True)}
TITLES = {name: title for name, (title, *_) in {**FAMILIES, **LAB_ONLY}.items()}
#: The family of a path, its name, its description as a TOML table, and values for other keys of the scenario
#: file.
Drawn = tuple[str, str, Json, Json]


def paths(name: str, families: Families = FAMILIES, each: int = EACH) -> Iterator[Drawn]:
    """Yields `each` paths of each of the `families` in the set `name` (a key of `SETS`)."""
    for family, (_, rule, jitters) in families.items():
        for number in range(1, each + 1):
            draw = Draw(f"{SETS[name]} {family} {number}")
            hop, more = _common(draw)
            if jitters:
                _some_jitter(draw, hop)
            changed = rule(draw, hop, more) or {}
            yield family, f"{family}-{number}", {"hop": {"line": hop}, **changed}, more


def lab_only() -> Iterator[Drawn]:
    """Yields the paths of the families that ns-3 does not simulate."""
    return paths(LAB, LAB_ONLY, EACH_LAB_ONLY)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def scenario(name: str) -> str:
    """Returns the text of the ns-3 scenario file with the paths of the set `name` (a key of `SETS`)."""
    drawn = list(paths(name))
    names = ",\n".join(f'  "{path}"' for _, path, _, _ in drawn)
    lines = [
        "# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only",
        f"# Written by `python -m experiments.families`: the paths of the set {name!r}; do not edit.",
        'extends = "common.toml"',
        f'name = "families-{name}"',
        f"\n[grid]\nvariants = [\n{names},\n]",
    ]
    family = ""
    for of, path, table, more in drawn:
        lines.append(f"\n# {TITLES[of]}" if of != family else "")
        family = of
        lines += [f"[variants.{path}]", f"path = {_toml(table)}"]
        lines += [f"{json.dumps(key)} = {_toml(value)}" for key, value in more.items()]
    return "\n".join(lines) + "\n"


def lab_scenario(family: str, path: str, table: Json, more: Json) -> str:
    """Returns the text of the lab's scenario file for a path of the set `LAB`; the arguments are what
    `paths` yields."""
    count, think_s = LAB_REQUESTS, more["load.think_s"]
    requests: Json = {"count": count, "think_ms": round(1000 * think_s)}
    if not more["tcp.timestamps"]:
        requests["timestamps"] = False
    if at_once := more.get("load.at_once"):
        requests |= {"on": "many", "at_once": at_once}
    lines = [
        "# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only",
        "# Written by `python -m experiments.families`: a path of kept.toml; do not edit.",
        'extends = "common.toml"',
        f'name = "families-{path}"',
        f'title = "{TITLES[family]}"',
        f"path = {_toml(table)}",
        f"transfer = {_toml({'bytes': more['load.request_bytes'], 'requests': requests})}",
    ]
    if fades := table.get("drawn_fades"):
        lasts_s = count * (think_s + _rtt_ms(table["hop"]["line"]) / 1000)
        lines.append(f"fades = {_toml({'count': math.ceil(lasts_s / fades['apart_s'])})}")
    return "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    """Writes the scenario files of all drawn paths below `folder`, which is made if it is missing."""
    (folder / "lab").mkdir(parents=True, exist_ok=True)
    for name in SETS:
        (folder / f"{name}.toml").write_text(scenario(name))
    kept = (one for one in paths(LAB) if int(one[1].rpartition("-")[2]) <= IN_LAB.get(one[0], 0))
    for family, path, table, more in (*kept, *lab_only()):
        (folder / "lab" / f"{path}.toml").write_text(lab_scenario(family, path, table, more))
