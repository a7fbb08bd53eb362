# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Implements the command `tcplearn module`, which installs, shows, configures and removes the kernel module
on this machine."""

from typing import Annotated

import typer

from tcplearn.cli.common import Work, print_lines

module_app = typer.Typer(
    rich_markup_mode=None, help="Install, show or remove the kernel module on this machine."
)


@module_app.command("install", short_help="Build and load the module for the installed kernels.")
def _install() -> Work:
    """Build the module for every installed kernel with DKMS, and load it. If this is not possible, one
    line says why."""

    def work(_: str) -> None:
        from tcplearn.lab import install

        print_lines(install.install(install.System()))

    return work


@module_app.command("status", short_help="Show whether the module is built and loaded, and its settings.")
def _status() -> Work:
    """Show whether the module is loaded, for which kernels it is built, and its settings."""

    def work(_: str) -> None:
        from tcplearn.lab import install

        print_lines(install.status(install.System()))

    return work


@module_app.command("loss", short_help="Choose the loss classifier, also with your own model.")
def _loss(
    spec: Annotated[
        str,
        typer.Argument(metavar="SPEC", help="For example mlp:threshold=0.4, or mlp:model=own/loss_own.json."),
    ],
) -> Work:
    """Set the loss classifier of connections that begin from now on. Its model may be a file that
    `tcplearn train loss` has written."""

    def work(_: str) -> None:
        from tcplearn.lab import install

        print_lines(install.choose_loss(install.System(), spec))

    return work


@module_app.command("remove", short_help="Unload the module and remove its files.")
def _remove() -> Work:
    """Unload the module and remove all its files. This is refused while connections use the module."""

    def work(_: str) -> None:
        from tcplearn.lab import install

        print_lines(install.remove(install.System()))

    return work
