# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn first-rto`, which loads a model of the first RTO (of SYNs and SYN-ACKs)
into the kernel."""

from pathlib import Path
from typing import Annotated

import typer

from tcplearn.cli.common import Work, print_lines
from tcplearn.errors import UserError

first_rto_app = typer.Typer(
    rich_markup_mode=None, help="Set the first RTO of new connections on this machine from a trained model."
)


@first_rto_app.command("load", short_help="Load a model for the new connections of a cgroup.")
def _load(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL.json", help="A model that `tcplearn train rtt` wrote, or rfc6298."),
    ],
    cgroup: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Only connections of this cgroup2 folder.", show_default="all connections"
        ),
    ] = None,
) -> Work:
    """Load a model of the first RTO for the active and passive opens of a cgroup, completely or not at
    all. Existing connections do not change."""

    def work(_: str) -> None:
        from tcplearn.bpf import kernel
        from tcplearn.lab import sock_ops
        from tcplearn.learn.rtt import model as models
        from tcplearn.learn.rtt.settings import packed

        read = models.read(sock_ops.shipped(model))
        if why := sock_ops.missing():
            raise UserError(why)
        loaded = sock_ops.Loaded()
        loaded.load(packed(read, kernel.ticks_per_second()), cgroup or kernel.cgroups())
        print_lines(loaded.status())

    return work


@first_rto_app.command("status", short_help="Show whether a model is loaded, and for which cgroup.")
def _status() -> Work:
    """Show whether a model is loaded, for which cgroup, and for how many destinations and prefixes it has
    stored RTTs."""

    def work(_: str) -> None:
        from tcplearn.lab import sock_ops

        print_lines(sock_ops.Loaded().status())

    return work


@first_rto_app.command("unload", short_help="Unload the model, and forget the stored RTTs.")
def _unload() -> Work:
    """Unload the model and forget the stored RTTs: new connections begin with an RTO of one second again."""

    def work(_: str) -> None:
        from tcplearn.lab import sock_ops

        sock_ops.Loaded().unload()

    return work
