# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Lists the versions of the site: python site/versions.py FOLDER. Each folder in FOLDER is a version, and
FOLDER/index.html leads to the newest."""

import json
import sys
from pathlib import Path

_REDIRECT = """<!doctype html>
<meta charset="utf-8">
<title>tcplearn</title>
<meta http-equiv="refresh" content="0; url={0}/">
<p><a href="{0}/">tcplearn {0}</a></p>
"""


def main(out: Path) -> None:
    found = sorted(
        (page.parent.name for page in out.glob("*/index.html")),
        key=lambda name: [int(part) for part in name.split(".")],
        reverse=True,
    )
    listed = [{"version": name, "title": name, "aliases": []} for name in found]
    (out / "versions.json").write_text(json.dumps(listed) + "\n")
    (out / "index.html").write_text(_REDIRECT.format(found[0]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
