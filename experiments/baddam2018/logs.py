# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Fits baddam2018's regression to the logs in a clone of its authors' repository:
`python -m experiments.baddam2018.logs CSE534Project`. The logs hold two passes over the same sites."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tcplearn.learn.dataset import Floats

FITTED = 251  # sites; the authors' script fits on the first 251, and scores the others
NUMBERS = re.compile(r"round-trip min/avg/max = ([\d.]+)/([\d.]+)/([\d.]+) ms")
TTL = re.compile(r"^len=.* ttl=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Fit:
    """A linear regression of the mean RTT, fitted to one pass over the sites, and its mean absolute
    percentage errors (MAPE) on the held-out sites."""

    coefficients: tuple[float, ...]  # b0, hops, min, max, ttl; in ms
    mape: float  # a site that did not answer counts with an error of 0, as the authors count it
    mape_answered: float  # of the sites that answered
    mape_middle: float  # of the prediction (min + max) / 2, on the sites that answered
    held_out: int  # number of sites
    answered: int


def _parts(file: Path, command: str) -> list[str]:
    return re.split(rf"^.*\*\*\*sudo {command} .*\n", file.read_text(), flags=re.MULTILINE)[1:]


def sites(folder: Path) -> Floats:
    """Returns an array with a row for each site of the logs in `folder`: number of hops, least, mean and
    largest RTT in ms, and TTL. RTTs and TTL are 0 if the site did not answer. Hops are counted as by the
    authors' script, one too few."""
    rows = []
    pings = _parts(folder / "hping.out", "hping3")
    traces = _parts(folder / "traceroute.out", "tcptraceroute")
    for ping, trace in zip(pings, traces, strict=True):
        rtts, ttl = NUMBERS.search(ping), TTL.search(ping)
        hops = len(trace.split("Return Code")[0].splitlines()) - 2
        rows.append([hops, *(rtts.groups() if rtts else (0, 0, 0)), ttl[1] if ttl else 0])
    return np.array(rows, float)


def fit(rows: Floats) -> Fit:
    """Returns the least-squares fit of the mean RTT to the first `FITTED` sites, with its errors on the
    others."""
    hops, least, mean, most, ttl = rows.T
    x = np.stack([np.ones(len(rows)), hops, least, most, ttl], axis=1)
    found = np.linalg.lstsq(x[:FITTED], mean[:FITTED], rcond=None)[0]
    rest = np.arange(len(rows)) >= FITTED
    answered = rest & (mean > 0)  # the authors leave out the others' errors, but divide by the number of all

    def error(predicted: Floats) -> float:
        return float(np.sum(100 * np.abs(predicted - mean)[answered] / mean[answered]))

    total, count = error(x @ found), int(answered.sum())
    middle = error((least + most) / 2) / count
    return Fit(tuple(found.tolist()), total / int(rest.sum()), total / count, middle, int(rest.sum()), count)


def main(folder: Path) -> None:
    rows = sites(folder / "Regression")
    for number, of in enumerate(np.split(rows, 2), 1):
        found = fit(of)
        print(f"pass {number}:", *(f"{value:.8f}" for value in found.coefficients))
        print(
            f"  MAPE {found.mape:.5f} % of {found.held_out} held-out sites as the authors count it;", end=" "
        )
        print(f"{found.mape_answered:.2f} % of the {found.answered} that answered;", end=" ")
        print(f"(min + max) / 2: {found.mape_middle:.2f} %")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
