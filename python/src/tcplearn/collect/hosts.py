# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Read the hosts to measure, from the command line and from files with lists of hosts."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tcplearn import documents
from tcplearn.checkout import no_such_file
from tcplearn.errors import UserError, printable

#: The longest accepted host name. Names have at most 253 characters (RFC 1035).
_LINE_MAX = 300
_MOST_BYTES = 256 << 20
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


@dataclass(frozen=True, slots=True)
class Target:
    host: str  # a name or an address
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def targets_of(words: Sequence[str], ports: Sequence[int]) -> list[Target]:
    """Return the targets in `words`, which are hosts or files of hosts. A host without a port gives a target
    for each of `ports`. Raise UserError."""
    found = [target for word in words for target in _of_word(word, ports)]
    if not found:
        raise UserError("no host given; name hosts, or a file with one host per line")
    return list(dict.fromkeys(found))


def ports_of(text: str) -> list[int]:
    return [_port(word.strip(), f"--port {text}") for word in text.split(",")]


def _of_word(word: str, ports: Sequence[int]) -> Iterator[Target]:
    path = Path(word)
    if path.exists() and not path.is_dir():  # _of_file refuses devices and pipes
        yield from _of_file(path, ports)
    elif "/" in word or word.endswith((".txt", ".csv")):
        raise UserError(f"{printable(word)}: {no_such_file(path)}")
    else:
        yield from _targets(word, ports, "")


def _of_file(path: Path, ports: Sequence[int]) -> Iterator[Target]:
    """Yield the targets in the file `path`. Each line has a host, or "RANK,HOST" as in lists of popular
    sites. A host without a port gives a target for each of `ports`."""
    where = printable(path)
    try:
        text = documents.content(path, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not text; give one host per line") from error
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        rank, comma, host = entry.partition(",")
        if comma and rank.strip().isdecimal():
            entry = host.strip()
        if entry:
            yield from _targets(entry, ports, f"{where}:{number}: ")


def _targets(entry: str, ports: Sequence[int], where: str) -> Iterator[Target]:
    host, own = _split(entry, where)
    _check(host, where)
    for port in [own] if own else ports:
        yield Target(host, port)


def _split(entry: str, where: str) -> tuple[str, int]:
    """Return the host and the port in `entry`. The port is 0 if `entry` has none."""
    shown = f"{where}{printable(entry)[:80]}"
    if entry.startswith("["):
        host, bracket, rest = entry[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise UserError(f"{shown}: not a host; an IPv6 address with a port is [ADDRESS]:PORT")
        return host, _port(rest[1:], shown) if rest else 0
    if entry.count(":") == 1:
        host, _, port = entry.partition(":")
        return host, _port(port, shown)
    return entry, 0


def _port(text: str, where: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) < 65536):
        raise UserError(f"{where}: not a port: {printable(text)[:20]}; give 1 to 65535")
    return int(text)


def _check(host: str, where: str) -> None:
    shown = f"{where}{printable(host)[:80]}"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        labels = host.rstrip(".").split(".")
        if len(host) > _LINE_MAX or ":" in host or not all(_LABEL.fullmatch(label) for label in labels):
            raise UserError(f"{shown}: not a host; give a name or an address") from None
        if labels[-1].isdecimal():
            raise UserError(f"{shown}: not an address; IPv4 has four numbers of 0 to 255") from None
        return
    if address.is_multicast or address.is_unspecified or str(address) == "255.255.255.255":
        raise UserError(f"{shown}: not one host's address")
