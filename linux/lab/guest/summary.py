# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Converts the figures of a transfer by curl, or by iperf3 with -J, to lines of a name and a value such as
"bytes 1000", as the lab's own traffic program (transfer.c) prints them after a transfer."""

import json
import sys

if sys.argv[1:] == ["iperf3"]:
    end = json.load(sys.stdin)["end"]
    total, sender = end["sum_received"], end["streams"][0]["sender"]
    seen = {
        "bytes": total["bytes"],
        "elapsed_us": round(1e6 * total["seconds"]),
        "retrans": end["sum_sent"]["retransmits"],
        "rtt_us": sender["mean_rtt"],
        "max_snd_cwnd_bytes": sender["max_snd_cwnd"],
    }
else:
    said = dict(line.split() for line in sys.stdin)
    seen = {
        "bytes": int(said["bytes"]),
        "elapsed_us": round(1e6 * float(said["seconds"])),
        "first_byte_us": round(1e6 * float(said["first_byte_s"])),
    }
for name, value in seen.items():
    print(name, value)
