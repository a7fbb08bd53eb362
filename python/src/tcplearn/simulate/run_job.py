# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A run as a job: the document that the program reads, and the keys under which its result is kept."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tcplearn import estimators, startups
from tcplearn.errors import UserError, printable
from tcplearn.jobs import Job
from tcplearn.output.files import cache_folder, write_atomically
from tcplearn.scenario import link_trace
from tcplearn.search_path import SAFE
from tcplearn.simulate import engine
from tcplearn.simulate.models import Requests, Web
from tcplearn.simulate.scenario import Run

#: ns-3's own estimator in our sockets: what `jacobson` is tested against.
STOCK = "ns3"

#: Classifiers of losses that read trained weights.
WITH_WEIGHTS = ("mlp", "adaptive", "history")

Json = dict[str, Any]


def job(run: Run, cost: float) -> Job:
    document = _document(run)
    known = json.loads(json.dumps(document))  # what the key is made of: contents, not paths
    known["estimator"].pop("command")
    if run.algorithm != STOCK:
        code = estimators.user_code(estimators.parse(run.algorithm.partition("@")[0]))
        known["user_code"] = os.urandom(8).hex() if code is None else code  # not to be known: run each time
    topology = known["topology"]
    if topology.get("trace"):
        topology["trace"] = hashlib.sha256(Path(topology["trace"]).read_bytes()).hexdigest()
    if run.scenario.loss and run.scenario.loss.classifier.startswith(WITH_WEIGHTS):
        known["weights"] = engine.weights()
    key = _key(known, engine.identity())
    kinds = tuple(_kinds(run))
    same = (was for was in engine.earlier() if all(was.get(kind, True) for kind in kinds))
    then = ((_as_then(known, was), was["identity"]) for was in same)
    earlier = tuple(_key(document, identity) for document, identity in then if document)
    return Job(key, engine.simulate, (document,), _title(run), cost, earlier)


def _kinds(run: Run) -> Iterator[str]:
    """Of runs that were others at some earlier identities, as ns3/same-results.toml names them."""
    load = run.scenario.load
    if isinstance(load, Web):
        yield "web"
    if isinstance(load, Requests) and (load.stream or load.request_bytes > run.scenario.tcp.segment_bytes):
        yield "several"
    if isinstance(load, Requests) and run.scenario.tcp.resend.startswith("priced"):
        yield "priced"


def _key(known: Json, identity: str) -> str:
    text = json.dumps([known, identity], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _as_then(known: Json, was: Mapping[str, Any]) -> Json | None:
    """The document as it was hashed at an earlier identity; None where its estimator or its classifier of
    losses was another one then."""
    estimator = dict(known["estimator"])
    others = was.get("others", ())
    if estimator["name"] in others or known.get("loss", {}).get("classifier") in others:
        return None
    names: Mapping[str, str] = was.get("names", {})
    estimator["name"] = names.get(estimator["name"], estimator["name"])
    estimator[was.get("arithmetic", "arithmetic")] = estimator.pop("arithmetic")
    return {**known, "estimator": estimator}


def _title(run: Run) -> str:
    labels = "".join(f", {k}={v}" for k, v in run.labels.items())
    return f"{run.file}: {run.algorithm}, {run.timing}{labels}, seed {run.seed}"


def _document(run: Run) -> Json:
    tree = run.scenario.model_dump()
    tree["tick_s"] = tree.pop("tick_ms") / 1000
    tree["load"] = {"flows": 0, "packets": [0, 0], "start_s": [0, 0], "every_s": 0, **tree["load"]}
    if tree["loss"] is None:
        tree.pop("loss")
    for part, key in (("topology", "moving"), ("tcp", "resend"), ("tcp", "timestamps")):
        if not tree[part].get(key):  # earlier runs had none of them
            tree[part].pop(key, None)
    if isinstance(run.scenario.load, Web):
        startup = startups.parse(run.scenario.load.startup)
        # all of them: a run's key knows which defaults it was of
        tree["load"]["startup"] = {"name": startup.name, "params": startups.parameters(startup)}
        model = run.scenario.load.first_rto
        tree["load"] |= {"first_rto": model.settings()} if model else {}
        for key in ("places", "first_rto"):  # earlier runs had neither
            if not tree["load"][key]:
                tree["load"].pop(key)
    if tree["topology"].get("trace"):
        tree["topology"]["trace"] = str(_plain_trace(run.file, Path(tree["topology"]["trace"])))
    tree.update(_timing(run.timing))
    tree["estimator"] = _estimator(run)
    tree["seed"] = run.seed
    return tree


def _timing(text: str) -> Json:
    sampling, clock, given = [*text.split("/"), "", ""][:3]
    quantum_us = int(clock.removeprefix("bsd-").removesuffix("ms") or 0) * 1000
    if clock.startswith("bsd-"):
        return {"sampling": "counted", "quantum_us": quantum_us, "given": given or "count"}
    return {"sampling": sampling, "quantum_us": quantum_us}


def _estimator(run: Run) -> Json:
    if run.algorithm == STOCK:
        return {"name": STOCK, "params": {}, "arithmetic": "double", "command": ""}
    name, _, arithmetic = run.algorithm.partition("@")
    if arithmetic not in ("", "fixed"):
        raise UserError(
            f"{printable(run.file)}: {run.algorithm}: after @ only fixed is known, as jacobson@fixed"
        )
    try:
        spec = estimators.parse(name)
    except UserError as error:
        raise UserError(f"{printable(run.file)}: grid.algorithms: {error}") from None
    if spec.core:
        return {
            "name": spec.name,
            "params": dict(spec.params),
            "arithmetic": arithmetic or "double",
            "command": "",
        }
    command = shlex.join([sys.executable, SAFE, "-m", "tcplearn.simulate.bridge", spec.text])
    return {"name": "pipe", "params": {}, "arithmetic": "double", "command": command, "spec": spec.text}


def _plain_trace(file: Path, trace: Path) -> Path:
    """Checked, and unpacked where it is gzipped."""
    try:
        data = link_trace.unpacked(trace)
        link_trace.times_ms(data)
    except ValueError as error:
        raise UserError(
            f"{printable(file)}: topology.trace: {printable(trace)}: {error}; give a Mahimahi link trace"
        ) from error
    if trace.suffix != ".gz":
        return trace
    out = cache_folder() / "links" / f"{hashlib.sha256(data).hexdigest()[:24]}.trace"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, data)
    return out
