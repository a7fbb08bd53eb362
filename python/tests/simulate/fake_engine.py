# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Answers like tcplearn-ns3 without a simulation. Usage: fake_engine.py FOLDER [--with-parent] RUN.json"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

folder, run = Path(sys.argv[1]), Path(sys.argv[-1])
text = run.read_text()
document = json.loads(text)
name = hashlib.sha256(text.encode()).hexdigest()
with (folder / "runs").open("a") as log:
    log.write(f"{name}\n")
if (folder / "crash").exists() and document["seed"] == int((folder / "crash").read_text()):
    sys.exit("the fake engine was made to fail")
if (folder / "slow").exists():
    time.sleep(float((folder / "slow").read_text()))
value = int(name[:6], 16) / 1000
metrics = {"samples": 10.0, "mean_abs_error_ticks": value, "retransmitted_share": 0.1}
print(json.dumps({"kind": "flow", "flow": 0, "metrics": metrics}))
print(
    json.dumps(
        {
            "kind": "run",
            "metrics": metrics,
            "cwnd_over_time": {"bin_s": 20, "bytes": [value]},
            "cost": {"cpu_s": time.time() % 1, "events": 1, "peak_mib": 1},
        }
    )
)
