# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn emulate`, which runs a command over an emulated link on this machine's own
kernel."""

import json
from pathlib import Path
from typing import Annotated

from tcplearn.cli import options as o
from tcplearn.cli.common import Outputs, say, write
from tcplearn.cli.options import argument, flag, option
from tcplearn.errors import UserError

#: In the last 40 us before a packet is due the emulator does not sleep: a sleep ends about 40 us too late.
SPIN_US = 40
LATE_LIMIT_US = 5000


def emulate(
    _: str,
    path: Annotated[str, argument("PATH", "A path file (docs/paths.md), or a shipped path's name.")],
    command: Annotated[list[str], argument("-- COMMAND...", "The client and its arguments.")],
    server: Annotated[
        str, option("COMMAND", "Run this in a shell at the other end for as long as the client runs.")
    ] = "",
    wait_port: Annotated[
        int | None,
        option("PORT", "Start the client when the server listens on this TCP port.", min=1, max=65535),
    ] = None,
    seed: Annotated[int, option("N", "Seed of losses, delays and fades.", min=0)] = 1,
    drop_syn: Annotated[int, option("N", "Drop the first N SYNs of each connection.", min=0, max=100)] = 0,
    drop_syn_ack: Annotated[
        int, option("N", "Drop the first N SYN-ACKs of each connection.", min=0, max=100)
    ] = 0,
    late_limit_us: Annotated[
        int,
        option(
            "US", "Tolerated lateness of a packet in the emulator; beyond it, the run is unusable.", min=0
        ),
    ] = LATE_LIMIT_US,
    as_json: Annotated[bool, flag("Write the result as JSON.", "--json")] = False,
    output: o.Output = None,
    quiet: o.Quiet = False,
) -> int:
    """Run a command at one end of an emulated link, between two network namespaces of this kernel. Both ends'
    addresses are in the environment: TCPLEARN_CLIENT, TCPLEARN_SERVER, and with IPv6 TCPLEARN_CLIENT6,
    TCPLEARN_SERVER6. The exit code is the command's, or 1 if the run is unusable, for example because the
    emulator sent a packet late."""
    from tcplearn import provenance
    from tcplearn.emulate import path as paths
    from tcplearn.emulate import trial
    from tcplearn.emulate.ends import ADDRESSES, ADDRESSES6
    from tcplearn.emulate.result import Result, discarded
    from tcplearn.emulate.trial import Order
    from tcplearn.scenario import path as network_path

    if wait_port and not server:
        raise UserError("--wait-port is for the server; give --server too")
    Outputs(output=output).check()
    trial.need()
    described = network_path.load(network_path.found(path), "emulate")
    order = Order(
        paths.hops(described), seed, command, server, wait_port or 0, drop_syn, drop_syn_ack, SPIN_US
    )
    if not quiet:
        places = (f"{end.lower()} {ADDRESSES[end]} {ADDRESSES6[end]}" for end in ADDRESSES)
        say(f"{described.name or Path(path).name}: {', '.join(places)}")
    result = Result(trial.run(order), late_limit_us)
    if as_json or output:
        run = {"path": described.name, "seed": seed, **result.record(), **provenance.made_by()}
        write(json.dumps(run) + "\n", output)
    for line in result.lines() if not quiet else map(discarded, result.unusable):
        say(line)
    return result.exit_code
