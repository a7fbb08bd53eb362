# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Finished runs on disk, one file each: whole or absent, so that a killed sweep loses only what ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tcplearn import provenance
from tcplearn.output.files import make_directory, write_atomically

Json = dict[str, Any]


class Store:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_directory(folder)

    def path(self, key: str) -> Path:
        return self.folder / "runs" / key[:2] / f"{key}.json"

    def get(self, key: str) -> Json | None:
        try:
            found: Json = json.loads(self.path(key).read_text())
        except (OSError, ValueError):
            return None
        return found if found.get("key") == key else None

    def put(self, key: str, document: Json, result: Json) -> Json:
        out = {"key": key, "commit": provenance.commit(), "document": document, **result}
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(out) + "\n")
        return out

    def keep_failed(self, key: str, document: Json) -> Path:
        path = self.folder / "failed" / f"{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(document, indent=1) + "\n")
        return path
