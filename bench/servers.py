# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Prepares real servers for a measurement, for bench/retry_record.py and
python/tests/live/applications_trial.py. It needs root, and Debian's nginx-light, redis-server and
postgresql. Each function returns the command that starts a server, and keeps the server's files in
`folder`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path


def nginx(folder: Path, listens: Iterable[object]) -> list[str]:
    """Return the command of an nginx that serves a file of 500 bytes, /file, on each of `listens`: a port, or
    a port with options of nginx."""
    (folder / "www").mkdir()
    (folder / "www/file").write_bytes(b"f" * 500)
    temporary = "".join(
        f"{name}_temp_path {folder}/t; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    serve = f"root {folder}/www; access_log off; keepalive_requests 10000000;"
    servers = "\n".join(f"server {{ listen {listen}; {serve} }}" for listen in listens)
    (folder / "nginx.conf").write_text(
        f"user root; daemon off; worker_processes 1; pid {folder}/pid; events {{}}\n"
        f"http {{ {temporary} {servers} }}\n"
    )
    return ["nginx", "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


def redis(folder: Path, port: int) -> list[str]:
    """Return the command of a Redis server at `port` of all addresses, which saves nothing."""
    words = ("--bind", "*", "--protected-mode", "no", "--save", "", "--dir", str(folder))
    return ["redis-server", "--port", str(port), *words]


def postgresql(folder: Path, port: int) -> list[str]:
    """Return the command of a PostgreSQL server at `port` with a new cluster, which trusts every client."""
    (programs,) = Path("/usr/lib/postgresql").glob("*/bin")
    data = folder / "data"
    folder.chmod(0o755)
    data.mkdir()
    shutil.chown(data, "postgres")
    as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    make = [*as_postgres, programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
    subprocess.run(make, check=True, capture_output=True, cwd="/")
    (data / "pg_hba.conf").write_text("local all all trust\nhost all all all trust\n")
    settings = f"-c port={port} -c listen_addresses=* -c log_min_messages=fatal".split()
    settings += ["-c", f"unix_socket_directories={data}"]
    return [*as_postgres, str(programs / "postgres"), "-D", str(data), *settings]
