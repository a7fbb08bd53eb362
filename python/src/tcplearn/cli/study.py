# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn study`, which measures the effect of an estimator's parameters on your
traces."""

import contextlib
import math
from typing import Annotated

from tcplearn.cli import options as o
from tcplearn.cli.common import Outputs, Workers, check_readable, progress_bar, warn, warn_of_repeats
from tcplearn.cli.groups import group
from tcplearn.cli.options import option
from tcplearn.errors import UserError


def _numbers(option: str, given: str) -> tuple[float, ...] | None:
    """Return the numbers in `given`, such as "10,25,50", or None if it is empty. Raise UserError."""
    if not given:
        return None
    with contextlib.suppress(ValueError):
        values = tuple(dict.fromkeys(float(word) for word in given.split(",")))
        if all(map(math.isfinite, values)):
            return values
    raise UserError(f"{option} {given}: give numbers with commas between them")


def experts(
    command: str,
    files: o.Traces,
    *,
    n: Annotated[str, option("LIST", "Numbers of experts to try, such as 10,25.", "--n")] = "",
    eta: Annotated[str, option("LIST", "Learning rates to try.", "--eta")] = "",
    alpha: Annotated[str, option("LIST", "Sharing rates to try.", "--alpha")] = "",
    preset: Annotated[
        str, option("SPEC", "experts or experts/fitted, also with other parameters.")
    ] = "experts",
    arithmetic: o.Arithmetic = o.ArithmeticName.double,
    sender: o.Sender = "auto",
    every_ack: o.EveryAck = False,
    min_samples: Annotated[int, option("N", "Flows with fewer samples are left out.", min=2)] = 30,
    flow: o.Flow = "",
    out: Outputs,
    workers: Workers,
) -> None:
    """Replay your traces with every combination of the parameters of the experts estimator: number of
    experts N, learning rate and sharing rate."""
    check_readable(files)
    warn_of_repeats(files)
    out.check()
    grids = {"n": _numbers("--n", n), "eta": _numbers("--eta", eta), "alpha": _numbers("--alpha", alpha)}

    from tcplearn.study import experts as study
    from tcplearn.study import tables as study_tables

    options = study.Options(
        preset=preset,
        arithmetic=arithmetic.value,
        sender=o.checked_sender(sender),
        every_ack=every_ack,
        min_samples=min_samples,
        flow=flow,
        **{key: values for key, values in grids.items() if values},
    )
    with progress_bar(out.quiet) as progress:
        result = study.run(files, options, progress, workers.where())
        result.made_by["command"] = command
        rows = study.rows(result)
        if out.report or out.pictures:
            from tcplearn.report import study as reports

            progress and progress(1.0, "drawing")
            reports.page(result, rows).write(out.report, out.pictures)
    warn(result.warnings)
    out.write(
        lambda console: study_tables.document(result, rows, console, quiet=out.quiet),
        lambda: study.tidied(result, rows),
        result.made_by,
        wide=rows,
    )


study_app = group(
    "Study an estimator's parameters on your traces.",
    {"experts": (experts, "Try values of the parameters of the estimator experts.")},
)
