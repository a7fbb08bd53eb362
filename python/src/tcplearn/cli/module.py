# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn module`, which installs, shows, configures and removes the kernel module
on this machine."""

from typing import Annotated

from tcplearn.cli.common import print_lines
from tcplearn.cli.groups import group
from tcplearn.cli.options import argument


def _install(_: str) -> None:
    """Build the module for every installed kernel with DKMS, and load it. If this is not possible, one
    line says why."""
    from tcplearn.lab import install

    print_lines(install.install(install.System()))


def _status(_: str) -> None:
    """Show whether the module is loaded, for which kernels it is built, and its settings."""
    from tcplearn.lab import install

    print_lines(install.status(install.System()))


def _loss(
    _: str,
    spec: Annotated[str, argument("SPEC", "For example mlp:threshold=0.4, or mlp:model=own/loss_own.json.")],
) -> None:
    """Set the loss classifier of connections that begin from now on. Its model may be a file that
    `tcplearn train loss` has written."""
    from tcplearn.lab import install

    print_lines(install.choose_loss(install.System(), spec))


def _remove(_: str) -> None:
    """Unload the module and remove all its files. This is refused while connections use the module."""
    from tcplearn.lab import install

    print_lines(install.remove(install.System()))


module_app = group(
    "Install, show or remove the kernel module on this machine.",
    {
        "install": (_install, "Build and load the module for the installed kernels."),
        "status": (_status, "Show whether the module is built and loaded, and its settings."),
        "loss": (_loss, "Choose the loss classifier, also with your own model."),
        "remove": (_remove, "Unload the module and remove its files."),
    },
)
