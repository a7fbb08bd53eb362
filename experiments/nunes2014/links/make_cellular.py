# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Writes a synthetic trace of a cellular downlink in Mahimahi's format, the same on every machine.
  python3 experiments/nunes2014/links/make_cellular.py > experiments/nunes2014/links/cellular.trace
The rate is a random walk between 0.3 and 12 Mbit/s on a logarithmic scale, with a step every 20 ms. At
random times the link stops for 0.1 to 2 s, as at handovers. Recorded traces: github.com/ravinet/mahimahi."""

import math
import random

SECONDS, STEP_MS, PACKET_BITS = 60, 20, 12_000
LOW, HIGH = math.log(0.3e6), math.log(12e6)


def main() -> None:
    rng = random.Random(2014)
    level, credit, outage_ms = math.log(4e6), 0.0, 0.0
    for ms in range(1, SECONDS * 1000 + 1):
        if ms % STEP_MS == 0:
            level = min(HIGH, max(LOW, level + rng.gauss(0, 0.08)))
            if outage_ms <= 0 and rng.random() < STEP_MS / 8000:
                outage_ms = rng.uniform(100, 2000)
        outage_ms -= 1
        if outage_ms > 0:
            continue
        credit += math.exp(level) / 1000 / PACKET_BITS
        while credit >= 1:
            credit -= 1
            print(ms)


main()
