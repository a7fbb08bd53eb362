# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn first-rto`, which loads a model of the first RTO (of SYNs and SYN-ACKs)
into the kernel."""

from pathlib import Path
from typing import Annotated

from tcplearn.cli.common import print_lines
from tcplearn.cli.groups import group
from tcplearn.cli.options import argument, option
from tcplearn.errors import UserError


def _load(
    _: str,
    model: Annotated[Path, argument("MODEL.json", "A model that `tcplearn train rtt` wrote, or rfc6298.")],
    cgroup: Annotated[
        Path | None, option("DIR", "Only connections of this cgroup2 folder.", show_default="all connections")
    ] = None,
) -> None:
    """Load a model of the first RTO for the active and passive opens of a cgroup, completely or not at
    all. Existing connections do not change."""
    from tcplearn.bpf import kernel
    from tcplearn.lab import sock_ops
    from tcplearn.learn.rtt import model as models

    read = models.read(sock_ops.shipped(model))
    if why := sock_ops.missing():
        raise UserError(why)
    loaded = sock_ops.Loaded()
    loaded.load(models.packed(read, kernel.ticks_per_second()), cgroup or kernel.cgroups())
    print_lines(loaded.status())


def _status(_: str) -> None:
    """Show whether a model is loaded, for which cgroup, and for how many destinations and prefixes it has
    stored RTTs."""
    from tcplearn.lab import sock_ops

    print_lines(sock_ops.Loaded().status())


def _unload(_: str) -> None:
    """Unload the model and forget the stored RTTs: new connections begin with an RTO of one second again."""
    from tcplearn.lab import sock_ops

    sock_ops.Loaded().unload()


first_rto_app = group(
    "Set the first RTO of new connections on this machine from a trained model.",
    {
        "load": (_load, "Load a model for the new connections of a cgroup."),
        "status": (_status, "Show whether a model is loaded, and for which cgroup."),
        "unload": (_unload, "Unload the model, and forget the stored RTTs."),
    },
)
