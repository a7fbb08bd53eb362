# SPDX-License-Identifier: GPL-2.0-only
"""Runs every packet script (single packets exchanged with the kernel) with several RTO estimators and resend
policies (which time retransmissions)."""

import importlib
import os
import sys
from pathlib import Path

from guest import in_child
from packet_host import SCRIPTS, Host

STOCK = (("reno",), ("cubic",))
AS_STOCK = (("tl-reno", "linux"), ("tl-cubic", "linux"))
LEARNED = (("tl-cubic", "tracking"), ("tl-cubic", "conformal"), ("tl-cubic", "eifel"))
RESENDS = tuple(("tl-cubic", "", name) for name in ("priced", "priced/spaced", "priced/backoff-1.5"))

# they add scripts to SCRIPTS when they are imported
PARTS = ("packet_connections", "packet_timers", "packet_resends")


def main():
    learned = []
    with Path("/out/results").open("w") as results:
        for name, function, rto in SCRIPTS:
            for arm in (*STOCK, *AS_STOCK, *LEARNED, *RESENDS):
                label = f"{name}/" + "+".join(filter(None, arm))
                early = rto and arm in RESENDS
                said = " ".join(in_child(lambda f=function, a=arm, e=early: _run(f, a, e)).split())
                if said and rto and arm in LEARNED:
                    learned.append(f"{label}: {said}")
                    continue
                print(label, said or "ok", file=results, flush=True)
    Path("/out/differences").write_text("".join(f"{line}\n" for line in learned))


def _run(function, arm, early):
    try:
        function(Host(*arm, early=early))
    except (AssertionError, OSError) as error:
        raise AssertionError(f"line {error.__traceback__.tb_next.tb_lineno}: {error}") from None


if __name__ == "__main__":
    for part in PARTS:
        importlib.import_module(part)
    if only := os.environ.get("ONLY"):
        SCRIPTS[:] = [s for s in SCRIPTS if any(part in s[0] for part in only.split(","))]
    main()
    sys.exit(0)
