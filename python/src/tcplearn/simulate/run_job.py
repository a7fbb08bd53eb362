# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a job from a run: the ns-3 program's input document, and the key under which to store the result."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcplearn import algorithms, estimators, losses
from tcplearn.errors import UserError, printable
from tcplearn.jobs import Job
from tcplearn.output.files import cache_folder, write_atomically
from tcplearn.scenario import link_trace
from tcplearn.search_path import SAFE
from tcplearn.simulate import engine, results
from tcplearn.simulate.models import Scenario, Web
from tcplearn.simulate.scenario import Run

STOCK = "ns3"  # the name for ns-3's own RTT estimator; tests compare `jacobson` (RFC 6298) with it

WITH_WEIGHTS = ("mlp", "adaptive", "history")  # loss classifiers that use trained weights

Json = dict[str, Any]


@dataclass(frozen=True)
class Shared:
    scenario: Scenario
    document: Json  # all that the runs of a scenario have in common
    known: Json  # `document` for the job's key: contents, not paths

    @staticmethod
    def of(run: Run) -> Shared:
        document = _document(run)
        known = dict(document)
        if isinstance(run.scenario.load, Web):
            policies = known["load"].keys() & {"startup", "first_rto"}
            known["load"] = known["load"] | {key: _known(known["load"][key]) for key in policies}
        if trace := document["topology"].get("trace"):
            contents = hashlib.sha256(Path(trace).read_bytes()).hexdigest()
            known["topology"] = {**document["topology"], "trace": contents}
        if run.scenario.loss and run.scenario.loss.classifier.startswith(WITH_WEIGHTS):
            known["weights"] = engine.weights()
        return Shared(run.scenario, document, known)


def job(run: Run, cost: float, shared: Shared | None = None) -> Job:
    """Return the job that simulates `run`, which takes about `cost` seconds of CPU time. `shared` is the part
    of the job's input that all runs of a scenario have in common; it is computed if it is None."""
    shared = shared or Shared.of(run)
    own = {**_timing(run.timing), "estimator": _estimator(run), "seed": run.seed}
    estimator = _known(own["estimator"])
    estimator.pop("command")
    known = {**shared.known, **own, "estimator": estimator}
    if run.algorithm != STOCK:
        code = estimators.user_code(estimators.parse(run.algorithm.partition("@")[0]))
        known["user_code"] = os.urandom(8).hex() if code is None else code  # unknown code: reuse no result
    text = json.dumps([known, engine.identity()], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    return Job(key, engine.simulate, ({**shared.document, **own},), _title(run), cost, results.check)


def _known(table: Json) -> Json:
    """Return `table` without the entry `algorithm`, a text that only repeats the other entries."""
    return {key: value for key, value in table.items() if key != "algorithm"}


def _policy(kind: str, text: str) -> Json:
    """Return the name and all parameters of the policy `text`. Parameters with default values are included,
    so that a job key changes when a default changes."""
    spec = algorithms.parse(kind, text)
    return {"name": spec.name, "params": algorithms.parameters(kind, spec), "algorithm": spec.text}


def _title(run: Run) -> str:
    labels = "".join(f", {k}={v}" for k, v in run.labels.items())
    return f"{run.file}: {run.algorithm}, {run.timing}{labels}, seed {run.seed}"


def _document(run: Run) -> Json:
    tree = run.scenario.model_dump(exclude={"path"})
    tree["tick_s"] = tree.pop("tick_ms") / 1000
    tree["load"] = {"flows": 0, "start_s": [0, 0], "every_s": 0, **tree["load"]}
    tree["load"]["packets"] = tree["load"].get("packets") or [0, 0]  # 0: endless
    if tree["loss"] is None:
        tree.pop("loss")
    else:
        name, at, arithmetic = tree["loss"]["classifier"].partition("@")
        it = losses.chosen(name)
        tree["loss"]["classifier"] = it.spec + at + arithmetic
        if it.weights:
            tree["loss"]["weights"] = it.weights
    if tree["topology"].get("described"):
        tree["topology"]["described"] = _finite(tree["topology"]["described"])
    options = (("topology", "moving"), ("topology", "described"), ("tcp", "resend"), ("tcp", "timestamps"))
    for part, key in options:
        if not tree[part].get(key):  # the program uses its default for a missing key
            tree[part].pop(key, None)
    if isinstance(run.scenario.load, Web):
        tree["load"]["startup"] = _policy(algorithms.STARTUP, run.scenario.load.startup)
        first_rto = run.scenario.load.first_rto
        if isinstance(first_rto, str):
            tree["load"]["first_rto"] = _policy(algorithms.FIRST_RTO, first_rto)
        elif first_rto:
            tree["load"]["first_rto"] = first_rto.settings() | {"algorithm": first_rto.algorithm()}
        for key in ("places", "first_rto"):
            if not tree["load"][key]:
                tree["load"].pop(key)
    if tree["topology"].get("trace"):
        tree["topology"]["trace"] = str(_plain_trace(run.file, Path(tree["topology"]["trace"])))
    return tree


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items() if v is not None and v != math.inf}
    return [_finite(v) for v in value] if isinstance(value, list) else value


def _timing(text: str) -> Json:
    sampling, clock, given = [*text.split("/"), "", ""][:3]
    quantum_us = int(clock.removeprefix("bsd-").removesuffix("ms") or 0) * 1000
    if clock.startswith("bsd-"):
        return {"sampling": "counted", "quantum_us": quantum_us, "given": given or "count"}
    return {"sampling": sampling, "quantum_us": quantum_us}


def _estimator(run: Run) -> Json:
    stock = {"name": STOCK, "params": {}, "arithmetic": "double", "command": "", "algorithm": STOCK}
    if run.algorithm == STOCK:
        return stock
    name, _, arithmetic = run.algorithm.partition("@")
    if arithmetic not in ("", "fixed"):
        known = "after @ only fixed is known, such as jacobson@fixed"
        raise UserError(f"{printable(run.file)}: {run.algorithm}: {known}")
    try:
        spec = estimators.parse(name)
    except UserError as error:
        raise UserError(f"{printable(run.file)}: grid.algorithms: {error}") from None
    if spec.core:
        own = {"params": dict(spec.params), "arithmetic": arithmetic or "double"}
        text = spec.text + ("@fixed" if arithmetic else "")
        return {**stock, "name": spec.name, **own, "algorithm": text}
    command = shlex.join([sys.executable, SAFE, "-m", "tcplearn.simulate.bridge", spec.text])
    return {**stock, "name": "pipe", "command": command, "spec": spec.text, "algorithm": ""}


def _plain_trace(file: Path, trace: Path) -> Path:
    """Return the path of `trace`, decompressed if it is packed. Raise UserError that names `file`."""
    try:
        data = link_trace.unpacked(trace)
        link_trace.times_ms(data)
    except ValueError as error:
        where = f"{printable(file)}: topology.trace: {printable(trace)}"
        raise UserError(f"{where}: {error}; give a Mahimahi link trace") from error
    if trace.suffix != ".gz":
        return trace
    out = cache_folder() / "links" / f"{hashlib.sha256(data).hexdigest()[:24]}.trace"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, data)
    return out
