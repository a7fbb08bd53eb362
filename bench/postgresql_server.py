# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Makes a PostgreSQL cluster for a measurement, for bench/retry_record.py and
python/tests/live/applications_trial.py. It needs root, and Debian's postgresql."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def server(folder: Path, port: int) -> list[str]:
    """Make a cluster in `folder`, which trusts every client, and return the command that serves it."""
    (programs,) = Path("/usr/lib/postgresql").glob("*/bin")
    data = folder / "data"
    folder.chmod(0o755)
    data.mkdir()
    shutil.chown(data, "postgres")
    as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    make = [*as_postgres, programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
    subprocess.run(make, check=True, capture_output=True, cwd="/")
    (data / "pg_hba.conf").write_text("local all all trust\nhost all all all trust\n")
    settings = (
        f"port={port}",
        "listen_addresses=*",
        f"unix_socket_directories={data}",
        "log_min_messages=fatal",
    )
    return [
        *as_postgres,
        str(programs / "postgres"),
        "-D",
        str(data),
        *(w for s in settings for w in ("-c", s)),
    ]
