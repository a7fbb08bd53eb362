# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Pack a first-RTO model as bytes of `struct settings` in linux/bpf/first_rto.bpf.c."""

import struct

from tcplearn.learn.rtt.model import STEPS, WEIGHT_BITS, Model
from tcplearn.loss_model import fixed


def packed(model: Model, ticks_per_second: int) -> bytes:
    out = b""
    for step in STEPS:
        terms = model.steps[step]
        given = terms or {}
        values = [round(given.get("constant_us", 0.0))]
        values += [fixed(given.get(term, 0.0), WEIGHT_BITS) for term in ("last", "high")]
        out += struct.pack("<qqqqI4x", *values, round(given.get("hop_us", 0.0)), terms is not None)
    return out + struct.pack("<qqqII", model.floor_us, model.cap_us, model.max_age_us, ticks_per_second, 0)
