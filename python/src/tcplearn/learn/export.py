# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Export core/models/loss_*.json and rtt_*.json as C headers: loss/mlp_models.h and first_rto_models.h.
`python -m tcplearn.learn.export --write` writes the headers; `--check` compares them with the models."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tcplearn import loss_model as models
from tcplearn import losses
from tcplearn.errors import UserError
from tcplearn.learn import loss_header
from tcplearn.learn.rtt import header as rtt_header
from tcplearn.learn.rtt import model as rtt_models
from tcplearn.loss_model import Model

CORE = Path(__file__).parents[4] / "core"
HEADER = CORE / "include" / "tcplearn" / "loss" / "mlp_models.h"
RTT_HEADER = CORE / "include" / "tcplearn" / "first_rto_models.h"


def shipped() -> list[Model]:
    return [
        models.read(CORE / "models" / f"loss_{name}.json", losses.features()) for name in loss_header.NAMES
    ]


def shipped_rtt() -> list[rtt_models.Model]:
    return [rtt_models.read(CORE / "models" / f"rtt_{name}.json") for name in rtt_header.NAMES]


def main(arguments: Sequence[str]) -> int:
    try:
        headers = {HEADER: loss_header.header(shipped()), RTT_HEADER: rtt_header.header(shipped_rtt())}
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for path, made in headers.items():
        if "--write" in arguments:
            path.write_text(made)
        elif "--check" not in arguments:
            print(made, end="")
        elif not path.exists() or path.read_text() != made:
            print(f"{path.name} is not what core/models gives: python -m tcplearn.learn.export --write")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
