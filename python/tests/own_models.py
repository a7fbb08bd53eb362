# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Trains a user's own loss model by the documented command, and provides texts of wrong models."""

from __future__ import annotations

from pathlib import Path

import losses_made_up
from tcplearn.__main__ import main

INPUTS = "rtt_min_to_srtt,queue_position,log_flight,rtt_per_packet"


def trained(folder: Path) -> Path:
    """Return the model file that `tcplearn train loss` writes for invented losses."""
    data = folder / "losses.parquet"
    losses_made_up.table(scenarios=6, rows=40).write_parquet(data)
    words = ["train", "loss", str(data), "-o", str(folder), "--name", "own_net", "--inputs", INPUTS]
    assert main([*words, "--hidden", "5", "--starts", "1", "--epochs", "40", "--folds", "2", "-q"]) == 0
    return folder / "loss_own_net.json"


GOOD = "tcplearn-mlp-1 tiny 2 1 log_flight 0 1073741824 rtt_slope 5 7 1 2 3 4 5"
WRONG = {
    "nothing": " ",
    "another first word": "tcplearn-mlp-2 tiny",
    "a long name": f"tcplearn-mlp-1 {'x' * 32} 1 1",
    "a name with a quote": "tcplearn-mlp-1 a'b 1 1",
    "no inputs": "tcplearn-mlp-1 tiny 0 1",
    "33 inputs": "tcplearn-mlp-1 tiny 33 1",
    "65 units": "tcplearn-mlp-1 tiny 1 65",
    "2^32 + 1 inputs": "tcplearn-mlp-1 tiny 4294967297 1",
    "no feature": GOOD.replace("rtt_slope", "moon"),
    "a feature twice": GOOD.replace("rtt_slope", "log_flight"),
    "a gain of 0": GOOD.replace("5 7", "5 0"),
    "a gain above 256": GOOD.replace("5 7", f"5 {2**38 + 1}"),
    "a far mean": GOOD.replace("5 7", f"{2**52 + 1} 7"),
    "a large weight": GOOD.replace(" 4 5", f" {2**30 + 1} 5"),
    "a small weight": GOOD.replace(" 4 5", f" {-(2**30) - 1} 5"),
    "a fraction": GOOD.replace(" 4 5", " 4.5 5"),
    "401 digits": GOOD.replace(" 4 5", f" {'9' * 401} 5"),
    "-2^64": GOOD.replace(" 4 5", f" {-(2**64)} 5"),
    "a minus alone": GOOD.replace(" 4 5", " - 5"),
    "a weight too few": GOOD.removesuffix(" 5"),
    "a weight too many": f"{GOOD} 6",
}
